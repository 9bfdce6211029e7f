"""The file table.toml: which camera looks at the table, which parts are at it, and who else is told the score."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from hardware.config.config import HardwareConfig
from hardware.config.errors import ConfigError
from hardware.config.fields import Fields
from hardware.config.read import read_hardware
from tallybone.store.settings import BeyondSettings, read_beyond

USUAL_PATH = Path("/etc/tallybone/table.toml")
"""Where it is looked for when nobody names another."""
USUAL_CAMERA = "usb:0"
"""What looks at a table where nothing is said."""


class TableFileError(ConfigError):
    """A file that cannot be used; each problem names it."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """What the file says.

    Attributes:
        camera: What looks at the table, as `tallybone play --camera` takes it; None where nothing is said.
        hardware: The parts.
        beyond: Who is told the score.
        path: The file; None where there is none.
    """

    camera: str | None = None
    hardware: HardwareConfig = field(default_factory=HardwareConfig)
    beyond: BeyondSettings = field(default_factory=BeyondSettings)
    path: Path | None = None


def load_table(path: Path | None = None, *, usual: Path = USUAL_PATH) -> TableFile:
    """Return what a file says; without a *path*, the *usual* file where it is there, otherwise nothing.

    Raises:
        TableFileError: With everything that is wrong.
        OSError: If *path* cannot be read.
    """
    if path is None:
        if not usual.exists():
            return TableFile()
        path = usual
    try:
        text = path.read_text(encoding="utf-8")
        return _read(tomllib.loads(text), path)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TableFileError((f"{path}: this is no TOML ({error})",)) from None


def _read(said: dict[str, object], path: Path) -> TableFile:
    problems: list[str] = []
    fields = Fields(said, "", problems)
    camera = fields.table("camera", "camera")
    url = None if camera is None else camera.text("url")
    if camera is not None:
        camera.done()
    parts = fields.table("hardware", "hardware")
    hardware = HardwareConfig()
    if parts is not None:
        try:
            hardware = read_hardware(parts.whole_table)
        except ConfigError as error:
            problems += error.problems
    beyond = read_beyond(fields)
    fields.done()
    if problems:
        raise TableFileError(tuple(f"{path}: {problem.removeprefix('[] ')}" for problem in problems))
    return TableFile(url, hardware, beyond, path)
