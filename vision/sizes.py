"""All tiles of a set are one size: how far a tile is from the size that the others have where it lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.poses import Poses, sides_px

_SURE = 0.9
# Sides within this ratio of the expected one are not doubted; oblique views stretch them by up to as much.
_FREE_LOG_RATIO = 0.12
# Doubt in log odds for each 10 % beyond.
_DOUBT_PER_TENTH = 2.0
_ROUNDS = 5


def size_doubt(poses: Poses, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what to subtract from the log odds of tiles whose size does not fit the others'.

    The logarithm of the size is taken as linear over the picture, which a tilted camera makes nearly true.

    Args:
        poses: Shape (N, 6).
        probabilities: Shape (N,), that each is a tile at all.
    """
    expected = expected_log_sides(poses, probabilities)
    excess = np.abs(np.log(sides_px(poses)) - expected) - _FREE_LOG_RATIO
    return np.asarray(np.maximum(excess, 0) * 10 * _DOUBT_PER_TENTH)


def expected_log_sides(poses: Poses, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the side in pixels that a tile should have at each pose, shape (N,)."""
    logs = np.log(sides_px(poses))
    sure = probabilities >= min(_SURE, float(np.max(probabilities, initial=0)))
    if sure.sum() < 1:
        return logs
    middle = _weighted_mode(logs, _support(poses, probabilities))
    where = (poses[:, :2] - poses[sure, :2].mean(axis=0)) / (np.ptp(poses[sure, :2], axis=0).max(initial=0) + 1)
    design = np.column_stack([np.ones(len(poses)), where])
    expected = np.full(len(poses), middle)
    if sure.sum() < 8:
        return expected
    for _ in range(_ROUNDS):
        close = np.abs(logs - expected) < 0.3
        weight = (sure & close) * probabilities
        if (weight > 0).sum() < 8:
            break
        # A weak pull towards "level" keeps few or lined-up tiles from tilting the table.
        gram = (design * weight[:, None]).T @ design + np.diag([0, 0.5, 0.5])
        expected = design @ np.linalg.solve(gram, (design * weight[:, None]).T @ logs)
    return np.asarray(expected)


def _support(poses: Poses, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much each pose says about the size: sure ones count far more, large ones a little more.

    Textures and letters give many half-sure small tiles, which would outvote a few real ones if they were just counted.
    """
    odds = np.clip(probabilities, 1e-6, 1 - 1e-6)
    return np.asarray(np.maximum(np.log(odds / (1 - odds)), 1e-3) ** 2 * np.sqrt(sides_px(poses)))


def _weighted_mode(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the value with the most weight within 10 % around it."""
    mass = (weights * (np.abs(values[:, None] - values[None]) < 0.1)).sum(axis=1)
    near = np.abs(values - values[mass.argmax()]) < 0.1
    return float(np.average(values[near], weights=weights[near]))
