"""Augmentation of halves by small shifts, rotations, stretching and slant. Needs torch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

# Spread of the augmentation, in addition to the pose errors of the samples.
_SPREAD = 0.03


def draw_warps(rng: np.random.Generator, count: int, shown: float) -> NDArray[np.float32]:
    """Return random affine maps from network inputs to larger patches, shape (N, 2, 3), for `affine_grid`.

    Args:
        rng: Random generator.
        count: Number of maps.
        shown: Extent of an unstretched network input, as a share of the patch.
    """
    size, stretch = (np.exp(rng.normal(0, _SPREAD, count)) for _ in range(2))
    turn_rad, slant = rng.normal(0, 1.3 * _SPREAD, count), rng.normal(0, _SPREAD, count)
    shown_here, cos, sin = shown * size, np.cos(turn_rad), np.sin(turn_rad)
    warps = np.empty((count, 2, 3), np.float32)
    warps[:, 0, 0], warps[:, 0, 1] = shown_here * stretch * cos, shown_here * (slant - sin)
    warps[:, 1, 0], warps[:, 1, 1] = shown_here * sin, shown_here / stretch * cos
    warps[:, :, 2] = rng.normal(0, _SPREAD, (count, 2))
    return warps


def warp_patches(patches: Tensor, warps: Tensor, size: int) -> Tensor:
    """Sample network inputs, (N, 3, size, size), from patches, (N, 3, S, S), through *warps*, (N, 2, 3)."""
    grid = functional.affine_grid(warps, [len(patches), 3, size, size], align_corners=False)
    inputs = functional.grid_sample(patches, grid, align_corners=False, padding_mode="border")
    return inputs.contiguous(memory_format=torch.channels_last)
