"""Detect when motion has stopped, from small grey pictures, cheaply enough for every frame."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import FloatImage, GreyImage, Image, Motion
from vision.errors import VisionError

Cells = NDArray[np.bool_]

# What the gate is given, and what it works on: averages of 4 x 4 pixels, which are almost free of noise.
WIDTH_PX, HEIGHT_PX = 640, 360
_WIDTH, _HEIGHT, _CELL = 160, 90, 5
_COLUMNS, _ROWS = _WIDTH // _CELL, _HEIGHT // _CELL
# Nothing moved for so long: the table is settled. A hand that lets a tile go lingers about half as long.
# A little less than two pictures of ten a second, or three of twenty, which come early as often as late.
_SETTLED_NS = 145_000_000
# A hand that rests will most often go on in a moment: so long is waited before the table around it counts as settled.
_PATIENCE_NS = 1_000_000_000
# What covers the table and lies still for so long belongs to it.
_BELONGS_NS = 5_000_000_000
# In that time the picture that motion is told from follows the light.
_FOLLOWS_NS = 1_000_000_000
# Grey levels that are more than noise of this picture; and that are more than shade and bad alignment.
_LEAST_MOTION, _MOTION_SIGMAS = 5.0, 5.0
_LEAST_COVER, _COVER_SIGMAS = 14.0, 6.0
# Tone curves are not straight: of a change of exposure so much is left over.
_EXPOSURE_LEFT = 0.25
# How many of the 25 points of a cell tell that it moved or differs.
_MOVED_POINTS, _COVERED_POINTS = 3, 8
# Share of the picture that a hand covers at least.
_LEAST_HAND = 0.025
# Light that flickers differs from row to row, by less than this.
_MOST_FLICKER = 0.1
_DARK = np.float32(8.0)


class GreySizeError(VisionError, ValueError):
    """A picture that is not as small as the gate takes it."""


class Side(StrEnum):
    """A side of the picture."""

    TOP = "top"
    RIGHT = "right"
    BOTTOM = "bottom"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class EntrySide:
    """A side of the picture over which hands came in, and its share of all that crossed the border, above 0 to 1."""

    side: Side
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class Stillness:
    """What the gate knows after a picture.

    Attributes:
        is_settled: Whether nothing has moved for a seventh of a second, or for a second where a hand rests.
        still_since_ns: Time of the picture from which on nothing moved.
        moved_since_ns: When the latest motion began; None where there was none yet.
        moved: Shape (18, 32), which cells of the picture moved in it.
        covered: Shape (18, 32), which of them are covered by something large that reaches in over the border.
        came_from: Where what moved came in, the heaviest side first.
        points: Shape (90, 160), the picture as small as it is compared.
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
        """Whether something reaches in over the border and rests."""
        return bool(self.covered.any())


def small_grey(image: Image) -> GreyImage:
    """Return the small grey picture, shape (360, 640), of a BGR picture of shape (H, W, 3)."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, (WIDTH_PX, HEIGHT_PX), interpolation=cv2.INTER_LINEAR), np.uint8)


class SettleGate:
    """Tells from picture to picture whether something moves, and what came in over the border.

    Each picture is compared with the one from which on nothing moved, so that slow hands are seen too, and with the
    table as it last lay there uncovered. Exposure and flicker are taken out first; a camera that was bumped a little
    is in motion, then still again.
    """

    def __init__(self) -> None:
        """Start without a picture."""
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
        """Return what is known after one more picture.

        Args:
            grey: Shape (360, 640).
            t_ns: When it was taken, later than those before.

        Raises:
            GreySizeError: If the picture has another size.
        """
        if grey.shape != (HEIGHT_PX, WIDTH_PX) or grey.dtype != np.uint8:
            raise GreySizeError(
                f"grey must have shape ({HEIGHT_PX}, {WIDTH_PX}) and be uint8, but got {grey.shape} {grey.dtype}"
            )
        points = np.asarray(cv2.resize(grey, (_WIDTH, _HEIGHT), interpolation=cv2.INTER_AREA), np.uint8)
        now = points.astype(np.float32)
        if self._still is None:
            self._still, self._still_since_ns = now, t_ns
        moved = _cells(_motion(self._still, now), _MOVED_POINTS)
        if moved.any():
            self._note_motion(now, moved, t_ns)
        else:
            share = np.float32(min(1.0, (t_ns - self._t_ns) / _FOLLOWS_NS))
            self._still = self._still + share * (now - self._still)
            self._settle(self._still, t_ns)
        self._t_ns = t_ns
        return Stillness(
            not self._is_moving,
            self._still_since_ns,
            self._moved_since_ns,
            self._moved,
            self._covered,
            _origins(self._crossed),
            points,
        )

    def follow_camera(self, motion: Motion, width_px: int) -> None:
        """Move what is remembered of the covered table as the camera was moved, so that only hands still cover it.

        Args:
            motion: Shape (2, 3), in pixels of the full picture.
            width_px: Width of that.
        """
        if self._table is not None and self._covered.any():
            own = motion * np.array([1.0, 1.0, _WIDTH / width_px])
            moved = cv2.warpAffine(self._table, own, (_WIDTH, _HEIGHT), borderMode=cv2.BORDER_REPLICATE)
            self._table = np.asarray(moved, np.float32)

    def _note_motion(self, now: FloatImage, moved: Cells, t_ns: int) -> None:
        """Keep what moved, and where it came in."""
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
        """Keep the table as it lies now, if it has been still for long enough."""
        still_ns = t_ns - self._still_since_ns
        if still_ns < _SETTLED_NS:
            return
        if self._table is not None and (self._is_moving or self._covered.any()):
            self._covered = self._covered_now(self._table, now, t_ns)
        is_covered = bool(self._covered.any())
        if not is_covered or still_ns >= _PATIENCE_NS:
            self._is_moving = False
        if self._table is None or not is_covered:
            self._table = now

    def _covered_now(self, table: FloatImage, now: FloatImage, t_ns: int) -> Cells:
        """Return which cells are covered; those that lay still for long, whatever moved elsewhere, are table by now.

        A boneyard at the border is laid out in one go, and then the game goes on around it.
        """
        covered = _reaching_in(_cells(_cover(table, now), _COVERED_POINTS))
        belongs = covered & (t_ns - self._last_moved_ns >= _BELONGS_NS)
        if not belongs.any():
            return covered
        points = belongs.repeat(_CELL, axis=0).repeat(_CELL, axis=1)
        self._table = np.where(points, now, table)
        return _reaching_in(_cells(_cover(self._table, now), _COVERED_POINTS))


def _predicted(before: FloatImage, now: FloatImage) -> FloatImage:
    """Return how an earlier picture looks in the light of this one."""
    rows = _medians((now[:, ::4] + _DARK) / (before[:, ::4] + _DARK))
    all_rows = float(_medians(rows))
    gain = np.clip(rows, (1 - _MOST_FLICKER) * all_rows, (1 + _MOST_FLICKER) * all_rows).astype(np.float32)
    return np.asarray(np.minimum((before + _DARK) * gain[:, None] - _DARK, np.float32(255)), np.float32)


def _medians(values: FloatImage) -> FloatImage:
    """Return the middle values along the last axis; `np.median` takes three times as long."""
    middle = values.shape[-1] // 2
    return np.asarray(np.partition(values, middle, axis=-1)[..., middle])


def _noise(difference: FloatImage) -> float:
    """Return the spread of the noise, whatever moves in less than half of the picture."""
    return 1.4826 * float(_medians(np.abs(difference[::3, ::4]).ravel()))


def _motion(before: FloatImage, now: FloatImage) -> Cells:
    """Return the points, shape (90, 160), that differ by more than noise and exposure."""
    predicted = _predicted(before, now)
    difference = now - predicted
    least = max(_LEAST_MOTION, _MOTION_SIGMAS * _noise(difference))
    return np.asarray(np.abs(difference) > least + _EXPOSURE_LEFT * np.abs(predicted - before))


def _cover(table: FloatImage, now: FloatImage) -> Cells:
    """Return the points, shape (90, 160), that no neighbour explains: a small bump of the camera covers nothing."""
    predicted = _predicted(table, now)
    least = max(_LEAST_COVER, _COVER_SIGMAS * _noise(now - predicted)) + _EXPOSURE_LEFT * np.abs(predicted - table)
    around = np.ones((3, 3), np.uint8)
    above, below = now - cv2.dilate(predicted, around), cv2.erode(predicted, around) - now
    return np.asarray(np.maximum(above, below) > least)


def _cells(points: Cells, least: int) -> Cells:
    """Return the cells, shape (18, 32), of which at least so many points are set."""
    return np.asarray(points.reshape(_ROWS, _CELL, _COLUMNS, _CELL).sum(axis=(1, 3)) >= least)


def _reaching_in(cells: Cells) -> Cells:
    """Return those of the cells that hang together with the border and are many enough for a hand."""
    count, labels = cv2.connectedComponents(cells.astype(np.uint8), connectivity=8)
    is_hand = np.zeros(count, bool)
    for border in (labels[0], labels[-1], labels[:, 0], labels[:, -1]):
        is_hand[border] = True
    is_hand &= np.bincount(labels.ravel().astype(np.intp), minlength=count) >= _LEAST_HAND * cells.size
    is_hand[0] = False
    return np.asarray(is_hand[labels])


def _crossings(covered: Cells, moved: Cells) -> dict[Side, int]:
    """Return how much of what moves reaches in over each side.

    From each cell at the side on, the cells inward are counted, and squared: an arm that comes in at one side and runs
    along another reaches in deep at the first.
    """
    count, labels = cv2.connectedComponents(covered.astype(np.uint8), connectivity=8)
    is_moving = np.zeros(count, bool)
    is_moving[labels[covered & moved]] = True
    moving = is_moving[labels]
    inward = {Side.TOP: moving, Side.RIGHT: moving.T[::-1], Side.BOTTOM: moving[::-1], Side.LEFT: moving.T}
    return {side: int((np.cumprod(cells, axis=0).sum(axis=0) ** 2).sum()) for side, cells in inward.items()}


def _origins(crossed: dict[Side, int]) -> tuple[EntrySide, ...]:
    total = sum(crossed.values())
    ranked = sorted(crossed.items(), key=lambda item: -item[1])
    return tuple(EntrySide(side, count / total) for side, count in ranked if count)


def _no_cells() -> Cells:
    return np.zeros((_ROWS, _COLUMNS), bool)
