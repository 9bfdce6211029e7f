"""A learned custom tile set: a small correction to the shipped pip classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.geometry.odds import softmax
from vision.networks.pip_classifier import PipClassifier

# Shipped probabilities below count as this: whatever the head rules out may still be so on a set it never saw.
_LEAST_CHANCE = 1e-6
_NEVER = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CustomSet:
    """Reads the pips of one set: the shipped head's log probabilities, and a linear layer on what it looks at.

    Attributes:
        weights: Shape (F + 1, K) for the numbers 0 to K - 1; the last row is added whatever is seen.
        believed: How far the shipped head's log probabilities count, 0 to 1.
    """

    weights: NDArray[np.float64]
    believed: float

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or not 7 <= self.weights.shape[1] <= 19:
            raise ValueError(f"weights must have shape (F + 1, 7 to 19), but got {self.weights.shape}")

    @property
    def max_pips(self) -> int:
        """The highest number of the set."""
        return int(self.weights.shape[1]) - 1

    def probabilities(self, head: PipClassifier, described: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each number of halves, shape (N, 19), next to 0 for those above its highest.

        Args:
            head: The shipped pips head.
            described: Shape (N, F), what the half network says, and behind it what else is seen of them.
        """
        count = self.weights.shape[1]
        outputs = (
            self.believed * shipped_logs(head, described, count) + weighted_features(head, described) @ self.weights
        )
        chances = np.full((len(described), 19), _NEVER)
        chances[:, :count] = softmax(outputs)
        return chances


def weighted_features(head: PipClassifier, described: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return what an own set weighs, shape (N, F + 1).

    First what *described*, shape (N, F), has behind what the network says, then that in the head's own scale, and 1.
    """
    said, more = described[:, : len(head.mean)], described[:, len(head.mean) :]
    return np.concatenate([more, (said - head.mean) / head.scale, np.ones((len(said), 1))], axis=1, dtype=np.float64)


def shipped_logs(head: PipClassifier, described: NDArray[np.float32], count: int) -> NDArray[np.float64]:
    """Return the shipped head's log probabilities of the numbers below *count*, shape (N, count)."""
    said = described[:, : len(head.mean)]
    return np.log(head.probabilities(said)[:, :count].astype(np.float64) + _LEAST_CHANCE)
