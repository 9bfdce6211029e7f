"""Detect tiles with a small convolutional network: centre, pose and face of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image
from vision.geometry.poses import Poses, empty_poses, sides_px
from vision.geometry.selection import drop_repeats
from vision.image.pyramid import SEARCHED_PX, Level
from vision.networks.detector_decoding import DOWN_CHANNEL, FIRST_SHAPE, UP_CHANNEL, read
from vision.networks.network import load_network
from vision.reading import PointPx

_SHIPPED = "detector.onnx"
# The network halves an image five times.
_MULTIPLE_PX = 32
# What is less likely than this is not even a candidate.
_LEAST = 0.2
_MOST = 300
# Where a fifth of the likely tiles, or more, are smaller than this, it looks closer at where they are, and so many of
# their sides around: beside them lie others that are overlooked.
_SMALL_SIDE_PX, _SMALL_SHARE, _AROUND_SMALL = 12.0, 0.2, 6.0
# Where something happened tiles are looked for at a level on which they are at least so large, with so many sides
# around, if it is no more than this share of the picture. Without, one of 11 px in a line was overlooked for 22 s.
_EASY_SIDE_PX, _AROUND_FOCUS, _MOST_IN_FOCUS = 14.0, 3.0, 0.3
# Coarser levels that are searched as well. On a close-up only they show a tile as a whole. A count of likely tiles at
# 640 px does not tell a close-up from a full table, because large pips look like a dozen small tiles.
_COARSER_LEVELS = 2
# Of a tile found at several levels, prefer the pose from the level that shows its sides at 20 to 30 px. Poses of very
# small or large tiles are less exact. Without this preference 2 tiles of 656 photographed ones were misread or lost.
_BEST_SIDE_PX, _LOST_PER_OCTAVE = (20.0, 30.0), 0.3
_LIKELY = 0.4


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """Poses that may be tiles.

    Attributes:
        poses: Shape (N, 6), pixels of the full picture.
        likely: Shape (N,), how likely each is a tile, 0 to 1.
    """

    poses: Poses
    likely: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Focus:
    """Where in a picture something has happened, which is worth a finer look.

    Attributes:
        box_px: Left, top, right and bottom, in pixels of the full picture.
        side_px: How large the side of a half is there; None where nobody knows.
        is_all: Whether what lies elsewhere is known, and need not be found.
    """

    box_px: tuple[float, float, float, float]
    side_px: float | None
    is_all: bool = False

    def holds(self, point_px: PointPx) -> bool:
        """Return whether a point of the full picture is in the box."""
        left, top, right, bottom = self.box_px
        return left <= point_px[0] <= right and top <= point_px[1] <= bottom


class Detector:
    """The trained network; one picture at a time, from one thread."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Take a network that was trained by `synthetic.training.detector.fit`."""
        self._network = network

    def find(self, levels: tuple[Level, ...], focus: Focus | None = None) -> Proposals:
        """Return what may be tiles in a picture, each once, the best first.

        Args:
            levels: Pyramid of the picture. The level of 640 px and two coarser ones are searched, and the next finer
                one if tiles are small.
            focus: Where something has happened: a finer level is looked at there too if tiles are not large at 640 px,
                and nothing is looked at elsewhere if that is all; None where nobody knows.
        """
        only = focus if focus is not None and focus.is_all and _is_small(focus, levels[0]) else None
        if only is not None and only.side_px is not None:
            fitting = [level for level in levels if only.side_px >= _EASY_SIDE_PX * level.scale]
            level = fitting[-1] if fitting else levels[0]
            return _merged([(level, self._look(level, only))])
        first = next((i for i, level in enumerate(levels) if max(level.image.shape[:2]) <= SEARCHED_PX), 0)
        found = self._look(levels[first], only)
        more = [(level, only) for level in levels[first + 1 : first + 1 + _COARSER_LEVELS]]
        if first > 0:
            finer = _around_small(found, levels[first])
            if finer is not None:
                more.append((levels[first - 1], only or finer))
            elif focus is not None and _is_worth_it(focus, levels[first]):
                more.append((levels[first - 1], focus))
        return _merged([(levels[first], found), *((level, self._look(level, where)) for level, where in more)])

    def _look(self, level: Level, focus: Focus | None = None) -> Proposals:
        """Return what one size of the picture, or a part of it, shows."""
        left, top, right, bottom = (0, 0, *level.image.shape[1::-1]) if focus is None else _cut(level, focus)
        cells = self._cells(level.image[top:bottom, left:right])
        heat = np.asarray(1 / (1 + np.exp(-cells[[UP_CHANNEL, DOWN_CHANNEL]].max(axis=0))), np.float32)
        rows, columns = _peaks(heat)
        likely = heat[rows, columns].astype(np.float64)
        place = np.column_stack([columns, rows])
        poses = read(cells[FIRST_SHAPE:, rows, columns].T.astype(np.float64), place) if len(rows) else empty_poses()
        center = level.to_full(poses[:, :2] + (left, top))
        axes = poses[:, 2:] * np.tile(level.scale_xy, 2)
        return Proposals(np.column_stack([center, axes]), likely)

    def _cells(self, image: Image) -> NDArray[np.float32]:
        """Return the network's output, shape (CHANNELS, h, w), with the part of cells that the picture covers."""
        height, width = image.shape[:2]
        below, right = -height % _MULTIPLE_PX, -width % _MULTIPLE_PX
        padded = cv2.copyMakeBorder(image, 0, below, 0, right, cv2.BORDER_CONSTANT, value=(0, 0, 0))
        self._network.setInput(cv2.dnn.blobFromImage(padded, 1 / 128, mean=(128, 128, 128)))
        return np.asarray(self._network.forward()[0], np.float32)


def load_detector(path: Path | None = None) -> Detector:
    """Return the network in a file, by default the one that the package ships.

    Raises:
        ModelError: If the file is not such a network.
    """
    return Detector(load_network(path, shipped=_SHIPPED))


def _merged(looks: list[tuple[Level, Proposals]]) -> Proposals:
    """Return the proposals of several levels, each tile once, the best first."""
    poses = np.concatenate([found.poses for _, found in looks])
    likely = np.concatenate([found.likely for _, found in looks])
    shown_px = np.concatenate([sides_px(found.poses) / level.scale for level, found in looks])
    smallest, largest = _BEST_SIDE_PX
    octaves = np.abs(np.log2(shown_px / np.clip(shown_px, smallest, largest)))
    once = drop_repeats(poses, likely - _LOST_PER_OCTAVE * octaves, at_most=_MOST)
    return Proposals(poses[once], likely[once])


def _around_small(found: Proposals, level: Level) -> Focus | None:
    """Return where the small ones of what was found at a level lie; None where hardly any are small."""
    side_px = sides_px(found.poses)
    likely = found.likely > _LIKELY
    small = likely & (side_px < _SMALL_SIDE_PX * level.scale)
    if not small.any() or small.sum() < _SMALL_SHARE * likely.sum():
        return None
    around = _AROUND_SMALL * float(np.median(side_px[small]))
    (left, top), (right, bottom) = (
        found.poses[small, :2].min(axis=0) - around,
        found.poses[small, :2].max(axis=0) + around,
    )
    return Focus((left, top, right, bottom), 0.0)


def _is_worth_it(focus: Focus, level: Level) -> bool:
    """Return whether a place needs a finer look than this level gives."""
    if not _is_small(focus, level):
        return False
    return focus.side_px is None or focus.side_px < _EASY_SIDE_PX * level.scale


def _is_small(focus: Focus, level: Level) -> bool:
    left, top, right, bottom = focus.box_px
    width, height = level.full_size_px
    return (right - left) * (bottom - top) <= _MOST_IN_FOCUS * width * height


def _cut(level: Level, focus: Focus) -> tuple[int, int, int, int]:
    """Return the part of a level that shows a place and its neighbours: left, top, right, bottom."""
    left, top, right, bottom = focus.box_px
    height, width = level.image.shape[:2]
    # What came is a tile at least, which is twice as long as its side.
    around = _AROUND_FOCUS * (max(right - left, bottom - top) / 2 if focus.side_px is None else focus.side_px)
    (low_x, low_y), (high_x, high_y) = level.from_full(
        np.array([(left - around, top - around), (right + around, bottom + around)])
    ).tolist()
    return (
        int(np.clip(low_x, 0, width - 1)),
        int(np.clip(low_y, 0, height - 1)),
        int(np.clip(np.ceil(high_x), 1, width)),
        int(np.clip(np.ceil(high_y), 1, height)),
    )


def _peaks(heat: NDArray[np.float32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of cells that are likely and not lower than those around them, the likeliest first."""
    around = cv2.dilate(heat, np.ones((3, 3), np.uint8))
    rows, columns = np.nonzero((heat >= around) & (heat > _LEAST))
    best = np.argsort(-heat[rows, columns], kind="stable")[:_MOST]
    return rows[best], columns[best]
