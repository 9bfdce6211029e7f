"""Patches of the halves of rendered tables, for the training of the pip features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from synthetic.training.processes import concatenated, drawn_by_processes
from synthetic.training.tables import draw_learning_table
from vision.arrays import Image
from vision.geometry.poses import jittered
from vision.image.pyramid import build_pyramid
from vision.networks.patches import PatchGrid, half_grid, sample
from vision.networks.refiner import UP

# More is kept than the network sees (32 samples for 1.2 sides), so that each can be moved a little in training.
SIZE, SPAN = 44, 1.5
# High numbers, which few sets have, are harder to tell apart: they are drawn more often than they lie on tables.
_SETS_DRAWN = {6: 0.27, 9: 0.15, 12: 0.23, 15: 0.23, 18: 0.12}
_WIDTH_PX = (560, 1100)
# Short sides of tiles over the width of the picture.
_SIDES = (0.016, 0.085)
# How wrong the poses are through which halves are seen, in sides.
_SPREADS = (0.045, 0.045, 0.07)


@dataclass(frozen=True, slots=True, eq=False)
class HalfPatches:
    """Halves as they are seen through slightly wrong poses.

    Attributes:
        patches: Shape (N, SIZE * SIZE, 3), BGR.
        pips: Shape (N,).
    """

    patches: Image
    pips: NDArray[np.int64]


def training_grid(half: int) -> PatchGrid:
    """Return the grid of half 0 or 1 that `HalfPatches` are sampled with."""
    return half_grid(half, size=SIZE, span=SPAN)


def draw_halves(seed: int, scenes: int, jobs: int, progress: Callable[[float], None]) -> HalfPatches:
    """Return the halves of rendered tables, the same for the same seed whatever the number of processes."""
    return concatenated(list(drawn_by_processes(partial(draw_table_halves, seed), scenes, jobs, progress)))


def draw_table_halves(seed: int, index: int) -> HalfPatches:
    """Return the halves of one rendered table."""
    rng = np.random.default_rng([seed, index])
    max_pips, width = draw_highest(rng), int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = draw_learning_table(rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px)
    levels = build_pyramid(table.image)
    views = [jittered(rng, table.poses[table.faces == UP], spread) for spread in _SPREADS]
    patches = [sample(levels, seen, training_grid(half)) for seen in views for half in (0, 1)]
    return HalfPatches(np.concatenate(patches), np.tile(table.pips.T.ravel(), len(views)))


def draw_highest(rng: np.random.Generator) -> int:
    """Return the highest number of the set on a table."""
    return int(rng.choice(list(_SETS_DRAWN), p=list(_SETS_DRAWN.values())))
