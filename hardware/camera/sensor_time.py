"""From the time that a driver gives a picture to the clock of the game."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hardware.camera.device import NS_PER_S
from hardware.clock import Clock

# A picture waits for milliseconds, at worst for a busy machine. What is older was stamped by another clock.
_OLDEST_NS = 10 * NS_PER_S
# Clocks are read one after the other.
_ROUNDING_NS = 1_000_000


def _boot_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clock of the game, and the two of Linux that drivers stamp pictures with.

    libcamera's manual says that its times are those of CLOCK_BOOTTIME, and the drivers of a Pi give CLOCK_MONOTONIC
    (libcamera bug 254). They differ by the time that a machine has slept: not on a Pi, hours on a laptop.

    Attributes:
        game: What pictures are to be stamped with.
        monotonic: CLOCK_MONOTONIC.
        boot: CLOCK_BOOTTIME.
    """

    game: Clock
    monotonic: Clock = time.monotonic_ns
    boot: Clock = _boot_ns

    def age_ns(self, stamp_ns: int) -> int | None:
        """Return how long ago a driver's time was; None if it is of neither clock.

        A time of CLOCK_BOOTTIME lies in the future of CLOCK_MONOTONIC, if the machine has slept for longer than the
        picture waited; if not, the mistake is no longer than that.
        """
        for clock in (self.monotonic, self.boot):
            age_ns = clock() - stamp_ns
            if -_ROUNDING_NS <= age_ns <= _OLDEST_NS:
                return max(0, age_ns)
        return None

    def game_ns(self, stamp_ns: int) -> int | None:
        """Return a driver's time on the clock of the game; None if it is of neither clock."""
        age_ns = self.age_ns(stamp_ns)
        return None if age_ns is None else self.game() - age_ns
