"""Sets: the highest number of the tiles on the table, from what is seen of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.render.placements import full_set
from vision.sets import SETS, likely_max_pips


def sure(*pips: int) -> NDArray[np.float64]:
    return np.eye(19)[list(pips)]


@pytest.mark.parametrize("max_pips", SETS)
def test_a_whole_set_is_known(max_pips: int) -> None:
    assert likely_max_pips(sure(*(pips for tile in full_set(max_pips) for pips in tile))) == max_pips


def test_nothing_seen_is_the_commonest_set() -> None:
    assert likely_max_pips(np.empty((0, 19))) == 6


@pytest.mark.parametrize(("high", "max_pips"), [(7, 9), (9, 9), (10, 12), (12, 12)])
def test_one_high_number_among_a_few_halves_speaks_for_the_smallest_set_that_has_it(high: int, max_pips: int) -> None:
    assert likely_max_pips(sure(3, high, 0, 5)) == max_pips


@pytest.mark.parametrize(("high", "max_pips"), [(13, 15), (15, 15), (16, 18), (18, 18)])
def test_two_of_four_speak_for_a_set_that_is_rare(high: int, max_pips: int) -> None:
    assert likely_max_pips(sure(3, high, high, 5)) == max_pips


def test_one_high_number_among_very_many_is_a_misreading() -> None:
    assert likely_max_pips(sure(*[0, 1, 2, 3, 4, 5, 6] * 3, 12)) == 6


def test_several_high_numbers_are_none() -> None:
    assert likely_max_pips(sure(*[0, 1, 2, 3, 4, 5, 6] * 4, 12, 11, 10, 8)) == 12


def test_a_high_number_that_is_unsure_counts_little() -> None:
    unsure = np.zeros((1, 19))
    unsure[0, [6, 9]] = 0.4, 0.6
    assert likely_max_pips(np.concatenate([sure(1, 3, 5, 6, 2, 0, 4, 4), unsure])) == 6


def test_probabilities_of_zero_do_not_break_it() -> None:
    assert likely_max_pips(np.zeros((4, 19))) in SETS
