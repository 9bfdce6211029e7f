"""Tests of the prior over the numbers in play, from the halves seen so far."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.placements import all_pip_pairs
from vision.reader.reader import SETS, numbers_in_play


def sure(*pips: int) -> NDArray[np.float64]:
    return np.eye(19)[list(pips)]


def unsure(*pips: int) -> NDArray[np.float64]:
    """Return a half that is equally likely to be each of several numbers."""
    chances = np.zeros((1, 19))
    chances[0, list(pips)] = 1 / len(pips)
    return chances


@pytest.mark.parametrize("max_pips", SETS)
def test_a_complete_set_is_recognised(max_pips: int) -> None:
    seen = sure(*(pips for tile in all_pip_pairs(max_pips) for pips in tile))
    assert numbers_in_play(seen) == pytest.approx(np.full(max_pips + 1, 1 / (max_pips + 1)))


def test_without_halves_common_sets_are_more_likely() -> None:
    numbers = numbers_in_play(np.empty((0, 19)))
    assert len(numbers) == 19
    assert numbers.sum() == pytest.approx(1.0)
    assert (np.diff(numbers) <= 1e-12).all()
    assert numbers[:7].sum() > 0.8


@pytest.mark.parametrize(("high", "smallest"), [(7, 9), (9, 9), (10, 12), (12, 12), (13, 15), (15, 15), (16, 18)])
def test_one_high_number_makes_the_smallest_set_with_it_likely(high: int, smallest: int) -> None:
    numbers = numbers_in_play(sure(3, high, 0, 5))
    assert numbers[smallest] > 0.5 * numbers[0]
    assert numbers[smallest + 1 :].max(initial=0.0) < 0.5 * numbers[0]


def test_one_high_number_among_many_is_a_misreading_but_not_several() -> None:
    assert len(numbers_in_play(sure(*[0, 1, 2, 3, 4, 5, 6] * 4, 12))) == 7
    assert len(numbers_in_play(sure(*[0, 1, 2, 3, 4, 5, 6] * 4, 12, 11, 10, 8))) == 13


def test_an_uncertain_high_number_counts_little() -> None:
    low = sure(1, 3, 5, 6, 2, 0, 4, 4)
    numbers = numbers_in_play(np.concatenate([low, unsure(6, 9)]))
    assert numbers[9] < 0.05 * numbers[6]
    assert numbers[9] > numbers_in_play(low)[9]


def test_high_numbers_become_less_likely_with_each_low_one_until_ruled_out() -> None:
    likely = [numbers_in_play(sure(*[1, 4] * count))[7:].sum() for count in range(6)]
    assert (np.diff(likely) < 0).all()
    assert len(numbers_in_play(sure(*[0, 1, 2, 3, 4, 5, 6] * 4))) == 7
    assert np.isfinite(numbers_in_play(np.zeros((4, 19)))).all()
