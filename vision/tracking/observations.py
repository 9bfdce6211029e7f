"""Determine when each new tile appeared, from small images of the preceding motion.

Two tiles laid in quick succession are read in the same image. The small images show which of them appeared first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import GreyImage
from vision.reading import PointPx
from vision.tracking.settle import Stillness

# Maximum number of small images kept: the last ten seconds at 20 frames per second, 3 MB.
_MOST_FRAMES = 200
# Two images show the same at a place if they differ by less than _ALIKE of the change that the tile caused. Tiles with
# a change below _LEAST_CHANGE grey levels, or with fewer than _LEAST_POINTS points, are not dated.
_ALIKE, _LEAST_CHANGE, _LEAST_POINTS = 0.3, 12.0, 6
# Part of a tile that is compared, as a fraction of its sides, because pixels at its edges are mixed with the table.
_INNER = 0.8
# The light is estimated from every 97th point.
_EVERY, _DARK = 97, np.float32(8.0)


class Observations:
    """Small images of the latest motion, and of the table before it."""

    def __init__(self) -> None:
        """Start without an image."""
        self._frames: deque[tuple[int, GreyImage]] = deque(maxlen=_MOST_FRAMES)
        self._before: GreyImage | None = None
        self._last: GreyImage | None = None
        self._moved_since_ns: int | None = None

    def feed(self, stillness: Stillness, t_ns: int) -> None:
        """Record an image. *stillness* is the result of the settle gate, *t_ns* the time of the image."""
        if stillness.moved_since_ns != self._moved_since_ns:
            self._moved_since_ns, self._before = stillness.moved_since_ns, self._last
            self._frames.clear()
        if not stillness.is_settled:
            self._frames.append((t_ns, stillness.points))
        self._last = stillness.points

    def since_ns(self, corners_px: Sequence[PointPx], size_px: tuple[int, int]) -> int | None:
        """Return the time at which a tile appeared at its place in the last image, or None if unknown.

        It is the time of the first image with the tile, after the last image without it.

        Args:
            corners_px: Corners of the tile in the last image, in order around it.
            size_px: Width and height of that image.
        """
        if self._before is None or self._last is None or not self._frames:
            return None
        smaller = np.array(self._last.shape[::-1]) / size_px
        inside = _points_within((np.array(corners_px, np.float64) + 0.5) * smaller - 0.5, self._last.shape)
        if len(inside) < _LEAST_POINTS:
            return None
        now, frames = self._last.ravel(), np.array([self._before, *(grey for _, grey in self._frames)])
        seen = _in_light_of(now, frames.reshape(len(frames), -1), inside)
        before, last = seen[0], now[inside].astype(np.float32)
        change = float(np.abs(before - last).mean())
        if change < _LEAST_CHANGE:
            return None
        is_before = np.abs(seen - before).mean(axis=1) < _ALIKE * change
        is_now = np.abs(seen - last).mean(axis=1) < _ALIKE * change
        start = int(np.flatnonzero(is_before)[-1])
        shown = np.flatnonzero(is_now[start:])
        # Index 0 is the image before the motion, so frames are offset by one.
        return self._frames[start + int(shown[0]) - 1][0] if len(shown) else None


def _points_within(corners: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the flat indices of the pixels well inside a tile with the given corners, shape (4, 2)."""
    middle = corners.mean(axis=0)
    inner = middle + _INNER * (corners - middle)
    mask: GreyImage = np.zeros(shape, np.uint8)
    cv2.fillConvexPoly(mask, np.rint(inner * 16).astype(np.int32), 1, shift=4)
    return np.flatnonzero(mask)


def _in_light_of(now: GreyImage, frames: GreyImage, inside: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return pixels of earlier images, normalised to the light of the last one, shape (N, M).

    Args:
        now: Pixels of the last image, shape (P,).
        frames: Pixels of the earlier images, shape (N, P).
        inside: Indices of the pixels to return, shape (M,).
    """
    gains = np.median((now[::_EVERY] + _DARK) / (frames[:, ::_EVERY] + _DARK), axis=1, keepdims=True)
    return np.asarray((frames[:, inside] + _DARK) * gains - _DARK, np.float32)
