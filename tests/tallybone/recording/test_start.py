"""Tests of the metadata of a sitting, including those of older recordings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.matches.room import default_zones
from tallybone.recording.format import Pictures, SittingStart
from tallybone.session.observations import Zones
from tests.tallybone.recording.damages import with_checksum
from tests.tallybone.recording.sittings import START
from vision.reader.custom_set import RecordedSet


@pytest.fixture
def older() -> dict[str, str]:
    """Return metadata from before the field for pictures."""
    return {
        "format": "1",
        "started_at": "2026-11-21T18:30:05+00:00",
        "players": '["Ann", "Bob"]',
        "rules": "bones",
        "options": '{"target": "200"}',
        "set": "double-6",
        "seed": "7",
        "software": "tallybone 0.1.0",
    }


def test_pictures_are_settled_by_default(older: dict[str, str]) -> None:
    assert SittingStart.parse(with_checksum(older)) == START
    assert START.pictures is Pictures.SETTLED
    assert START.format() == with_checksum(older)
    moving = replace(START, pictures=Pictures.MOVING)
    assert moving.format() == with_checksum(older | {"pictures": "moving"})
    assert SittingStart.parse(moving.format()) == moving
    with pytest.raises(ValueError, match="blurred"):
        SittingStart.parse(with_checksum(older | {"pictures": "blurred"}))


def test_zones_are_written_if_present_and_read(older: dict[str, str]) -> None:
    zoned = replace(START, zones=default_zones(2))
    assert zoned.format() == with_checksum(older | {"zones": default_zones(2).format()})
    assert SittingStart.parse(zoned.format()) == zoned
    assert SittingStart.parse(with_checksum(older)).zones == Zones()
    with pytest.raises(ValueError, match="0 to 1"):
        SittingStart.parse(with_checksum(older | {"zones": '{"seats": [], "boneyard": [[0, 0], [1, 0], [1, 7]]}'}))


def test_the_learned_set_is_written_and_read(older: dict[str, str]) -> None:
    start = replace(START, own_set=RecordedSet(9, "a1b2", "AAAA", 0.6))
    own = '{"max_pips": 9, "reader": "a1b2", "weights": "AAAA", "believed": 0.6}'
    assert start.format() == with_checksum(older | {"own_set": own})
    assert SittingStart.parse(start.format()) == start
    earlier = own.replace('"reader"', '"eye"')  # its name before 0.3
    assert SittingStart.parse(with_checksum(older | {"own_set": earlier})) == start
    with pytest.raises(ValueError, match="believed"):
        SittingStart.parse(with_checksum(older | {"own_set": '{"max_pips": 9, "reader": "a", "weights": ""}'}))


@pytest.mark.parametrize("name", ["started_at", "players", "rules", "options", "set", "seed", "software"])
def test_metadata_without_a_field_are_refused(older: dict[str, str], name: str) -> None:
    with pytest.raises(ValueError, match=f"it lacks '{name}'"):
        SittingStart.parse(with_checksum({field: value for field, value in older.items() if field != name}))
    for damaged in (older | {"crc32": "00000000"}, older):
        with pytest.raises(ValueError, match="wrong checksum"):
            SittingStart.parse(damaged)
