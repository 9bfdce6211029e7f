"""Find touching tiles, and which end or side of each touches, whatever their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points
from vision.geometry.poses import Poses, sides_px

# Real plays leave gaps of up to a quarter of a side, and tiles are read to within a tenth.
_MOST_GAP = 0.34
# Arms that crowd around a starter lie farther out.
_MOST_GAP_LEANING = 0.55
# How far past the edge of its neighbour the middle of an end may lie, and how far from square it may be turned.
_MOST_OVERHANG = 0.1
_MOST_SKEW_RAD = np.radians(25)
# What is turned less than this from square does not lean.
_LEAST_LEAN_RAD = np.radians(12)
# A leaning end must point at its neighbour: a quarter of a side beyond the gap lies on that tile, or nearly so.
_POINTS_INTO = 0.25
# The end of a tile at the side of another is in its middle up to this far from there, in sides: people lay tiles round
# a corner as near to it as 0.18.
_MIDDLE = 0.12
# In sides: tiles whose centres are farther apart than this do not touch, whatever the gap.
_REACH = 2.7


class Meeting(StrEnum):
    """How an end lies against another tile: square on its end, its side, the middle of its side; or at an angle."""

    END = "end"
    SIDE = "side"
    MIDDLE = "middle"
    LEANING = "leaning"


@dataclass(frozen=True, slots=True)
class Touch:
    """An end of tile a that lies against tile b.

    Attributes:
        a, a_half: The tile, by its index, and the half that ends there.
        b, b_half: The other tile, and its half that is nearest.
        meeting: How they meet.
        gap: Between them, in sides; less than 0 where they seem to overlap.
        edge: Which edge of b: -1 and 1 are its long sides, 0 is an end.
        off_middle: How far from the middle of b the end meets it, along b, in sides.
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
    """Return what touches, the nearest first; two tiles can touch in more than one way.

    Args:
        poses: Shape (N, 6).
        face_up: Shape (N,); the others touch nothing.
    """
    side = sides_px(poses)
    distance = np.linalg.norm(poses[:, None, :2] - poses[None, :, :2], axis=-1)
    near = np.asarray(distance < _REACH * np.maximum(side[:, None], side[None]))
    first, second = np.nonzero(near & np.outer(face_up, face_up) & ~np.eye(len(poses), dtype=bool))
    found = [
        touch for half in (0, 1) if len(first) for touch in _at_half(poses[first], poses[second], first, second, half)
    ]
    found.sort(key=lambda touch: (abs(touch.gap), touch.a, touch.a_half, touch.b))
    # Two ends that meet are seen from both tiles: once is enough.
    seen: dict[frozenset[tuple[int, int]], Touch] = {}
    for touch in found:
        seen.setdefault(frozenset(((touch.a, touch.a_half), (touch.b, touch.b_half))), touch)
    return tuple(seen.values())


def _at_half(mine: Poses, other: Poses, first: NDArray[np.intp], second: NDArray[np.intp], half: int) -> list[Touch]:
    """Return where the end at *half* of tiles *first* lies against tiles *second*; all of equal length."""
    outward = (1.0 if half else -1.0) * mine[:, 2:4]
    axes = other[:, 2:].reshape(-1, 2, 2)
    # The end's place in the half-axes of the other tile: u spans one side there, v half a side.
    u, v = _inside(axes, mine[:, :2] + outward - other[:, :2])
    gap_u, gap_v = np.abs(u) - 1, (np.abs(v) - 1) / 2
    by_end = gap_u > gap_v
    straight_gap = np.where(by_end, gap_u, gap_v)
    level = np.where(by_end, np.abs(v) <= 1 + 2 * _MOST_OVERHANG, np.abs(u) <= 1 + _MOST_OVERHANG)
    facing = np.where(by_end[:, None], -np.sign(u)[:, None] * axes[:, 0], -np.sign(v)[:, None] * axes[:, 1])
    square = (outward * facing).sum(axis=1) / np.linalg.norm(outward, axis=1) / np.linalg.norm(facing, axis=1)
    is_straight = level & (square > np.cos(_MOST_SKEW_RAD)) & (np.abs(straight_gap) < _MOST_GAP)
    gap = np.hypot(np.maximum(gap_u, 0), np.maximum(gap_v, 0))
    du, dv = _inside(axes, outward)  # one side farther out
    reach = gap + _POINTS_INTO
    points_in = (np.abs(u + reach * du) < 1 + _MOST_OVERHANG) & (np.abs(v + reach * dv) < 1 + 2 * _MOST_OVERHANG)
    outside = np.maximum(gap_u, gap_v) > -_MOST_OVERHANG
    leans = ~is_straight & (square < np.cos(_LEAST_LEAN_RAD)) & (gap < _MOST_GAP_LEANING) & points_in & outside
    found = []
    for i in np.nonzero(is_straight | leans)[0]:
        meeting = _meeting(leaning=bool(leans[i]), by_end=bool(by_end[i]), off_middle=abs(float(u[i])))
        edge = 0 if by_end[i] else int(np.sign(v[i]))
        room = float(gap[i] if leans[i] else straight_gap[i])
        one = Touch(int(first[i]), half, int(second[i]), int(u[i] > 0), meeting, room, edge, abs(float(u[i])))
        found.append(one)
    return found


def _inside(axes: NDArray[np.float64], offsets: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return offsets, shape (M, 2), in the half-axes of tiles, shape (M, 2, 2)."""
    u, v = np.linalg.solve(axes.transpose(0, 2, 1), offsets[..., None])[..., 0].T
    return u, v


def _meeting(*, leaning: bool, by_end: bool, off_middle: float) -> Meeting:
    if leaning:
        return Meeting.LEANING
    if by_end:
        return Meeting.END
    return Meeting.MIDDLE if off_middle < _MIDDLE else Meeting.SIDE
