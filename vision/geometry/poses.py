"""Tile poses as arrays: a centre and two half-axes, so that oblique views need no special case.

A pose array has shape (N, 6): ``cx, cy, ux, uy, vx, vy`` in pixels. ``u`` points from the centre to the middle of
the short edge where half 1 ends, ``v`` from the centre to the middle of a long edge. A tile of 2:1 has |u| = 2 |v|.
``v`` is ``u`` turned clockwise as seen in the image.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points

Poses = NDArray[np.float64]

# The corners of a tile in units of its half-axes, clockwise in the image.
_CORNERS_UV = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
_HALF_CENTERS_UV = np.array([(-0.5, 0.0), (0.5, 0.0)])
# A pose times this is that of the same tile with its halves swapped.
_TURNED_ROUND = np.array([1, 1, -1, -1, -1, -1.0])


def require_poses(poses: Poses) -> None:
    """Raise ValueError unless *poses* has shape (N, 6)."""
    if poses.ndim != 2 or poses.shape[1] != 6:
        raise ValueError(f"poses must have shape (N, 6), but got {poses.shape}")


def empty_poses() -> Poses:
    """Return a pose array of shape (0, 6)."""
    return np.empty((0, 6))


def upright_poses(
    center_px: Points, theta_rad: NDArray[np.float64], long_px: NDArray[np.float64], short_px: NDArray[np.float64]
) -> Poses:
    """Return poses of rectangles.

    Args:
        center_px: Shape (N, 2).
        theta_rad: Shape (N,), direction of the long axis, clockwise in the image from the x axis.
        long_px: Shape (N,), full length.
        short_px: Shape (N,), full width.
    """
    c, s = np.cos(theta_rad), np.sin(theta_rad)
    half_u, half_v = long_px / 2, short_px / 2
    return np.column_stack([center_px, c * half_u, s * half_u, -s * half_v, c * half_v])


def to_image(poses: Poses, uv: Points) -> Points:
    """Return the image points of tile points.

    Args:
        poses: Shape (N, 6).
        uv: Shape (M, 2), in half-axes: the tile spans -1 to 1 in both.

    Returns:
        Shape (N, M, 2), pixels.
    """
    return np.asarray(poses[:, None, :2] + uv @ poses[:, 2:].reshape(-1, 2, 2))


def corners(poses: Poses) -> Points:
    """Return the corners, shape (N, 4, 2), clockwise from the corner at -u, -v."""
    return to_image(poses, _CORNERS_UV)


def half_centers(poses: Poses) -> Points:
    """Return the centres of half 0 and half 1, shape (N, 2, 2)."""
    return to_image(poses, _HALF_CENTERS_UV)


def sides_px(poses: Poses) -> NDArray[np.float64]:
    """Return the length of a half's side, shape (N,): the geometric mean over both axes."""
    area = np.abs(poses[:, 2] * poses[:, 5] - poses[:, 3] * poses[:, 4])  # |u x v|, a half is 1 u by 2 v
    return np.asarray(np.sqrt(2 * area))


def move(poses: Poses, deltas: NDArray[np.float64]) -> Poses:
    """Return poses changed in their own frames.

    Args:
        poses: Shape (N, 6).
        deltas: Shape (N, 6): change of centre, of u and of v, each in units of the pose's own u and v.
    """
    axes = poses[:, 2:].reshape(-1, 2, 2)
    return np.asarray(poses + (deltas.reshape(-1, 3, 2) @ axes).reshape(-1, 6))


def deltas_between(poses: Poses, targets: Poses) -> NDArray[np.float64]:
    """Return what `move` needs to turn *poses* into *targets*, shape (N, 6)."""
    axes = poses[:, 2:].reshape(-1, 2, 2)
    difference = (targets - poses).reshape(-1, 3, 2)
    return np.asarray((difference @ np.linalg.inv(axes)).reshape(-1, 6))


def turned_round(poses: Poses) -> Poses:
    """Return the poses of the same tiles with their halves swapped, shape (N, 6)."""
    return np.asarray(poses * _TURNED_ROUND)


def jittered(rng: np.random.Generator, poses: Poses, spread: float) -> Poses:
    """Return poses moved at random: centre, turn and both lengths, in sides of a half."""
    deltas = rng.normal(0, spread, (len(poses), 6)) * np.array([0.5, 1.0, 0.5, 1.0, 0.25, 0.5])
    turn = rng.normal(0, spread / 2, len(poses))
    deltas[:, 3] += 2 * turn
    deltas[:, 4] -= turn / 2
    return move(poses, deltas)
