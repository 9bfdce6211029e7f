"""Pip classifier for a custom tile set: a small correction to the built-in classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.geometry.odds import softmax
from vision.networks.pip_classifier import PipClassifier

# Lower limit for probabilities of the built-in classifier, which may exclude the true number on an unknown set.
_LEAST_CHANCE = 1e-6
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
        eye: Checksum of the models for which the weights and exemplars are valid.
        weights: Weights of `CustomSet` as float16 in base64, row by row. "" if the shipped reader is used.
        believed: Weight of the shipped classifier relative to *weights*, 0 to 1.
        exemplars: Exemplars of corrected tiles, as text. "" if there are none.
    """

    max_pips: int
    eye: str
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
    return np.log(head.probabilities(features)[:, :count].astype(np.float64) + _LEAST_CHANCE)
