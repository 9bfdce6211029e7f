"""Encode and decode tile poses in the output cells of the detector.

Each cell predicts whether it contains the centre of a tile, and its pose. The two halves are interchangeable, so the
half-axes have no sign. Each is encoded as the logarithm of its length and the cosine and sine of twice its angle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points
from vision.geometry.poses import Poses

STRIDE_PX = 4
# Face up, face down, centre x and y, length and direction of both half-axes.
CHANNELS = 10
UP_CHANNEL, DOWN_CHANNEL, FIRST_SHAPE = 0, 1, 2
# Half-axes of a typical tile, used to normalise lengths.
_USUAL_U_PX, _USUAL_V_PX = 24.0, 12.0


def cells_of(points_px: Points) -> NDArray[np.intp]:
    """Return the column and row of the cell of each point in network pixels, shape (N, 2)."""
    return np.asarray(np.floor((points_px + 0.5) / STRIDE_PX), np.intp)


def encode_poses(poses: Poses, cells: NDArray[np.intp]) -> NDArray[np.float64]:
    """Encode poses in network pixels, shape (N, 6), relative to cells, (N, 2). Returns 8 channels, shape (N, 8)."""
    place = (poses[:, :2] + 0.5) / STRIDE_PX - cells - 0.5
    u, v = poses[:, 2:4], poses[:, 4:]
    lengths = np.column_stack([np.hypot(u[:, 0], u[:, 1]) / _USUAL_U_PX, np.hypot(v[:, 0], v[:, 1]) / _USUAL_V_PX])
    return np.column_stack([place, np.log(lengths), _double_angle(u), _double_angle(v)])


def _double_angle(axis: Points) -> Points:
    """Return cosine and sine of twice the angle of vectors, shape (N, 2). Opposite vectors have equal results."""
    angle = 2 * np.arctan2(axis[:, 1], axis[:, 0])
    return np.column_stack([np.cos(angle), np.sin(angle)])


def decode_poses(shapes: NDArray[np.float64], cells: NDArray[np.intp]) -> Poses:
    """Decode shape channels, shape (N, 8), at cells, (N, 2), to poses, (N, 6). The inverse of `encode_poses`."""
    center = (cells + 0.5 + shapes[:, :2]) * STRIDE_PX - 0.5
    lengths = np.exp(np.clip(shapes[:, 2:4], -4, 4)) * (_USUAL_U_PX, _USUAL_V_PX)
    along, across = (np.arctan2(shapes[:, k + 1], shapes[:, k]) / 2 for k in (4, 6))
    u, v = (
        lengths[:, [k]] * np.column_stack([np.cos(angle), np.sin(angle)]) for k, angle in enumerate((along, across))
    )
    clockwise = np.sign(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    return np.column_stack([center, u, v * np.where(clockwise == 0, 1, clockwise)[:, None]])
