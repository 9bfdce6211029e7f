"""Which set lies on the table, from the pips that are seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# The highest numbers of the sets that are sold, with how common they are on tables.
SETS = {6: 0.6, 9: 0.14, 12: 0.18, 15: 0.05, 18: 0.03}
# A reading can be wrong however sure it seems: glare, or a face that was never learned. Of 21,400 halves of rendered
# tables that were said with 0.99 or more one in a thousand was misread; here it may be twice that.
_MISREAD = 0.002


def likely_max_pips(probabilities: NDArray[np.float64]) -> int:
    """Return the highest number of the most likely set.

    Every number of a set is about as common, so many halves without a high number speak for a small set, and a single
    sure high number among a few for a large one.

    Args:
        probabilities: Shape (N, 19), of 0 to 18 pips for each half that is seen.

    >>> likely_max_pips(np.eye(19)[[0, 6, 3, 5]])
    6
    >>> likely_max_pips(np.eye(19)[[0, 12, 3, 11]])
    12
    """
    scores = {
        highest: np.log(prior)
        + np.log(probabilities[:, : highest + 1].sum(axis=1) / (highest + 1) + _MISREAD / 19).sum()
        for highest, prior in SETS.items()
    }
    return max(scores, key=lambda highest: float(scores[highest]))
