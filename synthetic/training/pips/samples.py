"""Pip features of the halves of rendered tables, for the training of the pip classifier."""

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

# Halves are seen through poses wrong by so much, and through those that the reader itself finds: half of those are
# wrong by less than 0.05 sides at their worst corner, one in a hundred by more than 0.17.
_PIP_SPREADS = (0.03, 0.1)
# Sets above this show numbers that few tables have: their halves are seen twice as often.
_COMMON_SETS = 9
_WIDTH_PX = (640, 1400)
# Short sides of tiles over the width of the picture.
_SIDES = (0.016, 0.085)
_READER_ROUNDS = 2
# What was refined to within this of a tile, in sides, is that tile.
_FOUND = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class PipSamples:
    """The samples from which the head learns.

    Attributes:
        features: What the half network says, shape (N, F) float16.
        pips: Shape (N,).
    """

    features: NDArray[np.float16]
    pips: NDArray[np.int64]


def draw_samples(rng: np.random.Generator, networks: Networks, *, max_pips: int) -> PipSamples:
    """Render one random table and return its samples.

    Args:
        rng: Where all chance comes from.
        networks: What finds tiles, and what looks at halves.
        max_pips: The highest number of the set.
    """
    width = int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px)
    levels = build_pyramid(table.image)
    found = networks.detector.find(levels).poses
    refined, _ = Candidates(networks.detector, networks.refiner).refined(levels, found, rounds=_READER_ROUNDS)
    spreads = _PIP_SPREADS * (1 if max_pips <= _COMMON_SETS else 2)
    seen, which = _views_of_halves(rng, table.poses[table.faces == UP], refined, spreads)
    return PipSamples(networks.halves.describe(levels, seen).astype(np.float16), table.pips[which].T.ravel())


def _views_of_halves(
    rng: np.random.Generator, truth: Poses, refined: Poses, spreads: tuple[float, ...]
) -> tuple[Poses, NDArray[np.intp]]:
    """Return poses through which the halves of true tiles are seen, shape (N, 6), and of which tile each is.

    They are the true ones moved once by each of *spreads*, and one for each tile that *refined* found.
    """
    error, nearest, target = corner_errors(refined, truth)
    found = rng.permutation(np.nonzero(error < _FOUND)[0])
    found = found[np.unique(nearest[found], return_index=True)[1]]
    seen = with_half_0_first(refined[found], target[found], truth[nearest[found]])
    views = [jittered(rng, truth, spread) for spread in spreads]
    each = np.arange(len(truth))
    return np.concatenate([*views, seen]), np.concatenate([*[each] * len(spreads), nearest[found]])
