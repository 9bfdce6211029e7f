"""Find the touches that join tiles as in play: end to end, round a corner, on a crosswise double, around a starter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vision.layout.plays import can_be_play, is_at_side
from vision.layout.touches import Meeting, Touch
from vision.reading import Contact, Join

# The end of a tile on the side of a double counts as crosswise up to this far from the double's middle, in sides.
_CROSSWISE = 0.3
# Below this a touch with the same numbers is an accident.
_LIKELY = 0.5

_Kind = TypeVar("_Kind", bound=Contact)


def find_joins(
    touches: Sequence[Touch], pips: NDArray[np.int64], plays: NDArray[np.float64]
) -> tuple[tuple[Join, ...], tuple[Contact, ...]]:
    """Return which touches are joins, and which tiles merely lie against each other.

    A half has one end, and an end has one neighbour: the nearest with its number. The sides of a half have another.

    Args:
        touches: Between tiles that are face up, the nearest first.
        pips: Shape (N, 2), of half 0 and 1.
        plays: Shape (T,), the probability that each touch is a play.
    """
    taken: set[tuple[int, int, bool]] = set()
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
            None if touch.b in starters or _is_crosswise(touch, pips) else touch.b_half,
        )
        for touch in chosen
    ]
    contacts = []
    for touch in touches:
        if (pair := frozenset((touch.a, touch.b))) not in pairs:
            pairs.add(pair)
            contacts.append(Contact(touch.a, touch.a_half, touch.b, None if is_at_side(touch) else touch.b_half))
    return _in_order(joins), _in_order(contacts)


def _used(touch: Touch, pips: NDArray[np.int64]) -> set[tuple[int, int, bool]]:
    """Return what no other tile can be joined to: tile, half, and whether its end or its side."""
    used = {(touch.a, touch.a_half, True)}
    if not _is_crosswise(touch, pips):
        used.add((touch.b, touch.b_half, touch.meeting is Meeting.END))
    return used


def _is_crosswise(touch: Touch, pips: NDArray[np.int64]) -> bool:
    """Return whether a tile is laid at the side of a whole double, not of a half of it."""
    b_double = bool(pips[touch.b, 0] == pips[touch.b, 1])
    beside = touch.meeting is Meeting.SIDE and touch.off_middle < _CROSSWISE
    return b_double and (is_at_side(touch) or beside)


def _starters(joined: Sequence[Touch], pips: NDArray[np.int64]) -> set[int]:
    """Return the doubles with arms: one at an angle, or more than one at a long side."""
    doubles = {touch.b for touch in joined if pips[touch.b, 0] == pips[touch.b, 1]}
    leaning = {touch.b for touch in joined if touch.meeting is Meeting.LEANING}
    beside = Counter((touch.b, touch.edge) for touch in joined if touch.edge)
    return doubles & (leaning | {tile for (tile, _), arms in beside.items() if arms > 1})


def _in_order(found: Sequence[_Kind]) -> tuple[_Kind, ...]:
    return tuple(sorted(found, key=lambda one: (one.a, one.b)))
