"""Sets: which numbers can lie on the table, from what is seen of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from synthetic.render.placements import all_pip_pairs
from vision.geometry.sets import SETS, numbers_in_play


def sure(*pips: int) -> NDArray[np.float64]:
    return np.eye(19)[list(pips)]


def unsure(*pips: int) -> NDArray[np.float64]:
    """One half that is one of several numbers."""
    chances = np.zeros((1, 19))
    chances[0, list(pips)] = 1 / len(pips)
    return chances


@pytest.mark.parametrize("max_pips", SETS)
def test_a_whole_set_is_known(max_pips: int) -> None:
    seen = sure(*(pips for tile in all_pip_pairs(max_pips) for pips in tile))
    assert numbers_in_play(seen) == pytest.approx(np.full(max_pips + 1, 1 / (max_pips + 1)))


def test_where_nothing_is_seen_all_sets_may_lie_there_and_common_ones_more_likely() -> None:
    numbers = numbers_in_play(np.empty((0, 19)))
    assert len(numbers) == 19
    assert numbers.sum() == pytest.approx(1.0)
    assert (np.diff(numbers) <= 1e-12).all()
    assert numbers[:7].sum() > 0.8


@pytest.mark.parametrize(("high", "smallest"), [(7, 9), (9, 9), (10, 12), (12, 12), (13, 15), (15, 15), (16, 18)])
def test_one_high_number_among_a_few_halves_makes_all_of_the_smallest_set_that_has_it_likely(
    high: int, smallest: int
) -> None:
    numbers = numbers_in_play(sure(3, high, 0, 5))
    assert numbers[smallest] > 0.5 * numbers[0]
    assert numbers[smallest + 1 :].max(initial=0.0) < 0.5 * numbers[0]


def test_one_high_number_among_very_many_is_a_misreading() -> None:
    assert len(numbers_in_play(sure(*[0, 1, 2, 3, 4, 5, 6] * 4, 12))) == 7


def test_several_high_numbers_are_none() -> None:
    assert len(numbers_in_play(sure(*[0, 1, 2, 3, 4, 5, 6] * 4, 12, 11, 10, 8))) == 13


def test_a_high_number_that_is_unsure_counts_little() -> None:
    low = sure(1, 3, 5, 6, 2, 0, 4, 4)
    numbers = numbers_in_play(np.concatenate([low, unsure(6, 9)]))
    assert numbers[9] < 0.05 * numbers[6]
    assert numbers[9] > numbers_in_play(low)[9]


def test_the_more_low_numbers_are_seen_the_less_likely_high_ones_are() -> None:
    likely = [numbers_in_play(sure(*[1, 4] * count))[7:].sum() for count in range(6)]
    assert (np.diff(likely) < 0).all()


def test_what_only_a_larger_set_has_is_out_of_question_at_last() -> None:
    assert len(numbers_in_play(sure(*[0, 1, 2, 3, 4, 5, 6] * 4))) == 7


def test_probabilities_of_zero_do_not_break_it() -> None:
    assert np.isfinite(numbers_in_play(np.zeros((4, 19)))).all()
