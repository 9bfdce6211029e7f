"""Tests of tallies: houses (docs/reference/rules.md 3.1) and rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import BONES, EngineError, House, HouseTally, Mark, RowsTally, Seat, TallyStyle
from engine.rules.options import with_options
from engine.rules.rules import HandPoints, Rules
from tests.engine.table import Table


def marks(*adds: int) -> list[tuple[int, str]]:
    """Return the cross strokes and quadrants of each house. "." is an empty quadrant."""
    return [
        (house.cross, "".join(mark.value or "." for mark in house.quadrants)) for house in HouseTally.of(adds).houses
    ]


def test_slashes_form_the_cross_and_then_each_quadrant() -> None:
    assert marks(5) == [(1, "....")]
    assert marks(5, 5) == marks(10) == [(2, "....")]
    assert marks(10, 10) == [(2, "O...")]
    assert marks(10, 5) == [(2, "\\...")]
    assert marks(10, 5, 5) == [(2, "X...")]
    assert marks(10, 5, 10) == [(2, "X\\..")]
    assert marks(10, 5, 15) == [(2, "XO..")]
    assert marks(5, 10) == [(2, "\\...")]
    assert marks() == marks(0) == []
    assert marks(10, 10, 5, 5, 5, 5, 10, 5) == [(2, "OXXO"), (1, "....")]
    assert marks(10, 5, 5, 5, 5, 10, 5) == [(2, "XXO\\")]


def test_a_full_house_is_fifty_and_the_next_one_starts() -> None:
    assert marks(50) == [(2, "OOOO")]
    assert marks(50, 5) == [(2, "OOOO"), (1, "....")]
    assert House(2, (Mark.CIRCLE, Mark.X, Mark.X, Mark.CIRCLE)).points == 50
    (full,) = HouseTally.of([50]).houses
    with pytest.raises(EngineError, match="full"):
        full.marked(5)
    (full, begun) = HouseTally.of((10, 10, 5, 5, 5, 5, 10, 5)).houses
    assert full.lines() == ("O|X", "-+-", "X|O")
    assert begun.lines() == ("   ", "---", "   ")
    assert House().lines() == ("   ", "   ", "   ")


@given(st.lists(st.integers(0, 20).map(lambda fives: 5 * fives), max_size=30))
def test_the_marks_are_worth_the_score(adds: list[int]) -> None:
    tally = HouseTally.of(adds)
    assert tally.points == sum(adds)
    assert all(house.is_full for house in tally.houses[:-1])
    assert len(tally.houses) == -(-sum(adds) // 50)


@pytest.mark.parametrize(("adds", "marked", "rest"), [([3], 0, 3), ([12], 10, 2), ([3, 3], 5, 1), ([-5], 0, -5)])
def test_a_remainder_below_five_is_kept_separately(adds: list[int], marked: int, rest: int) -> None:
    tally = HouseTally.of(adds)
    assert (sum(house.points for house in tally.houses), tally.rest) == (marked, rest)


def test_subtracted_points_erase_marks() -> None:
    assert HouseTally.of([50, 15, -20]) == HouseTally.of([45])
    assert HouseTally.of([10, -15, 25]) == HouseTally.of([20])


@given(st.lists(st.integers(-30, 60), max_size=30))
def test_rows_and_remainder_are_worth_the_score(adds: list[int]) -> None:
    tally = RowsTally.of(adds)
    assert tally.points == sum(adds)
    assert all(sum(mark.points for mark in row) <= 50 for row in tally.rows)
    assert tally.rest < 5


def test_rows_of_fifty_are_written_as_in_the_source() -> None:
    assert RowsTally.of([5, 5, 10, 20, 15]).lines() == ("X O O O O", "/")
    assert RowsTally.of([10] * 6).lines() == ("O O O O O", "O")
    assert RowsTally.of([10, 15, -10]).lines() == ("O O- /- /",)
    assert RowsTally.of([10, -20]).rest == -10


def test_a_match_has_the_tally_of_its_scores_unless_it_is_scored_in_numbers() -> None:
    table = Table().play("5-5", "5-0@E")
    assert table.game.tally(Seat(0)) == table.game.tally(Seat(1)) == HouseTally.of([10])
    assert Table(with_options(BONES, {"tally": "numbers"})).game.tally(Seat(0)) is None
    with pytest.raises(EngineError, match="house marks only fives"):
        Rules(name="odd", unit=5, hand_points=HandPoints(round_to=None), tally=TallyStyle.HOUSE)
    assert BONES.tally is TallyStyle.HOUSE
