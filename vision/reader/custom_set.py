"""Pip classifier for a custom tile set: a small correction to the built-in classifier, and its fit.

The correction is fitted by multinomial logistic regression on the outputs of the built-in classifier. It is the mean of
two regressions with different errors. One uses only pip features. The other also uses small colour images of the
halves, which a network for all sets cannot use.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.arrays import softmax
from vision.image.picture import build_pyramid
from vision.networks.network import FEATURES, PICTURE_FEATURES, PipClassifier, PipFeatures
from vision.networks.tile_sheet import TileSheet, simulate_view
from vision.poses import jittered

# Lower limit for probabilities of the built-in classifier, which may exclude the true number on an unknown set.
_MIN_CHANCE = 1e-6
_NEVER = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CustomSet:
    """Linear correction to the log probabilities of the built-in classifier.

    Attributes:
        weights: Shape (F + 1, K), for the numbers 0 to K - 1. The last row is the bias.
        believed: Weight of the built-in classifier's log probabilities, 0 to 1.
    """

    weights: NDArray[np.float64]
    believed: float

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or not 7 <= self.weights.shape[1] <= 19:
            raise ValueError(f"weights must have shape (F + 1, 7 to 19), but got {self.weights.shape}")

    @property
    def max_pips(self) -> int:
        """Highest number in the set."""
        return int(self.weights.shape[1]) - 1

    def probabilities(self, head: PipClassifier, described: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each number for halves, shape (N, 19). Numbers above the highest are about 0.

        Args:
            head: Built-in pip classifier.
            described: Features from `PipFeatures.describe_with_pictures`, shape (N, F).
        """
        count = self.weights.shape[1]
        correction = weighted_features(head, described) @ self.weights
        outputs = self.believed * builtin_logs(head, described, count) + correction
        chances = np.full((len(described), 19), _NEVER)
        chances[:, :count] = softmax(outputs)
        return chances


@dataclass(frozen=True, slots=True)
class RecordedSet:
    """A custom tile set in use: what was learned of it, without the pictures of its tiles.

    Attributes:
        max_pips: Highest number of pips on a half, 6 to 18.
        reader: Checksum of the models for which the weights and exemplars are valid.
        weights: Weights of `CustomSet` as float16 in base64, row by row. "" if the shipped reader is used.
        believed: Weight of the shipped classifier relative to *weights*, 0 to 1.
        exemplars: Exemplars of corrected tiles, as text. "" if there are none.
    """

    max_pips: int
    reader: str
    weights: str
    believed: float
    exemplars: str = ""


def weighted_features(head: PipClassifier, described: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the inputs of the linear correction, shape (N, F + 1).

    They are the contrast images of *described*, shape (N, F), then its pip features standardised as for *head*, then 1.
    """
    return np.concatenate([described_inputs(head, described), np.ones((len(described), 1))], axis=1)


def described_inputs(head: PipClassifier, described: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return contrast images and standardised pip features of halves, as in `weighted_features`, shape (N, F)."""
    features, images = described[:, : len(head.mean)], described[:, len(head.mean) :]
    return np.concatenate([images, (features - head.mean) / head.scale], axis=1, dtype=np.float64)


def builtin_logs(head: PipClassifier, described: NDArray[np.float32], count: int) -> NDArray[np.float64]:
    """Return the built-in classifier's log probabilities of the numbers below *count*, shape (N, count)."""
    features = described[:, : len(head.mean)]
    return np.log(head.probabilities(features)[:, :count].astype(np.float64) + _MIN_CHANCE)


_VIEWS = 60
_FOLDS = 4
_STEPS = 80
# Factor of the regularisation in the regression with images, which has four times as many weights, and the minimum
# spread by which a pixel is standardised, in the scale of `vision.networks.network.contrasts`.
_PICTURES_RESTRAINED = 3.0
_MIN_SPREAD = 0.02
# Random pose error of the views, in sides, as in `lab.training`.
_SPREAD = 0.05


@dataclass(frozen=True, slots=True)
class Restraint:
    """Regularisation of a custom set.

    Attributes:
        strength: L2 penalty on the weights.
        believed: Weight of the built-in classifier's log probabilities, 0 to 1.
    """

    strength: float
    believed: float


# With images, a weight below 1 for the built-in classifier is worse. The last regularisation stays close to the
# classifier, for sets that it already reads well.
RESTRAINTS: tuple[Restraint, ...] = (
    Restraint(0.001, 1.0),
    Restraint(0.01, 1.0),
    Restraint(0.1, 1.0),
)
# For sets with symbols that the built-in classifier does not know. Of 1730 halves of ten such sets, 52 are misread. A
# weight of 0.3 for the classifier gives 51, and a tenfold penalty 61.
RESTRAINTS_OF_SIGNS: tuple[Restraint, ...] = (Restraint(0.0001, 0.0), Restraint(0.001, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """Simulated views of the halves of tiles.

    Attributes:
        seen: Inputs of the correction for both halves of N tiles in V views, shape (V, N, 2, F + 1).
        logs: Log probabilities of the built-in classifier, shape (V, N, 2, K).
        pictures: Number of leading inputs that are image pixels.
    """

    seen: NDArray[np.float64]
    logs: NDArray[np.float64]
    pictures: int = 0

    def of(self, tiles: NDArray[np.bool_]) -> Views:
        """Return the views of the tiles selected by the mask *tiles*, shape (N,)."""
        return Views(self.seen[:, tiles], self.logs[:, tiles], self.pictures)

    def up_to(self, max_pips: int) -> Views:
        """Return the views restricted to the numbers of a smaller set."""
        return Views(self.seen, self.logs[..., : max_pips + 1], self.pictures)

    def without_pictures(self) -> Views:
        """Return the views with pip features only, which take a fifth of the time to fit."""
        return Views(self.seen[..., self.pictures :], self.logs)


def look(
    sheet: TileSheet,
    halves: PipFeatures,
    head: PipClassifier,
    max_pips: int,
    rng: np.random.Generator,
    views: int = _VIEWS,
    *,
    progress: Callable[[float], object] = lambda _: None,
) -> Views:
    """Return views of a sheet of tiles: the original, then simulated ones.

    The simulated views have different light and sizes, and slightly wrong poses.
    *progress* is called before each view with the fraction done.
    """
    seen, logs = [], []
    for view in range(views):
        progress(view / views)
        image, poses = simulate_view(sheet, rng) if view else (sheet.image, sheet.poses)
        levels = build_pyramid(image)
        described = halves.describe_with_pictures(levels, jittered(rng, poses, _SPREAD) if view else poses)
        by_tile = described.reshape(2, sheet.count, -1).swapaxes(0, 1).reshape(2 * sheet.count, -1)
        seen.append(weighted_features(head, by_tile).reshape(sheet.count, 2, -1))
        logs.append(builtin_logs(head, by_tile, max_pips + 1).reshape(sheet.count, 2, -1))
    return Views(np.array(seen), np.array(logs), PICTURE_FEATURES)


def fit(views: Views, pips: NDArray[np.int64], restraint: Restraint) -> CustomSet:
    """Fit a custom set to tiles.

    Numbers that no tile shows get no weights, because their appearance is unknown.

    Args:
        views: Views of the tiles.
        pips: True numbers of both halves, shape (N, 2).
        restraint: Regularisation.
    """
    seen = views.seen.reshape(-1, views.seen.shape[3]).astype(np.float32)
    logs = (restraint.believed * views.logs.reshape(len(seen), -1)).astype(np.float32)
    shown = np.tile(pips.ravel(), len(views.seen))
    count = views.pictures
    weights = _fitted(seen[:, count:], logs, shown, restraint.strength)
    if count:
        middle, spread = seen[:, :count].mean(axis=0), seen[:, :count].std(axis=0) + _MIN_SPREAD
        same = np.concatenate([(seen[:, :count] - middle) / spread, seen[:, count:]], axis=1)
        both = _fitted(same, logs, shown, _PICTURES_RESTRAINED * restraint.strength)
        both[:count] /= spread[:, None]
        both[-1] -= middle @ both[:count]
        weights = (np.pad(weights, ((count, 0), (0, 0))) + both) / 2
    return CustomSet(weights, restraint.believed)


def _fitted(
    seen: NDArray[np.float32], logs: NDArray[np.float32], shown: NDArray[np.int64], strength: float
) -> NDArray[np.float64]:
    """Fit weights (F, K) of inputs (M, F), added to fixed log probabilities (M, K), with an L2 penalty."""
    numbers = np.arange(logs.shape[1])
    wanted, known = (shown[:, None] == numbers).astype(np.float32), np.isin(numbers, shown)
    # Newton's method with Böhning's fixed bound on the curvature (1992), and Nesterov momentum.
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
    views: Views, pips: NDArray[np.int64], restraint: Restraint, *, progress: Callable[[float], object] = lambda _: None
) -> NDArray[np.float64]:
    """Return cross-validated probabilities of the halves of each tile, shape (V, N, 2, K).

    Args:
        views: Views of the tiles.
        pips: True numbers of both halves, shape (N, 2).
        restraint: Regularisation.
        progress: Called before each fold with the fraction done.
    """
    chances = np.empty_like(views.logs)
    folds = np.arange(len(pips)) % _FOLDS
    for fold in range(_FOLDS):
        progress(fold / _FOLDS)
        held = folds == fold
        if held.any():
            chances[:, held] = read_by(views.of(held), views.of(~held), pips[~held], restraint)
    return chances


def read_by(views: Views, learned: Views, pips: NDArray[np.int64], restraint: Restraint) -> NDArray[np.float64]:
    """Return the probabilities of the halves of tiles after a fit to other tiles, shape (V, N, 2, K).

    Args:
        views: Views of the tiles to read.
        learned: Views of the tiles to fit.
        pips: True numbers of the tiles to fit, shape (M, 2).
        restraint: Regularisation.
    """
    own = fit(learned, pips, restraint)
    outputs = own.believed * views.logs + views.seen @ own.weights
    return softmax(outputs.reshape(-1, outputs.shape[3])).reshape(outputs.shape)


def best_restraint(
    views: Views,
    pips: NDArray[np.int64],
    candidates: Sequence[Restraint] = RESTRAINTS,
    *,
    progress: Callable[[float], object] = lambda _: None,
) -> Restraint:
    """Return the regularisation with the highest cross-validated likelihood.

    Args:
        views: Views of the tiles.
        pips: True numbers of both halves, shape (N, 2).
        candidates: Regularisations to compare.
        progress: Called with the fraction done, from 0 for each regularisation.
    """
    return min(candidates, key=lambda restraint: surprise(held_out(views, pips, restraint, progress=progress), pips))


def surprise(chances: NDArray[np.float64], pips: NDArray[np.int64]) -> float:
    """Return the mean negative log probability of the true numbers. *chances* has shape (V, N, 2, K)."""
    return float(surprises(chances, pips).mean())


def surprises(chances: NDArray[np.float64], pips: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean negative log probability of the true numbers of each tile, shape (N,)."""
    given = np.take_along_axis(chances, np.broadcast_to(pips, chances.shape[:3])[..., None], axis=3)
    return np.asarray(-np.log(given + 1e-9).mean(axis=(0, 2, 3)))


def misread(chances: NDArray[np.float64], pips: NDArray[np.int64]) -> float:
    """Return the fraction of misread halves. *chances* has shape (V, N, 2, K)."""
    return float((chances.argmax(axis=3) != pips).mean())


# Log odds that an exemplar in full effect adds to its number. They exceed those of most misreadings. On nine sets of
# a50bf00b:lab/bench/corrections.py, 9 % of the repeated misreadings remain, and of 2123 other tiles 19 become wrong and
# 22 right. With 4.0 these are 12 %, 10 and 15; with 8.0 they are 8 %, 18 and 15.
_BONUS = 6.0
# Minimum spreads between views of a half, of an image pixel and of a standardised feature.
_MIN_SPREADS = np.repeat((0.02, 0.4), (PICTURE_FEATURES, FEATURES))
# Share of the views of a half that are in reach of its exemplar, and share of those that differ from others too little
# for full effect.
_WITHIN = 0.9
_UNLIKE = 0.2
# Regularisation of the direction that separates a half from others, relative to the spread of views.
_RESTRAINT = 0.1
_FLOOR = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Exemplars:
    """Halves of tiles whose numbers are known. Inputs are those of `custom_set.described_inputs`, D for each half.

    An exemplar affects a half whose features are near its own, and which is on its side of a boundary to others.

    Attributes:
        centers: Mean inputs of the views of each half, shape (N, D).
        spreads: Spreads of the inputs, shape (N, D).
        reaches: Mean square distance of features, in spreads, up to which an exemplar has its full effect, shape (N,).
            It has none beyond twice this distance.
        directions: Directions of the inputs that separate each half from others, shape (N, D).
        bounds: Positions along them from which the effect begins, and is full, shape (N, 2).
        pips: Numbers of the halves, shape (N,).
    """

    centers: NDArray[np.float32]
    spreads: NDArray[np.float32]
    reaches: NDArray[np.float32]
    directions: NDArray[np.float32]
    bounds: NDArray[np.float32]
    pips: NDArray[np.int64]

    @classmethod
    def parse(cls, text: str) -> Exemplars:
        """Parse exemplars written by `format`.

        Raises:
            ValueError: If the text is damaged.
        """
        size = FEATURES + PICTURE_FEATURES
        rows = np.frombuffer(base64.b64decode(text, validate=True), np.float32).reshape(-1, 3 * size + 4)
        centers, spreads, directions, rest = np.split(rows, (size, 2 * size, 3 * size), axis=1)
        pips = rest[:, 3].astype(np.int64)
        if not np.isfinite(rows).all() or not np.isin(pips, range(19)).all():
            raise ValueError("exemplars are out of range")
        return cls(centers, spreads, rest[:, 0], directions, rest[:, 1:3], pips)

    def format(self) -> str:
        """Return the exemplars as float32 in base64, row by row."""
        columns = (self.centers, self.spreads, self.directions, self.reaches[:, None], self.bounds, self.pips[:, None])
        return base64.b64encode(np.concatenate(columns, axis=1, dtype=np.float32).tobytes()).decode()

    def distances(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distance of halves from each exemplar, in its reaches, shape (..., N). *inputs*: (..., D)."""
        features = slice(PICTURE_FEATURES, None)
        offsets = (inputs[..., None, features] - self.centers[:, features]) / self.spreads[:, features]
        return np.asarray((offsets**2).mean(axis=-1) / self.reaches)

    def effects(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the effect of each exemplar, 0 to 1, on halves with inputs of shape (..., D). Shape (..., N)."""
        near, (begins, is_full) = np.clip(2 - self.distances(inputs), 0, 1), self.bounds.T
        return np.asarray(near * np.clip((inputs @ self.directions.T - begins) / (is_full - begins), 0, 1))

    def bonus(self, inputs: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        """Return the log odds added to each number below *count*, for inputs of shape (..., D). Shape (..., count)."""
        shows = self.pips[:, None] == np.arange(count)
        return np.asarray(_BONUS * (self.effects(inputs)[..., None] * shows).max(axis=-2, initial=0.0))

    def corrected(
        self, head: PipClassifier, described: NDArray[np.float32], chances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the probabilities of the numbers of halves, corrected by the exemplars, shape (M, K).

        Args:
            head: Built-in pip classifier.
            described: Features from `PipFeatures.describe_with_pictures`, shape (M, D).
            chances: Probabilities without exemplars, shape (M, K).
        """
        bonus, corrected = self.bonus(described_inputs(head, described), chances.shape[1]), chances.copy()
        is_near = bonus.any(axis=1)
        corrected[is_near] = softmax(np.log(chances[is_near] + _FLOOR) + bonus[is_near])
        return corrected


def fit_exemplars(views: NDArray[np.float64], pips: NDArray[np.int64], is_exemplar: NDArray[np.bool_]) -> Exemplars:
    """Return exemplars of halves, at least one.

    Args:
        views: Inputs of N halves in V views, shape (V, N, D).
        pips: Numbers of the halves, shape (N,).
        is_exemplar: Mask of the halves that become exemplars, shape (N,). The others limit their effects.
    """
    centers = views.mean(axis=0)
    within = (views - centers).reshape(-1, views.shape[2])
    scale = np.hypot(within.std(axis=0), _MIN_SPREADS)
    spread = (within / scale).T @ (within / scale) / len(within)
    fitted = _fitted_exemplars(views, pips, np.nonzero(is_exemplar)[0], scale, spread)
    spreads, reaches, directions, bounds = zip(*fitted, strict=True)
    return Exemplars(
        centers[is_exemplar].astype(np.float32),
        np.array(spreads, np.float32),
        np.array(reaches, np.float32),
        np.array(directions, np.float32),
        np.array(bounds, np.float32),
        pips[is_exemplar],
    )


def _fitted_exemplars(
    views: NDArray[np.float64],
    pips: NDArray[np.int64],
    halves: NDArray[np.intp],
    scale: NDArray[np.float64],
    spread: NDArray[np.float64],
) -> Iterator[tuple[NDArray[np.float64], float, NDArray[np.float64], tuple[float, float]]]:
    """Yield spreads, reach, direction and bounds of each of the *halves*, by linear discriminant analysis.

    Args:
        views: Inputs of N halves in V views, shape (V, N, D).
        pips: Numbers of the halves, shape (N,).
        halves: Indices of the halves.
        scale: Unit of each input, shape (D,).
        spread: Covariance of the views of a half in these units, shape (D, D).
    """
    features = slice(PICTURE_FEATURES, None)
    centers = views.mean(axis=0)
    for at in halves.tolist():
        own, others = views[:, at], pips != pips[at]
        spreads = np.hypot(own.std(axis=0), _MIN_SPREADS)
        squares = (((views - centers[at]) / spreads)[..., features] ** 2).mean(axis=2)
        reach = float(np.quantile(squares[:, at], _WITHIN))
        apart = (centers[others] - centers[at]) / scale
        # Halves that resemble it matter most.
        weights = np.exp(-(apart[:, features] ** 2).mean(axis=1))
        weights /= weights.sum() + _FLOOR
        scatter = spread + (apart.T * weights) @ apart + _RESTRAINT * np.eye(len(scale))
        direction = np.linalg.solve(scatter, -(weights @ apart)) / scale
        positions = views @ direction
        is_full = float(np.quantile(positions[:, at], _UNLIKE))
        near = positions[:, others][squares[:, others] < 2 * reach]
        if len(near):
            begins = float(near.max())
        else:  # Only the distance limits the effect.
            begins = float(positions[:, others].max(initial=0.0))
            is_full = (begins + is_full) / 2
        yield spreads, reach, direction, (min(begins, is_full - _FLOOR), is_full)
