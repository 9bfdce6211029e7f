"""Tests of joint reading: joined halves agree, each tile exists once, and confident readings are kept."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.reader import agreement
from vision.reader.agreement import JointReading, Meeting, Touch, agree, play_priors
from vision.reader.agreement import likelihood_ratio as likelihood

COUNT = 7
Chances = NDArray[np.float64]


def half(*likely: tuple[int, float], count: int = COUNT) -> list[float]:
    """Return probabilities of a half: the given ones, with the remainder shared by all other numbers."""
    given = dict(likely)
    remainder = (1 - sum(given.values())) / (count - len(given))
    return [given.get(number, remainder) for number in range(count)]


def sure(number: int) -> list[float]:
    return half((number, 0.9999))


def tiles(*halves: tuple[list[float], list[float]]) -> Chances:
    return np.array(halves).reshape(-1, 2, COUNT)


def end_to_end(a: int, b: int) -> Touch:
    return Touch(a, 1, b, 0, Meeting.END, 0.0, 0, 1.0)


def crosswise(a: int, b: int) -> Touch:
    return Touch(a, 1, b, 0, Meeting.MIDDLE, 0.0, 1, 0.0)


def read(chances: Chances, *touches: Touch, set_is_given: bool = True) -> JointReading:
    return agree(chances, np.ones(len(chances), bool), touches, set_is_given=set_is_given)


def a_line(*, unsure: list[float]) -> Chances:
    """Return a line 0-1 1-2 2-3 3-4 4-5 in which half 0 of the third tile is uncertain."""
    return tiles(*((sure(n) if n != 2 else unsure, sure(n + 1)) for n in range(5)))


LINE = tuple(end_to_end(n, n + 1) for n in range(4))


def test_an_uncertain_half_agrees_with_its_neighbour_only_if_joined() -> None:
    agreed = read(a_line(unsure=half((6, 0.6), (2, 0.35))), *LINE)
    assert agreed.pips.tolist() == [[n, n + 1] for n in range(5)]
    assert agreed.chances[2, 0, 2] > 0.9
    assert read(a_line(unsure=half((6, 0.6), (2, 0.35)))).pips[2].tolist() == [6, 3]


def test_confident_halves_are_never_made_equal() -> None:
    agreed = read(a_line(unsure=half((6, 0.995), (2, 0.004))), *LINE)
    assert agreed.pips[1:3].tolist() == [[1, 2], [6, 3]]
    assert agreed.plays[1] == 0


def test_a_crosswise_double_has_the_number_at_its_side() -> None:
    unsure = (half((4, 0.5), (3, 0.45)), half((4, 0.45), (6, 0.5)))
    assert read(tiles((sure(1), sure(4)), unsure), crosswise(0, 1)).pips[1].tolist() == [4, 4]
    assert read(tiles((sure(1), sure(4)), unsure)).pips[1].tolist() == [4, 6]
    at_side = (sure(1), half((4, 0.45), (3, 0.5)))
    assert read(tiles(at_side, (sure(4), sure(4))), crosswise(0, 1)).pips[0].tolist() == [1, 4]


def test_in_a_line_without_agreement_an_uncertain_half_keeps_its_number() -> None:
    numbers = [(0, 1), (3, 4), (5, 5), (2, 6), (1, 3), (4, 0), (2, 2)]
    row = tiles(*((sure(a), sure(b)) for a, b in numbers), (half((6, 0.6), (2, 0.2)), sure(0)))
    agreed = read(row, *(end_to_end(n, n + 1) for n in range(7)))
    assert agreed.pips[-1].tolist() == [6, 0]
    assert agreed.plays.max() < 0.5


def test_a_tile_on_the_table_is_not_read_twice_unless_confident() -> None:
    evidence = tiles((sure(3), sure(5)), (half((5, 0.55), (6, 0.4)), sure(3)))
    assert read(evidence).pips.tolist() == [[3, 5], [6, 3]]
    evidence = tiles((sure(3), half((5, 0.7), (6, 0.28))), (half((5, 0.52), (6, 0.46)), sure(3)))
    assert read(evidence).pips.tolist() == [[3, 5], [6, 3]]
    assert read(tiles((sure(3), sure(5)), (sure(5), sure(3)))).pips.tolist() == [[3, 5], [5, 3]]


def test_a_second_copy_is_weighed_by_how_sure_the_set_is() -> None:
    evidence = tiles((sure(3), sure(5)), (half((5, 0.9), (6, 0.08)), sure(3)))
    assert read(evidence, set_is_given=True).pips[1, 0] == 6
    assert read(evidence, set_is_given=False).pips[1, 0] == 5
    seen = [(n, n + 1) for n in range(4)]
    evidence = tiles(
        *((sure(a), sure(b)) for a, b in [*seen, *seen]), (sure(0), sure(6)), (sure(0), half((6, 0.55), (5, 0.4)))
    )
    assert read(evidence).pips[-1].tolist() == [0, 6]


def test_face_down_tiles_are_ignored_and_there_may_be_none() -> None:
    evidence = tiles((sure(3), sure(5)), (half((5, 0.55), (6, 0.4)), sure(3)))
    agreed = agree(evidence, np.array([False, True]), (), set_is_given=True)
    assert agreed.pips[1].tolist() == [5, 3]
    agreed = read(tiles())
    assert (agreed.pips.shape, agreed.chances.shape, agreed.plays.shape) == ((0, 2), (0, 2, COUNT), (0,))


TREES = {
    "line": (end_to_end(0, 1), end_to_end(1, 2)),
    "crosswise in the middle": (crosswise(0, 1), Touch(2, 0, 1, 1, Meeting.MIDDLE, 0.0, -1, 0.0)),
    "tip and side": (crosswise(0, 1), end_to_end(1, 2)),
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("seed", range(2))
def test_inference_is_exact_without_cycles(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for constant, value in {"_SOFTENING": 1.0, "_MISREAD": 0.0, "_REPEAT_GIVEN": 1.0, "_CONVERGED": 1e-9}.items():
        monkeypatch.setattr(agreement, constant, value)
    touches, count = TREES[name], 3
    chances = np.random.default_rng(seed).dirichlet(np.full(count, 0.5), (3, 2)) + 1e-6
    chances /= chances.sum(axis=-1, keepdims=True)
    likely = play_priors(touches, chances)
    expected = np.zeros_like(chances)
    for numbers in itertools.product(range(count), repeat=6):
        pips = np.array(numbers).reshape(3, 2)
        weight = np.prod(np.take_along_axis(chances, pips[..., None], axis=2))
        for touch, share in zip(touches, likely, strict=True):
            weight *= 1 - share + share * likelihood(touch, np.eye(count)[pips])
        np.put_along_axis(expected, pips[..., None], np.take_along_axis(expected, pips[..., None], 2) + weight, 2)
    expected /= expected.sum(axis=-1, keepdims=True)
    agreed = read(chances, *touches)
    assert np.abs(agreed.chances - expected).max() < 1e-6


def test_equal_probabilities_give_equal_readings() -> None:
    chances = np.random.default_rng(3).dirichlet(np.full(COUNT, 0.3), (20, 2)) + 1e-9
    touches = tuple(end_to_end(n, n + 1) for n in range(19))
    first, second = read(chances, *touches), read(chances.copy(), *touches)
    assert (first.pips == second.pips).all()
    assert (first.chances == second.chances).all()
