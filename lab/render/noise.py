"""Seeded noise of several grain sizes, generated at low resolution and enlarged to save time."""

from __future__ import annotations

import cv2
import numpy as np

from vision.arrays import FloatImage, Image


def white(rng: np.random.Generator, height: int, width: int) -> FloatImage:
    """Return independent normal values with standard deviation 1."""
    return rng.standard_normal((height, width), dtype=np.float32)


def cloud(rng: np.random.Generator, height: int, width: int, cell: float | tuple[float, float]) -> FloatImage:
    """Return smooth noise with standard deviation about 1.

    Args:
        cell: Size of a bump in pixels, or its height and width.
    """
    cell_y, cell_x = cell if isinstance(cell, tuple) else (cell, cell)
    rows = max(2, round(height / max(cell_y, 1.0)) + 1)
    columns = max(2, round(width / max(cell_x, 1.0)) + 1)
    seed = rng.standard_normal((rows, columns), dtype=np.float32)
    return cv2.resize(seed, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.float32, copy=False)


def add_repeated(picture: Image, patch: FloatImage) -> None:
    """Add *patch*, shape (h, w, 3) in grey levels, to *picture* in place, tiled to cover it.

    Saturating byte sums, block by block, take a fifth of the time of a single mixed-type sum.
    """
    lighter, darker = (np.rint(np.clip(part, 0, 255)).astype(np.uint8) for part in (patch, -patch))
    rows, columns = patch.shape[:2]
    for top in range(0, picture.shape[0], rows):
        for left in range(0, picture.shape[1], columns):
            block = picture[top : top + rows, left : left + columns]
            height, width = block.shape[:2]
            cv2.add(block, lighter[:height, :width], dst=block)
            cv2.subtract(block, darker[:height, :width], dst=block)
