"""Estimate the probability that a touch is a play: in games touching halves agree, in rows and blocks seldom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.layout.touches import Meeting, Touch

# What is known before any number: so many touches that are plays, and that are not. What leans at an angle mostly fell
# there, unless it points at a starter.
_SQUARE_BEFORE, _LEANING_BEFORE = (0.5, 0.5), (0.3, 1.0)
# Nothing on a table is surer than this to be a play, nor to be none.
_SUREST = 0.98
_ROUNDS = 12
# Two halves that are surer than this by themselves are never made equal.
_SURE = 0.99
# From this number on a set can be that of Super Dominoes, where any double may be laid at a 13.
_FITS_DOUBLES = 13


def is_at_side(touch: Touch) -> bool:
    """Return whether only a double can be played so: an end at the middle of its side, or an arm at an angle."""
    return touch.meeting in (Meeting.MIDDLE, Meeting.LEANING)


def likely_plays(touches: Sequence[Touch], chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that each touch is a play, before what its own halves say, shape (T,).

    Which share of the touches in a picture are plays is estimated from how many of them agree. A touch is no play where
    both halves are sure and differ.

    Args:
        touches: What touches.
        chances: Shape (N, 2, K), of each number as each half looks by itself.
    """
    agree = np.array([agreement(touch, chances) for touch in touches])
    leaning = np.array([touch.meeting is Meeting.LEANING for touch in touches], bool)
    likely = np.zeros(len(touches))
    for group, (plays, others) in ((~leaning, _SQUARE_BEFORE), (leaning, _LEANING_BEFORE)):
        share = plays / (plays + others)
        for _ in range(_ROUNDS):
            share = (plays + play_after(share, agree[group]).sum()) / (plays + others + group.sum())
        likely[group] = min(max(share, 1 - _SUREST), _SUREST)
    likely[[_surely_differ(touch, chances) for touch in touches]] = 0.0
    return likely


def play_after(likely: float | NDArray[np.float64], agree: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of a play once the halves are seen; *agree* as `agreement` says."""
    return np.asarray(likely * agree / (likely * agree + 1 - likely))


def agreement(touch: Touch, chances: NDArray[np.float64]) -> float:
    """Return how much likelier these numbers are in a play than side by side by chance, 0 to K or K * K."""
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
    """Return whether numbers, shape (N, 2), allow the touch to be a play."""
    mine, other = int(pips[touch.a, touch.a_half]), int(pips[touch.b, touch.b_half])
    a_double, b_double = (bool(pips[tile, 0] == pips[tile, 1]) for tile in (touch.a, touch.b))
    fits = mine == other or (a_double and other == _FITS_DOUBLES) or (b_double and mine == _FITS_DOUBLES)
    return fits and (b_double or not is_at_side(touch))
