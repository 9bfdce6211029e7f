"""Type aliases for arrays, with shapes, dtypes and units."""

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
