"""Tests of converting values to JSON and back, and of errors with their position."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import (
    Amend,
    Boneyard,
    Draw,
    Event,
    Knock,
    MatchStart,
    NewHand,
    NodeId,
    Play,
    Port,
    Redeal,
    RedealReason,
    Seat,
    Seq,
    Spot,
    Tile,
    Undo,
    profile,
    with_options,
)
from tallybone.json_values import JsonValueError, from_json, to_json
from tallybone.session.places import Footprint, Known, Laid, Places, Waiting
from vision.reading import Face, Guess, Half, SeenTile

_TILES = st.tuples(st.integers(0, 18), st.integers(0, 18)).map(lambda pips: Tile(min(pips), max(pips)))
_SEATS = st.integers(0, 3).map(Seat)
_SPOTS = st.none() | st.builds(Spot, st.integers(0, 99).map(NodeId), st.sampled_from([Port.E, Port.N, Port("3")]))
_ACTIONS = st.one_of(
    st.builds(lambda seat, tile, at: Play(seat, tile, at, tile.high), _SEATS, _TILES, _SPOTS),
    st.builds(Knock, _SEATS),
    st.builds(Boneyard, st.integers(0, 91)),
    st.builds(lambda seat, tiles: Draw(seat, len(tiles), faces=tuple(tiles)), _SEATS, st.lists(_TILES, min_size=1)),
    st.builds(NewHand, st.none() | st.just((7, 7))),
    st.sampled_from([Redeal(reason) for reason in RedealReason]),
)
_EVENTS = _ACTIONS | st.builds(Amend, st.integers(0, 99).map(Seq), _ACTIONS) | st.builds(Undo, st.just(Seq(3)))


@given(_EVENTS)
def test_events_round_trip_through_json(event: Any) -> None:
    written = json.loads(json.dumps(to_json(event, Event)))
    assert from_json(written, Event) == event


@pytest.mark.parametrize("name", ["bones", "draw", "allfives", "block", "super", "twoset", "cutthroat"])
def test_the_rules_of_a_match_round_trip_through_json(name: str) -> None:
    start = MatchStart(with_options(profile(name), {"target": "77"}), ("Ann", "Zoë"))
    assert from_json(json.loads(json.dumps(to_json(start, Event))), Event) == start


def test_positions_of_tiles_round_trip_exactly() -> None:
    half = Half(6, 1 / 3, (0.1, 1e-17), Guess(5, 0.25), (0.1, 0.2))
    corners = ((0.0, 0.0), (2 / 7, 0.0), (2.0, 1.0), (0.0, 1.0))
    seen = SeenTile(Face.UP, corners, (half, half))
    place = Footprint((1 / 3, 2.0), (1.0, 0.0), (0.0, 1.0))
    known = Known(Laid(NodeId(4), place), seen, is_settled=True, name=9)
    places = Places((known,), (Waiting(seen, (Seat(1),), 7),), (seen,), missing=2, own=3, other=1)
    assert from_json(json.loads(json.dumps(to_json(places, Places))), Places) == places


@pytest.mark.parametrize(
    ("value", "position"),
    [
        ({"is": "dance"}, "got 'dance'"),
        ({"is": "knock"}, "needs 'seat'"),
        ({"is": "knock", "seat": "1"}, "knock.seat: expected int, got '1'"),
        ({"is": "knock", "seat": True}, "knock.seat"),
        ({"is": "knock", "seat": 1, "loud": 2}, "'loud'"),
        ({"is": "draw", "seat": 0, "tiles": 0}, "1 tile or more"),
        ({"is": "play", "seat": 0, "tile": {"low": 3, "high": 99}}, "0 <= low <= high <= 18"),
        ({"is": "match_start", "rules": {"name": "bones", "hand_for": [[1, 2, 3]]}, "players": []}, "hand_for[0]"),
        ([1, 2], "got [1, 2]"),
        (None, "got None"),
    ],
)
def test_invalid_events_are_refused_with_the_position(value: object, position: str) -> None:
    with pytest.raises(JsonValueError) as caught:
        from_json(value, Event)
    assert position in str(caught.value)
