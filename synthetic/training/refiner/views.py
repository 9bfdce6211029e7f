"""Augmentation of the refiner's samples by mirroring, recolouring, scaling and noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Signs of a correction (`vision.geometry.poses.move`) after rotating its patch by half a turn, and after mirroring
# it across its long axis. Components are the centre, u and v, each along u and v.
_TURNED = np.array([-1, -1, 1, 1, 1, 1], np.float32)
_MIRRORED = np.array([1, -1, 1, -1, -1, 1], np.float32)
_NEGATIVE = 0.06
_STRENGTH, _NOISE = 0.2, 0.05


def augment(
    rng: np.random.Generator, inputs: NDArray[np.float32], corrections: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return randomly changed copies of network inputs, with matching corrections.

    Args:
        rng: Random generator.
        inputs: Shape (N, 3, rows, columns), from `vision.networks.patches.contrasts`.
        corrections: Shape (N, 6).
    """
    inputs, corrections = inputs.copy(), corrections.copy()
    turned, mirrored = (rng.random(len(inputs)) < 0.5 for _ in range(2))
    inputs[turned] = inputs[turned, :, ::-1, ::-1]
    corrections[turned] *= _TURNED
    inputs[mirrored] = inputs[mirrored, :, ::-1]
    corrections[mirrored] *= _MIRRORED
    # Hues do not matter: rotate the green-red and blue-yellow channels about grey.
    turn = rng.uniform(-np.pi, np.pi, len(inputs)).astype(np.float32)[:, None, None]
    green_red, blue_yellow = inputs[:, 1].copy(), inputs[:, 2].copy()
    inputs[:, 1] = np.cos(turn) * green_red - np.sin(turn) * blue_yellow
    inputs[:, 2] = np.sin(turn) * green_red + np.cos(turn) * blue_yellow
    inputs[rng.random(len(inputs)) < _NEGATIVE, 0] *= -1
    inputs *= np.exp(rng.normal(0, _STRENGTH, len(inputs))).astype(np.float32)[:, None, None, None]
    noisy = rng.random(len(inputs)) < 0.3
    noise = rng.standard_normal(inputs[noisy].shape, np.float32)
    inputs[noisy] += noise * (_NOISE * rng.random(int(noisy.sum())).astype(np.float32)[:, None, None, None])
    return np.ascontiguousarray(inputs), corrections
