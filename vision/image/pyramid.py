"""Image pyramid, in which a tile of any size has about the same number of pixels at some level."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image

FINEST_PX, _MOST_LEVELS = 1280, 5
# The detector starts at this size, so every larger image has such a level. With only halved levels it would start at
# 350 px for an image of 700 px, and miss small tiles.
SEARCHED_PX = 640
_SMALLEST_SIDE_PX = 40
# A dim image is brightened until its 99th percentile reaches this, within a gain that limits the noise.
_WHITE, _MOST_GAIN = 230, 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A level of the pyramid.

    Attributes:
        image: Shape (H, W, 3), BGR.
        scale_xy: Width and height of a pixel in full-resolution pixels, at least 1. They differ only by rounding.
        as_taken: The image before brightening, of the same shape. None if it was not brightened. Bright objects on a
            dark table can be overexposed in *image* but not here.
    """

    image: Image
    scale_xy: tuple[float, float]
    as_taken: Image | None = None

    @property
    def scale(self) -> float:
        """Mean size of a pixel in full-resolution pixels."""
        return (self.scale_xy[0] + self.scale_xy[1]) / 2

    @property
    def full_size_px(self) -> tuple[int, int]:
        """Width and height of the full-resolution image."""
        height, width = self.image.shape[:2]
        return (round(width * self.scale_xy[0]), round(height * self.scale_xy[1]))

    def from_full(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert full-resolution pixels, shape (..., 2), to pixels of this level."""
        return (points + 0.5) / self.scale_xy - 0.5

    def to_full(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert pixels of this level, shape (..., 2), to full-resolution pixels."""
        return (points + 0.5) * self.scale_xy - 0.5


def build_pyramid(image: Image) -> tuple[Level, ...]:
    """Return up to 5 levels: at most 1280 px, then 640 px if that is smaller, then halved repeatedly.

    A dim image is brightened first. Sizes refer to the longer side. There is no second or later level whose shorter
    side would be less than 40 px.

    Args:
        image: Shape (H, W, 3), BGR.
    """
    long_side_px = min(max(image.shape[:2]), FINEST_PX)
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
    """Resize an image. It is halved as often as possible first, because only integer factors are averaged quickly."""
    while image.shape[1] >= 2 * width and image.shape[0] >= 2 * height:
        half = (image.shape[1] // 2, image.shape[0] // 2)
        image = np.asarray(cv2.resize(image, half, interpolation=cv2.INTER_AREA), np.uint8)
    if image.shape[:2] == (height, width):
        return image
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def _gain(image: Image) -> float:
    """Return the gain that brightens a dim image to normal contrast, at most 3. 1 or less for a well-lit image."""
    blue, green, red = cv2.split(np.ascontiguousarray(image[::4, ::4]))
    white = float(np.percentile(cv2.max(cv2.max(blue, green), red), 99))
    return min(_WHITE / max(white, 1.0), _MOST_GAIN)
