"""Exemplars: single halves of tiles whose numbers are known, which correct readings of halves that look the same."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.geometry.odds import softmax
from vision.networks.network import FEATURES, PICTURE_FEATURES
from vision.networks.pip_classifier import PipClassifier
from vision.reader.custom_set import described_inputs

# Log odds that an exemplar in full effect adds to its number. They exceed those of most misreadings. On nine sets of
# `bench_corrections`, 9 % of the repeated misreadings remain, and of 2123 other tiles 19 become wrong and 22 right.
# With 4.0 these are 12 %, 10 and 15; with 8.0 they are 8 %, 18 and 15.
_BONUS = 6.0
# Minimum spreads between views of a half, of an image pixel and of a standardised feature.
_LEAST_SPREAD = np.repeat((0.02, 0.4), (PICTURE_FEATURES, FEATURES))
# Share of the views of a half that are in reach of its exemplar, and share of those that differ from others too little
# for full effect.
_WITHIN, _UNLIKE = 0.9, 0.2
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
    scale = np.hypot(within.std(axis=0), _LEAST_SPREAD)
    spread = (within / scale).T @ (within / scale) / len(within)
    fitted = _fitted(views, pips, np.nonzero(is_exemplar)[0], scale, spread)
    spreads, reaches, directions, bounds = zip(*fitted, strict=True)
    return Exemplars(
        centers[is_exemplar].astype(np.float32),
        np.array(spreads, np.float32),
        np.array(reaches, np.float32),
        np.array(directions, np.float32),
        np.array(bounds, np.float32),
        pips[is_exemplar],
    )


def _fitted(
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
        spreads = np.hypot(own.std(axis=0), _LEAST_SPREAD)
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
