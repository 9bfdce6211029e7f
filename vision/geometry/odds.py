"""Convert between probabilities and log odds, in which evidence is additive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MIN_PROBABILITY = 1e-6


def log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural log odds. Probabilities are clipped to within one in a million of 0 and 1.

    >>> [round(float(odds), 3) for odds in log_odds(np.array([0.5, 0.9, 1.0]))]
    [0.0, 2.197, 13.816]
    """
    safe = np.clip(probability, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
    return np.asarray(np.log(safe / (1 - safe)))


def probability(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities for natural log odds.

    >>> probability(np.array([0.0, 2.197])).round(3).tolist()
    [0.5, 0.9]
    """
    return np.asarray(1 / (1 + np.exp(-odds)))


def softmax(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the softmax over the last axis, shape (..., K)."""
    raised = np.exp(outputs - outputs.max(axis=-1, keepdims=True, initial=-np.inf))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))
