"""Tests of fitting the knock classifier to a table, and of refusing unsuitable sounds."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.errors import RefusedError
from calibration.knock.correction import OTHER_SOUNDS, Addition, fit_addition, with_addition
from calibration.knock.fit import JudgedSound, fit_knock
from hardware.knock.classifier import SOUNDS, load_classifier
from hardware.knock.features import AFTER, BEFORE, FEATURES

RNG = np.random.default_rng(5)
# Knocks differ from tiles in the first ten features.
KNOCK = np.where(np.arange(FEATURES) < 10, 1.0, 0.0).astype(np.float32)

SILENCE = np.zeros(BEFORE + AFTER, np.float32)


def sounds_of(count: int, centre: np.ndarray, knock: float, *, strength: float = 0.5) -> list[JudgedSound]:
    features = (centre + RNG.normal(0, 0.5, (count, FEATURES))).astype(np.float32)
    return [
        JudgedSound(at * 10**9, knock, 1 - knock, strength, feature, SILENCE) for at, feature in enumerate(features)
    ]


def test_uncertain_knocks_are_found_with_the_addition() -> None:
    kept = fit_knock((), sounds_of(20, -KNOCK, 0.1), [sounds_of(5, KNOCK, 0.45), sounds_of(5, KNOCK, 0.45)])
    assert (kept.knocks, kept.found, kept.tiles, kept.passed) == (10, 10, 20, 0)
    assert kept.weakest > 0.6
    assert kept.margin > 0.5
    new = sounds_of(50, KNOCK, 0.45)
    assert all(sound.chance(kept.addition) > 0.5 for sound in new)


def test_the_addition_matches_the_extended_classifier() -> None:
    shipped = load_classifier()
    addition = fit_addition(
        np.stack([sound.features for sound in sounds_of(5, KNOCK, 0)]),
        np.stack([sound.features for sound in sounds_of(9, -KNOCK, 0)]),
    )
    grown = with_addition(shipped, addition)
    standard = RNG.normal(0, 2, (40, FEATURES)).astype(np.float32)
    features = standard * shipped.scale + shipped.mean
    before, after = shipped.probabilities(features).astype(np.float64), grown.probabilities(features)
    others = [SOUNDS.index(sound) for sound in OTHER_SOUNDS]
    for row, old, new in zip(standard, before, after, strict=True):
        sound = JudgedSound(0, old[0], old[others].sum(), 0.5, np.clip(row, -5, 5), SILENCE)
        assert new[0] == pytest.approx(sound.chance(addition), abs=1e-3)
    assert [layer.shape for layer in shipped.weights] == [layer.shape for layer in load_classifier().weights]


def test_the_addition_does_not_affect_other_sounds() -> None:
    addition = fit_addition(np.stack([KNOCK, KNOCK]), np.stack([-KNOCK, -KNOCK]))
    tap = JudgedSound(0, 0.2, 0.0, 0.5, KNOCK, SILENCE)
    assert addition.odds(KNOCK) > 1
    assert tap.chance(addition) == pytest.approx(0.2)


def test_the_boundary_is_halfway_between_both_classes() -> None:
    addition = fit_addition(np.stack([KNOCK, KNOCK]), np.stack([-KNOCK, -KNOCK]))
    assert addition.odds(KNOCK * 0) == pytest.approx(0)
    assert addition.odds(KNOCK) == pytest.approx(-addition.odds(-KNOCK))
    assert addition.odds(KNOCK) > 0


def test_the_five_loudest_sounds_are_the_knocks() -> None:
    sleeves = sounds_of(3, -KNOCK, 0.05, strength=0.02)
    kept = fit_knock((), sounds_of(20, -KNOCK, 0.1), [[*sleeves, *sounds_of(5, KNOCK, 0.7)]])
    assert (kept.knocks, kept.found, kept.strengths) == (5, 5, (0.5,))


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
        fit_knock(
            sounds_of(quiet, -KNOCK, 0.05),
            sounds_of(tiles, -KNOCK, 0.05),
            [sounds_of(count, KNOCK, 0.9) for count in seats],
        )


def test_knocks_that_sound_like_tiles_are_refused() -> None:
    with pytest.raises(RefusedError, match="of 10 knocks and"):
        fit_knock((), sounds_of(20, KNOCK * 0, 0.1), [sounds_of(5, KNOCK * 0, 0.1), sounds_of(5, KNOCK * 0, 0.1)])


def test_an_addition_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=f"expected {FEATURES} numbers"):
        Addition((1.0, 2.0), 0.0)
