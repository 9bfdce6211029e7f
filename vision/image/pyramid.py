"""The picture at several sizes, so that a tile of any size is looked at with about the same number of pixels."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image

_FINEST_PX, _MOST_LEVELS = 1280, 5
# The detector starts at this size, so every larger image has a level of it. Halves alone would start an image of
# 700 px at 350 px, where small tiles are lost.
SEARCHED_PX = 640
_SMALLEST_SIDE_PX = 40
# The brightest hundredth of a picture comes to this, unless that would amplify its noise too much.
_WHITE, _MOST_GAIN = 230, 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """One size of the picture.

    Attributes:
        image: Shape (H, W, 3), BGR.
        scale_xy: Width and height of its pixel in pixels of the full picture, at least 1; they differ by rounding only.
        as_taken: The picture before it was brightened, of the same shape; None where it was not. What is bright on a
            dark table can be burnt out in *image*, where the camera shows it well.
    """

    image: Image
    scale_xy: tuple[float, float]
    as_taken: Image | None = None

    @property
    def scale(self) -> float:
        """Size of its pixel in pixels of the full picture."""
        return (self.scale_xy[0] + self.scale_xy[1]) / 2

    @property
    def full_size_px(self) -> tuple[int, int]:
        """Width and height of the full picture."""
        height, width = self.image.shape[:2]
        return (round(width * self.scale_xy[0]), round(height * self.scale_xy[1]))

    def from_full(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return pixels of the full picture, shape (..., 2), as pixels of this level."""
        return (points + 0.5) / self.scale_xy - 0.5

    def to_full(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return pixels of this level, shape (..., 2), as pixels of the full picture."""
        return (points + 0.5) * self.scale_xy - 0.5


def build_pyramid(image: Image) -> tuple[Level, ...]:
    """Return the image at up to 1280 px, at 640 px if it is larger, then halved repeatedly; brighten dim images.

    Args:
        image: Shape (H, W, 3), BGR.
    """
    long_side_px = min(max(image.shape[:2]), _FINEST_PX)
    found: list[Level] = []
    for _ in range(_MOST_LEVELS):
        scale = max(image.shape[:2]) / long_side_px
        size_px = max(1, round(image.shape[1] / scale)), max(1, round(image.shape[0] / scale))
        if found and min(size_px) < _SMALLEST_SIDE_PX:
            break
        scale_xy = (image.shape[1] / size_px[0], image.shape[0] / size_px[1])
        found.append(_coarser(found[-1], size_px, scale_xy) if found else _finest(image, size_px, scale_xy))
        long_side_px = SEARCHED_PX if long_side_px > SEARCHED_PX else long_side_px / 2
    return tuple(found)


def _finest(image: Image, size_px: tuple[int, int], scale_xy: tuple[float, float]) -> Level:
    as_taken = _shrunk(image, *size_px)
    gain = _gain(as_taken)
    if gain <= 1:
        return Level(as_taken, scale_xy)
    return Level(np.asarray(cv2.convertScaleAbs(as_taken, alpha=gain), np.uint8), scale_xy, as_taken)


def _coarser(finer: Level, size_px: tuple[int, int], scale_xy: tuple[float, float]) -> Level:
    as_taken = None if finer.as_taken is None else _shrunk(finer.as_taken, *size_px)
    return Level(_shrunk(finer.image, *size_px), scale_xy, as_taken)


def _shrunk(image: Image, width: int, height: int) -> Image:
    """Return the picture at another size: halved while it can be, because only whole factors are averaged quickly."""
    while image.shape[1] >= 2 * width and image.shape[0] >= 2 * height:
        half = (image.shape[1] // 2, image.shape[0] // 2)
        image = np.asarray(cv2.resize(image, half, interpolation=cv2.INTER_AREA), np.uint8)
    if image.shape[:2] == (height, width):
        return image
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def _gain(image: Image) -> float:
    """Return what gives a dim picture the contrasts of a well lit one; 1 or less for one that is lit well."""
    blue, green, red = cv2.split(np.ascontiguousarray(image[::4, ::4]))
    white = float(np.percentile(cv2.max(cv2.max(blue, green), red), 99))
    return min(_WHITE / max(white, 1.0), _MOST_GAIN)
