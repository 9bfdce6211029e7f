"""Name the arrays that vision passes from module to module: what each holds, its shape, its dtype and its unit."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Image: TypeAlias = NDArray[np.uint8]
"""A picture in colour: shape (H, W, 3), uint8, BGR. A stack of pictures of one size has shape (N, H, W, 3)."""

GreyImage: TypeAlias = NDArray[np.uint8]
"""A picture in grey, or how strongly something covers each pixel: shape (H, W), uint8, 0 to 255."""

FloatImage: TypeAlias = NDArray[np.floating[Any]]
"""An image that is being computed: shape (H, W), or with a further axis for the channels; float32 or float64."""

Mask: TypeAlias = NDArray[np.bool_]
"""Which pixels are meant: shape (H, W), bool."""

Points: TypeAlias = NDArray[np.float64]
"""Points as x and y: shape (N, 2), float64, in the unit that ends the name of the value, `_px`, `_mm` or `_uv`."""

Motion: TypeAlias = NDArray[np.float64]
"""How a picture has moved: shape (2, 3), float64; times (x, y, 1) of the old pixel it gives the new one."""

Bgr: TypeAlias = tuple[float, float, float]
"""A colour as OpenCV takes it: blue, green and red, each 0 to 255."""

Crop: TypeAlias = tuple[slice, slice]
"""A part of an image, as `image[crop]`: its rows and its columns, in pixels."""
