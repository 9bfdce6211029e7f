"""Pip features of tile halves on rendered tables, to train the pip classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synthetic.training.collect import Networks
from synthetic.training.tables import draw_learning_table
from synthetic.training.truth import corner_errors, with_half_0_first
from vision.geometry.poses import Poses, jittered
from vision.image.pyramid import build_pyramid
from vision.networks.refiner import UP
from vision.reader.candidates import Candidates

# Spread of the pose errors of sampled halves, in sides. Halves are also sampled with the reader's own poses, whose
# largest corner error has a median of 0.05 sides and a 99th percentile of 0.17.
_PIP_SPREADS = (0.03, 0.1)
# Halves of larger sets are sampled twice as often, because their numbers are rare.
_COMMON_SETS = 9
_WIDTH_PX = (640, 1400)
# Range of the short side of tiles, relative to the width of the picture.
_SIDES = (0.016, 0.085)
_READER_ROUNDS = 2
# Maximum corner error, in sides, of a refined pose that matches a true tile.
_FOUND = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class PipSamples:
    """Training samples of the pip classifier.

    Attributes:
        features: Pip features of each half, shape (N, F), float16.
        pips: Number of pips of each half, shape (N,).
    """

    features: NDArray[np.float16]
    pips: NDArray[np.int64]


def draw_samples(rng: np.random.Generator, networks: Networks, *, max_pips: int) -> PipSamples:
    """Render a random table and return its samples.

    Args:
        rng: Random generator.
        networks: Networks that detect tiles and extract pip features.
        max_pips: Highest number of the set.
    """
    width = int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px)
    levels = build_pyramid(table.image)
    found = networks.detector.find(levels).poses
    refined, _ = Candidates(networks.detector, networks.refiner).refined(levels, found, rounds=_READER_ROUNDS)
    spreads = _PIP_SPREADS * (1 if max_pips <= _COMMON_SETS else 2)
    poses, tiles = _draw_views(rng, table.poses[table.faces == UP], refined, spreads)
    return PipSamples(networks.halves.describe(levels, poses).astype(np.float16), table.pips[tiles].T.ravel())


def _draw_views(
    rng: np.random.Generator, truth: Poses, refined: Poses, spreads: tuple[float, ...]
) -> tuple[Poses, NDArray[np.intp]]:
    """Return poses to sample true tiles with, shape (N, 6), and the index of the tile of each pose.

    Each tile has a jittered pose for each of *spreads*, and one of the *refined* poses that match it, if any.
    """
    error, nearest, target = corner_errors(refined, truth)
    found = rng.permutation(np.nonzero(error < _FOUND)[0])
    found = found[np.unique(nearest[found], return_index=True)[1]]
    matched = with_half_0_first(refined[found], target[found], truth[nearest[found]])
    views = [jittered(rng, truth, spread) for spread in spreads]
    tiles = np.arange(len(truth))
    return np.concatenate([*views, matched]), np.concatenate([*[tiles] * len(spreads), nearest[found]])
