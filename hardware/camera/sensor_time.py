"""Convert driver timestamps to the clock of the game."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hardware.camera.device import NS_PER_S
from hardware.clock import Clock

# Maximum plausible age of a picture. A larger age means that the timestamp is from another clock.
_OLDEST_NS = 10 * NS_PER_S
# Tolerance for reading the clocks one after the other.
_ROUNDING_NS = 1_000_000


def _boot_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clock of the game, and the two Linux clocks used by drivers.

    libcamera documents CLOCK_BOOTTIME, but the drivers of a Raspberry Pi use CLOCK_MONOTONIC (libcamera bug 254). The
    two clocks differ by the time that the machine was suspended: none on a Raspberry Pi, hours on a laptop.

    Attributes:
        game: Clock of the game.
        monotonic: CLOCK_MONOTONIC.
        boot: CLOCK_BOOTTIME.
    """

    game: Clock
    monotonic: Clock = time.monotonic_ns
    boot: Clock = _boot_ns

    def age_ns(self, stamp_ns: int) -> int | None:
        """Return the age of a driver timestamp, or None if it belongs to neither clock.

        A CLOCK_BOOTTIME timestamp is recognised because it is in the future of CLOCK_MONOTONIC. If the machine was
        suspended for less than the age of the picture, it is mistaken for CLOCK_MONOTONIC. The error is then no larger
        than that age.
        """
        for clock in (self.monotonic, self.boot):
            age_ns = clock() - stamp_ns
            if -_ROUNDING_NS <= age_ns <= _OLDEST_NS:
                return max(0, age_ns)
        return None

    def game_ns(self, stamp_ns: int) -> int | None:
        """Return a driver timestamp on the clock of the game, or None if it belongs to neither clock."""
        age_ns = self.age_ns(stamp_ns)
        return None if age_ns is None else self.game() - age_ns
