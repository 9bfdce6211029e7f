"""How long to wait before something that failed is tried again."""

from __future__ import annotations

from random import Random

FIRST_S, MOST_S = 1.0, 60.0


def wait_s(failures: int, rng: Random, *, first_s: float = FIRST_S, most_s: float = MOST_S) -> float:
    """Return the seconds to wait: twice as long after each failure, and never as long as all the others.

    Five hundred tables whose broker comes back must not all knock at once.

    >>> [round(wait_s(failures, Random(1)), 1) for failures in (1, 2, 3, 20)]
    [0.6, 1.1, 2.3, 34.0]
    """
    whole_s = min(most_s, first_s * 2.0 ** min(failures - 1, 20))
    return whole_s * (0.5 + rng.random() / 2)
