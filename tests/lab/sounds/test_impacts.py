"""Tests of hits by palm and fist, and of the rhythm of knocks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lab.sounds.impacts import (
    Impact,
    fist,
    force,
    frequencies,
    knock_pushes,
    knock_times,
    knuckle,
    palm,
    struck_again,
)


def brightness(impacts: list[Impact]) -> float:
    """Return the share of energy above 500 Hz."""
    spectrum = np.abs(force(impacts)) ** 2
    return float(spectrum[frequencies() > 500].sum() / spectrum.sum())


def test_a_fist_sounds_duller_than_a_palm_and_a_palm_duller_than_a_knuckle() -> None:
    rng = np.random.default_rng(1)
    of_knuckle, of_palm, of_fist = (
        np.median([brightness(kind(rng)) for _ in range(200)]) for kind in (knuckle, palm, fist)
    )
    assert of_knuckle > 1.5 * of_palm > 2 * of_fist


def test_series_have_one_to_five_knocks_in_the_stated_shares() -> None:
    rng = np.random.default_rng(2)
    counts = Counter(len(knock_times(rng)) for _ in range(2_000))
    assert set(counts) == {1, 2, 3, 4, 5}
    assert counts[1] / 2_000 == pytest.approx(0.45, abs=0.04)
    assert counts[2] / 2_000 == pytest.approx(0.35, abs=0.04)


def test_gaps_between_knocks_are_human_and_nearly_even() -> None:
    rng = np.random.default_rng(3)
    series = [times_s for times_s in (knock_times(rng) for _ in range(500)) if len(times_s) > 1]
    gaps_s = [np.diff(times_s) for times_s in series]
    assert all(times_s[0] == 0 for times_s in series)
    assert min(gaps.min() for gaps in gaps_s) > 0.7 * 0.12
    assert max(gaps.max() for gaps in gaps_s) < 1.3 * 0.5
    jitters = [gaps.std() / gaps.mean() for gaps in gaps_s if len(gaps) == 4]
    assert 0.05 < np.mean(jitters) < 0.12


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_loudest_knock_of_a_series_has_loudness_1(count: int) -> None:
    rng = np.random.default_rng(4)
    series = [knock_pushes(rng, count=count) for _ in range(300)]
    assert all(len(pushes) == count and max(pushes) == 1 and min(pushes) > 0.12 for pushes in series)
    if count > 1:
        assert np.std([pushes[0] for pushes in series]) > 0.1


def test_the_next_hit_of_a_hand_resembles_the_last() -> None:
    low = frequencies() < 1_000
    of_again, of_others = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        first, other = knuckle(rng), knuckle(rng)
        again = struck_again(rng, first)
        assert len(again) == len(first)
        assert again != first
        level, level_again, level_of_other = (np.log(np.abs(force(hit))[low]) for hit in (first, again, other))
        of_again.append(np.abs(level_again - level).mean())
        of_others.append(np.abs(level_of_other - level).mean())
    assert np.mean(of_again) < 0.5 * np.mean(of_others)
