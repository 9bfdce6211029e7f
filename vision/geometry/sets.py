"""Estimate which tile set is on the table from the pips that were read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The highest numbers of the sets that are sold, with how common they are on tables.
SETS = {6: 0.6, 9: 0.14, 12: 0.18, 15: 0.05, 18: 0.03}
# A reading can be wrong however sure it seems: glare, or a face that was never learned. Of 41,600 halves of rendered
# tables that were said with 0.99 or more one in 3000 was misread; here it may be one in 2000.
_MISREAD = 0.0005
# A set less likely than this is none of those that can lie there.
_OUT_OF_QUESTION = 1e-3


def numbers_in_play(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each number is on any half of the table, shape (K,), adding to 1.

    Every number of a set is about as common, so many halves without a high number speak for a small set, and a single
    sure high number among a few for a large one. Where that leaves doubt, the numbers that only the larger set has are
    likely by so much less. K is one more than the highest number of the largest set that is not out of question.

    Args:
        probabilities: Shape (N, 19), of 0 to 18 pips for each half that is seen.

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
    sets[sets < _OUT_OF_QUESTION] = 0.0
    in_play = (sets @ shares)[: highest[sets > 0].max() + 1]
    return np.asarray(in_play / in_play.sum())
