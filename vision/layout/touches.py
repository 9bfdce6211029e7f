"""Find touching tiles, and the ends and sides that touch. Numbers are not considered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points
from vision.geometry.poses import Poses

# All lengths are in sides of a half.
# Maximum gap. Real plays leave up to 0.25, and poses are accurate to 0.1.
_MOST_GAP = 0.34
# Maximum gap for a tile at an angle, because arms around a starter are crowded.
_MOST_GAP_LEANING = 0.55
# Maximum distance of the midpoint of an end beyond the edge of its neighbour, and maximum angle from square.
_MOST_OVERHANG = 0.1
_MOST_SKEW_RAD = np.radians(25)
# Minimum angle from square at which a tile counts as leaning.
_LEAST_LEAN_RAD = np.radians(12)
# A leaning end must point at its neighbour: the point this far beyond the gap must lie on the neighbour or at most
# _MOST_OVERHANG beside it.
_POINTS_INTO = 0.25
# Maximum distance from the middle of a side that counts as its middle. At corners people lay tiles as close as 0.18.
_MIDDLE = 0.12
# Maximum distance between the centres of touching tiles.
_REACH = 2.7


class Meeting(StrEnum):
    """Position of an end against another tile: square to its end, side or middle of a side, or at an angle."""

    END = "end"
    SIDE = "side"
    MIDDLE = "middle"
    LEANING = "leaning"


@dataclass(frozen=True, slots=True)
class Touch:
    """An end of tile a against tile b.

    Attributes:
        a, a_half: Index of tile a, and its half with that end.
        b, b_half: Index of tile b, and its nearest half.
        meeting: Position of the end against b.
        gap: Gap between the tiles in sides. Negative if they appear to overlap.
        edge: Edge of b: -1 or 1 for a long side, 0 for an end.
        off_middle: Distance of the end of a from the centre of b, along the long axis of b, in sides.
    """

    a: int
    a_half: int
    b: int
    b_half: int
    meeting: Meeting
    gap: float
    edge: int
    off_middle: float


def find_touches(poses: Poses, face_up: NDArray[np.bool_]) -> tuple[Touch, ...]:
    """Return all touches, nearest first. Two tiles can touch in several ways.

    Args:
        poses: Shape (N, 6).
        face_up: Mask of face-up tiles, shape (N,). Others are ignored.
    """
    # Measured along the axes of the tiles, because oblique views shorten only one direction.
    apart = (poses[None, :, :2] - poses[:, None, :2]) @ np.linalg.inv(poses[:, 2:].reshape(-1, 2, 2))
    distance = np.hypot(apart[..., 0], apart[..., 1] / 2)
    near = np.minimum(distance, distance.T) < _REACH
    first, second = np.nonzero(near & np.outer(face_up, face_up) & ~np.eye(len(poses), dtype=bool))
    found = [
        touch for half in (0, 1) if len(first) for touch in _at_half(poses[first], poses[second], first, second, half)
    ]
    found.sort(key=lambda touch: (abs(touch.gap), touch.a, touch.a_half, touch.b))
    # Two ends that meet are found from both tiles. Keep one.
    seen: dict[frozenset[tuple[int, int]], Touch] = {}
    for touch in found:
        seen.setdefault(frozenset(((touch.a, touch.a_half), (touch.b, touch.b_half))), touch)
    return tuple(seen.values())


def _at_half(mine: Poses, other: Poses, first: NDArray[np.intp], second: NDArray[np.intp], half: int) -> list[Touch]:
    """Return the touches of the end at *half* of tiles *first* with tiles *second*, pair by pair."""
    outward = (1.0 if half else -1.0) * mine[:, 2:4]
    axes = other[:, 2:].reshape(-1, 2, 2)
    # Position of the end in the half-axes of the other tile. One unit is one side along u and half a side along v.
    u, v = _inside(axes, mine[:, :2] + outward - other[:, :2])
    gap_u, gap_v = np.abs(u) - 1, (np.abs(v) - 1) / 2
    by_end = gap_u > gap_v
    straight_gap = np.where(by_end, gap_u, gap_v)
    level = np.where(by_end, np.abs(v) <= 1 + 2 * _MOST_OVERHANG, np.abs(u) <= 1 + _MOST_OVERHANG)
    facing = np.where(by_end[:, None], -np.sign(u)[:, None] * axes[:, 0], -np.sign(v)[:, None] * axes[:, 1])
    square = (outward * facing).sum(axis=1) / np.linalg.norm(outward, axis=1) / np.linalg.norm(facing, axis=1)
    is_straight = level & (square > np.cos(_MOST_SKEW_RAD)) & (np.abs(straight_gap) < _MOST_GAP)
    gap = np.hypot(np.maximum(gap_u, 0), np.maximum(gap_v, 0))
    du, dv = _inside(axes, outward)  # a step of one side outward
    reach = gap + _POINTS_INTO
    points_in = (np.abs(u + reach * du) < 1 + _MOST_OVERHANG) & (np.abs(v + reach * dv) < 1 + 2 * _MOST_OVERHANG)
    outside = np.maximum(gap_u, gap_v) > -_MOST_OVERHANG
    leans = ~is_straight & (square < np.cos(_LEAST_LEAN_RAD)) & (gap < _MOST_GAP_LEANING) & points_in & outside
    found = []
    for i in np.nonzero(is_straight | leans)[0]:
        meeting = _meeting(leaning=bool(leans[i]), by_end=bool(by_end[i]), off_middle=abs(float(u[i])))
        edge = 0 if by_end[i] else int(np.sign(v[i]))
        room = float(gap[i] if leans[i] else straight_gap[i])
        found.append(Touch(int(first[i]), half, int(second[i]), int(u[i] > 0), meeting, room, edge, abs(float(u[i]))))
    return found


def _inside(axes: NDArray[np.float64], offsets: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Convert offsets in pixels, shape (M, 2), to units of the half-axes of tiles, shape (M, 2, 2)."""
    u, v = np.linalg.solve(axes.transpose(0, 2, 1), offsets[..., None])[..., 0].T
    return u, v


def _meeting(*, leaning: bool, by_end: bool, off_middle: float) -> Meeting:
    if leaning:
        return Meeting.LEANING
    if by_end:
        return Meeting.END
    return Meeting.MIDDLE if off_middle < _MIDDLE else Meeting.SIDE
