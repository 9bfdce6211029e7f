"""Fit the addition for one set of tiles: multinomial logistic regression upon what the shipped pips head says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.halves import HalfNetwork
from vision.heads import Head
from vision.own_set import OwnSet, looked_at, shipped_logs, softmax
from vision.poses import moved
from vision.pyramid import build_pyramid
from vision.tile_sheet import TileSheet, disturbed

Pips = NDArray[np.int64]
Numbers = NDArray[np.float64]

_VIEWS = 40
_FOLDS = 4
_STEPS = 80
# How wrong the poses are through which halves are seen, in sides: as `vision.training` teaches.
_SPREAD = 0.05


@dataclass(frozen=True, slots=True)
class Restraint:
    """How far an own set may go away from the shipped head.

    Attributes:
        strength: How strongly its weights are kept small.
        believed: How far the shipped head's log probabilities count, 0 to 1.
    """

    strength: float
    believed: float


# The last hardly goes away from it: for sets that it reads well.
RESTRAINTS = (
    Restraint(0.001, 1.0),
    Restraint(0.001, 0.6),
    Restraint(0.01, 1.0),
    Restraint(0.01, 0.6),
    Restraint(0.1, 1.0),
)


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """The halves of tiles as several pictures may show them.

    Attributes:
        seen: Shape (V, N, 2, F + 1), what an own set weighs of both halves of N tiles in V views.
        logs: Shape (V, N, 2, K), the shipped head's log probabilities.
    """

    seen: Numbers
    logs: Numbers

    def of(self, tiles: NDArray[np.bool_]) -> Views:
        """Return the views of some tiles; *tiles* has shape (N,)."""
        return Views(self.seen[:, tiles], self.logs[:, tiles])


def look(
    sheet: TileSheet,
    halves: HalfNetwork,
    head: Head,
    max_pips: int,
    rng: np.random.Generator,
    views: int = _VIEWS,
    *,
    told: Callable[[float], object] = lambda _: None,
) -> Views:
    """Return a sheet's tiles as they are, and in other light, at other sizes, through poses that are a little wrong.

    Args:
        sheet: The tiles.
        halves: What looks at them.
        head: The shipped pips head.
        max_pips: The highest number of the set.
        rng: Where the light comes from.
        views: How many times they are looked at.
        told: Is told which share is done before each.
    """
    seen, logs = [], []
    for view in range(views):
        told(view / views)
        image, poses = disturbed(sheet, rng) if view else (sheet.image, sheet.poses)
        described = halves.describe(build_pyramid(image), moved(rng, poses, _SPREAD) if view else poses)
        by_tile = described.reshape(2, sheet.count, -1).swapaxes(0, 1).reshape(2 * sheet.count, -1)
        seen.append(looked_at(head, by_tile).reshape(sheet.count, 2, -1))
        logs.append(shipped_logs(head, by_tile, max_pips + 1).reshape(sheet.count, 2, -1))
    return Views(np.array(seen), np.array(logs))


def fit(views: Views, pips: Pips, restraint: Restraint) -> OwnSet:
    """Return what fits tiles best, with weights that are kept small.

    Numbers that none of the tiles shows get no weights: nothing is known of how they look.

    Args:
        views: Of the tiles.
        pips: Shape (N, 2), what they show.
        restraint: How small weights are kept.
    """
    seen = views.seen.reshape(-1, views.seen.shape[3])
    logs = restraint.believed * views.logs.reshape(len(seen), -1)
    shown = np.tile(pips.ravel(), len(views.seen))
    numbers = np.arange(logs.shape[1])
    wanted, known = (shown[:, None] == numbers).astype(np.float64), np.isin(numbers, shown)
    # Newton's method with a bound of the curvature (Böhning 1992) that stays the same, and Nesterov's momentum.
    step = np.linalg.inv(0.5 * seen.T @ seen / len(seen) + restraint.strength * np.eye(seen.shape[1]))
    weights = ahead = np.zeros((seen.shape[1], len(numbers)))
    pace = 1.0
    for _ in range(_STEPS):
        missed = wanted - softmax(logs + seen @ ahead)
        stepped = ahead + step @ (seen.T @ missed / len(seen) - restraint.strength * ahead) * known
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead, weights, pace = stepped + (pace - 1) / faster * (stepped - weights), stepped, faster
    return OwnSet(weights, restraint.believed)


def held_out(views: Views, pips: Pips, restraint: Restraint) -> Numbers:
    """Return the probabilities of the halves of each tile by what was fitted on others, shape (V, N, 2, K)."""
    chances = np.empty_like(views.logs)
    fold = np.arange(len(pips)) % _FOLDS
    for one in range(_FOLDS):
        if not (fold == one).any():
            continue
        own = fit(views.of(fold != one), pips[fold != one], restraint)
        kept_back = views.of(fold == one)
        outputs = own.believed * kept_back.logs + kept_back.seen @ own.weights
        chances[:, fold == one] = softmax(outputs.reshape(-1, outputs.shape[3])).reshape(outputs.shape)
    return chances


def best_restraint(views: Views, pips: Pips, tried: Sequence[Restraint] = RESTRAINTS) -> Restraint:
    """Return the one by which tiles are read best that were not fitted on: their likelihood is highest."""
    return min(tried, key=lambda one: surprise(held_out(views, pips, one), pips))


def surprise(chances: Numbers, pips: Pips) -> float:
    """Return the mean of -log of what the true numbers were given; *chances* has shape (V, N, 2, K)."""
    given = np.take_along_axis(chances, np.broadcast_to(pips, chances.shape[:3])[..., None], axis=3)
    return float(-np.log(given + 1e-9).mean())


def misread(chances: Numbers, pips: Pips) -> float:
    """Return the share of halves of which another number is likeliest; *chances* has shape (V, N, 2, K)."""
    return float((chances.argmax(axis=3) != pips).mean())
