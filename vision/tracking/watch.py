"""Watch a table continuously: pass every frame through the settle gate, and read the settled ones.

Two tiles laid in quick succession are read in the same image. Small images of the preceding motion show which of them
appeared first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import GreyImage, Image
from vision.reading import PointPx
from vision.tracking.settle import EntrySide, SettleGate, Side, Stillness, small_grey
from vision.tracking.table_view import Change, ChangeKind, TableView
from vision.tracking.tracks import in_place_of, moved_tile

# Maximum number of small images kept: the last ten seconds at 20 frames per second, 3 MB.
_MAX_FRAMES = 200
# Two images show the same at a place if they differ by less than _ALIKE of the change that the tile caused. Tiles with
# a change below _MIN_CHANGE grey levels, or with fewer than _MIN_POINTS points, are not dated.
_SAME = 0.3
_MIN_CHANGE = 12.0
_MIN_POINTS = 6
# Part of a tile that is compared, as a fraction of its sides, because pixels at its edges are mixed with the table.
_INNER = 0.8
# The light is estimated from every 97th point.
_EVERY = 97
_DARK = np.float32(8.0)


class Observations:
    """Small images of the latest motion, and of the table before it."""

    def __init__(self) -> None:
        self._frames: deque[tuple[int, GreyImage]] = deque(maxlen=_MAX_FRAMES)
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
        # The flat indices of the pixels well inside a tile with the given corners, shape (4, 2).
        corners = (np.array(corners_px, np.float64) + 0.5) * smaller - 0.5
        middle = corners.mean(axis=0)
        inner = middle + _INNER * (corners - middle)
        mask: GreyImage = np.zeros(self._last.shape, np.uint8)
        cv2.fillConvexPoly(mask, np.rint(inner * 16).astype(np.int32), 1, shift=4)
        inside = np.flatnonzero(mask)
        if len(inside) < _MIN_POINTS:
            return None
        now, frames = self._last.ravel(), np.array([self._before, *(grey for _, grey in self._frames)])
        seen = _in_light_of(now, frames.reshape(len(frames), -1), inside)
        before, last = seen[0], now[inside].astype(np.float32)
        change = float(np.abs(before - last).mean())
        if change < _MIN_CHANGE:
            return None
        is_before = np.abs(seen - before).mean(axis=1) < _SAME * change
        is_now = np.abs(seen - last).mean(axis=1) < _SAME * change
        start = int(np.flatnonzero(is_before)[-1])
        shown = np.flatnonzero(is_now[start:])
        # Index 0 is the image before the motion, so frames are offset by one.
        return self._frames[start + int(shown[0]) - 1][0] if len(shown) else None


def _in_light_of(now: GreyImage, frames: GreyImage, inside: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the pixels *inside*, (M,), of earlier images, (N, P), in the light of the last one, (P,): shape (N, M)."""
    gains = np.median((now[::_EVERY] + _DARK) / (frames[:, ::_EVERY] + _DARK), axis=1, keepdims=True)
    return np.asarray((frames[:, inside] + _DARK) * gains - _DARK, np.float32)


# Interval at which a still table is checked for slow camera motion, or for recovery after it was lost.
_BETWEEN_AIMS_NS = 2_000_000_000
# A camera motion above this share of the image width, one pixel of the gate, looks like hands entering from all sides.
_SEEN_BY_GATE = 1 / 160
_FROM_EVERYWHERE = tuple(EntrySide(side, 0.25) for side in Side)
# Minimum interval between two reads of a settled table, so that their noise is independent.
_BETWEEN_LOOKS_NS = 200_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A video frame.

    Attributes:
        image: Upright image, shape (H, W, 3), BGR.
        t_ns: Time of the image on a monotonic clock.
        grey: Result of `small_grey` if it was computed in advance. None otherwise.
    """

    image: Image
    t_ns: int
    grey: GreyImage | None = None


class TableObserver(Protocol):
    """Interface of `vision.tracking.perception.Perception`, which reads settled images."""

    @property
    def view(self) -> TableView:
        """Current state of the table, without changes."""

    @property
    def is_unconfirmed(self) -> bool:
        """True if another image must be read to confirm the last one."""

    @property
    def is_unsure(self) -> bool:
        """True if another image could improve the reading of a half."""

    def feed(self, image: Image) -> TableView:
        """Return the table after a settled image."""

    def look_again(self, image: Image) -> TableView:
        """Return the table after rereading uncertain tiles."""

    def is_aimed_elsewhere(self, image: Image) -> bool:
        """Return True if the camera has moved."""


class Watch:
    """Tracks a table through all frames of a camera.

    A `TableObserver` reads the table once when motion has stopped, and again as long as another image can improve the
    result.
    """

    def __init__(self, reader: TableObserver) -> None:
        self._reader = reader
        self._gate = SettleGate()
        self._sightings = Observations()
        self._view = replace(reader.view, is_settled=False)
        self._read_still_ns: int | None = None
        self._looked_ns = self._aimed_ns = 0
        self._came_from: tuple[EntrySide, ...] | None = None

    def feed(self, frame: Frame) -> TableView:
        """Return the state of the table after a frame. During motion it is the state before the motion.

        Raises:
            PictureSizeError: If the size of the frame differs from the previous ones.
        """
        grey = small_grey(frame.image) if frame.grey is None else frame.grey
        stillness = self._gate.feed(grey, frame.t_ns)
        self._sightings.feed(stillness, frame.t_ns)
        view = self._read_if_due(frame, stillness) if stillness.is_settled else None
        if view is not None:
            self._follow_camera(view)
            if stillness.is_covered:  # New unreadable objects may be the hand that rests over the table.
                known = self._view.unsure
                unsure = tuple(tile for tile in view.unsure if in_place_of(tile, known) is not None)
                view = replace(view, unsure=unsure)
            view = self._dated(view)
            self._view, self._looked_ns = replace(view, changes=()), frame.t_ns
        elif not stillness.is_settled:
            self._came_from = None
        view = view or self._view
        return replace(
            view,
            is_settled=stillness.is_settled and view.lost is None,
            moved_since_ns=stillness.moved_since_ns,
            came_from=stillness.came_from if self._came_from is None else self._came_from,
            is_covered=stillness.is_covered,
        )

    def _read_if_due(self, frame: Frame, stillness: Stillness) -> TableView | None:
        """Read a settled frame if it is due. Returns None otherwise."""
        since_ns = stillness.still_since_ns
        if self._read_still_ns != since_ns:
            view = self._reader.feed(frame.image)
            self._read_still_ns, self._aimed_ns = since_ns, frame.t_ns
            return view
        if frame.t_ns - self._aimed_ns >= _BETWEEN_AIMS_NS and not stillness.is_covered:
            self._aimed_ns = frame.t_ns
            if self._view.lost or self._reader.is_aimed_elsewhere(frame.image):
                return self._reader.feed(frame.image)
        if stillness.is_covered or self._view.lost or frame.t_ns - self._looked_ns < _BETWEEN_LOOKS_NS:
            return None
        if self._reader.is_unconfirmed:
            return self._reader.feed(frame.image)
        return self._reader.look_again(frame.image) if self._reader.is_unsure else None

    def _dated(self, view: TableView) -> TableView:
        """Return a view with the time at which each placed tile appeared."""

        def dated(change: Change) -> Change:
            if change.kind is not ChangeKind.PLACED or view.size_px is None:
                return change
            shown = moved_tile(change.tile, view.aim.motion)
            return replace(change, since_ns=self._sightings.since_ns(shown.corners_px, view.size_px))

        return replace(view, changes=tuple(map(dated, view.changes))) if view.changes else view

    def _follow_camera(self, view: TableView) -> None:
        """Update the settle gate if the camera has moved in *view*."""
        if view.size_px is None or view.aim == self._view.aim:
            return
        self._gate.follow_camera(view.aim.since(self._view.aim), view.size_px[0])
        if view.aim.farthest_px(self._view.aim, view.size_px) > _SEEN_BY_GATE * view.size_px[0]:
            self._came_from = _FROM_EVERYWHERE
