"""Worked examples of docs/reference/rules.md: positions and expected numbers, independent of the engine.

worked_examples.json next to this file has the project's own examples, calculated by hand from the book. Further
examples next to the project, in the same format, are also read if they exist.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

Example = dict[str, Any]

OWN = Path(__file__).with_suffix(".json")
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "rules" / "worked_examples.json"


def own_examples() -> list[Example]:
    """Return the project's own examples."""
    return _read(OWN)


def examples(*types: str) -> list[Example]:
    """Return all examples of *types*, or of every type."""
    found = own_examples() + (_read(BESIDE) if BESIDE.is_file() else [])
    return [example for example in found if not types or example["type"] in types]


def each(*types: str) -> list[Any]:
    """Return the examples of *types* as test parameters."""
    return [pytest.param(example, id=example["id"]) for example in examples(*types)]


def setup_of(event: Example) -> Example:
    """Return the layout on which a tile is stacked."""
    (setup,) = (example for example in examples("layout") if example["id"] == event["setup"])
    return setup


def leader_of(example: Example) -> int:
    """Return the seat that leads. If none is named, assume that each earlier play passed the turn to the left."""
    players = list(example["players"])
    if "leader" in example:
        return players.index(example["leader"])
    return (players.index(example["mover"]) - len(example["layout_before"])) % len(players)


def is_accepted(example: Example, step: dict[str, Any]) -> bool:
    """Check that the tile of a step is on the table afterwards."""
    return step.get("legal", True) is True or example["rules"].get("policy") == "warn"


def _read(path: Path) -> list[Example]:
    found: list[Example] = json.loads(path.read_text(encoding="utf-8"))["examples"]
    return found
