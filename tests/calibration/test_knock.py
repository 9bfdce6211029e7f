"""Tests of fitting the knock classifier to a table, of checking its examples, and of refusing unsuitable sounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration import RefusedError
from calibration.knock import TableExamples, fit_correction, fit_knock, improvement, learned, leave_one_out
from hardware.knock.classifier import Classifier, load_classifier
from hardware.knock.sensor import ClassifiedSound

SHIPPED = load_classifier()
EMBEDDING = len(SHIPPED.hidden.bias)


def sounds_of(
    count: int, knock: float, *, strength: float = 0.5, seed: int = 5, like: int = 0
) -> list[ClassifiedSound]:
    """Return sounds with about this probability of a knock. *like* chooses what they have in common."""
    rng = np.random.default_rng([seed, like])
    embeddings = np.maximum(rng.normal(1, 0.6, EMBEDDING) + rng.normal(0, 0.15, (count, EMBEDDING)), 0)
    # Move along the knock's own weights until the probability is as wanted.
    direction = (SHIPPED.output.weight[:, 0] - SHIPPED.output.weight[:, 1:].mean(axis=1)).astype(np.float64)
    steps = np.linspace(-20, 20, 2_001)[:, None]
    moved = []
    for embedding in embeddings:
        along = (embedding + steps * direction / np.linalg.norm(direction)).astype(np.float32)
        chances = SHIPPED.probabilities(along)[:, 0]
        moved.append(along[np.abs(chances - knock).argmin()])
    return [
        ClassifiedSound(at * 10**9, None, strength, 0.5, embedding=tuple(embedding.tolist()))
        for at, embedding in enumerate(moved)
    ]


def chances(classifier: Classifier, sounds: list[ClassifiedSound]) -> np.ndarray:
    return classifier.probabilities(np.array([sound.embedding for sound in sounds], np.float32))[:, 0]


def rows(count: int, knock: float, like: int) -> np.ndarray:
    return np.array([sound.embedding for sound in sounds_of(count, knock, like=like)], np.float32)


def examples(knocks: np.ndarray, others: np.ndarray) -> TableExamples:
    return TableExamples(SHIPPED.name, *(tuple(map(tuple, each.tolist())) for each in (knocks, others)))


def test_uncertain_knocks_are_found_once_learned() -> None:
    kept = fit_knock((), sounds_of(20, 0.1), [sounds_of(5, 0.4, like=1), sounds_of(5, 0.4, like=1, seed=6)])
    assert (kept.knocks, kept.tiles) == (10, 20)
    assert kept.found >= 9
    assert kept.margin > 0.1
    new = sounds_of(50, 0.4, like=1, seed=5)
    assert (chances(learned(SHIPPED, kept.examples), new) > 0.5).mean() > 0.9
    sleeves = sounds_of(3, 0.05, strength=0.02)
    kept = fit_knock((), sounds_of(20, 0.1), [[*sleeves, *sounds_of(5, 0.7, like=1)]])
    assert (kept.knocks, kept.found, kept.strengths) == (5, 5, (0.5,))


def test_learning_hardly_affects_modelled_sounds_or_another_classifier() -> None:
    knocks = np.array([sound.embedding for sound in sounds_of(10, 0.3, like=1)], np.float32)
    classifier = learned(SHIPPED, TableExamples(SHIPPED.name, tuple(map(tuple, knocks.tolist()))))
    before, after = (of.probabilities(SHIPPED.others)[:, 0] >= 0.5 for of in (SHIPPED, classifier))
    assert after.mean() <= before.mean() + 0.03
    three = tuple(sound.embedding or () for sound in sounds_of(3, 0.3))
    assert learned(SHIPPED, TableExamples("another", three)) is SHIPPED
    assert learned(SHIPPED, TableExamples(SHIPPED.name)) is SHIPPED
    assert learned(SHIPPED, TableExamples(SHIPPED.name, three)).correction is not None


def test_the_correction_minimises_the_penalised_loss() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    knocks, others = (
        np.array([sound.embedding for sound in sounds], np.float32)
        for sounds in (sounds_of(6, 0.3, like=1), sounds_of(9, 0.3))
    )
    found = fit_correction(SHIPPED, knocks, others)
    rows = np.concatenate([knocks, others, SHIPPED.others])
    labels = np.repeat([1, 0, 0], (6, 9, len(SHIPPED.others)))
    weights = np.repeat([1, 1, 40 / len(SHIPPED.others)], (6, 9, len(SHIPPED.others)))
    scale = SHIPPED.others.std(axis=0) + 0.1
    odds = SHIPPED.probabilities(rows)[:, 0].astype(np.float64)
    known = np.clip(np.log((odds + 1e-9) / (1 - odds + 1e-9)), -12, 12)

    def loss(solution: np.ndarray) -> float:
        margin = (known + rows / scale @ solution[:-1] + solution[-1]) * (2 * labels - 1)
        return float(weights @ np.logaddexp(0, -margin) + (solution[:-1] ** 2).sum() + 0.25 * solution[-1] ** 2)

    best = optimize.minimize(loss, np.zeros(EMBEDDING + 1), method="BFGS")
    assert loss(np.append(found.weights * scale, found.bias)) == pytest.approx(best.fun, rel=1e-3)


@pytest.mark.parametrize(
    ("quiet", "tiles", "seats", "reason"),
    [
        (5, 10, (5,), "not quiet: 5 sudden sounds"),
        (0, 3, (5,), "only 3 tile sounds"),
        (0, 10, (5, 2), "seat 2: expected 5 knocks, but heard 2"),
    ],
)
def test_unsuitable_sounds_are_refused_with_the_reason(
    quiet: int, tiles: int, seats: tuple[int, ...], reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason):
        fit_knock(sounds_of(quiet, 0.05), sounds_of(tiles, 0.05), [sounds_of(count, 0.9) for count in seats])


def test_knocks_that_sound_like_tiles_are_refused_and_used_only_if_they_help() -> None:
    with pytest.raises(RefusedError, match="of 10 knocks and"):
        fit_knock((), sounds_of(20, 0.1), [sounds_of(5, 0.1, seed=5), sounds_of(5, 0.1, seed=5)])
    knocks = rows(10, 0.4, 1)
    better = improvement(SHIPPED, examples(knocks, rows(20, 0.3, 2)))
    assert better is not None
    assert (better.probabilities(knocks)[:, 0] >= SHIPPED.min_knock).all()
    knocks, same = np.concatenate([rows(6, 0.7, 1), rows(3, 0.4, 1)]), rows(30, 0.4, 1)[6:]
    assert improvement(SHIPPED, examples(knocks, same)) is None
    assert improvement(SHIPPED, examples(knocks, same[:0])) is not None
    sure = rows(30, 0.7, 1)
    better = improvement(SHIPPED, examples(sure[:6], sure[6:]))
    assert better is not None
    assert (better.probabilities(sure)[:, 0] >= SHIPPED.min_knock).all()
    assert improvement(SHIPPED, examples(rows(1, 0.4, 1)[:0], rows(5, 0.6, 2))) is SHIPPED


def test_leaving_out_a_sound_agrees_with_a_fit_without_it() -> None:
    knocks, others = rows(8, 0.4, 1), rows(12, 0.3, 2)
    found = leave_one_out(SHIPPED, knocks, others)
    for own, chances, is_knock in ((knocks, found[0], True), (others, found[1], False)):
        for at in range(len(own)):
            rest = np.delete(own, at, axis=0)
            correction = fit_correction(SHIPPED, rest, others) if is_knock else fit_correction(SHIPPED, knocks, rest)
            without = replace(SHIPPED, correction=correction).probabilities(own[at : at + 1])[0, 0]
            assert chances[at] == pytest.approx(without, abs=0.03)
