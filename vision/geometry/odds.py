"""Probabilities as log odds or logarithms, in which evidence adds up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NEVER_SURER = 1e-6


def log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the natural log odds of probabilities, none beyond one in a million.

    >>> [round(float(odds), 3) for odds in log_odds(np.array([0.5, 0.9, 1.0]))]
    [0.0, 2.197, 13.816]
    """
    safe = np.clip(probability, _NEVER_SURER, 1 - _NEVER_SURER)
    return np.asarray(np.log(safe / (1 - safe)))


def probability(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities of natural log odds.

    >>> probability(np.array([0.0, 2.197])).round(3).tolist()
    [0.5, 0.9]
    """
    return np.asarray(1 / (1 + np.exp(-odds)))


def softmax(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities, shape (..., K), from outputs of that shape."""
    raised = np.exp(outputs - outputs.max(axis=-1, keepdims=True, initial=-np.inf))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))
