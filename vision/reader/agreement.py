"""Find touching tiles, the most probable consistent reading, and the joins: end to end, at a corner, or at a double.

Touching halves agree in a game, but seldom in rows or blocks, which gives the probability that a touch is a play. In a
consistent reading joined halves agree, and each tile exists only once.
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
from vision.poses import Poses
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
        off_middle, meeting = abs(float(u[i])), Meeting.LEANING
        if not leans[i]:
            at_side = Meeting.MIDDLE if off_middle < _MIDDLE else Meeting.SIDE
            meeting = Meeting.END if by_end[i] else at_side
        edge = 0 if by_end[i] else int(np.sign(v[i]))
        room = float(gap[i] if leans[i] else straight_gap[i])
        found.append(Touch(int(first[i]), half, int(second[i]), int(u[i] > 0), meeting, room, edge, off_middle))
    return found


def _inside(axes: NDArray[np.float64], offsets: Points) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Convert offsets in pixels, shape (M, 2), to units of the half-axes of tiles, shape (M, 2, 2)."""
    u, v = np.linalg.solve(axes.transpose(0, 2, 1), offsets[..., None])[..., 0].T
    return u, v


# Pseudo-counts of plays and other touches, as a prior. Tiles at an angle are mostly accidental unless at a starter.
_SQUARE_BEFORE = (0.5, 0.5)
_LEANING_BEFORE = (0.3, 1.0)
# The prior of a play is clipped to this and its complement.
_SUREST = 0.98
_ROUNDS = 12
# Halves that differ with this confidence are never forced to agree, and equal tiles with it count as repeated.
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
    for index, touch in enumerate(touches):
        mine = chances[touch.a, touch.a_half]
        other = chances[touch.b] if is_at_side(touch) else chances[touch.b, touch.b_half : touch.b_half + 1]
        differ = (other.max(axis=1) > _SURE) & (other.argmax(axis=1) != mine.argmax())
        if mine.max() > _SURE and differ.any():
            likely[index] = 0.0
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
        # The places that a join occupies, as tile, half and edge.
        pair, used = frozenset((touch.a, touch.b)), {(touch.a, touch.a_half, 0)}
        if not _is_crosswise(touch, pips):
            used.add((touch.b, touch.b_half, touch.edge))
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


def _is_crosswise(touch: Touch, pips: NDArray[np.int64]) -> bool:
    """Return True if a tile is laid at the side of a whole double instead of one of its halves."""
    b_double = bool(pips[touch.b, 0] == pips[touch.b, 1])
    beside = touch.meeting is Meeting.SIDE and touch.off_middle < _CROSSWISE
    return b_double and (is_at_side(touch) or beside)


def _is_at_whole(touch: Touch, chosen: Sequence[Touch], pips: NDArray[np.int64]) -> bool:
    """Return True if a tile joins a whole double instead of the half that it touches."""
    # An elbow joins a half, but nothing else joins the end of that half or the opposite side.
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


# Weight of a second tile with the same numbers, relative to any other tile, if the set is given or only estimated.
_REPEAT_GIVEN = 0.02
_REPEAT_ESTIMATED = 0.3
# Each confident pair of equal tiles multiplies this weight, because there may be two sets on the table.
_REPEATS_BREED = 15.0
# Exponent and floor that soften the probabilities of single halves, which are overconfident in poor images. On 130
# rendered tables, most of them blurred, noisy, dim or small, 93.5 % of the halves then reach 0.99, of which 0.27 % are
# wrong. Without softening it is 97 % and 0.4 %, and the log loss is 0.108 instead of 0.103.
_SOFTENING = 0.75
_MISREAD = 0.001
# Maximum number of iterations, and change below which they end.
_MAX_ROUNDS = 10
_CONVERGED = 1e-3
# Tiles above this probability are decided at once, without regard to the others.
_DECIDED = 0.9999


# Log probability used for impossible numbers.
_NEVER = -20.0
# Index of a touch that binds both halves of a tile, as a double, instead of half 0 or 1.
_AS_DOUBLE = 2


@dataclass(frozen=True, slots=True, eq=False)
class JointReading:
    """Joint reading of all tiles.

    Attributes:
        pips: Most probable consistent numbers, shape (N, 2). 0 for face-down tiles.
        chances: Marginal probability of each number for each half, given all tiles, shape (N, 2, K).
        plays: Posterior probability that each touch is a play, shape (T,).
    """

    pips: NDArray[np.int64]
    chances: NDArray[np.float64]
    plays: NDArray[np.float64]


def agree(
    chances: NDArray[np.float64], face_up: NDArray[np.bool_], touches: Sequence[Touch], *, set_is_given: bool
) -> JointReading:
    """Read all tiles jointly, by loopy belief propagation along the touches.

    The result is exact if the plays form no ring. The constraint that each tile exists once is approximated from the
    beliefs about all other tiles.

    Args:
        chances: Probability of each number for each half alone, shape (N, 2, K). All above 0.
        face_up: Mask of face-up tiles, shape (N,).
        touches: Touches between face-up tiles.
        set_is_given: Whether K was given instead of estimated.
    """
    up = np.nonzero(face_up)[0]
    links = _links(touches, np.cumsum(face_up) - 1, play_priors(touches, chances))
    # Soften the probabilities of single halves, which are overconfident in poor images.
    softer = chances**_SOFTENING
    softer /= softer.sum(axis=-1, keepdims=True)
    chances = (1 - _MISREAD) * softer + _MISREAD / chances.shape[-1]
    repeat = _repeat_weight(chances[up], set_is_given=set_is_given)
    beliefs = _Beliefs(np.log(chances[up]), links, repeat)
    for _ in range(_MAX_ROUNDS):
        if beliefs.exchange() < _CONVERGED:
            break
    pips, together = np.zeros(chances.shape[:2], np.int64), chances.copy()
    pips[up], together[up] = beliefs.decide(), beliefs.marginals()[:, :_AS_DOUBLE]
    return JointReading(pips, together, beliefs.plays())


def _repeat_weight(chances: NDArray[np.float64], *, set_is_given: bool) -> float:
    """Return the weight of a second tile with the same numbers, relative to any other tile, up to 1."""
    sure = (chances.max(axis=2) > _SURE).all(axis=1)
    named = np.sort(chances[sure].argmax(axis=2), axis=1)
    repeats = len(named) - len(np.unique(named, axis=0))
    weight = _REPEAT_GIVEN if set_is_given else _REPEAT_ESTIMATED
    return float(min(weight * _REPEATS_BREED**repeats, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """Touches as arrays of length T: tiles, their halves (0, 1 or `_AS_DOUBLE`), and prior probability of a play."""

    a: NDArray[np.int64]
    at_a: NDArray[np.int64]
    b: NDArray[np.int64]
    at_b: NDArray[np.int64]
    likely: NDArray[np.float64]

    def strength(self, count: int) -> NDArray[np.float64]:
        """Return the likelihood ratio of agreeing numbers in a play, shape (T, 1), for a set of *count* numbers."""
        return np.where(self.at_b == _AS_DOUBLE, count * count, count)[:, None].astype(np.float64)


def _links(touches: Sequence[Touch], place: NDArray[np.int64], likely: NDArray[np.float64]) -> _Links:
    rows = [(place[t.a], t.a_half, place[t.b], _AS_DOUBLE if is_at_side(t) else t.b_half) for t in touches]
    a, at_a, b, at_b = np.array(rows, np.int64).reshape(-1, 4).T
    return _Links(a, at_a, b, at_b, likely)


class _Beliefs:
    """Beliefs about each tile, and messages along the touches."""

    def __init__(self, evidence: NDArray[np.float64], links: _Links, repeat: float) -> None:
        """Start from *evidence*: the log probabilities of single halves, shape (N, 2, K)."""
        self._evidence, self._links, self._repeat = evidence, links, repeat
        count = evidence.shape[-1]
        self._to_a = np.ones((len(links.a), count))
        self._to_b = np.ones((len(links.a), count))
        self._once = np.zeros((len(evidence), count, count))
        self._beliefs = self._updated_beliefs()

    def exchange(self) -> float:
        """Update all messages and beliefs. Returns the largest change of a belief."""
        before = self._beliefs
        links, from_a, from_b = self._links, *self._cavity()
        likely, agree = links.likely[:, None], links.strength(self._evidence.shape[-1])
        # Messages to a double are relative to the case that the tile is no double.
        other = np.where(links.at_b == _AS_DOUBLE, 1 - links.likely, 1.0)[:, None]
        self._to_b = (1 - likely + likely * agree * from_a) / other
        self._to_a = 1 - likely + likely * agree * from_b
        # Damped, because two tiles that may be the same would otherwise swap forever.
        absent = _absent(self._beliefs)
        self._once = (self._once + self._repeat_penalty(np.exp(absent.sum(axis=0) - absent))) / 2
        self._beliefs = self._updated_beliefs()
        return float(np.abs(self._beliefs - before).max(initial=0.0))

    def marginals(self) -> NDArray[np.float64]:
        """Return the probability of each number for half 0, for half 1, and as a double, shape (N, 3, K)."""
        diagonal = np.diagonal(self._beliefs, axis1=1, axis2=2)
        return np.stack([self._beliefs.sum(axis=2), self._beliefs.sum(axis=1), diagonal], axis=1)

    def plays(self) -> NDArray[np.float64]:
        """Return the posterior probability that each touch is a play, shape (T,)."""
        from_a, from_b = self._cavity()
        agree = self._links.strength(self._evidence.shape[-1])[:, 0] * (from_a * from_b).sum(axis=1)
        return play_posterior(self._links.likely, agree)

    def _cavity(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the marginals at each end of each touch, without the message of that touch, shape (T, K) each."""
        links, marginals = self._links, self.marginals()
        cavity = []
        for tile, at, message in ((links.a, links.at_a, self._to_a), (links.b, links.at_b, self._to_b)):
            marginal = marginals[tile, at]
            rest = np.maximum(1 - marginal.sum(axis=1, keepdims=True), 0.0)  # probability of not being a double
            own = marginal / message
            cavity.append(own / (own.sum(axis=1, keepdims=True) + rest + 1e-300))
        return cavity[0], cavity[1]

    def _log_weights(self) -> NDArray[np.float64]:
        """Return the evidence plus all messages, as logs, shape (N, 3, K)."""
        logs = np.concatenate([self._evidence, np.zeros_like(self._evidence[:, :1])], axis=1)
        np.add.at(logs, (self._links.a, self._links.at_a), np.log(self._to_a))
        np.add.at(logs, (self._links.b, self._links.at_b), np.log(self._to_b))
        return logs

    def _updated_beliefs(self) -> NDArray[np.float64]:
        """Return the probability of each pair of numbers for each tile, shape (N, K, K)."""
        logs = _pairs(self._log_weights()) + self._once
        beliefs = np.exp(logs - logs.max(axis=(1, 2), keepdims=True))
        return np.asarray(beliefs / beliefs.sum(axis=(1, 2), keepdims=True))

    def _repeat_penalty(self, absent_elsewhere: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log penalty for each pair of numbers that another tile may have, shape (..., K, K)."""
        return np.asarray(np.log(self._repeat + (1 - self._repeat) * absent_elsewhere))

    def decide(self) -> NDArray[np.int64]:
        """Return the most probable consistent numbers, shape (N, 2). Tiles are decided in order of confidence."""
        count = self._evidence.shape[-1]
        flat = self._beliefs.reshape(len(self._beliefs), count * count)
        pips = np.column_stack(np.divmod(flat.argmax(axis=1), count)).astype(np.int64)
        surest = flat.max(axis=1)
        decided = surest > _DECIDED
        weights, absent = self._log_weights(), _absent(self._beliefs)
        elsewhere = absent.sum(axis=0)
        for tile in np.argsort(-surest, kind="stable"):
            elsewhere -= absent[tile]
            if not decided[tile]:
                logs = _pairs((weights[tile] + self._decided_messages(tile, pips, decided))[None])[0]
                pips[tile] = np.divmod((logs + self._repeat_penalty(np.exp(elsewhere))).argmax(), count)
                decided[tile] = True
            first, second = pips[tile]
            absent[tile] = 0.0
            absent[tile, (first, second), (second, first)] = _NEVER
            elsewhere += absent[tile]
        return pips

    def _decided_messages(self, tile: int, pips: NDArray[np.int64], decided: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the log messages that *tile* receives from decided tiles, minus its current ones, shape (3, K)."""
        links, change = self._links, np.zeros((3, self._evidence.shape[-1]))
        strength = links.strength(self._evidence.shape[-1])[:, 0]
        for i in np.nonzero((links.a == tile) & decided[links.b])[0]:
            number = pips[links.b[i], links.at_b[i] % _AS_DOUBLE]
            fits = links.at_b[i] != _AS_DOUBLE or number == pips[links.b[i], 1]
            message = _message(links.likely[i], strength[i] * fits, number, change.shape[1])
            change[links.at_a[i]] += message - np.log(self._to_a[i])
        for i in np.nonzero((links.b == tile) & decided[links.a])[0]:
            message = _message(links.likely[i], strength[i], pips[links.a[i], links.at_a[i]], change.shape[1])
            message -= np.log(1 - links.likely[i]) if links.at_b[i] == _AS_DOUBLE else 0.0
            change[links.at_b[i]] += message - np.log(self._to_b[i])
        return change


def _message(likely: float, strength: float, number: int, count: int) -> NDArray[np.float64]:
    """Return the log message of a touch if the other tile has *number*, shape (K,)."""
    message = np.full(count, 1 - likely)
    message[number] += likely * strength
    return np.asarray(np.log(message))


def _absent(beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log probability that each tile does not have each pair of numbers, in either order, (N, K, K)."""
    as_tile = beliefs + beliefs.swapaxes(1, 2)
    numbers = np.arange(beliefs.shape[1])
    as_tile[:, numbers, numbers] /= 2
    return np.asarray(np.log1p(-np.minimum(as_tile, 1 - np.exp(_NEVER))))


def _pairs(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Combine log weights of halves and doubles, shape (N, 3, K), to those of pairs of numbers, shape (N, K, K)."""
    logs = weights[:, 0, :, None] + weights[:, 1, None, :]
    numbers = np.arange(weights.shape[-1])
    logs[:, numbers, numbers] += weights[:, _AS_DOUBLE]
    return np.asarray(logs)
