"""Tests of the halves that train the pip features and the hard-case classifier."""

from __future__ import annotations

import numpy as np
import pytest

from lab.training import samples
from lab.training.tables import concatenated
from vision.networks.network import contrasts


def test_doubtful_halves_are_sampled_more_often_and_illegible_ones_less() -> None:
    doubtful, legible = np.array([False, False, True, True, True]), np.array([True, True, True, True, False])
    chances = samples.DoubtfulHalves(
        np.zeros((5, samples.DOUBTFUL_SIZE * samples.DOUBTFUL_SIZE, 3), np.uint8),
        np.zeros(5, np.int64),
        doubtful,
        legible,
    ).chances()
    assert chances.sum() == pytest.approx(1)
    assert chances[:2].sum() == pytest.approx(0.15)
    assert chances[4] == pytest.approx(0.4 * chances[2])


@pytest.mark.slow
def test_a_blank_half_has_less_contrast_than_one_with_many_pips() -> None:
    # Compare the centres of halves, without bar and rim.
    drawn = concatenated([samples.draw_table_halves(5, index) for index in range(3)])
    assert drawn.patches.shape[1:] == (samples.PATCH_SIZE * samples.PATCH_SIZE, 3)
    inner = slice(samples.PATCH_SIZE // 4, -samples.PATCH_SIZE // 4)
    contrast = np.abs(contrasts(drawn.patches, samples.training_grid(0))[:, 0, inner, inner]).mean(axis=(1, 2))
    assert np.median(contrast[drawn.pips == 0]) < 0.5 * np.median(contrast[drawn.pips >= 5])


@pytest.mark.slow
def test_hard_patches_follow_from_the_seed_and_are_mostly_doubtful() -> None:
    first, other = (concatenated([samples.doubtful_of_table(seed, index) for index in range(4)]) for seed in (3, 4))
    assert first.patches.shape[1:] == (samples.DOUBTFUL_SIZE * samples.DOUBTFUL_SIZE, 3)
    assert len(first.patches) == len(first.pips) == len(first.doubtful) == len(first.legible) > 0
    assert first.doubtful.mean() > 0.5
    assert first.pips.tolist() != other.pips.tolist()
