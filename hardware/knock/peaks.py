"""Knocks from a piezo, which gives no sound but a moment or a level: pulses far enough apart, and their height."""

from __future__ import annotations

from hardware.knock.heard import KnockHeard

# What shakes the piezo again so soon is the same hit: a table rings for 100 ms under it.
REFRACTORY_NS = 120_000_000
_DOUBLE_NS = 600_000_000
# A moment or a level cannot tell a knuckle from a tile: it counts, but the eye has to agree.
CONFIDENCE = 0.5


class PulseRow:
    """Makes knocks of pulses: leaves out those of the same hit, and counts those that come in a row.

    Args:
        seat: Whose side the sensor is at; None where it serves the whole table.
    """

    def __init__(self, *, seat: int | None) -> None:
        self._seat = seat
        self._last_ns: int | None = None
        self._in_row = 0

    def pulse(self, t_ns: int, strength: float) -> KnockHeard | None:
        """Return the knock that a pulse is, or None where it belongs to the hit before."""
        gap_ns = None if self._last_ns is None else t_ns - self._last_ns
        if gap_ns is not None and gap_ns < REFRACTORY_NS:
            return None
        self._in_row = self._in_row + 1 if gap_ns is not None and gap_ns <= _DOUBLE_NS else 1
        self._last_ns = t_ns
        return KnockHeard(t_ns, self._seat, strength, CONFIDENCE, in_row=self._in_row)


class PeakFinder:
    """Finds hits in the levels of a peak-hold circuit, which rises at once and falls within some 10 ms.

    Args:
        full_level: The highest level that the converter can say, such as 1023.
        least_share: Share of it by which a hit has to rise above the level of rest.
        seat: Whose side the sensor is at.
    """

    def __init__(self, *, full_level: int, least_share: float = 0.03, seat: int | None = None) -> None:
        self._full_level, self._least = full_level, least_share * full_level
        self._row = PulseRow(seat=seat)
        self._rest: float | None = None
        self._hit_ns: int | None = None
        self._highest = 0
        # What a circuit still holds of a hit when the next is looked for.
        self._holds = 0.0

    def feed(self, t_ns: int, level: int) -> KnockHeard | None:
        """Return the knock that is complete with this level, 10 ms after its begin; else None."""
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

    def _ended(self, t_ns: int) -> KnockHeard | None:
        begin_ns = self._hit_ns
        if begin_ns is None or t_ns - begin_ns < 10_000_000:
            return None
        self._hit_ns, self._holds = None, float(self._highest)
        return self._row.pulse(begin_ns, min(1.0, self._highest / self._full_level))
