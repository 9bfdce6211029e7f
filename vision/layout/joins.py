"""Find touching tiles, and the joins among them: end to end, around a corner, at a crosswise double, or at a starter.

Touching halves agree in a game, but seldom in rows or blocks, which gives the probability that a touch is a play.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Points
from vision.geometry.poses import Poses
from vision.reading import Contact, Join

# All lengths are in sides of a half.
# Maximum gap. Real plays leave up to 0.25, and poses are accurate to 0.1.
_MAX_GAP = 0.34
# Maximum gap for a tile at an angle, because arms around a starter are crowded.
_MAX_GAP_LEANING = 0.55
# Maximum distance of the midpoint of an end beyond the edge of its neighbour, and maximum angle from square.
_MAX_OVERHANG = 0.1
_MAX_SKEW_RAD = np.radians(25)
# Minimum angle from square at which a tile counts as leaning.
_MIN_LEAN_RAD = np.radians(12)
# A leaning end must point at its neighbour: the point this far beyond the gap must lie on the neighbour or at most
# _MAX_OVERHANG beside it.
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
    level = np.where(by_end, np.abs(v) <= 1 + 2 * _MAX_OVERHANG, np.abs(u) <= 1 + _MAX_OVERHANG)
    facing = np.where(by_end[:, None], -np.sign(u)[:, None] * axes[:, 0], -np.sign(v)[:, None] * axes[:, 1])
    square = (outward * facing).sum(axis=1) / np.linalg.norm(outward, axis=1) / np.linalg.norm(facing, axis=1)
    is_straight = level & (square > np.cos(_MAX_SKEW_RAD)) & (np.abs(straight_gap) < _MAX_GAP)
    gap = np.hypot(np.maximum(gap_u, 0), np.maximum(gap_v, 0))
    du, dv = _inside(axes, outward)  # a step of one side outward
    reach = gap + _POINTS_INTO
    points_in = (np.abs(u + reach * du) < 1 + _MAX_OVERHANG) & (np.abs(v + reach * dv) < 1 + 2 * _MAX_OVERHANG)
    outside = np.maximum(gap_u, gap_v) > -_MAX_OVERHANG
    leans = ~is_straight & (square < np.cos(_MIN_LEAN_RAD)) & (gap < _MAX_GAP_LEANING) & points_in & outside
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


# Pseudo-counts of plays and other touches, as a prior. Tiles at an angle are mostly accidental unless at a starter.
_SQUARE_BEFORE, _LEANING_BEFORE = (0.5, 0.5), (0.3, 1.0)
# The prior of a play is clipped to this and its complement.
_SUREST = 0.98
_ROUNDS = 12
# Halves that differ with this confidence are never forced to agree.
_SURE = 0.99
# In Super Dominoes any double can be laid on a 13.
_FITS_DOUBLES = 13


def is_at_side(touch: Touch) -> bool:
    """Return True if this can only be a play on a double: at the middle of its long side, or at an angle to it."""
    return touch.meeting in (Meeting.MIDDLE, Meeting.LEANING)


def play_priors(touches: Sequence[Touch], chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the prior probability that each touch is a play, shape (T,).

    The share of plays among all touches in the image is estimated by expectation maximisation from the numbers of the
    touching halves. The prior is 0 if both halves are confident and differ.

    Args:
        touches: Touches between tiles.
        chances: Probability of each number for each half alone, shape (N, 2, K).
    """
    agree = np.array([likelihood_ratio(touch, chances) for touch in touches])
    leaning = np.array([touch.meeting is Meeting.LEANING for touch in touches], bool)
    likely = np.zeros(len(touches))
    for group, (plays, others) in ((~leaning, _SQUARE_BEFORE), (leaning, _LEANING_BEFORE)):
        share = plays / (plays + others)
        for _ in range(_ROUNDS):
            share = (plays + play_posterior(share, agree[group]).sum()) / (plays + others + group.sum())
        likely[group] = min(max(share, 1 - _SUREST), _SUREST)
    likely[[_surely_differ(touch, chances) for touch in touches]] = 0.0
    return likely


def play_posterior(likely: float | NDArray[np.float64], agree: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the posterior probability of a play, for a prior and the likelihood ratio *agree*."""
    return np.asarray(likely * agree / (likely * agree + 1 - likely))


def likelihood_ratio(touch: Touch, chances: NDArray[np.float64]) -> float:
    """Return the factor by which the numbers are likelier if the touch is a play than if it is accidental.

    The factor is 0 to K, or 0 to K * K at the side of a double.
    """
    count = chances.shape[-1]
    near = chances[touch.a, touch.a_half]
    if is_at_side(touch):
        return float(count * count * (near * chances[touch.b].prod(axis=0)).sum())
    return float(count * (near * chances[touch.b, touch.b_half]).sum())


def _surely_differ(touch: Touch, chances: NDArray[np.float64]) -> bool:
    mine = chances[touch.a, touch.a_half]
    others = chances[touch.b] if is_at_side(touch) else chances[touch.b, touch.b_half : touch.b_half + 1]
    return bool(mine.max() > _SURE and ((others.max(axis=1) > _SURE) & (others.argmax(axis=1) != mine.argmax())).any())


def can_be_play(touch: Touch, pips: NDArray[np.int64]) -> bool:
    """Return True if the numbers *pips*, shape (N, 2), allow the touch to be a play."""
    mine, other = int(pips[touch.a, touch.a_half]), int(pips[touch.b, touch.b_half])
    a_double, b_double = (bool(pips[tile, 0] == pips[tile, 1]) for tile in (touch.a, touch.b))
    fits = mine == other or (a_double and other == _FITS_DOUBLES) or (b_double and mine == _FITS_DOUBLES)
    return fits and (b_double or not is_at_side(touch))


# Maximum distance from the middle of a double's long side, in sides, at which a tile adjoins the whole double instead
# of one half.
_CROSSWISE = 0.3
# Minimum probability of a play. Below it, a touch with equal numbers is accidental.
_LIKELY = 0.5

_Kind = TypeVar("_Kind", bound=Contact)


def find_joins(
    touches: Sequence[Touch], pips: NDArray[np.int64], plays: NDArray[np.float64]
) -> tuple[tuple[Join, ...], tuple[Contact, ...]]:
    """Split touches into joins and accidental contacts. Each pair of tiles appears at most once.

    The end and each side of a half join at most one tile, the nearest with a fitting number.

    Args:
        touches: Touches between face-up tiles, nearest first.
        pips: Pips of half 0 and 1, shape (N, 2).
        plays: Probability that each touch is a play, shape (T,).

    Returns:
        Joins and contacts, each sorted by tile indices.
    """
    taken: set[tuple[int, int, int]] = set()
    pairs: set[frozenset[int]] = set()
    chosen = []
    for touch, likely in zip(touches, plays, strict=True):
        pair, used = frozenset((touch.a, touch.b)), _used(touch, pips)
        if likely < _LIKELY or not can_be_play(touch, pips) or pair in pairs or taken & used:
            continue
        taken |= used
        pairs.add(pair)
        chosen.append(touch)
    starters = _starters(chosen, pips)
    joins = [
        Join(
            touch.a,
            None if touch.a in starters else touch.a_half,
            touch.b,
            None if touch.b in starters or _is_at_whole(touch, chosen, pips) else touch.b_half,
        )
        for touch in chosen
    ]
    contacts = []
    for touch in touches:
        if (pair := frozenset((touch.a, touch.b))) not in pairs:
            pairs.add(pair)
            contacts.append(Contact(touch.a, touch.a_half, touch.b, None if is_at_side(touch) else touch.b_half))
    return _in_order(joins), _in_order(contacts)


def _used(touch: Touch, pips: NDArray[np.int64]) -> set[tuple[int, int, int]]:
    """Return the places that a join occupies, as tile, half and edge."""
    used = {(touch.a, touch.a_half, 0)}
    if not _is_crosswise(touch, pips):
        used.add((touch.b, touch.b_half, touch.edge))
    return used


def _is_crosswise(touch: Touch, pips: NDArray[np.int64]) -> bool:
    """Return True if a tile is laid at the side of a whole double instead of one of its halves."""
    b_double = bool(pips[touch.b, 0] == pips[touch.b, 1])
    beside = touch.meeting is Meeting.SIDE and touch.off_middle < _CROSSWISE
    return b_double and (is_at_side(touch) or beside)


def _is_at_whole(touch: Touch, chosen: Sequence[Touch], pips: NDArray[np.int64]) -> bool:
    """Return True if a tile joins a whole double instead of the half that it touches.

    An elbow joins a half, but nothing else joins the end of that half or the opposite side.
    """
    if touch.meeting is not Meeting.SIDE or pips[touch.b, 0] != pips[touch.b, 1]:
        return is_at_side(touch)
    return touch.off_middle < _CROSSWISE or any(
        (other.a, other.a_half) == (touch.b, touch.b_half)
        or (other.b, other.b_half, other.edge) == (touch.b, touch.b_half, 0)
        or (other.b, other.edge) == (touch.b, -touch.edge)
        for other in chosen
    )


def _starters(joined: Sequence[Touch], pips: NDArray[np.int64]) -> set[int]:
    """Return the starters: doubles with a tile at an angle, or with several at one long side."""
    doubles = {touch.b for touch in joined if pips[touch.b, 0] == pips[touch.b, 1]}
    leaning = {touch.b for touch in joined if touch.meeting is Meeting.LEANING}
    beside = Counter((touch.b, touch.edge) for touch in joined if touch.edge)
    return doubles & (leaning | {tile for (tile, _), arms in beside.items() if arms > 1})


def _in_order(found: Sequence[_Kind]) -> tuple[_Kind, ...]:
    return tuple(sorted(found, key=lambda contact: (contact.a, contact.b)))
