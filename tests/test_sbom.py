"""The list of what runs at a table: it says what the pins say, all of it, and the same each time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from requirements.sbom import Pin, pins_in, sbom_of

ROOT = Path(__file__).resolve().parent.parent
TABLE = (ROOT / "requirements" / "table.txt").read_text()


def test_a_pin_is_read_with_marker_hashes_and_who_needs_it() -> None:
    text = (
        f"click==8.5.1 \\\n    --hash=sha256:{'a' * 64} \\\n    --hash=sha256:{'b' * 64}\n    # via typer\n"
        f"numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:{'c' * 64}\n    # via\n"
        "    #   tallybone (pyproject.toml)\n    #   opencv-python-headless\n"
    )
    assert pins_in(text) == (
        Pin("click", "8.5.1", "", ("a" * 64, "b" * 64), ("typer",)),
        Pin("numpy", "2.4.6", "python_full_version < '3.12'", ("c" * 64,), ("tallybone", "opencv-python-headless")),
    )


def test_every_pin_of_the_table_is_in_it_with_a_hash() -> None:
    said = sbom_of(pins_in(TABLE), "0.1.0")
    pinned = re.findall(r"^([\w.-]+)==([\w.+!]+)", TABLE, flags=re.MULTILINE)
    assert [(one["name"], one["version"]) for one in said["components"]] == pinned
    assert len(pinned) > 30
    assert all(one["hashes"] for one in said["components"])


def test_what_depends_on_what_names_only_what_is_in_it() -> None:
    said = sbom_of(pins_in(TABLE), "0.1.0")
    known = {said["metadata"]["component"]["bom-ref"], *(one["bom-ref"] for one in said["components"])}
    needs = {one["ref"]: one["dependsOn"] for one in said["dependencies"]}
    assert needs.keys() == known
    assert {ref for wanted in needs.values() for ref in wanted} <= known
    assert any("fastapi@" in ref for ref in needs["pkg:pypi/tallybone@0.1.0"])
    (web,) = (ref for ref in needs if "/fastapi@" in ref)
    assert any("/starlette@" in ref for ref in needs[web])


def test_the_same_pins_give_the_same_bytes() -> None:
    command = (sys.executable, ROOT / "requirements" / "sbom.py")
    first, second = (subprocess.run(command, capture_output=True, check=True).stdout for _ in range(2))
    assert first == second
    assert json.loads(first)["bomFormat"] == "CycloneDX"
