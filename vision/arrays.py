"""Type aliases for arrays, with shapes, dtypes and units, and conversions between probabilities and log odds.

Evidence is additive in log odds.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Image: TypeAlias = NDArray[np.uint8]
"""Colour image: shape (H, W, 3), uint8, BGR. A stack of images of one size has shape (N, H, W, 3)."""

GreyImage: TypeAlias = NDArray[np.uint8]
"""Grey image or opacity mask: shape (H, W), uint8, 0 to 255."""

FloatImage: TypeAlias = NDArray[np.floating[Any]]
"""Intermediate image: shape (H, W) or (H, W, C), float32 or float64."""

Mask: TypeAlias = NDArray[np.bool_]
"""Pixel mask: shape (H, W), bool."""

Points: TypeAlias = NDArray[np.float64]
"""Points (x, y): shape (N, 2), float64. The suffix of the variable gives the unit: `_px`, `_mm` or `_uv`."""

Motion: TypeAlias = NDArray[np.float64]
"""Affine image motion: shape (2, 3), float64. Multiplied by (x, y, 1) of an old pixel, it gives the new pixel."""

Bgr: TypeAlias = tuple[float, float, float]
"""Colour in OpenCV order: blue, green and red, each 0 to 255."""

Crop: TypeAlias = tuple[slice, slice]
"""Slices of rows and columns that select a part of an image, as `image[crop]`."""


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
