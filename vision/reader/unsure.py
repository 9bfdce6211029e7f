"""Decide which rejected candidates look so much like a tile that they are reported as unsure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.networks.refiner import DOWN

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
