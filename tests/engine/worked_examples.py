"""Worked examples of docs/reference/rules.md: positions with their numbers, none of them taken from the engine.

worked_examples.json beside this file holds the project's own, worked out by hand from the book. Where more lie beside
the project, in the same form, they are read as well.
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
    """Those of the project alone."""
    return _read(OWN)


def examples(*types: str) -> list[Example]:
    """All examples there are of these types, or of every type."""
    found = own_examples() + (_read(BESIDE) if BESIDE.is_file() else [])
    return [example for example in found if not types or example["type"] in types]


def each(*types: str) -> list[Any]:
    """The examples of these types as parameters of a test."""
    return as_parameters(examples(*types))


def as_parameters(found: list[Example]) -> list[Any]:
    return [pytest.param(example, id=example["id"]) for example in found]


def setup_of(event: Example) -> Example:
    """The layout on which a tile is stacked."""
    (setup,) = (example for example in examples("layout") if example["id"] == event["setup"])
    return setup


def leader_of(example: Example) -> int:
    """The seat that leads: where none is named, each play of the layout before passes the turn to the left."""
    players = list(example["players"])
    if "leader" in example:
        return players.index(example["leader"])
    return (players.index(example["mover"]) - len(example["layout_before"])) % len(players)


def stands(example: Example, step: dict[str, Any]) -> bool:
    """Whether the tile of this step lies on the table afterwards."""
    return step.get("legal", True) is True or example["rules"].get("policy") == "warn"


def _read(path: Path) -> list[Example]:
    found: list[Example] = json.loads(path.read_text(encoding="utf-8"))["examples"]
    return found
