"""Estimate the probability that a touch is a play. Touching halves agree in a game, but seldom in rows or blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.layout.touches import Meeting, Touch

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
