"""Comparison of all tags, fields and values in JSON with a list, as renames in the code must not change files.

`kept/json.txt` has a line for each. If a line is missing in the code, older files cannot be opened any more. Renamed
classes and fields keep their names in files by an entry in `json_values.TAGS` or `FIELDS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin

import pytest

from engine import Event, Outcome, Seat
from tallybone.json_values import JsonValueError, fields_of, from_json, tag_of, to_json
from tallybone.recording.reader import CORRECTION, TILES
from tallybone.session.inputs import KnockHeard, Press
from tallybone.session.places import Known, Places, Waiting
from tallybone.session.sitting import kind_of
from tallybone.store.calibration_file import Calibration
from tallybone.store.house import HouseSettings, PasswordHash
from vision.reader.custom_set import RecordedSet
from vision.reading import SeenTile
from vision.tracking.camera_motion import AlignmentNumbers

KEPT = Path(__file__).parent / "kept" / "json.txt"
ROOTS = {
    "button": Press,
    "calibration": Calibration,
    "correction": CORRECTION,
    "event": Event,
    "house": HouseSettings,
    "knock": KnockHeard,
    "owner": PasswordHash,
    "own_set": RecordedSet,
    "table.aim": AlignmentNumbers,
    "table.places": Places,
    "table.tiles": TILES,
}


def flat(kind: Any) -> tuple[Any, ...]:
    """Return the types of a type hint."""
    if isinstance(kind, NewType):
        return flat(kind.__supertype__)
    if get_origin(kind) in (Union, UnionType):
        return tuple(each for part in get_args(kind) for each in flat(part))
    return (kind,)


def lines(kind: Any, at: str) -> Iterator[str]:
    """Yield a line for each position in the JSON of a type, with its possible values."""
    kinds = flat(kind)
    classes = [kind for kind in kinds if is_dataclass(kind)]
    for each in kinds:
        if get_origin(each) is tuple:
            items = get_args(each)
            is_long = items[-1:] == (...,)
            for number, item in enumerate(items[:1] if is_long else items):
                yield from lines(item, f"{at}[{'' if is_long else number}]")
        elif isinstance(each, type) and is_dataclass(each):
            own = f"{at}<{tag_of(each)}>" if len(classes) > 1 else at
            yield f"{own} is a {tag_of(each)}"  # used in error messages
            for name, (_, hint) in fields_of(each).items():
                yield from lines(hint, f"{own}.{name}")
        elif isinstance(each, type) and issubclass(each, Enum):
            yield from (f"{at}: {word.value!r}" for word in each)
        else:
            yield f"{at}: {'null' if each is NoneType else each.__name__}"


def written() -> list[str]:
    """Return all lines, sorted."""
    found = {line for name, kind in ROOTS.items() for line in lines(kind, name)}
    for outcome in get_args(Outcome):
        found |= {f"said<{tag_of(outcome)}>: {kind_of(object.__new__(outcome))}"}
        found |= set(lines(outcome, f"said<{tag_of(outcome)}>"))
    return sorted(found)


def test_names_in_json_are_unchanged() -> None:
    now, before = written(), KEPT.read_text(encoding="utf-8").splitlines()
    assert len({tag_of(cls) for cls in get_args(Event)}) == len(get_args(Event))
    assert sorted(set(before) - set(now)) == [], "older files would not open"
    assert sorted(set(now) - set(before)) == [], "add these lines to kept/json.txt"


_HALVES = [{"pips": pips, "confidence": 0.9, "center_px": [80.0 * pips, 0.0]} for pips in (3, 5)]
_TILE = {"face": "up", "corners_px": [[0, 0], [80, 0], [80, 40], [0, 40]], "halves": _HALVES}
_LAID = {"node": 4, "place": {"center": [40, 20], "along": [40, 0], "across": [0, 40]}}
_OLD_KNOWN = {"laid": _LAID, "tile": _TILE, "is_missing": True}


def test_removed_fields_of_older_files_are_ignored() -> None:
    older = {
        "known": [{**_OLD_KNOWN, "is_reread": True, "is_handled": True, "was_at": _LAID["place"], "maybe_by": [1]}],
        "waiting": [{"tile": _TILE, "look": 7, "by": [1], "since_ns": 9}],
        "undone": [_TILE],
        "former": [_OLD_KNOWN],
        "asked": ["Ben passed / nobody passed"],
        "ignored": [],
        "looks": 3,
        "wants_stack": True,
        "maybe_passed": 1,
        "knocked_early": 2,
        "pass_chances": [0.5],
        "undecided": {"seats": [1], "chances": [0.5], "since": 3},
        "around": {"yard": {"count": 9, "by": [1]}, "right": 2, "wrong": 1, "led": 4},
        "unseen": {"look": 3, "calls": []},
        "pressed": [{"press": {"is": "knock", "seat": 1}, "t_ns": 8, "look": 3}],
        "adoption": "dealt_early",
        "laid_unseen": [7],
        "unchecked": 5,
    }
    read: Places = from_json(older, Places)
    known: Known = from_json(_OLD_KNOWN, Known)
    assert read == Places((known,), (Waiting(known.tile, (Seat(1),), 9),))


def test_renamed_fields_keep_their_names_in_files() -> None:
    tile: SeenTile = from_json(_TILE, SeenTile)
    waiting = Waiting(tile, (Seat(1),))
    written = to_json(waiting, Waiting)
    assert written == {"tile": to_json(tile, SeenTile), "by": [1]}
    again: Waiting = from_json(written, Waiting)
    assert again == waiting
    with pytest.raises(JsonValueError, match="'came_from' is not a field of waiting"):
        from_json({"tile": _TILE, "came_from": [1]}, Waiting)
