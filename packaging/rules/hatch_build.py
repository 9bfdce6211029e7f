"""Put the package `engine` into the wheel of the rules, as `tallybone_rules`.

`engine` is no name to claim in an environment that others share, so the modules are renamed on their way: what they
import from one another, and the examples in their docstrings.
"""

import re
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "tallybone_rules"
_NAME = re.compile(r"(?<=\bfrom )engine\b|(?<=\bimport )engine\b|(?<=`)engine(?=\.\w)")


class RenamingHook(BuildHookInterface):  # type: ignore[type-arg]  # the configuration of its builder is not used
    """Write the renamed modules into a folder of the moment, and give that to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the modules to the files of the wheel; *version* is that of the target."""
        self._made = tempfile.TemporaryDirectory()
        made = Path(self._made.name)
        for source in sorted(self._source.rglob("*.py")):
            module = made / source.relative_to(self._source)
            module.parent.mkdir(parents=True, exist_ok=True)
            module.write_text(_NAME.sub(PACKAGE, source.read_text(encoding="utf-8")), encoding="utf-8")
        (made / "py.typed").touch()
        build_data["force_include"][str(made)] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        self._made.cleanup()

    @property
    def _source(self) -> Path:
        """The folder of the modules: in a source distribution it is here, in the repository two floors up."""
        here = Path(self.root)
        return next(folder for folder in (here / "engine", here.parent.parent / "engine") if folder.is_dir())
