"""Every tag, field and word that is written as JSON, held against a list: names in the code may change, files may not.

`kept/json.txt` has a line for each. A line that is missing in the code is a file of before that does not open any more.
A class or field that is renamed keeps its name in files by an entry in `json_values.TAGS` or `FIELDS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin

import pytest

from engine import Event, Outcome
from tallybone.json_values import JsonValueError, fields_of, from_json, tag_of, to_json
from tallybone.recording.messages import CORRECTION, TILES
from tallybone.recording.own_tiles import RecordedSet
from tallybone.session.inputs import KnockHeard, Press
from tallybone.session.referee.places import Around, Places
from tallybone.session.sitting import kind_of
from tallybone.store.calibration_file import Calibration
from tallybone.store.house import HouseSettings, PasswordHash
from vision.tracking.camera_motion.alignment import AlignmentNumbers

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
    """The types that a hint stands for."""
    if isinstance(kind, NewType):
        return flat(kind.__supertype__)
    if get_origin(kind) in (Union, UnionType):
        return tuple(one for part in get_args(kind) for one in flat(part))
    return (kind,)


def lines(kind: Any, at: str) -> Iterator[str]:
    """A line for each place in the JSON of a type: what may stand there."""
    kinds = flat(kind)
    classes = [one for one in kinds if is_dataclass(one)]
    for one in kinds:
        if get_origin(one) is tuple:
            items = get_args(one)
            is_long = items[-1:] == (...,)
            for number, item in enumerate(items[:1] if is_long else items):
                yield from lines(item, f"{at}[{'' if is_long else number}]")
        elif isinstance(one, type) and is_dataclass(one):
            own = f"{at}<{tag_of(one)}>" if len(classes) > 1 else at
            yield f"{own} is a {tag_of(one)}"  # an error in a file says so
            for name, (_, hint) in fields_of(one).items():
                yield from lines(hint, f"{own}.{name}")
        elif isinstance(one, type) and issubclass(one, Enum):
            yield from (f"{at}: {word.value!r}" for word in one)
        else:
            yield f"{at}: {'null' if one is NoneType else one.__name__}"


def written() -> list[str]:
    """All lines, sorted."""
    found = {line for name, kind in ROOTS.items() for line in lines(kind, name)}
    for outcome in get_args(Outcome):
        found |= {f"said<{tag_of(outcome)}>: {kind_of(object.__new__(outcome))}"}
        found |= set(lines(outcome, f"said<{tag_of(outcome)}>"))
    return sorted(found)


def test_what_is_written_as_json_has_the_names_of_before() -> None:
    now, before = written(), KEPT.read_text(encoding="utf-8").splitlines()
    assert sorted(set(before) - set(now)) == [], "files of before would not open"
    assert sorted(set(now) - set(before)) == [], "add these lines to kept/json.txt"


def test_the_list_says_enough_to_fail() -> None:
    assert len(written()) > 400
    assert "event<knock>.seat: int" in written()


def test_a_field_of_older_files_that_is_gone_is_left_out() -> None:
    read: Places = from_json({"looks": 3, "laid_unseen": [7], "unchecked": 5}, Places)
    assert read == Places(looks=3)


def test_a_field_with_another_name_in_the_code_is_read_and_written_by_that_of_files() -> None:
    around = Around(came_from_own=2, came_from_other=1)
    assert to_json(around, Around) == {"right": 2, "wrong": 1}
    read: Around = from_json({"right": 2, "wrong": 1}, Around)
    assert read == around
    with pytest.raises(JsonValueError, match="'came_from_own' is nothing that a around has"):
        from_json({"came_from_own": 2}, Around)
