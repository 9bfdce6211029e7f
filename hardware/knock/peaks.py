"""Knocks from piezos, which give no sound but a moment or a level: hits far enough apart, and whose they were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hardware.knock.heard import ClassifiedSound

# What shakes the piezo again so soon is the same hit: a table rings for 100 ms under it.
REFRACTORY_NS = 120_000_000
_DOUBLE_NS = 600_000_000
# A moment or a level cannot tell a knuckle from a tile: it counts, but the eye has to agree.
CONFIDENCE = 0.5
# Every piezo of a table has felt a hit by then, and said so: waves take up to 5 ms, a peak is known after 10.
GATHERS_NS = 25_000_000
# Nobody can tell whose it is where another felt it nearly as hard (3 dB) and as soon: a wave goes 20 cm in 0.5 ms.
_LOUDER, _SOONER_NS = 1.4, 500_000


@dataclass(frozen=True, slots=True)
class Hit:
    """What one piezo felt.

    Attributes:
        t_ns: When it began.
        piezo: Which one, 0 upwards.
        strength: Its peak, as a share of the highest that can be measured; 1 where nothing but the moment is known.
    """

    t_ns: int
    piezo: int
    strength: float = 1.0


class HitRow:
    """Makes knocks of hits: one of all that a hit shakes, with the seat of the piezo that felt it most.

    Args:
        seats: Whose side each piezo is at; None where it serves the whole table.
    """

    def __init__(self, seats: Sequence[int | None]) -> None:
        self._seats = tuple(seats)
        self._gathered: list[Hit] = []
        self._last_ns: int | None = None
        self._in_row = 0

    def feed(self, hit: Hit) -> ClassifiedSound | None:
        """Take a hit in, in about the order of time; return the knock before it that is complete by then, if any."""
        complete = self.until(hit.t_ns)
        begun_ns = self._gathered[0].t_ns if self._gathered else self._last_ns
        if self._gathered or begun_ns is None or hit.t_ns - begun_ns >= REFRACTORY_NS:
            self._gathered.append(hit)
        return complete

    def until(self, t_ns: int) -> ClassifiedSound | None:
        """Return the knock that is complete by a time: every piezo has had its say."""
        if not self._gathered or t_ns - self._gathered[0].t_ns < GATHERS_NS:
            return None
        hits, self._gathered = self._gathered, []
        begin_ns = min(hit.t_ns for hit in hits)
        is_next = self._last_ns is not None and begin_ns - self._last_ns <= _DOUBLE_NS
        self._in_row = self._in_row + 1 if is_next else 1
        self._last_ns = begin_ns
        strength = max(hit.strength for hit in hits)
        return ClassifiedSound(begin_ns, self._seat_of(hits), strength, CONFIDENCE, in_row=self._in_row)

    def _seat_of(self, hits: Sequence[Hit]) -> int | None:
        """Return whose side a hit was at; None where two piezos felt it alike."""
        first, *others = sorted(hits, key=lambda hit: (-hit.strength, hit.t_ns))
        for other in others:
            is_alike = first.strength < _LOUDER * other.strength and other.t_ns - first.t_ns < _SOONER_NS
            if is_alike and other.piezo != first.piezo:
                return None
        return self._seats[first.piezo]


class PeakFinder:
    """Finds hits in the levels of a peak-hold circuit, which rises at once and falls within some 10 ms.

    Args:
        full_level: The highest level that the converter can say, such as 1023.
        piezo: Which one it is, 0 upwards.
        least_share: Share of it by which a hit has to rise above the level of rest.
    """

    def __init__(self, *, full_level: int, piezo: int = 0, least_share: float = 0.03) -> None:
        self._full_level, self._piezo, self._least = full_level, piezo, least_share * full_level
        self._rest: float | None = None
        self._hit_ns: int | None = None
        self._highest = 0
        # What a circuit still holds of a hit when the next is looked for.
        self._holds = 0.0

    def feed(self, t_ns: int, level: int) -> Hit | None:
        """Return the hit that is complete with this level, 10 ms after its begin; else None."""
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
