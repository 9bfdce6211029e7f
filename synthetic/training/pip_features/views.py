"""Augmentation of halves: small shifts, rotations, stretching and slant. Needs torch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

# How much, on top of the poses they were sampled through.
_SPREAD = 0.03


def draw_warps(rng: np.random.Generator, count: int, shown: float) -> NDArray[np.float32]:
    """Return affine maps from what a network sees to larger patches, shape (N, 2, 3), as `affine_grid` takes them.

    Args:
        rng: Where all chance comes from.
        count: How many.
        shown: What the network sees of a patch that is not stretched, as a share of its side.
    """
    size, stretch = (np.exp(rng.normal(0, _SPREAD, count)) for _ in range(2))
    turn_rad, slant = rng.normal(0, 1.3 * _SPREAD, count), rng.normal(0, _SPREAD, count)
    shown_here, cos, sin = shown * size, np.cos(turn_rad), np.sin(turn_rad)
    warps = np.empty((count, 2, 3), np.float32)
    warps[:, 0, 0], warps[:, 0, 1] = shown_here * stretch * cos, shown_here * (slant - sin)
    warps[:, 1, 0], warps[:, 1, 1] = shown_here * sin, shown_here / stretch * cos
    warps[:, :, 2] = rng.normal(0, _SPREAD, (count, 2))
    return warps


def seen_through(patches: NDArray[np.generic], warps: NDArray[np.generic], size: int) -> Tensor:
    """Return what a network sees of patches, (N, 3, S, S), through *warps*, (N, 2, 3): shape (N, 3, size, size)."""
    places = functional.affine_grid(torch.from_numpy(warps), [len(patches), 3, size, size], align_corners=False)
    seen = functional.grid_sample(torch.from_numpy(patches), places, align_corners=False, padding_mode="border")
    return seen.contiguous(memory_format=torch.channels_last)
