"""Detect when motion has stopped, from small grey images, fast enough for every frame."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import VisionError
from vision.arrays import FloatImage, GreyImage, Image, Motion

Cells = NDArray[np.bool_]

# Size of the input, and of the working image: averages over 4 x 4 pixels, which are almost free of noise.
WIDTH_PX = 640
HEIGHT_PX = 360
_WIDTH = 160
_HEIGHT = 90
_CELL = 5
_COLUMNS = _WIDTH // _CELL
_ROWS = _HEIGHT // _CELL
# The table is settled after this time without motion. A hand that releases a tile pauses for about half as long. The
# time is slightly less than two frames at 10 per second, or three at 20, because frame times jitter.
_SETTLED_NS = 145_000_000
# With a resting hand, the table counts as settled only after this time, because the hand usually moves on soon.
_PATIENCE_NS = 1_000_000_000
# Something that covers the table and does not move for this time becomes part of it.
_BELONGS_NS = 5_000_000_000
# Time constant with which the reference image follows changes of light.
_FOLLOWS_NS = 1_000_000_000
# Minimum difference in grey levels and in standard deviations of the noise, for motion and for a covered table.
_MIN_MOTION = 5.0
_MOTION_SIGMAS = 5.0
_MIN_COVER = 14.0
_COVER_SIGMAS = 6.0
# Share of a change of exposure that remains after compensation, because tone curves are not linear.
_EXPOSURE_LEFT = 0.25
# Number of the 25 points of a cell that must differ for it to count as moved or covered.
_MOVED_POINTS = 3
_COVERED_POINTS = 8
# Minimum share of the image that a hand covers.
_MIN_HAND = 0.025
# Maximum relative deviation of the gain of a row from that of the image, due to flickering light.
_MAX_FLICKER = 0.1
_DARK = np.float32(8.0)


class GreySizeError(VisionError, ValueError):
    """An image does not have the size that the gate requires."""


class Side(StrEnum):
    """A side of the image."""

    TOP = "top"
    RIGHT = "right"
    BOTTOM = "bottom"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class EntrySide:
    """A side of the image over which hands entered, and its share of all entries, above 0 to 1."""

    side: Side
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class Stillness:
    """State of the settle gate after an image.

    Attributes:
        is_settled: Whether nothing has moved for 0.145 s, or for 1 s if a hand rests over the table.
        still_since_ns: Time of the last image with motion, or of the first image.
        moved_since_ns: Start of the latest motion. None if there was none.
        moved: Mask of the cells that moved during the latest motion, shape (18, 32).
        covered: Mask of the cells covered by a large object that extends over the border, shape (18, 32).
        came_from: Sides over which moving objects entered during the latest motion, largest share first.
        points: The reduced image that is compared, shape (90, 160).
    """

    is_settled: bool
    still_since_ns: int
    moved_since_ns: int | None
    moved: Cells
    covered: Cells
    came_from: tuple[EntrySide, ...]
    points: GreyImage

    @property
    def is_covered(self) -> bool:
        """True if a large object extends over the border of the image."""
        return bool(self.covered.any())


def small_grey(image: Image) -> GreyImage:
    """Reduce a BGR image of shape (H, W, 3) to a grey image of shape (360, 640)."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_LINEAR), np.uint8)


class SettleGate:
    """Detects motion, and hands that enter over the border.

    Each image is compared with a reference from the end of the last motion, which also detects slow hands, and with the
    last image of the uncovered table. Exposure and flicker are compensated first. A small bump of the camera counts as
    motion that ends.
    """

    def __init__(self) -> None:
        self._still: FloatImage | None = None
        self._table: FloatImage | None = None
        self._still_since_ns = self._t_ns = 0
        self._moved_since_ns: int | None = None
        self._is_moving = True
        self._moved = _no_cells()
        self._covered = _no_cells()
        self._last_moved_ns = np.zeros((_ROWS, _COLUMNS), np.int64)
        self._crossed = dict.fromkeys(Side, 0)

    def feed(self, grey: GreyImage, t_ns: int) -> Stillness:
        """Return the state after an image.

        Args:
            grey: Shape (360, 640).
            t_ns: Time of the image. Must be increasing.

        Raises:
            GreySizeError: If the image has another shape or type.
        """
        if grey.shape != (HEIGHT_PX, WIDTH_PX) or grey.dtype != np.uint8:
            raise GreySizeError(
                f"grey must have shape ({HEIGHT_PX}, {WIDTH_PX}) and be uint8, but got {grey.shape} {grey.dtype}"
            )
        points = np.asarray(cv2.resize(grey, (_WIDTH, _HEIGHT), interpolation=cv2.INTER_AREA), np.uint8)
        now = points.astype(np.float32)
        if self._still is None:
            self._still, self._still_since_ns = now, t_ns
        # A mask of the points that differ by more than noise and exposure, shape (90, 160).
        predicted = _relight(self._still, now)
        difference = now - predicted
        least = max(_MIN_MOTION, _MOTION_SIGMAS * _noise(difference))
        motion = np.asarray(np.abs(difference) > least + _EXPOSURE_LEFT * np.abs(predicted - self._still))
        moved = _cells(motion, _MOVED_POINTS)
        if moved.any():
            self._note_motion(now, moved, t_ns)
        else:
            share = np.float32(min(1.0, (t_ns - self._t_ns) / _FOLLOWS_NS))
            self._still = self._still + share * (now - self._still)
            self._settle(self._still, t_ns)
        self._t_ns = t_ns
        total = sum(self._crossed.values())
        ranked = sorted(self._crossed.items(), key=lambda item: -item[1])
        return Stillness(
            not self._is_moving,
            self._still_since_ns,
            self._moved_since_ns,
            self._moved,
            self._covered,
            tuple(EntrySide(side, count / total) for side, count in ranked if count),
            points,
        )

    def follow_camera(self, motion: Motion, width_px: int) -> None:
        """Apply a camera motion to the stored image of the uncovered table, so that only hands count as covering it.

        Does nothing unless the table is covered, because the image is otherwise replaced once the table is still.

        Args:
            motion: Image motion, shape (2, 3), in full-resolution pixels.
            width_px: Width of the full-resolution image.
        """
        if self._table is not None and self._covered.any():
            own = motion * np.array([1.0, 1.0, _WIDTH / width_px])
            moved = cv2.warpAffine(self._table, own, (_WIDTH, _HEIGHT), borderMode=cv2.BORDER_REPLICATE)
            self._table = np.asarray(moved, np.float32)

    def _note_motion(self, now: FloatImage, moved: Cells, t_ns: int) -> None:
        """Record the cells that moved, and the sides over which objects entered."""
        if not self._is_moving:
            self._is_moving, self._moved_since_ns = True, t_ns
            self._moved, self._crossed = _no_cells(), dict.fromkeys(Side, 0)
        self._still, self._still_since_ns = now, t_ns
        self._moved = self._moved | moved
        self._last_moved_ns[moved] = t_ns
        self._covered = _no_cells()
        if self._table is not None:
            self._covered = _reaching_in(_cells(_cover(self._table, now), _COVERED_POINTS))
            for side, count in _crossings(self._covered, moved).items():
                self._crossed[side] += count

    def _settle(self, now: FloatImage, t_ns: int) -> None:
        """Settle the table, and store its image, if the picture has been still for long enough."""
        still_ns = t_ns - self._still_since_ns
        if still_ns < _SETTLED_NS:
            return
        if self._table is not None and (self._is_moving or self._covered.any()):
            # A mask of the covered cells. Cells that have not moved for 5 s become part of the table. For example, a
            # boneyard laid out at the border extends over it like a hand, but stays there.
            covered = _reaching_in(_cells(_cover(self._table, now), _COVERED_POINTS))
            belongs = covered & (t_ns - self._last_moved_ns >= _BELONGS_NS)
            if not belongs.any():
                covered_now = covered
            else:
                points = belongs.repeat(_CELL, axis=0).repeat(_CELL, axis=1)
                self._table = np.where(points, now, self._table)
                covered_now = _reaching_in(_cells(_cover(self._table, now), _COVERED_POINTS))
            self._covered = covered_now
        is_covered = bool(self._covered.any())
        if not is_covered or still_ns >= _PATIENCE_NS:
            self._is_moving = False
        if self._table is None or not is_covered:
            self._table = now


def _relight(before: FloatImage, now: FloatImage) -> FloatImage:
    """Return an earlier image in the light of the current one, row by row."""
    rows = _medians((now[:, ::4] + _DARK) / (before[:, ::4] + _DARK))
    all_rows = float(_medians(rows))
    gain = np.clip(rows, (1 - _MAX_FLICKER) * all_rows, (1 + _MAX_FLICKER) * all_rows).astype(np.float32)
    return np.asarray(np.minimum((before + _DARK) * gain[:, None] - _DARK, np.float32(255)), np.float32)


def _medians(values: FloatImage) -> FloatImage:
    """Return the upper medians along the last axis, in a third of the time of `np.median`."""
    middle = values.shape[-1] // 2
    return np.asarray(np.partition(values, middle, axis=-1)[..., middle])


def _noise(difference: FloatImage) -> float:
    """Return a robust estimate of the noise (MAD), unaffected by motion in less than half of the image."""
    return 1.4826 * float(_medians(np.abs(difference[::3, ::4]).ravel()))


def _cover(table: FloatImage, now: FloatImage) -> Cells:
    """Return a mask of the points that differ from the table, shape (90, 160)."""
    # A point must also differ from the neighbouring points of the table, so that a small bump of the camera does not
    # count.
    predicted = _relight(table, now)
    least = max(_MIN_COVER, _COVER_SIGMAS * _noise(now - predicted)) + _EXPOSURE_LEFT * np.abs(predicted - table)
    around = np.ones((3, 3), np.uint8)
    above, below = now - cv2.dilate(predicted, around), cv2.erode(predicted, around) - now
    return np.asarray(np.maximum(above, below) > least)


def _cells(points: Cells, least: int) -> Cells:
    """Return a mask of the cells with at least *least* points set, shape (18, 32)."""
    return np.asarray(points.reshape(_ROWS, _CELL, _COLUMNS, _CELL).sum(axis=(1, 3)) >= least)


def _reaching_in(cells: Cells) -> Cells:
    """Return the connected regions of *cells* that touch the border and are large enough for a hand."""
    count, labels = cv2.connectedComponents(cells.astype(np.uint8), connectivity=8)
    is_hand = np.zeros(count, bool)
    for border in (labels[0], labels[-1], labels[:, 0], labels[:, -1]):
        is_hand[border] = True
    is_hand &= np.bincount(labels.ravel().astype(np.intp), minlength=count) >= _MIN_HAND * cells.size
    is_hand[0] = False
    return np.asarray(is_hand[labels])


def _crossings(covered: Cells, moved: Cells) -> dict[Side, int]:
    """Return a measure of the moving objects that extend over each side."""
    # It is the sum over the cells of the side of the squared depth of the object there. An arm that enters at one side
    # and runs along another is deepest at the first.
    count, labels = cv2.connectedComponents(covered.astype(np.uint8), connectivity=8)
    is_moving = np.zeros(count, bool)
    is_moving[labels[covered & moved]] = True
    moving = is_moving[labels]
    inward = {Side.TOP: moving, Side.RIGHT: moving.T[::-1], Side.BOTTOM: moving[::-1], Side.LEFT: moving.T}
    return {side: int((np.cumprod(cells, axis=0).sum(axis=0) ** 2).sum()) for side, cells in inward.items()}


def _no_cells() -> Cells:
    return np.zeros((_ROWS, _COLUMNS), bool)
