from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import EngineError, Tile, full_set, set_name


def test_a_tile_is_equal_in_both_orders_and_written_with_the_larger_number_first() -> None:
    assert Tile.of(5, 3) == Tile.of(3, 5) == Tile.parse("5-3") == Tile(3, 5)
    assert hash(Tile.of(5, 3)) == hash(Tile.of(3, 5))
    assert str(Tile(3, 5)) == "5-3"
    assert str(Tile(0, 12)) == "12-0"


@given(st.integers(0, 18), st.integers(0, 18))
def test_a_tile_round_trips_through_text(first: int, second: int) -> None:
    assert Tile.parse(str(Tile.of(first, second))) == Tile.of(first, second)


@pytest.mark.parametrize("text", ["", "5", "5_3", "5-", "-5", "5-3-1", " 5-3", "5-3\n", "19-0", "100-1", "٥-٣", "a-b"])
def test_rejects_malformed_tiles(text: str) -> None:
    with pytest.raises(EngineError):
        Tile.parse(text)


@pytest.mark.parametrize(("low", "high"), [(5, 3), (-1, 3), (0, 19)])
def test_rejects_impossible_tiles(low: int, high: int) -> None:
    with pytest.raises(EngineError, match="0 <= low <= high <= 18"):
        Tile(low, high)


@pytest.mark.parametrize(("max_pips", "number"), [(6, 28), (9, 55), (12, 91), (15, 136), (18, 190)])
def test_a_set_contains_each_tile_once(max_pips: int, number: int) -> None:
    assert len(full_set(max_pips)) == len(set(full_set(max_pips))) == number
    assert sum(tile.is_double for tile in full_set(max_pips)) == max_pips + 1


def test_the_other_half_of_a_double_is_the_same_number() -> None:
    assert Tile(4, 4).other(4) == 4
    assert Tile(3, 5).other(5) == 3
    with pytest.raises(EngineError, match="5-3 has no 4"):
        Tile(3, 5).other(4)


def test_sets_have_common_names() -> None:
    assert [set_name(pips) for pips in (6, 9, 12, 15, 18)] == [
        "double-six",
        "double-nine",
        "double-twelve",
        "double-fifteen",
        "double-eighteen",
    ]
