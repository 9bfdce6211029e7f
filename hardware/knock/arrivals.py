"""Measure how much audio a driver dropped, by comparing samples with the clock."""

from __future__ import annotations

from collections import deque

from hardware.knock.heard import NS_PER_S

_WINDOW_NS = 10 * NS_PER_S
# Minimum time over which losses are measured. Blocks arrive up to 0.2 s late (the latency of the microphone), an error
# of 4 % over this time.
_LEAST_NS = 5 * NS_PER_S


class Arrivals:
    """Compares samples with the clock over the last ten seconds. One thread feeds it, and any may read `missing`."""

    def __init__(self, rate_hz: int) -> None:
        """Expect *rate_hz* samples per second."""
        self.missing = 0.0
        """Share of the audio of the last ten seconds that was lost, from 0 to 1. 0 for the first five seconds."""
        self._rate_hz = rate_hz
        self._blocks: deque[tuple[int, int]] = deque()
        self._count = 0

    def feed(self, t_ns: int, count: int) -> None:
        """Record that *count* samples arrived at *t_ns*. 0 for a block that was dropped."""
        self._blocks.append((t_ns, count))
        self._count += count
        while t_ns - self._blocks[0][0] > _WINDOW_NS:
            self._count -= self._blocks.popleft()[1]
        first_ns, first_count = self._blocks[0]
        elapsed_ns = t_ns - first_ns
        if elapsed_ns < _LEAST_NS:
            return
        # The first block arrived at the start of this time, so its samples are older.
        share = (self._count - first_count) * NS_PER_S / (self._rate_hz * elapsed_ns)
        self.missing = min(1.0, max(0.0, 1.0 - share))
