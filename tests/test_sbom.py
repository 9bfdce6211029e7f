"""Tests of the SBOM: it matches the pins completely and reproducibly."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from requirements.sbom import Pin, pins_in, sbom_of

ROOT = Path(__file__).resolve().parent.parent
TABLE = (ROOT / "requirements" / "table.txt").read_text()


def test_a_pin_is_parsed_with_marker_hashes_and_dependents() -> None:
    text = (
        f"click==8.5.1 \\\n    --hash=sha256:{'a' * 64} \\\n    --hash=sha256:{'b' * 64}\n    # via typer\n"
        f"numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:{'c' * 64}\n    # via\n"
        "    #   tallybone (pyproject.toml)\n    #   opencv-python-headless\n"
    )
    assert pins_in(text) == (
        Pin("click", "8.5.1", "", ("a" * 64, "b" * 64), ("typer",)),
        Pin("numpy", "2.4.6", "python_full_version < '3.12'", ("c" * 64,), ("tallybone", "opencv-python-headless")),
    )


def test_every_pin_is_included_with_a_hash_and_its_dependencies() -> None:
    sbom = sbom_of(pins_in(TABLE), "0.1.0")
    pinned = re.findall(r"^([\w.-]+)==([\w.+!]+)", TABLE, flags=re.MULTILINE)
    assert [(component["name"], component["version"]) for component in sbom["components"]] == pinned
    assert len(pinned) > 30
    assert all(component["hashes"] for component in sbom["components"])
    sbom = sbom_of(pins_in(TABLE), "0.1.0")
    known = {sbom["metadata"]["component"]["bom-ref"], *(component["bom-ref"] for component in sbom["components"])}
    needs = {dependency["ref"]: dependency["dependsOn"] for dependency in sbom["dependencies"]}
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
