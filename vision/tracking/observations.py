"""Since when tiles have lain where they lie, told from the small pictures of the motion that ended with them.

Two tiles that two hands laid one right after the other are seen at the same look. Which was first is to be seen before:
where it lies, the table gave way to it earlier.
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

# Longer motions are remembered by their end: ten seconds of twenty pictures, 3 MB.
_MOST_FRAMES = 200
# A place looks as at one time where it differs from that by less than this share of what a tile there changes; tiles
# that change less than so many grey levels tell nothing, nor do those of which fewer points are seen.
_ALIKE, _LEAST_CHANGE, _LEAST_POINTS = 0.3, 12.0, 6
# What is taken of a tile, in shares of its sides: its edges are mixed with the table.
_INNER = 0.8
# Light is told from one point of so many.
_EVERY, _DARK = 97, np.float32(8.0)


class Observations:
    """The latest motion on a table, in small pictures, with how the table lay before it."""

    def __init__(self) -> None:
        """Start without a picture."""
        self._frames: deque[tuple[int, GreyImage]] = deque(maxlen=_MOST_FRAMES)
        self._before: GreyImage | None = None
        self._last: GreyImage | None = None
        self._moved_since_ns: int | None = None

    def feed(self, stillness: Stillness, t_ns: int) -> None:
        """Take note of a picture that was taken at a time, by what the settle gate says of it."""
        if stillness.moved_since_ns != self._moved_since_ns:
            self._moved_since_ns, self._before = stillness.moved_since_ns, self._last
            self._frames.clear()
        if not stillness.is_settled:
            self._frames.append((t_ns, stillness.points))
        self._last = stillness.points

    def since_ns(self, corners_px: Sequence[PointPx], size_px: tuple[int, int]) -> int | None:
        """Return since when a tile has lain where the last picture shows it; None where that cannot be told.

        It is the first picture that shows it after the last one that shows the table there as it was before.

        Args:
            corners_px: Of the tile, one after the other, as the picture shows it.
            size_px: Width and height of that picture.
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
        # The first of all these is the picture before the motion.
        return self._frames[start + int(shown[0]) - 1][0] if len(shown) else None


def _points_within(corners: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return which points of a picture of a shape, in its flat order, lie well inside of corners, shape (4, 2)."""
    middle = corners.mean(axis=0)
    inner = middle + _INNER * (corners - middle)
    mask: GreyImage = np.zeros(shape, np.uint8)
    cv2.fillConvexPoly(mask, np.rint(inner * 16).astype(np.int32), 1, shift=4)
    return np.flatnonzero(mask)


def _in_light_of(now: GreyImage, frames: GreyImage, inside: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return points of pictures as they would be in the light of the last one, shape (N, M).

    Args:
        now: Shape (P,), the last picture.
        frames: Shape (N, P).
        inside: Shape (M,), which points.
    """
    gains = np.median((now[::_EVERY] + _DARK) / (frames[:, ::_EVERY] + _DARK), axis=1, keepdims=True)
    return np.asarray((frames[:, inside] + _DARK) * gains - _DARK, np.float32)
