"""Detect tiles with a small convolutional network.

Each output cell predicts whether it contains the centre of a tile, and its pose. The two halves are interchangeable, so
the half-axes have no sign. Each is encoded as the logarithm of its length and the cosine and sine of twice its angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image
from vision.image.picture import SEARCHED_PX, Level
from vision.networks.network import load_network
from vision.poses import Poses, empty_poses, sides_px, suppress_duplicates
from vision.reading import PointPx

STRIDE_PX = 4
# Face up, face down, centre x and y, length and direction of both half-axes.
CHANNELS = 10
UP_CHANNEL = 0
DOWN_CHANNEL = 1
FIRST_SHAPE = 2
# Half-axes of a typical tile, used to normalise lengths.
USUAL_U_PX = 24.0
USUAL_V_PX = 12.0


def decode_poses(shapes: NDArray[np.float64], cells: NDArray[np.intp]) -> Poses:
    """Decode shape channels, shape (N, 8), at cells, (N, 2), to poses, (N, 6)."""
    center = (cells + 0.5 + shapes[:, :2]) * STRIDE_PX - 0.5
    lengths = np.exp(np.clip(shapes[:, 2:4], -4, 4)) * (USUAL_U_PX, USUAL_V_PX)
    along, across = (np.arctan2(shapes[:, k + 1], shapes[:, k]) / 2 for k in (4, 6))
    u, v = (
        lengths[:, [k]] * np.column_stack([np.cos(angle), np.sin(angle)]) for k, angle in enumerate((along, across))
    )
    clockwise = np.sign(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    return np.column_stack([center, u, v * np.where(clockwise == 0, 1, clockwise)[:, None]])


_SHIPPED = "detector.onnx"
# The network halves the image size five times.
_MULTIPLE_PX = 32
# Minimum confidence and maximum number of proposals.
_MIN_CONFIDENCE = 0.2
_MAX_PROPOSALS = 300
# Up to _FINER_LOOKS searches at twice the last resolution follow, of at most _MAX_LOOK_PX pixels each. They cover the
# candidates with a side below _SMALL_SIDE_PX and a confidence below _CLEAR, with a margin of _AROUND_SMALL sides,
# because small tiles often have neighbours that were missed. The first one covers everything if nothing is above
# _LIKELY. On 150 tables like other people's photos, 70.3 % of the tiles are proposed without finer looks, 91.5 % with
# one, and 93.7 % with two.
_SMALL_SIDE_PX = 17.0
_CLEAR = 0.5
_AROUND_SMALL = 6.0
_LIKELY = 0.3
_FINER_LOOKS = 2
_MAX_LOOK_PX = 1280 * 960
_MIN_FACTOR = 1.2
# A focus that covers at most _MAX_IN_FOCUS of the image is searched at a level on which tiles have a side of at least
# _EASY_SIDE_PX, with a margin of _AROUND_FOCUS sides. Without a focus, a tile with a side of 11 px was missed for 22 s.
_EASY_SIDE_PX = 14.0
_AROUND_FOCUS = 3.0
_MAX_IN_FOCUS = 0.3
# Number of coarser levels that are searched too. In a close-up, only they show a whole tile. The number of likely tiles
# at 640 px cannot distinguish a close-up from a full table, because large pips look like a dozen small tiles.
_COARSER_LEVELS = 2
# If a tile is found at several levels, prefer the level on which its side is 20 to 30 px, where poses are most
# accurate: each octave outside this range costs _LOST_PER_OCTAVE of confidence. Without this, 2 of 656 photographed
# tiles were misread or lost.
_BEST_SIDE_PX = (20.0, 30.0)
_LOST_PER_OCTAVE = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """Proposed tiles.

    Attributes:
        poses: Shape (N, 6), in full-resolution pixels.
        likely: Confidence that each is a tile, 0 to 1, shape (N,).
    """

    poses: Poses
    likely: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Focus:
    """Region of an image in which something changed, to be searched at finer resolution.

    Attributes:
        box_px: Left, top, right and bottom, in full-resolution pixels.
        side_px: Side of a half in this region, in pixels. None if unknown.
        is_all: Whether everything outside the region is known and need not be searched.
    """

    box_px: tuple[float, float, float, float]
    side_px: float | None
    is_all: bool = False

    def holds(self, point_px: PointPx) -> bool:
        """Return True if a point in full-resolution pixels is inside the box."""
        left, top, right, bottom = self.box_px
        return left <= point_px[0] <= right and top <= point_px[1] <= bottom


class Detector:
    """Tile detector. Not thread-safe."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Use a network trained by `lab.training.networks`."""
        self._network = network

    def find(self, levels: tuple[Level, ...], focus: Focus | None = None) -> Proposals:
        """Detect tiles. Returns at most 300 proposals without duplicates, best first.

        Args:
            levels: Pyramid of the image. The level of 640 px and two coarser ones are searched, and up to two finer
                ones around small candidates, or everywhere if nothing is likely to be a tile.
            focus: Region that changed, or None if unknown. Ignored if it covers more than 30 % of the image. It is also
                searched at a finer level unless its tiles are large at 640 px. If `Focus.is_all`, nothing else is
                searched, and only one level if `Focus.side_px` is known.
        """
        only = focus if focus is not None and focus.is_all and _is_small(focus, levels[0]) else None
        if only is not None and only.side_px is not None:
            fitting = [level for level in levels if only.side_px >= _EASY_SIDE_PX * level.scale]
            level = fitting[-1] if fitting else levels[0]
            return _merged([(level, self._detect(level, only))])
        first = next((i for i, level in enumerate(levels) if max(level.image.shape[:2]) <= SEARCHED_PX), 0)
        looks = [(level, self._detect(level, only)) for level in levels[first : first + 1 + _COARSER_LEVELS]]
        level, found = looks[0]
        for done in range(_FINER_LOOKS):
            region = _around_small(found, level, or_all=done == 0)
            if region is None and done == 0 and focus is not None and _is_small(focus, level):
                is_easy = focus.side_px is not None and focus.side_px >= _EASY_SIDE_PX * level.scale
                region = None if is_easy else focus
            finer = None if region is None else _finer(levels[0], level, region)
            if finer is None:
                break
            level, found = finer, self._detect(finer, only or region)
            looks.append((level, found))
        return _merged(looks)

    def _detect(self, level: Level, focus: Focus | None = None) -> Proposals:
        """Return the proposals at one level, or in a part of it."""
        left, top, right, bottom = (0, 0, *level.image.shape[1::-1]) if focus is None else _cut(level, focus)
        cells = self._cells(level.image[top:bottom, left:right])
        heat = np.asarray(1 / (1 + np.exp(-cells[[UP_CHANNEL, DOWN_CHANNEL]].max(axis=0))), np.float32)
        # At most 300 local maxima above the minimum confidence, best first.
        rows, columns = np.nonzero((heat >= cv2.dilate(heat, np.ones((3, 3), np.uint8))) & (heat > _MIN_CONFIDENCE))
        best = np.argsort(-heat[rows, columns], kind="stable")[:_MAX_PROPOSALS]
        rows, columns = rows[best], columns[best]
        likely = heat[rows, columns].astype(np.float64)
        place = np.column_stack([columns, rows])
        shapes = cells[FIRST_SHAPE:, rows, columns].T.astype(np.float64)
        poses = decode_poses(shapes, place) if len(rows) else empty_poses()
        center = level.to_full(poses[:, :2] + (left, top))
        axes = poses[:, 2:] * np.tile(level.scale_xy, 2)
        return Proposals(np.column_stack([center, axes]), likely)

    def _cells(self, image: Image) -> NDArray[np.float32]:
        """Return the output of the network, shape (CHANNELS, h, w). The image is padded to a multiple of 32 px."""
        height, width = image.shape[:2]
        below, right = -height % _MULTIPLE_PX, -width % _MULTIPLE_PX
        padded = cv2.copyMakeBorder(image, 0, below, 0, right, cv2.BORDER_CONSTANT, value=(0, 0, 0))
        self._network.setInput(cv2.dnn.blobFromImage(padded, 1 / 128, mean=(128, 128, 128)))
        return np.asarray(self._network.forward()[0], np.float32)


def load_detector(path: Path | None = None) -> Detector:
    """Load the detector from a file, by default the one in the package.

    Raises:
        ModelError: If the file is missing, damaged or not a network.
    """
    return Detector(load_network(path, shipped=_SHIPPED))


def _merged(looks: list[tuple[Level, Proposals]]) -> Proposals:
    """Merge the proposals of several levels without duplicates, best first."""
    poses = np.concatenate([found.poses for _, found in looks])
    likely = np.concatenate([found.likely for _, found in looks])
    shown_px = np.concatenate([sides_px(found.poses) / level.scale for level, found in looks])
    smallest, largest = _BEST_SIDE_PX
    octaves = np.abs(np.log2(shown_px / np.clip(shown_px, smallest, largest)))
    kept = suppress_duplicates(poses, likely - _LOST_PER_OCTAVE * octaves, max_count=_MAX_PROPOSALS)
    return Proposals(poses[kept], likely[kept])


def _around_small(found: Proposals, level: Level, *, or_all: bool) -> Focus | None:
    """Return the region around small unclear candidates at a level, or None if there are none."""
    # It is the whole image if no candidate is likely and *or_all* is True.
    if or_all and not (found.likely > _LIKELY).any():
        return Focus((0.0, 0.0, *level.full_size_px), 0.0)
    side_px = sides_px(found.poses)
    small = (found.likely < _CLEAR) & (side_px < _SMALL_SIDE_PX * level.scale)
    if not small.any():
        return None
    around = _AROUND_SMALL * float(np.median(side_px[small]))
    (left, top), (right, bottom) = (
        found.poses[small, :2].min(axis=0) - around,
        found.poses[small, :2].max(axis=0) + around,
    )
    return Focus((left, top, right, bottom), 0.0)


def _finer(finest: Level, level: Level, region: Focus) -> Level | None:
    """Return a level with twice the resolution of *level*, or less for a large region."""
    # It is scaled from the finest level, and can be larger, because the network misses small tiles whose centres are
    # only two of its cells apart. None if the resolution would not rise by _MIN_FACTOR.
    left, top, right, bottom = _cut(level, region)
    factor = min(2.0, math.sqrt(_MAX_LOOK_PX / ((right - left) * (bottom - top))))
    if factor < _MIN_FACTOR:
        return None
    full_width, full_height = level.full_size_px
    width, height = round(level.image.shape[1] * factor), round(level.image.shape[0] * factor)
    interpolation = cv2.INTER_CUBIC if width > finest.image.shape[1] else cv2.INTER_AREA
    resized = np.asarray(cv2.resize(finest.image, (width, height), interpolation=interpolation), np.uint8)
    return Level(resized, (full_width / width, full_height / height))


def _is_small(focus: Focus, level: Level) -> bool:
    left, top, right, bottom = focus.box_px
    width, height = level.full_size_px
    return (right - left) * (bottom - top) <= _MAX_IN_FOCUS * width * height


def _cut(level: Level, focus: Focus) -> tuple[int, int, int, int]:
    """Return the part of a level that contains a focus and its margin: left, top, right and bottom in level pixels."""
    left, top, right, bottom = focus.box_px
    height, width = level.image.shape[:2]
    # Without a known size, assume that the region holds one tile, which is two sides long.
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
