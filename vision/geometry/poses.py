"""Tile poses as arrays: a centre and two half-axes, which also describe oblique views.

A pose array has shape (N, 6): ``cx, cy, ux, uy, vx, vy`` in pixels. ``u`` points from the centre to the midpoint of the
short edge at half 1, ``v`` from the centre to the midpoint of a long edge. A 2:1 tile has |u| = 2 |v|. ``v`` is
clockwise from ``u`` in the image.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points

Poses = NDArray[np.float64]

# Corners of a tile in units of its half-axes, clockwise in the image.
_CORNERS_UV = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
_HALF_CENTERS_UV = np.array([(-0.5, 0.0), (0.5, 0.0)])
# Multiplying a pose by this swaps the halves.
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
    """Return the poses of rectangles, shape (N, 6).

    Args:
        center_px: Shape (N, 2).
        theta_rad: Direction of the long axis, clockwise in the image from the x axis, shape (N,).
        long_px: Full length, shape (N,).
        short_px: Full width, shape (N,).
    """
    c, s = np.cos(theta_rad), np.sin(theta_rad)
    half_u, half_v = long_px / 2, short_px / 2
    return np.column_stack([center_px, c * half_u, s * half_u, -s * half_v, c * half_v])


def to_image(poses: Poses, uv: Points) -> Points:
    """Map tile coordinates to image points.

    Args:
        poses: Shape (N, 6).
        uv: Points in units of the half-axes, shape (M, 2). The tile spans -1 to 1 in both.

    Returns:
        Shape (N, M, 2), pixels.
    """
    return np.asarray(poses[:, None, :2] + uv @ poses[:, 2:].reshape(-1, 2, 2))


def corners(poses: Poses) -> Points:
    """Return the corners in pixels, shape (N, 4, 2), clockwise from the one at -u, -v."""
    return to_image(poses, _CORNERS_UV)


def half_centers(poses: Poses) -> Points:
    """Return the centres of half 0 and half 1 in pixels, shape (N, 2, 2)."""
    return to_image(poses, _HALF_CENTERS_UV)


def sides_px(poses: Poses) -> NDArray[np.float64]:
    """Return the side length of a half, shape (N,), as the geometric mean over both axes."""
    area = np.abs(poses[:, 2] * poses[:, 5] - poses[:, 3] * poses[:, 4])  # |u x v|. A half measures 1 u by 2 v.
    return np.asarray(np.sqrt(2 * area))


def move(poses: Poses, deltas: NDArray[np.float64]) -> Poses:
    """Return poses changed by *deltas* in their own coordinate frames.

    Args:
        poses: Shape (N, 6).
        deltas: Changes of the centre, u and v, each in units of the pose's own u and v, shape (N, 6).
    """
    axes = poses[:, 2:].reshape(-1, 2, 2)
    return np.asarray(poses + (deltas.reshape(-1, 3, 2) @ axes).reshape(-1, 6))


def deltas_between(poses: Poses, targets: Poses) -> NDArray[np.float64]:
    """Return the *deltas* with which `move` turns *poses* into *targets*, shape (N, 6)."""
    axes = poses[:, 2:].reshape(-1, 2, 2)
    difference = (targets - poses).reshape(-1, 3, 2)
    return np.asarray((difference @ np.linalg.inv(axes)).reshape(-1, 6))


def swap_halves(poses: Poses) -> Poses:
    """Return the poses of the same tiles with swapped halves, shape (N, 6)."""
    return np.asarray(poses * _TURNED_ROUND)


def jittered(rng: np.random.Generator, poses: Poses, spread: float) -> Poses:
    """Return randomly perturbed poses: centre, rotation and both lengths. *spread* is in sides of a half."""
    deltas = rng.normal(0, spread, (len(poses), 6)) * np.array([0.5, 1.0, 0.5, 1.0, 0.25, 0.5])
    turn = rng.normal(0, spread / 2, len(poses))
    deltas[:, 3] += 2 * turn
    deltas[:, 4] -= turn / 2
    return move(poses, deltas)
