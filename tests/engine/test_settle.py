"""Tests of docs/reference/rules.md 2.4: the winner of a hand and its points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import BONES, EngineError, HandMode, HandPoints, Holding, Seat, TieBreak, round_nearest, settle
from tests.engine.table import tiles

FIVES = BONES.hand_points
ALL_FIVES = HandPoints(subtract_own=True, round_to=5, bonus_divisor=5)
EXACT = HandPoints()


def pips(*sums: int) -> list[Holding]:
    return [Holding(total) for total in sums]


def hands(*texts: str) -> list[Holding]:
    return [Holding.of(tiles(text)) for text in texts]


@pytest.mark.parametrize(
    ("value", "rounded"), [(0, 0), (1, 0), (2, 0), (3, 5), (5, 5), (7, 5), (9, 10), (11, 10), (27, 25), (28, 30)]
)
def test_points_are_rounded_to_the_nearest_five(value: int, rounded: int) -> None:
    assert round_nearest(value, 5) == rounded


@given(st.integers(0, 500), st.sampled_from([3, 5]))
def test_rounding_returns_the_nearest_multiple(value: int, multiple: int) -> None:
    assert round_nearest(value, multiple) % multiple == 0
    assert abs(round_nearest(value, multiple) - value) * 2 < multiple


def test_going_out_wins_the_sum_of_all_opponents() -> None:
    result = settle(pips(6, 0, 27), Seat(1), EXACT)
    assert (result.winner, result.points, result.arithmetic) == (1, 33, "6 + 27 = 33")
    assert settle(pips(0, 0), Seat(1), FIVES).winner == 1
    result = settle(pips(0, 7, 7), Seat(0), FIVES)
    assert (result.points, result.arithmetic) == (15, "7 + 7 = 14, rounded to 15")
    assert settle(pips(0, 25), Seat(0), FIVES).arithmetic == "25"
    assert settle(pips(0, 27), Seat(0), FIVES).arithmetic == "27, rounded to 25"
    # A1-27: option round_each: 7 -> 5 and 7 -> 5 make 10, while the sum 14 is rounded to 15
    each = HandPoints(round_to=5, round_each=True)
    assert settle([Holding(0), Holding(7), Holding(7)], Seat(0), each).points == 10
    assert settle([Holding(0), Holding(7), Holding(7)], Seat(0), HandPoints(round_to=5)).points == 15


def test_a_block_pays_the_other_hands_by_the_rule_of_the_game() -> None:
    result = settle(pips(9, 4, 12), None, FIVES)
    assert (result.winner, result.points, result.arithmetic) == (1, 20, "9 + 12 = 21, rounded to 20")
    result = settle(pips(3, 5, 11, 13), None, ALL_FIVES)
    assert (result.winner, result.difference, result.rounded, result.points) == (0, 26, 25, 5)
    assert result.arithmetic == "5 + 11 + 13 - 3 = 26, rounded to 25, paid 5"
    rule = HandPoints(mode=HandMode.ADVANCED, tie=TieBreak.FEWEST_PIPS)
    result = settle([Holding(5, size=1), Holding(17, size=2), Holding(3, size=2)], None, rule)
    assert (result.winner, result.points, result.arithmetic) == (0, 12, "(17 - 5) + 0 = 12")


def test_the_lightest_tile_breaks_a_tie_of_the_lightest_hands() -> None:
    result = settle(hands("1-2 2-4 3-5", "5-5 3-4"), None, HandPoints(subtract_own=True))
    assert (result.winner, result.points, result.pips) == (0, 0, (17, 17))
    assert settle(hands("5-5 3-4", "1-2 2-4 3-5"), None, EXACT).winner == 1
    assert settle(hands("1-2 4-4 6-6", "0-3 4-5 5-6"), None, EXACT).winner == 0
    assert settle(hands("0-3 4-5 5-6", "1-2 4-4 6-6"), None, EXACT).winner == 1
    result = settle(hands("1-3", "2-2", "6-6"), None, FIVES)
    assert (result.winner, result.points, result.arithmetic) == (
        None,
        0,
        "the best hands are equal: nobody wins the hand",
    )
    assert settle(hands("1-2 2-4 3-5", "5-5 3-4"), None, HandPoints(tie=TieBreak.NONE)).winner is None
    assert settle(hands("0-0 6-6", "5-5", "4-6"), None, EXACT).winner is None


def test_a_holding_must_have_the_pips_of_its_tiles() -> None:
    with pytest.raises(EngineError, match="must have 5 pips"):
        Holding(5, tiles("3-3"))
