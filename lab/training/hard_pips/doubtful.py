"""Collect difficult halves of rendered tables, sampled larger than for the pip features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from lab.training.pip_features.patches import draw_highest
from lab.training.processes import concatenated, draw_in_processes
from lab.training.tables import draw_learning_table
from vision.arrays import Image
from vision.image.picture import build_pyramid
from vision.networks.network import (
    UP,
    PatchGrid,
    PipClassifier,
    PipFeatures,
    half_grid,
    load_pip_classifier,
    load_pip_features,
    sample,
)
from vision.poses import jittered

# Patches are larger than the network's input (48 samples for 1.2 sides), to allow random shifts in training.
SIZE, SPAN = 64, 1.5
_WIDTH_PX = (480, 760)
# Range of the short side of tiles, from the size at which pips can be counted, and its limit as a share of the width.
_SIDES_PX, _LARGEST_SHARE = (14.0, 80.0), 0.12
_SPREAD = 0.045
# Train on halves that are misread or below this confidence, and on 4 % of the others to retain them.
_SURE, _SURE_KEPT = 0.995, 0.04
# Total probability of confident halves in training, and relative probability of a doubtful half that is illegible.
_SURE_DRAWN, _ILLEGIBLE_DRAWN = 0.15, 0.4


@dataclass(frozen=True, slots=True, eq=False)
class DoubtfulHalves:
    """Halves sampled with slightly wrong poses.

    Attributes:
        patches: BGR, shape (N, SIZE * SIZE, 3).
        pips: Number of pips of each half, shape (N,).
        doubtful: True for halves that the pip classifier misreads or is unsure about, shape (N,).
        legible: True for halves whose pips a person could count, shape (N,).
    """

    patches: Image
    pips: NDArray[np.int64]
    doubtful: NDArray[np.bool_]
    legible: NDArray[np.bool_]

    def chances(self) -> NDArray[np.float64]:
        """Return the probability of each half in training, shape (N,). The sum is 1."""
        sure = (~self.doubtful).astype(np.float64)
        unsure = self.doubtful * np.where(self.legible, 1.0, _ILLEGIBLE_DRAWN)
        shares = (sure, _SURE_DRAWN), (unsure, 1 - _SURE_DRAWN)
        chances = sum((share * which / max(which.sum(), 1.0) for which, share in shares), np.zeros(len(sure)))
        return np.asarray(chances / chances.sum())


def doubtful_grid(half: int) -> PatchGrid:
    """Return the sampling grid of `DoubtfulHalves` for half 0 or 1."""
    return half_grid(half, size=SIZE, span=SPAN)


def draw_doubtful(seed: int, scenes: int, jobs: int, progress: Callable[[float], None]) -> DoubtfulHalves:
    """Return difficult halves of rendered tables, which depend on the seed but not on the number of processes."""
    return concatenated(list(draw_in_processes(partial(doubtful_of_table, seed), scenes, jobs, progress)))


def doubtful_of_table(seed: int, index: int) -> DoubtfulHalves:
    """Return the difficult halves of a rendered table, and a few others."""
    rng = np.random.default_rng([seed, index])
    max_pips, width = draw_highest(rng), int(rng.integers(*_WIDTH_PX))
    sides_px = (_SIDES_PX[0], min(_SIDES_PX[1], width * _LARGEST_SHARE))
    table = draw_learning_table(
        rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px, only_legible=False
    )
    levels, pips, legible = build_pyramid(table.image), table.pips.T.ravel(), table.legible.T.ravel()
    poses = jittered(rng, table.poses[table.faces == UP], _SPREAD)
    halves, head = _load_pip_networks()
    probabilities = head.probabilities(halves.describe(levels, poses))
    doubtful = (probabilities.max(axis=1, initial=0.0) < _SURE) | (probabilities.argmax(axis=1) != pips)
    selected = doubtful | (rng.random(len(pips)) < _SURE_KEPT)
    patches = np.concatenate([sample(levels, poses, doubtful_grid(half)) for half in (0, 1)])
    return DoubtfulHalves(patches[selected], pips[selected], doubtful[selected], legible[selected])


@cache
def _load_pip_networks() -> tuple[PipFeatures, PipClassifier]:
    """Load the shipped pip features and pip classifier, once per process."""
    return load_pip_features(), load_pip_classifier()
