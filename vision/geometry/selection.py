"""The best set of tiles that can lie on a table together, out of many that were proposed."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry.poses import Poses, corners, require_poses, sides_px

# Neighbours may seem to overlap a little, because poses are not exact and sides show in oblique views.
_MOST_OVERLAP = 0.15
# Beyond this many in one cluster of conflicts the exact search could take long; then the best come first.
_EXACT_UP_TO = 16


def drop_repeats(poses: Poses, scores: NDArray[np.float64], *, at_most: int) -> NDArray[np.intp]:
    """Return indices of the best of each bunch of nearly equal poses, best first.

    Poses are nearly equal where their centres are less than a third of a side apart, their axes less than 30 degrees,
    and their sizes less than 20 %.

    Args:
        poses: Shape (N, 6).
        scores: Shape (N,), higher is better.
        at_most: Stop after this many.
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
        if len(kept) == at_most:
            break
        rest = slice(place + 1, None)
        gap = np.exp(log_side[place]) / 3
        near = (np.abs(x[rest] - x[place]) < gap) & (np.abs(y[rest] - y[place]) < gap)
        turned = np.abs((theta[rest] - theta[place] + np.pi / 2) % np.pi - np.pi / 2) < np.pi / 6
        alive[rest] &= ~(near & turned & (np.abs(log_side[rest] - log_side[place]) < 0.2))
    return np.array(kept, np.intp)


def _first_in_cell(poses: Poses, side: NDArray[np.float64], theta: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the index of the first pose in each small cell of place, direction and size: a quick first cut."""
    size_cell = np.round(np.log(side) * 8)
    pitch = np.exp(size_cell / 8) / 5
    cells = np.column_stack([np.round(poses[:, 0] / pitch), np.round(poses[:, 1] / pitch), size_cell, theta // 0.2])
    _, first = np.unique(cells.astype(np.int64), axis=0, return_index=True)
    return np.sort(first)


def choose(poses: Poses, scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return indices of the poses that do not overlap and whose scores sum up highest.

    Args:
        poses: Shape (N, 6).
        scores: Shape (N,), only those above zero can be chosen.
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


def chosen_beside(chosen: NDArray[np.intp], poses: Poses, scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return indices of further poses that overlap neither *chosen* nor each other, and whose scores sum up highest.

    Args:
        chosen: Shape (M,), indices of poses.
        poses: Shape (N, 6).
        scores: Shape (N,), only those above zero can be chosen.
    """
    require_poses(poses)
    worth = np.union1d(np.nonzero(scores > 0)[0], chosen)
    rivals, taken = _rivals(poses[worth]), set(np.searchsorted(worth, chosen).tolist())
    is_beside = [i not in taken and not taken & others for i, others in enumerate(rivals)]
    beside = worth[np.array(is_beside, bool)]
    return np.asarray(beside[choose(poses[beside], scores[beside])])


def overlap_share(outline_a: NDArray[np.float64], outline_b: NDArray[np.float64]) -> float:
    """Return the common area of two convex outlines, shape (K, 2), as a share of the smaller one."""
    a, b = outline_a.astype(np.float32), outline_b.astype(np.float32)
    smaller = min(abs(cv2.contourArea(a)), abs(cv2.contourArea(b)))
    return float(cv2.intersectConvexConvex(a, b)[0] / smaller) if smaller > 0 else 0.0


def _rivals(poses: Poses) -> list[set[int]]:
    """Return for each pose the poses that it overlaps."""
    rivals: list[set[int]] = [set() for _ in range(len(poses))]
    side, outlines = sides_px(poses), corners(poses)
    for i in range(len(poses)):
        distance = np.hypot(poses[i + 1 :, 0] - poses[i, 0], poses[i + 1 :, 1] - poses[i, 1])
        for j in np.nonzero(distance < 1.15 * (side[i] + side[i + 1 :]))[0] + i + 1:
            if overlap_share(outlines[i], outlines[j]) > _MOST_OVERLAP:
                rivals[i].add(int(j))
                rivals[int(j)].add(i)
    return rivals


def _clusters(rivals: list[set[int]]) -> list[list[int]]:
    """Return the connected parts of the graph of rivals."""
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
    """Take the best that is free, again and again."""
    taken: list[int] = []
    for node in sorted(cluster, key=lambda n: -scores[n]):
        if not rivals[node].intersection(taken):
            taken.append(node)
    return taken


def _best_exact(cluster: list[int], rivals: list[set[int]], scores: NDArray[np.float64]) -> list[int]:
    """Search all sets, with the sum of what is left as the bound."""
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
