"""Tests of the LED patterns, which are functions of state and time."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.leds.drivers import LedsRole, lit
from hardware.leds.lamps import OFF, Gain, Glow, Mood, TableState, glow_at
from hardware.part import Rgb

_MS = 1_000_000
_S = 1000 * _MS


def _lit(glow: Glow) -> list[int]:
    return [seat for seat, colour in enumerate(glow.seats) if colour != OFF]


def _rhythm(state: TableState, until_s: int = 4) -> list[Rgb]:
    return [glow_at(state, t_ms * _MS).status for t_ms in range(0, until_s * 1000, 10)]


def _flips(shown: list[bool]) -> int:
    return sum(a != b for a, b in itertools.pairwise(shown))


def test_only_the_seat_in_turn_is_lit_and_must_exist() -> None:
    assert _lit(glow_at(TableState(4, turn=2, mood=Mood.PLAYING), 0)) == [2]
    assert _lit(glow_at(TableState(4, mood=Mood.WAITING), 0)) == []
    with pytest.raises(ValueError, match="expected seats of 0 to 2"):
        TableState(3, turn=3)


def test_points_flash_once_per_five_at_their_seat_up_to_a_limit() -> None:
    state = TableState(4, turn=1, mood=Mood.PLAYING, gain=Gain(seat=0, points=15, t_ns=7 * _S))
    lit = [0 in _lit(glow_at(state, 7 * _S + t_ms * _MS)) for t_ms in range(0, 4000, 10)]
    assert (_flips(lit) + 1) // 2 == 3
    assert not any(lit[150:])
    assert _lit(glow_at(state, 6 * _S)) == [1]
    for points, flashes in ((1000, 6), (0, 0), (-5, 0)):
        state = TableState(2, gain=Gain(0, points, 0))
        lit = [0 in _lit(glow_at(state, t_ms * _MS)) for t_ms in range(0, 9000, 10)]
        assert (_flips(lit) + 1) // 2 == flashes


def test_the_moods_are_distinguishable_without_colour() -> None:
    flips = {mood: _flips([c != OFF for c in _rhythm(TableState(2, mood=mood))]) for mood in Mood}
    assert flips == {Mood.PLAYING: 0, Mood.WAITING: 0, Mood.ASKING: 7, Mood.PROBLEM: 15}
    assert len(set(_rhythm(TableState(2, mood=Mood.PLAYING)))) == 1
    assert len(set(_rhythm(TableState(2, mood=Mood.WAITING)))) > 20


def test_questions_and_problems_blink_at_their_seat() -> None:
    asked = glow_at(TableState(3, turn=0, mood=Mood.ASKING, concerns=1), 0)
    assert _lit(asked) == [0, 1]
    assert asked.seats[1] == asked.status
    wrong = TableState(3, turn=0, mood=Mood.PROBLEM, concerns=0)
    assert glow_at(wrong, 0).seats[0] == Rgb(255, 0, 0)
    assert _lit(glow_at(wrong, 300 * _MS)) == []


def test_direction_and_spell_have_separate_lights() -> None:
    clockwise = glow_at(TableState(3, is_clockwise=True), 0)
    counter = glow_at(TableState(3, is_clockwise=False, is_spell=True), 0)
    neither = glow_at(TableState(3), 0)
    assert [(g.clockwise != OFF, g.counter != OFF, g.spell != OFF) for g in (clockwise, counter, neither)] == [
        (True, False, False),
        (False, True, True),
        (False, False, False),
    ]
    assert lit(LedsRole.ALL, 3 + 4, neither) == (OFF,) * 3 + (neither.status,) + (OFF,) * 3


@pytest.mark.slow
@given(
    mood=st.sampled_from(Mood),
    turn=st.none() | st.integers(0, 3),
    concerns=st.none() | st.integers(0, 3),
    points=st.integers(-10, 100),
    begin_s=st.integers(0, 100),
)
def test_lights_flash_at_most_three_times_per_second(
    mood: Mood, turn: int | None, concerns: int | None, points: int, begin_s: int
) -> None:
    state = TableState(4, turn, mood, concerns, Gain(1, points, begin_s * _S + 137 * _MS))
    glows = [glow_at(state, begin_s * _S + t_ms * _MS) for t_ms in range(0, 1000, 10)]
    for colours in zip(*(lit(LedsRole.ALL, 4 + 4, glow) for glow in glows), strict=True):
        assert _flips([colour != OFF for colour in colours]) <= 6
