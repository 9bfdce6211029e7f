"""Knock sensor drivers, one module each, and their interface: options in table.toml, and opening."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from hardware.knock.detector import KnockDetector
from hardware.knock.sensor import KnockSensor
from hardware.libraries import OpenPins
from hardware.part import Clock, PartSettings, Registry


class KnockDriver(PartSettings):
    """The table [hardware.knock]."""

    @abstractmethod
    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> KnockSensor:
        """Return the sensor, not yet started.

        Args:
            pins: Returns the pin factory.
            clock: Monotonic clock in nanoseconds.
            detector: Creates a knock detector, for sensors that record sound.

        Raises:
            PinError: If the pins cannot be used.
        """


KNOCKS = Registry("tallybone.knocks", KnockDriver, __name__)
