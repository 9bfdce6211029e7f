"""Detector targets for a picture, and the weight of each cell."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.training.detector.crops import LabelledPicture
from vision.geometry.poses import Poses, sides_px
from vision.networks.detector_decoding import CHANNELS, FIRST_SHAPE, STRIDE_PX, cells_of, encode_poses
from vision.networks.refiner import UP

# Standard deviation of the heat around a centre, in sides of the tile, and its minimum in cells.
_FADE_SIDES, _MIN_FADE_CELLS = 0.13, 0.5
# Maximum distance from a centre, in sides, of cells that also learn the shape of the tile. The cell with the highest
# heat need not be the nearest.
_SHAPED_SIDES = 0.35
# Tiles with a side outside this range are detected at another scale. Smaller ones are ignored. Large ones count as
# background above _LARGE_SIDE_PX, whole or not, because their pips look like small tiles.
_SIDE_PX, _LARGE_SIDE_PX = (5.0, 64.0), 80.0


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Training targets of a picture, per cell.

    Attributes:
        heat: Heat of face-up and face-down tiles, shape (2, h, w): 1 at a centre, falling to 0 around it.
        heat_counts: Weight of the heat, shape (h, w). 0 for ignored cells.
        shapes: Encoded poses, shape (8, h, w), as in `vision.networks.detector_decoding`.
        shape_counts: Weight of the shapes, shape (h, w).
    """

    heat: NDArray[np.float32]
    heat_counts: NDArray[np.float32]
    shapes: NDArray[np.float32]
    shape_counts: NDArray[np.float32]


def targets_of(picture: LabelledPicture) -> Targets:
    """Return the targets of a picture whose width and height are multiples of the stride.

    Cells of tiles outside the range of sides, or beyond the edge of the picture, are ignored. Those of large tiles are
    background.
    """
    height, width = (length // STRIDE_PX for length in picture.image.shape[:2])
    heat, counts = np.zeros((2, height, width), np.float32), np.ones((height, width), np.float32)
    shapes = np.zeros((CHANNELS - FIRST_SHAPE, height, width), np.float32)
    nearness = np.zeros((height, width), np.float32)
    for outline in picture.unread_px:
        _ignore(counts, outline)
    side = sides_px(picture.poses)
    for index, pose in enumerate(picture.poses):
        if side[index] > _LARGE_SIDE_PX:
            continue
        if not _SIDE_PX[0] <= side[index] <= _SIDE_PX[1] or _sticks_out(pose, picture.image.shape):
            _ignore(counts, _outline(pose))
            continue
        _add_tile(pose, float(side[index]), heat[0 if picture.faces[index] == UP else 1], shapes, nearness)
    return Targets(heat, counts, shapes, np.where(heat.max(axis=0) >= 1, 1, nearness).astype(np.float32))


def _add_tile(
    pose: NDArray[np.float64],
    side_px: float,
    heat: NDArray[np.float32],
    shapes: NDArray[np.float32],
    nearness: NDArray[np.float32],
) -> None:
    """Write the targets of a tile to the cells around its centre, in place."""
    height, width = heat.shape
    middle = (pose[:2] + 0.5) / STRIDE_PX - 0.5
    fade = max(_FADE_SIDES * side_px / STRIDE_PX, _MIN_FADE_CELLS)
    reach = max(_SHAPED_SIDES * side_px / STRIDE_PX, 0.8)
    column, row = cells_of(pose[None, :2])[0]
    span = int(np.ceil(max(3 * fade, reach))) + 1
    x0, x1, y0, y1 = (
        max(0, column - span),
        min(width, column + span + 1),
        max(0, row - span),
        min(height, row + span + 1),
    )
    x, y = np.meshgrid(np.arange(x0, x1), np.arange(y0, y1))
    squared = (x - middle[0]) ** 2 + (y - middle[1]) ** 2
    bell = np.exp(-squared / (2 * fade**2)).astype(np.float32)
    heat[y0:y1, x0:x1] = np.maximum(heat[y0:y1, x0:x1], np.minimum(bell, 0.98))
    heat[row, column] = 1.0
    near = np.where(squared <= reach**2, np.exp(-squared / (2 * reach**2)), 0).astype(np.float32)
    near[row - y0, column - x0] = 1.0
    nearest = near > nearness[y0:y1, x0:x1]
    cells = np.column_stack([x[nearest], y[nearest]])
    shapes[:, cells[:, 1], cells[:, 0]] = encode_poses(np.repeat(pose[None], len(cells), axis=0), cells).T
    nearness[y0:y1, x0:x1][nearest] = near[nearest]


def _outline(pose: NDArray[np.float64]) -> Poses:
    center, u, v = pose[:2], pose[2:4], pose[4:]
    return np.array([center + u + v, center + u - v, center - u - v, center - u + v])


def _sticks_out(pose: NDArray[np.float64], shape: tuple[int, ...]) -> bool:
    outline = _outline(pose)
    return bool((outline < -1).any() or (outline > (shape[1], shape[0])).any())


def _ignore(counts: NDArray[np.float32], outline_px: Poses) -> None:
    """Set the weight of the cells inside an outline to 0, in place."""
    cells = np.round((outline_px + 0.5) / STRIDE_PX - 0.5)
    if np.abs(cells).max() < 1e4:
        cv2.fillConvexPoly(counts, cells.astype(np.int32).reshape(-1, 1, 2), 0.0)
