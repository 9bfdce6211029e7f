"""What a table adds to the classifier of sounds: it tells its knocks from its tiles, or is refused with the reason."""

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


def heard(count: int, middle: np.ndarray, knock: float, *, strength: float = 0.5) -> list[JudgedSound]:
    features = (middle + RNG.normal(0, 0.5, (count, FEATURES))).astype(np.float32)
    return [JudgedSound(at * 10**9, knock, 1 - knock, strength, one, SILENCE) for at, one in enumerate(features)]


def test_knocks_that_the_classifier_is_unsure_of_are_found_by_what_the_table_adds() -> None:
    kept = fit_knock((), heard(20, -KNOCK, 0.1), [heard(5, KNOCK, 0.45), heard(5, KNOCK, 0.45)])
    assert (kept.knocks, kept.found, kept.tiles, kept.passed) == (10, 10, 20, 0)
    assert kept.weakest > 0.6
    assert kept.margin > 0.5
    new = heard(50, KNOCK, 0.45)
    assert all(one.chance(kept.addition) > 0.5 for one in new)


def test_what_is_added_is_what_the_classifier_with_it_says() -> None:
    shipped = load_classifier()
    addition = fit_addition(
        np.stack([one.features for one in heard(5, KNOCK, 0)]), np.stack([one.features for one in heard(9, -KNOCK, 0)])
    )
    grown = with_addition(shipped, addition)
    standard = RNG.normal(0, 2, (40, FEATURES)).astype(np.float32)
    features = standard * shipped.scale + shipped.mean
    before, after = shipped.probabilities(features).astype(np.float64), grown.probabilities(features)
    others = [SOUNDS.index(sound) for sound in OTHER_SOUNDS]
    for one, was, now in zip(standard, before, after, strict=True):
        heard_so = JudgedSound(0, was[0], was[others].sum(), 0.5, np.clip(one, -5, 5), SILENCE)
        assert now[0] == pytest.approx(heard_so.chance(addition), abs=1e-3)
    assert [one.shape for one in shipped.weights] == [one.shape for one in load_classifier().weights]


def test_a_tap_is_no_likelier_a_knock_for_what_the_table_adds() -> None:
    addition = fit_addition(np.stack([KNOCK, KNOCK]), np.stack([-KNOCK, -KNOCK]))
    tap = JudgedSound(0, 0.2, 0.0, 0.5, KNOCK, SILENCE)
    assert addition.odds(KNOCK) > 1
    assert tap.chance(addition) == pytest.approx(0.2)


def test_the_line_lies_half_way_between_both() -> None:
    addition = fit_addition(np.stack([KNOCK, KNOCK]), np.stack([-KNOCK, -KNOCK]))
    assert addition.odds(KNOCK * 0) == pytest.approx(0)
    assert addition.odds(KNOCK) == pytest.approx(-addition.odds(-KNOCK))
    assert addition.odds(KNOCK) > 0


def test_of_more_sounds_the_five_loudest_are_the_knocks() -> None:
    sleeves = heard(3, -KNOCK, 0.05, strength=0.02)
    kept = fit_knock((), heard(20, -KNOCK, 0.1), [[*sleeves, *heard(5, KNOCK, 0.7)]])
    assert (kept.knocks, kept.found, kept.strengths) == (5, 5, (0.5,))


@pytest.mark.parametrize(
    ("quiet", "tiles", "seats", "reason"),
    [
        (5, 10, (5,), "not quiet: 5 sudden sounds"),
        (0, 3, (5,), "only 3 tile sounds"),
        (0, 10, (5, 2), "seat 2: expected 5 knocks, but heard 2"),
    ],
)
def test_what_tells_nothing_is_refused_with_the_reason(
    quiet: int, tiles: int, seats: tuple[int, ...], reason: str
) -> None:
    with pytest.raises(RefusedError, match=reason):
        fit_knock(heard(quiet, -KNOCK, 0.05), heard(tiles, -KNOCK, 0.05), [heard(count, KNOCK, 0.9) for count in seats])


def test_knocks_that_sound_like_tiles_are_refused() -> None:
    with pytest.raises(RefusedError, match="of 10 knocks and"):
        fit_knock((), heard(20, KNOCK * 0, 0.1), [heard(5, KNOCK * 0, 0.1), heard(5, KNOCK * 0, 0.1)])


def test_an_addition_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=f"expected {FEATURES} numbers"):
        Addition((1.0, 2.0), 0.0)
