"""Writes which packages run at a table, as CycloneDX JSON, from the pinned requirements: `make sbom`."""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PIN = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.+!]+)(?: ; (?P<marker>[^\\\n]+?))? *\\?\n(?P<rest>(?:[ \t].*\n?)*)"
)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_VIA = re.compile(r"# +(?:via +)?([a-z][\w.-]*)(?: \(pyproject\.toml\))?$", re.MULTILINE)
_SPACE = uuid.UUID("7d3f1bd0-1f5e-4c55-9d2f-6c1f0a7e2b11")  # of no meaning but to be the same each time


@dataclass(frozen=True, slots=True)
class Pin:
    """A package in one version.

    Attributes:
        name: Its name.
        version: Exactly.
        marker: Where it is installed; "" for everywhere.
        hashes: SHA-256 of each of its files.
        needed_by: The packages that ask for it.
    """

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    needed_by: tuple[str, ...]

    @property
    def url(self) -> str:
        """Its package URL, which says what it is and not where.

        >>> Pin("numpy", "2.0", "", (), ()).url
        'pkg:pypi/numpy@2.0'
        """
        return f"pkg:pypi/{self.name}@{self.version}"


def pins_in(text: str) -> tuple[Pin, ...]:
    """Return what a file of requirements pins."""
    return tuple(
        Pin(
            name=found["name"],
            version=found["version"],
            marker=found["marker"] or "",
            hashes=tuple(_HASH.findall(found["rest"])),
            needed_by=tuple(name for name in _VIA.findall(found["rest"]) if name != "via"),
        )
        for found in _PIN.finditer(text)
    )


def sbom_of(pins: tuple[Pin, ...], version: str) -> dict[str, Any]:
    """Return the bill of materials of Tallybone; the same pins give the same, byte for byte."""
    root = f"pkg:pypi/tallybone@{version}"
    needs: dict[str, list[str]] = {root: [], **{pin.url: [] for pin in pins}}
    for pin in pins:
        for user in (one.url for one in pins if one.name in pin.needed_by):
            needs[user].append(pin.url)
        if "tallybone" in pin.needed_by:
            needs[root].append(pin.url)
    body = {
        "metadata": {"component": {"type": "application", "name": "tallybone", "version": version, "bom-ref": root}},
        "components": [_component(pin) for pin in pins],
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(wanted))} for ref, wanted in needs.items()],
    }
    number = uuid.uuid5(_SPACE, json.dumps(body))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1, **body}


def _component(pin: Pin) -> dict[str, Any]:
    return {
        "type": "library",
        "name": pin.name,
        "version": pin.version,
        "bom-ref": pin.url,
        "purl": pin.url,
        "hashes": [{"alg": "SHA-256", "content": one} for one in pin.hashes],
        "properties": [{"name": "tallybone:where", "value": pin.marker}] if pin.marker else [],
    }


def main(root: Path) -> None:
    """Print the bill of materials of what `requirements/table.txt` pins."""
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    pins = pins_in((root / "requirements" / "table.txt").read_text())
    sys.stdout.write(json.dumps(sbom_of(pins, version), indent=1) + "\n")


if __name__ == "__main__":
    main(Path(__file__).resolve().parent.parent)
