"""Collect halves of rendered tables that are in doubt, sampled larger than for the pip features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from synthetic.training.pip_features.patches import draw_highest
from synthetic.training.processes import concatenated, drawn_by_processes
from synthetic.training.tables import draw_learning_table
from vision.arrays import Image
from vision.geometry.poses import jittered
from vision.image.pyramid import build_pyramid
from vision.networks.patches import PatchGrid, half_grid, sample
from vision.networks.pip_classifier import PipClassifier, load_pip_classifier
from vision.networks.pip_features import PipFeatures, load_pip_features
from vision.networks.refiner import UP

# More is kept than the network sees (48 samples for 1.2 sides), so that each can be moved a little in training.
SIZE, SPAN = 64, 1.5
_WIDTH_PX = (480, 760)
# Short sides of tiles: from where pips can be counted at all; the largest are this share of the picture's width.
_SIDES_PX, _LARGEST_SHARE = (14.0, 80.0), 0.12
_SPREAD = 0.045
# Halves less sure than this, or misread, are learned from; of the others one in 25, so that they are not forgotten.
_SURE, _SURE_KEPT = 0.995, 0.04
# How often the sure ones are drawn in all; and each of those that nobody could count, beside one that somebody could.
_SURE_DRAWN, _ILLEGIBLE_DRAWN = 0.15, 0.4


@dataclass(frozen=True, slots=True, eq=False)
class DoubtfulHalves:
    """Halves as they are seen through slightly wrong poses.

    Attributes:
        patches: Shape (N, SIZE * SIZE, 3), BGR.
        pips: Shape (N,).
        doubtful: Shape (N,), whether one look left doubt.
        legible: Shape (N,), whether a person could count them.
    """

    patches: Image
    pips: NDArray[np.int64]
    doubtful: NDArray[np.bool_]
    legible: NDArray[np.bool_]

    def chances(self) -> NDArray[np.float64]:
        """Return how often each is drawn in training, shape (N,), adding to 1."""
        sure = (~self.doubtful).astype(np.float64)
        unsure = self.doubtful * np.where(self.legible, 1.0, _ILLEGIBLE_DRAWN)
        shares = (sure, _SURE_DRAWN), (unsure, 1 - _SURE_DRAWN)
        chances = sum((share * which / max(which.sum(), 1.0) for which, share in shares), np.zeros(len(sure)))
        return np.asarray(chances / chances.sum())


def doubtful_grid(half: int) -> PatchGrid:
    """Return the grid of half 0 or 1 that `DoubtfulHalves` are sampled with."""
    return half_grid(half, size=SIZE, span=SPAN)


def draw_doubtful(seed: int, scenes: int, jobs: int, progress: Callable[[float], None]) -> DoubtfulHalves:
    """Return the doubtful halves of rendered tables, the same for the same seed whatever the number of processes."""
    return concatenated(list(drawn_by_processes(partial(doubtful_of_table, seed), scenes, jobs, progress)))


def doubtful_of_table(seed: int, index: int) -> DoubtfulHalves:
    """Return the doubtful halves of one rendered table, and a few others."""
    rng = np.random.default_rng([seed, index])
    max_pips, width = draw_highest(rng), int(rng.integers(*_WIDTH_PX))
    sides_px = (_SIDES_PX[0], min(_SIDES_PX[1], width * _LARGEST_SHARE))
    table = draw_learning_table(
        rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px, only_legible=False
    )
    levels, pips, legible = build_pyramid(table.image), table.pips.T.ravel(), table.legible.T.ravel()
    seen = jittered(rng, table.poses[table.faces == UP], _SPREAD)
    halves, head = _first_look()
    said = head.probabilities(halves.describe(levels, seen))
    doubtful = (said.max(axis=1, initial=0.0) < _SURE) | (said.argmax(axis=1) != pips)
    kept = doubtful | (rng.random(len(pips)) < _SURE_KEPT)
    patches = np.concatenate([sample(levels, seen, doubtful_grid(half)) for half in (0, 1)])
    return DoubtfulHalves(patches[kept], pips[kept], doubtful[kept], legible[kept])


@cache
def _first_look() -> tuple[PipFeatures, PipClassifier]:
    """Return what looks at halves first; each process has its own."""
    return load_pip_features(), load_pip_classifier()
