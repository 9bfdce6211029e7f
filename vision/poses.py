"""Tile poses as arrays: a centre and two half-axes, which also describe oblique views; and selecting the best of them.

A pose array has shape (N, 6): ``cx, cy, ux, uy, vx, vy`` in pixels. ``u`` points from the centre to the midpoint of the
short edge at half 1, ``v`` from the centre to the midpoint of a long edge. A 2:1 tile has |u| = 2 |v|. ``v`` is
clockwise from ``u`` in the image.
"""

from __future__ import annotations

import cv2
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
    """Map tile coordinates to image points. Shape (N, M, 2), pixels.

    Args:
        poses: Shape (N, 6).
        uv: Points in units of the half-axes, shape (M, 2). The tile spans -1 to 1 in both.
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


# Poses that overlap by more than this share of the smaller one exclude each other. Neighbours may appear to overlap
# slightly, because poses are inexact and tile sides are visible in oblique views.
_MAX_OVERLAP = 0.15
# Larger clusters of overlapping poses are solved greedily, because exact search could take too long.
_EXACT_UP_TO = 16


def suppress_duplicates(poses: Poses, scores: NDArray[np.float64], *, max_count: int) -> NDArray[np.intp]:
    """Suppress near-duplicate poses. Returns the indices of the best of each group, best first.

    Two poses are near-duplicates if their centres differ by less than a third of a side, their axes by less than 30
    degrees, and their sizes by less than 20 %.

    Args:
        poses: Shape (N, 6).
        scores: Shape (N,). Higher is better.
        max_count: Maximum number of indices to return.
    """
    require_poses(poses)
    side = sides_px(poses)
    theta = np.arctan2(poses[:, 3], poses[:, 2]) % np.pi
    order = np.argsort(-scores, kind="stable")
    order = order[_first_in_cell(poses[order], side[order], theta[order])]
    x, y, log_side = poses[order, 0], poses[order, 1], np.log(side[order])
    theta = theta[order]
    kept: list[int] = []
    alive = np.ones(len(order), bool)
    for place in range(len(order)):
        if not alive[place]:
            continue
        kept.append(int(order[place]))
        if len(kept) == max_count:
            break
        rest = slice(place + 1, None)
        gap = np.exp(log_side[place]) / 3
        near = (np.abs(x[rest] - x[place]) < gap) & (np.abs(y[rest] - y[place]) < gap)
        turned = np.abs((theta[rest] - theta[place] + np.pi / 2) % np.pi - np.pi / 2) < np.pi / 6
        alive[rest] &= ~(near & turned & (np.abs(log_side[rest] - log_side[place]) < 0.2))
    return np.array(kept, np.intp)


def _first_in_cell(poses: Poses, side: NDArray[np.float64], theta: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the index of the first pose in each small cell of position, direction and size, as a fast pre-filter."""
    size_cell = np.round(np.log(side) * 8)
    pitch = np.exp(size_cell / 8) / 5
    cells = np.column_stack([np.round(poses[:, 0] / pitch), np.round(poses[:, 1] / pitch), size_cell, theta // 0.2])
    _, first = np.unique(cells.astype(np.int64), axis=0, return_index=True)
    return np.sort(first)


def select_tiles(poses: Poses, scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the indices of non-overlapping poses with the highest total score, sorted.

    Clusters of more than 16 overlapping poses are solved greedily, so their total may not be the highest.

    Args:
        poses: Shape (N, 6).
        scores: Shape (N,). Only poses with positive scores are selected.
    """
    require_poses(poses)
    worth = np.nonzero(scores > 0)[0]
    rivals = _rivals(poses[worth])
    chosen: list[int] = []
    for cluster in _clusters(rivals):
        best = (
            _best_exact(cluster, rivals, scores[worth])
            if len(cluster) <= _EXACT_UP_TO
            else _best_first(cluster, rivals, scores[worth])
        )
        chosen += [int(worth[i]) for i in best]
    return np.array(sorted(chosen), np.intp)


def select_more_tiles(chosen: NDArray[np.intp], poses: Poses, scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the indices of more non-overlapping poses with the highest total score, none of which overlaps *chosen*.

    Args:
        chosen: Indices of poses already selected, shape (M,).
        poses: Shape (N, 6).
        scores: Shape (N,). Only poses with positive scores are selected.
    """
    require_poses(poses)
    worth = np.union1d(np.nonzero(scores > 0)[0], chosen)
    rivals, taken = _rivals(poses[worth]), set(np.searchsorted(worth, chosen).tolist())
    is_beside = [i not in taken and not taken & others for i, others in enumerate(rivals)]
    beside = worth[np.array(is_beside, bool)]
    return np.asarray(beside[select_tiles(poses[beside], scores[beside])])


def overlap_share(outline_a: NDArray[np.float64], outline_b: NDArray[np.float64]) -> float:
    """Return the intersection area of two convex outlines, shape (K, 2), as a fraction of the smaller outline."""
    a, b = outline_a.astype(np.float32), outline_b.astype(np.float32)
    smaller = min(abs(cv2.contourArea(a)), abs(cv2.contourArea(b)))
    return float(cv2.intersectConvexConvex(a, b)[0] / smaller) if smaller > 0 else 0.0


def _rivals(poses: Poses) -> list[set[int]]:
    """Return for each pose the indices of the poses that it overlaps."""
    rivals: list[set[int]] = [set() for _ in range(len(poses))]
    side, outlines = sides_px(poses), corners(poses)
    for i in range(len(poses)):
        distance = np.hypot(poses[i + 1 :, 0] - poses[i, 0], poses[i + 1 :, 1] - poses[i, 1])
        for j in np.nonzero(distance < 1.15 * (side[i] + side[i + 1 :]))[0] + i + 1:
            if overlap_share(outlines[i], outlines[j]) > _MAX_OVERLAP:
                rivals[i].add(int(j))
                rivals[int(j)].add(i)
    return rivals


def _clusters(rivals: list[set[int]]) -> list[list[int]]:
    """Return the connected components of the overlap graph."""
    seen: set[int] = set()
    clusters = []
    for start in range(len(rivals)):
        if start in seen:
            continue
        cluster, front = [], [start]
        seen.add(start)
        while front:
            node = front.pop()
            cluster.append(node)
            fresh = rivals[node] - seen
            seen |= fresh
            front += sorted(fresh)
        clusters.append(cluster)
    return clusters


def _best_first(cluster: list[int], rivals: list[set[int]], scores: NDArray[np.float64]) -> list[int]:
    """Select poses greedily, best first."""
    taken: list[int] = []
    for node in sorted(cluster, key=lambda n: -scores[n]):
        if not rivals[node].intersection(taken):
            taken.append(node)
    return taken


def _best_exact(cluster: list[int], rivals: list[set[int]], scores: NDArray[np.float64]) -> list[int]:
    """Select poses by branch and bound. The bound is the total score of the remaining poses."""
    best, best_score = _best_first(cluster, rivals, scores), 0.0
    best_score = float(sum(scores[n] for n in best))

    def search(left: list[int], taken: list[int], score: float) -> None:
        nonlocal best, best_score
        if score > best_score:
            best, best_score = taken, score
        if not left or score + float(sum(scores[n] for n in left)) <= best_score:
            return
        node, rest = left[0], left[1:]
        search([n for n in rest if n not in rivals[node]], [*taken, node], score + float(scores[node]))
        search(rest, taken, score)

    search(sorted(cluster, key=lambda n: -scores[n]), [], 0.0)
    return best
