"""Measure how much audio a driver dropped, by comparing samples with the clock."""

from __future__ import annotations

from collections import deque

from hardware.knock.heard import NS_PER_S

_WINDOW_NS = 10 * NS_PER_S
# Blocks come up to a fifth of a second late (the latency of the microphone): 4 % of this.
_LEAST_NS = 5 * NS_PER_S


class Arrivals:
    """Counts samples against the clock over the last ten seconds. One thread feeds it; any may read `missing`."""

    def __init__(self, rate_hz: int) -> None:
        """Expect *rate_hz* samples a second."""
        self.missing = 0.0
        """Share of the sound of the last ten seconds that did not come, 0 to 1; 0 for the first five."""
        self._rate_hz = rate_hz
        self._came: deque[tuple[int, int]] = deque()
        self._count = 0

    def feed(self, t_ns: int, count: int) -> None:
        """Take note that *count* samples came at *t_ns*; 0 for some that nobody could take."""
        self._came.append((t_ns, count))
        self._count += count
        while t_ns - self._came[0][0] > _WINDOW_NS:
            self._count -= self._came.popleft()[1]
        first_ns, first_count = self._came[0]
        lasts_ns = t_ns - first_ns
        if lasts_ns < _LEAST_NS:
            return
        # The first block came at the begin of this time, so it was heard before.
        came = (self._count - first_count) * NS_PER_S / (self._rate_hz * lasts_ns)
        self.missing = min(1.0, max(0.0, 1.0 - came))
