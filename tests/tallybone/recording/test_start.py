"""What a recording says of its sitting is read as it was written, and older recordings stay valid."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace

import pytest

from tallybone.recording.format import Pictures, SittingStart
from tallybone.recording.own_tiles import RecordedSet
from tallybone.session.zones import Zones, default_zones
from tests.tallybone.recording.sittings import START


def signed(said: dict[str, str]) -> dict[str, str]:
    """Names and values with the checksum that fits them."""
    return said | {"crc32": f"{zlib.crc32(json.dumps(said, sort_keys=True).encode()):08x}"}


@pytest.fixture
def older() -> dict[str, str]:
    """What was written before anything was said of pictures."""
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


def test_a_recording_that_says_nothing_of_its_pictures_has_settled_ones(older: dict[str, str]) -> None:
    assert SittingStart.parse(signed(older)) == START
    assert START.pictures is Pictures.SETTLED
    assert START.format() == signed(older)


def test_moving_pictures_are_said_and_read(older: dict[str, str]) -> None:
    moving = replace(START, pictures=Pictures.MOVING)
    assert moving.format() == signed(older | {"pictures": "moving"})
    assert SittingStart.parse(moving.format()) == moving


def test_pictures_of_an_unknown_kind_are_refused(older: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="blurred"):
        SittingStart.parse(signed(older | {"pictures": "blurred"}))


def test_zones_are_said_where_there_are_any_and_read(older: dict[str, str]) -> None:
    zoned = replace(START, zones=default_zones(2))
    assert zoned.format() == signed(older | {"zones": default_zones(2).format()})
    assert SittingStart.parse(zoned.format()) == zoned
    assert SittingStart.parse(signed(older)).zones == Zones()


def test_what_was_learned_of_the_tiles_is_said_and_read(older: dict[str, str]) -> None:
    said = replace(START, own_set=RecordedSet(9, "a1b2", "AAAA", 0.6))
    own = '{"max_pips": 9, "eye": "a1b2", "weights": "AAAA", "believed": 0.6}'
    assert said.format() == signed(older | {"own_set": own})
    assert SittingStart.parse(said.format()) == said
    with pytest.raises(ValueError, match="believed"):
        SittingStart.parse(signed(older | {"own_set": '{"max_pips": 9, "eye": "a", "weights": ""}'}))


def test_zones_beside_the_picture_are_refused(older: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="0 to 1"):
        SittingStart.parse(signed(older | {"zones": '{"seats": [], "boneyard": [[0, 0], [1, 0], [1, 7]]}'}))
