"""Augmentation of the refiner's samples: mirrored, recoloured, stronger or weaker."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Signs of a correction (`vision.geometry.poses.move`) after half a turn of its patch, and after mirroring
# across its long axis: of the centre, of u and of v, each along u and v.
_TURNED = np.array([-1, -1, 1, 1, 1, 1], np.float32)
_MIRRORED = np.array([1, -1, 1, -1, -1, 1], np.float32)
_NEGATIVE = 0.06
_STRENGTH, _NOISE = 0.2, 0.05


def seen_otherwise(
    rng: np.random.Generator, seen: NDArray[np.float32], corrections: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return patches as other tiles could look, and their corrections.

    Args:
        rng: Where all chance comes from.
        seen: Shape (N, 3, rows, columns), see `vision.networks.patches.contrasts`.
        corrections: Shape (N, 6).
    """
    seen, corrections = seen.copy(), corrections.copy()
    turned, mirrored = (rng.random(len(seen)) < 0.5 for _ in range(2))
    seen[turned] = seen[turned, :, ::-1, ::-1]
    corrections[turned] *= _TURNED
    seen[mirrored] = seen[mirrored, :, ::-1]
    corrections[mirrored] *= _MIRRORED
    # Colours are as good as any others: green to red and blue to yellow are turned about grey.
    turn = rng.uniform(-np.pi, np.pi, len(seen)).astype(np.float32)[:, None, None]
    green_red, blue_yellow = seen[:, 1].copy(), seen[:, 2].copy()
    seen[:, 1] = np.cos(turn) * green_red - np.sin(turn) * blue_yellow
    seen[:, 2] = np.sin(turn) * green_red + np.cos(turn) * blue_yellow
    seen[rng.random(len(seen)) < _NEGATIVE, 0] *= -1
    seen *= np.exp(rng.normal(0, _STRENGTH, len(seen))).astype(np.float32)[:, None, None, None]
    noisy = rng.random(len(seen)) < 0.3
    noise = rng.standard_normal(seen[noisy].shape, np.float32)
    seen[noisy] += noise * (_NOISE * rng.random(int(noisy.sum())).astype(np.float32)[:, None, None, None])
    return np.ascontiguousarray(seen), corrections
