"""Decide which rejected candidates look so much like a tile that they are reported as unsure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision.networks.refiner import DOWN

# Log odds of being a tile from which something is said to look like one, face up and face down; from 0 on it is one.
_WORTH_SAYING_UP, _WORTH_SAYING_DOWN = -1.2, -1.2
FARTHEST_BELOW = -min(_WORTH_SAYING_UP, _WORTH_SAYING_DOWN)
"""So far below 0 lie the log odds of the least likely that is said."""


def looks_like_a_tile(odds: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which candidates that are taken for no tiles still look so much like one that it is said, shape (N,).

    Args:
        odds: Shape (N,), the log odds of each being a tile.
        faces: Shape (N,), which side of each would be seen, `refiner.UP` or `DOWN`.
    """
    return np.asarray(odds > np.where(faces == DOWN, _WORTH_SAYING_DOWN, _WORTH_SAYING_UP))
