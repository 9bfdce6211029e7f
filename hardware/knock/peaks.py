"""Combine hits of piezo sensors into knocks, and determine their seat. Piezos give times or levels, but no audio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hardware.knock.heard import ClassifiedSound

# Time after a knock during which hits are ignored. A table vibrates for 100 ms.
REFRACTORY_NS = 120_000_000
_DOUBLE_NS = 600_000_000
# A time or level cannot distinguish a knuckle from a tile, so the camera has to confirm the knock.
CONFIDENCE = 0.5
# Time after which every piezo has reported a hit. The wave takes up to 5 ms, and a peak is measured within 10 ms.
GATHERS_NS = 25_000_000
# The seat is ambiguous if another piezo felt the knock within 3 dB and 0.5 ms. The wave travels 20 cm in 0.5 ms.
_LOUDER, _SOONER_NS = 1.4, 500_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit felt by a piezo.

    Attributes:
        t_ns: Time of the onset.
        piezo: Index of the piezo, from 0.
        strength: Peak as a share of the full scale. 1 if only the time is known.
    """

    t_ns: int
    piezo: int
    strength: float = 1.0


class HitMerger:
    """Merges simultaneous hits into knocks, with the seat of the piezo that felt the strongest hit.

    Args:
        seats: Seat of each piezo. None for a piezo that serves the whole table.
    """

    def __init__(self, seats: Sequence[int | None]) -> None:
        self._seats = tuple(seats)
        self._pending: list[Hit] = []
        self._last_ns: int | None = None
        self._in_row = 0

    def feed(self, hit: Hit) -> ClassifiedSound | None:
        """Add a hit. Return the previous knock if it is complete.

        Hits less than 120 ms after a completed knock are ignored. Hits need only be roughly in order of time.
        """
        complete = self.until(hit.t_ns)
        begun_ns = self._pending[0].t_ns if self._pending else self._last_ns
        if self._pending or begun_ns is None or hit.t_ns - begun_ns >= REFRACTORY_NS:
            self._pending.append(hit)
        return complete

    def until(self, t_ns: int) -> ClassifiedSound | None:
        """Return the pending knock if it is complete by *t_ns*, else None."""
        if not self._pending or t_ns - self._pending[0].t_ns < GATHERS_NS:
            return None
        hits, self._pending = self._pending, []
        begin_ns = min(hit.t_ns for hit in hits)
        is_next = self._last_ns is not None and begin_ns - self._last_ns <= _DOUBLE_NS
        self._in_row = self._in_row + 1 if is_next else 1
        self._last_ns = begin_ns
        strength = max(hit.strength for hit in hits)
        return ClassifiedSound(begin_ns, self._seat_of(hits), strength, CONFIDENCE, in_row=self._in_row)

    def _seat_of(self, hits: Sequence[Hit]) -> int | None:
        """Return the seat of the strongest hit. None if another piezo felt a similar hit."""
        first, *others = sorted(hits, key=lambda hit: (-hit.strength, hit.t_ns))
        for other in others:
            is_similar = first.strength < _LOUDER * other.strength and other.t_ns - first.t_ns < _SOONER_NS
            if is_similar and other.piezo != first.piezo:
                return None
        return self._seats[first.piezo]


class PeakFinder:
    """Detects hits in the levels of a peak-hold circuit, which rises instantly and falls within tens of milliseconds.

    Args:
        full_level: Full-scale level of the converter, such as 1023.
        piezo: Index of the piezo, from 0.
        least_share: Minimum rise of a hit above the resting level, as a share of the full scale.
    """

    def __init__(self, *, full_level: int, piezo: int = 0, least_share: float = 0.03) -> None:
        self._full_level, self._piezo, self._least = full_level, piezo, least_share * full_level
        self._rest: float | None = None
        self._hit_ns: int | None = None
        self._highest = 0
        # Level of the previous hit that the circuit still holds.
        self._holds = 0.0

    def feed(self, t_ns: int, level: int) -> Hit | None:
        """Return the hit that this level completes, at least 10 ms after its onset, else None."""
        if self._rest is None:
            self._rest = float(level)
        if self._hit_ns is not None:
            self._highest = max(self._highest, level)
            return self._ended(t_ns)
        self._holds = max(float(self._rest), min(self._holds, float(level)))
        if level > self._holds + self._least and level > 1.3 * self._holds:
            self._hit_ns, self._highest = t_ns, level
        else:
            self._rest += (min(level, self._rest + self._least) - self._rest) / 64
        return None

    def _ended(self, t_ns: int) -> Hit | None:
        begin_ns = self._hit_ns
        if begin_ns is None or t_ns - begin_ns < 10_000_000:
            return None
        self._hit_ns, self._holds = None, float(self._highest)
        return Hit(begin_ns, self._piezo, min(1.0, self._highest / self._full_level))
