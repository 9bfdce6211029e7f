"""Patches of tile halves on rendered tables, to train the pip features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lab.training.processes import concatenated, draw_in_processes
from lab.training.tables import draw_learning_table
from vision.arrays import Image
from vision.image.picture import build_pyramid
from vision.networks.network import UP, PatchGrid, half_grid, sample
from vision.poses import jittered

# Patches are larger than the network's input (32 samples for 1.2 sides), to allow random shifts in training.
SIZE, SPAN = 44, 1.5
# Probability of each highest number. High numbers are harder to distinguish, so they are overrepresented.
_SETS_DRAWN = {6: 0.27, 9: 0.15, 12: 0.23, 15: 0.23, 18: 0.12}
_WIDTH_PX = (560, 1100)
# Range of the short side of tiles, relative to the width of the picture.
_SIDES = (0.016, 0.085)
# Spread of the pose errors of sampled halves, in sides.
_SPREADS = (0.045, 0.045, 0.07)


@dataclass(frozen=True, slots=True, eq=False)
class HalfPatches:
    """Halves sampled with slightly wrong poses.

    Attributes:
        patches: BGR, shape (N, SIZE * SIZE, 3).
        pips: Number of pips of each half, shape (N,).
    """

    patches: Image
    pips: NDArray[np.int64]


def training_grid(half: int) -> PatchGrid:
    """Return the sampling grid of `HalfPatches` for half 0 or 1."""
    return half_grid(half, size=SIZE, span=SPAN)


def draw_halves(seed: int, scenes: int, jobs: int, progress: Callable[[float], None]) -> HalfPatches:
    """Return the halves on rendered tables, which depend on the seed but not on the number of processes."""
    return concatenated(list(draw_in_processes(partial(draw_table_halves, seed), scenes, jobs, progress)))


def draw_table_halves(seed: int, index: int) -> HalfPatches:
    """Return the halves of a rendered table, each sampled with several poses."""
    rng = np.random.default_rng([seed, index])
    max_pips, width = draw_highest(rng), int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px)
    levels = build_pyramid(table.image)
    views = [jittered(rng, table.poses[table.faces == UP], spread) for spread in _SPREADS]
    patches = [sample(levels, poses, training_grid(half)) for poses in views for half in (0, 1)]
    return HalfPatches(np.concatenate(patches), np.tile(table.pips.T.ravel(), len(views)))


def draw_highest(rng: np.random.Generator) -> int:
    """Return a random highest number of the set."""
    return int(rng.choice(list(_SETS_DRAWN), p=list(_SETS_DRAWN.values())))
