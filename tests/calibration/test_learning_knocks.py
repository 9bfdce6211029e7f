"""Tests of checking examples of knocks before a table uses them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.knock import TableExamples, fit_correction, improvement, leave_one_out
from hardware.knock.classifier import load_classifier
from tests.calibration.test_knock import sounds_of

SHIPPED = load_classifier()


def rows(count: int, knock: float, like: int) -> np.ndarray:
    return np.array([sound.embedding for sound in sounds_of(count, knock, like=like)], np.float32)


def examples(knocks: np.ndarray, others: np.ndarray) -> TableExamples:
    return TableExamples(SHIPPED.name, *(tuple(map(tuple, each.tolist())) for each in (knocks, others)))


def test_leaving_out_a_sound_agrees_with_a_fit_without_it() -> None:
    knocks, others = rows(8, 0.4, 1), rows(12, 0.3, 2)
    found = leave_one_out(SHIPPED, knocks, others)
    for own, chances, is_knock in ((knocks, found[0], True), (others, found[1], False)):
        for at in range(len(own)):
            rest = np.delete(own, at, axis=0)
            correction = fit_correction(SHIPPED, rest, others) if is_knock else fit_correction(SHIPPED, knocks, rest)
            without = replace(SHIPPED, correction=correction).probabilities(own[at : at + 1])[0, 0]
            assert chances[at] == pytest.approx(without, abs=0.03)


def test_separable_examples_improve_the_classifier() -> None:
    knocks = rows(10, 0.4, 1)
    better = improvement(SHIPPED, examples(knocks, rows(20, 0.3, 2)))
    assert better is not None
    assert (better.probabilities(knocks)[:, 0] >= SHIPPED.min_knock).all()


def test_contradictory_examples_are_rejected() -> None:
    knocks, same = np.concatenate([rows(6, 0.7, 1), rows(3, 0.4, 1)]), rows(30, 0.4, 1)[6:]
    assert improvement(SHIPPED, examples(knocks, same)) is None
    assert improvement(SHIPPED, examples(knocks, same[:0])) is not None


def test_knocks_are_learned_without_tiles_that_do_harm() -> None:
    sure = rows(30, 0.7, 1)
    better = improvement(SHIPPED, examples(sure[:6], sure[6:]))
    assert better is not None
    assert (better.probabilities(sure)[:, 0] >= SHIPPED.min_knock).all()


def test_nothing_is_learned_without_knocks() -> None:
    assert improvement(SHIPPED, examples(rows(1, 0.4, 1)[:0], rows(5, 0.6, 2))) is SHIPPED
