"""Decide which candidates are reported as tiles, and which others look so much like one that they are unsure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.geometry.odds import probability
from vision.networks.refiner import DOWN

# Candidates above these log odds are clear.
_CLEAR = 3.0
# Log odds by which a double blank must exceed those of other tiles, because plain parts of a table look like one. A set
# has only one, so each less likely one needs more, up to _MOST_BLANKS times as much. Logistic regression on 2765
# held-out candidates of rendered tables gives 1.0 to 1.2.
_BLANK_DOUBT, _MOST_BLANKS = 1.0, 3
# Minimum log odds of a candidate where no other is clear, because cards, keys and labels look like a lone tile. In 250
# held-out pictures, 8 of 30 such candidates above 0 are tiles, and 2603 of 2715 of the others.
_LONE_DOUBT = 2.5
# A candidate that is not clear is unsure if its reading is right with a probability below this.
_READABLE = 0.4
# Minimum log odds for reporting a candidate as unsure, face up and face down. From 0 on it is reported as a tile.
_REPORT_UP, _REPORT_DOWN = -1.2, -1.2
FARTHEST_BELOW = -min(_REPORT_UP, _REPORT_DOWN)
"""Largest distance below 0 of the log odds of a reported candidate."""


def looks_like_a_tile(odds: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the rejected candidates to report as unsure, shape (N,).

    Args:
        odds: Log odds of each being a tile, shape (N,). -inf for a candidate that was accepted as a tile.
        faces: Visible side of each, `refiner.UP` or `DOWN`, shape (N,).
    """
    return np.asarray(odds > np.where(faces == DOWN, _REPORT_DOWN, _REPORT_UP))


def min_odds(odds: NDArray[np.float64], is_blank: NDArray[np.bool_], *, others_known: bool) -> NDArray[np.float64]:
    """Return the minimum log odds from which each candidate is reported as a tile, shape (N,).

    Args:
        odds: Log odds of each being a tile, shape (N,).
        is_blank: True for double blanks, shape (N,).
        others_known: Whether the other tiles on the table are known, so that a lone candidate needs no more.
    """
    needed, blank, is_clear = np.zeros(len(odds)), np.nonzero(is_blank)[0], odds > _CLEAR
    needed[blank[np.argsort(-odds[blank])]] = _BLANK_DOUBT * np.minimum(np.arange(len(blank)) + 1, _MOST_BLANKS)
    is_lone = is_clear.sum() - is_clear == 0
    return needed if others_known else needed + _LONE_DOUBT * is_lone


def is_readable(odds: NDArray[np.float64], chances: NDArray[np.float64], is_up: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return a mask of the tiles that are clear, or face down, or have pips that can be read at all, shape (N,).

    Args:
        odds: Log odds of each being a tile, shape (N,).
        chances: Probabilities of pips, shape (N, 2, K).
        is_up: True for tiles that lie face up, shape (N,).
    """
    is_right = probability(odds) * chances.max(axis=2).prod(axis=1)
    return np.asarray((is_right > _READABLE) | (odds > _CLEAR) | ~is_up)
