"""Find joins among the touches: end to end, around a corner, at a crosswise double, or at a starter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vision.layout.plays import can_be_play, is_at_side
from vision.layout.touches import Meeting, Touch
from vision.reading import Contact, Join

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
