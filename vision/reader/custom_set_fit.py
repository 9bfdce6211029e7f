"""Fit the correction for a custom set: multinomial logistic regression on the output of the shipped pip classifier.

It is the mean of two that err differently: one weighs what the half network says, the other small pictures of the
halves in colour beside it, which no network for all sets can use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.geometry.odds import softmax
from vision.geometry.poses import jittered
from vision.image.pyramid import build_pyramid
from vision.networks.pip_classifier import PipClassifier
from vision.networks.pip_features import PICTURE_FEATURES, PipFeatures
from vision.networks.tile_sheet import TileSheet, disturbed
from vision.reader.custom_set import CustomSet, shipped_logs, weighted_features

_VIEWS = 60
_FOLDS = 4
_STEPS = 80
# The weights of pictures are kept smaller, for there are three times as many; a place that hardly differs from view to
# view is not made more of than that, in the scale of `vision.networks.patches.contrasts`.
_PICTURES_RESTRAINED, _LEAST_SPREAD = 3.0, 0.02
# How wrong the poses are through which halves are seen, in sides: as `synthetic.training` teaches.
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


# Where pictures are weighed too, believing the head less than in full reads worse. The last hardly goes away from it:
# for sets that it reads well.
RESTRAINTS: tuple[Restraint, ...] = (
    Restraint(0.001, 1.0),
    Restraint(0.01, 1.0),
    Restraint(0.1, 1.0),
)
# For sets of signs that it does not know at all. To believe it by 0.3 misreads as many (51 of 1730 halves of ten such
# sets instead of 52), and weights that are kept ten times as small 61.
RESTRAINTS_OF_SIGNS: tuple[Restraint, ...] = (Restraint(0.0001, 0.0), Restraint(0.001, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """The halves of tiles as several pictures may show them.

    Attributes:
        seen: Shape (V, N, 2, F + 1), what an own set weighs of both halves of N tiles in V views.
        logs: Shape (V, N, 2, K), the shipped head's log probabilities.
        pictures: How many of what is weighed, the first, are places of pictures.
    """

    seen: NDArray[np.float64]
    logs: NDArray[np.float64]
    pictures: int = 0

    def of(self, tiles: NDArray[np.bool_]) -> Views:
        """Return the views of some tiles; *tiles* has shape (N,)."""
        return Views(self.seen[:, tiles], self.logs[:, tiles], self.pictures)

    def up_to(self, max_pips: int) -> Views:
        """Return the same for the numbers of a smaller set."""
        return Views(self.seen, self.logs[..., : max_pips + 1], self.pictures)

    def without_pictures(self) -> Views:
        """Return what the network says alone: fitted in a fifth of the time."""
        return Views(self.seen[..., self.pictures :], self.logs)


def look(
    sheet: TileSheet,
    halves: PipFeatures,
    head: PipClassifier,
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
        levels = build_pyramid(image)
        described = halves.describe_with_pictures(levels, jittered(rng, poses, _SPREAD) if view else poses)
        by_tile = described.reshape(2, sheet.count, -1).swapaxes(0, 1).reshape(2 * sheet.count, -1)
        seen.append(weighted_features(head, by_tile).reshape(sheet.count, 2, -1))
        logs.append(shipped_logs(head, by_tile, max_pips + 1).reshape(sheet.count, 2, -1))
    return Views(np.array(seen), np.array(logs), PICTURE_FEATURES)


def fit(views: Views, pips: NDArray[np.int64], restraint: Restraint) -> CustomSet:
    """Return what fits tiles best, with weights that are kept small.

    Numbers that none of the tiles shows get no weights: nothing is known of how they look.

    Args:
        views: Of the tiles.
        pips: Shape (N, 2), what they show.
        restraint: How small weights are kept.
    """
    seen = views.seen.reshape(-1, views.seen.shape[3]).astype(np.float32)
    logs = (restraint.believed * views.logs.reshape(len(seen), -1)).astype(np.float32)
    shown = np.tile(pips.ravel(), len(views.seen))
    count = views.pictures
    weights = _fitted(seen[:, count:], logs, shown, restraint.strength)
    if count:
        middle, spread = seen[:, :count].mean(axis=0), seen[:, :count].std(axis=0) + _LEAST_SPREAD
        alike = np.concatenate([(seen[:, :count] - middle) / spread, seen[:, count:]], axis=1)
        both = _fitted(alike, logs, shown, _PICTURES_RESTRAINED * restraint.strength)
        both[:count] /= spread[:, None]
        both[-1] -= middle @ both[:count]
        weights = (np.pad(weights, ((count, 0), (0, 0))) + both) / 2
    return CustomSet(weights, restraint.believed)


def _fitted(
    seen: NDArray[np.float32], logs: NDArray[np.float32], shown: NDArray[np.int64], strength: float
) -> NDArray[np.float64]:
    """Return weights, shape (F, K).

    Args:
        seen: Shape (M, F), what is weighed.
        logs: Shape (M, K), what it is added to.
        shown: Shape (M,), the numbers.
        strength: How strongly weights are kept small.
    """
    numbers = np.arange(logs.shape[1])
    wanted, known = (shown[:, None] == numbers).astype(np.float32), np.isin(numbers, shown)
    # Newton's method with a bound of the curvature (Böhning 1992) that stays the same, and Nesterov's momentum.
    curvature = 0.5 * (seen.T @ seen).astype(np.float64) / len(seen)
    step = np.linalg.inv(curvature + strength * np.eye(seen.shape[1]))
    weights = ahead = np.zeros((seen.shape[1], len(numbers)))
    pace = 1.0
    for _ in range(_STEPS):
        missed = wanted - softmax(np.asarray(logs + seen @ ahead.astype(np.float32), np.float64))
        stepped = ahead + step @ (seen.T @ missed / len(seen) - strength * ahead) * known
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead, weights, pace = stepped + (pace - 1) / faster * (stepped - weights), stepped, faster
    return weights


def held_out(
    views: Views, pips: NDArray[np.int64], restraint: Restraint, *, told: Callable[[float], object] = lambda _: None
) -> NDArray[np.float64]:
    """Return the probabilities of the halves of each tile by what was fitted on others, shape (V, N, 2, K).

    Args:
        views: Of the tiles.
        pips: Shape (N, 2), what they show.
        restraint: How small weights are kept.
        told: Is told which share is done before each part of the tiles.
    """
    chances = np.empty_like(views.logs)
    fold = np.arange(len(pips)) % _FOLDS
    for one in range(_FOLDS):
        told(one / _FOLDS)
        if not (fold == one).any():
            continue
        chances[:, fold == one] = read_by(views.of(fold == one), views.of(fold != one), pips[fold != one], restraint)
    return chances


def read_by(views: Views, learned: Views, pips: NDArray[np.int64], restraint: Restraint) -> NDArray[np.float64]:
    """Return the probabilities of the halves of tiles by what was fitted on others, shape (V, N, 2, K).

    Args:
        views: Of the tiles that are read.
        learned: Of those that are fitted on.
        pips: Shape (M, 2), what these show.
        restraint: How small weights are kept.
    """
    own = fit(learned, pips, restraint)
    outputs = own.believed * views.logs + views.seen @ own.weights
    return softmax(outputs.reshape(-1, outputs.shape[3])).reshape(outputs.shape)


def best_restraint(
    views: Views,
    pips: NDArray[np.int64],
    tried: Sequence[Restraint] = RESTRAINTS,
    *,
    told: Callable[[float], object] = lambda _: None,
) -> Restraint:
    """Return the one by which tiles are read best that were not fitted on: their likelihood is highest.

    Args:
        views: Of the tiles.
        pips: Shape (N, 2), what they show.
        tried: What is compared.
        told: Is told, of each of these anew, which share is done.
    """
    return min(tried, key=lambda one: surprise(held_out(views, pips, one, told=told), pips))


def surprise(chances: NDArray[np.float64], pips: NDArray[np.int64]) -> float:
    """Return the mean of -log of what the true numbers were given; *chances* has shape (V, N, 2, K)."""
    return float(surprises(chances, pips).mean())


def surprises(chances: NDArray[np.float64], pips: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return that mean of each tile, shape (N,)."""
    given = np.take_along_axis(chances, np.broadcast_to(pips, chances.shape[:3])[..., None], axis=3)
    return np.asarray(-np.log(given + 1e-9).mean(axis=(0, 2, 3)))


def misread(chances: NDArray[np.float64], pips: NDArray[np.int64]) -> float:
    """Return the share of halves of which another number is likeliest; *chances* has shape (V, N, 2, K)."""
    return float((chances.argmax(axis=3) != pips).mean())
