"""The hub of a page, with a stopwatch beside it."""

from __future__ import annotations

from time import perf_counter

from tallybone.play.counts import Times
from tallybone.web.feed import Clock, Hub


class MeasuredHub(Hub):
    """Says how long it takes to work out what pages show."""

    def __init__(self, clock: Clock, times: Times) -> None:
        """Start with nothing; *clock* is monotonic, in nanoseconds."""
        super().__init__(clock)
        self._times = times

    def publish(self) -> int:
        """Work out what pages show now; return its version. Only what has changed counts."""
        before, began_s = self.newest.version, perf_counter()
        version = super().publish()
        if version != before:
            self._times.add(perf_counter() - began_s)
        return version
