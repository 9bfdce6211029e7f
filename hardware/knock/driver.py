"""Interface of knock sensor drivers: their options in table.toml, and opening them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from pydantic import ValidationInfo, field_validator

from hardware.clock import Clock
from hardware.config.part import PartSettings, Registry
from hardware.knock.detector import KnockDetector
from hardware.knock.sensor import KnockSensor
from hardware.libraries.pin_factory import OpenPins


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


class PiezoDriver(KnockDriver):
    """Piezos: a single one, or one for each seat."""

    @field_validator("pin", "channel", "seat", check_fields=False)
    @classmethod
    def _one_or_several(cls, value: int | None, info: ValidationInfo) -> int | None:
        several = "pins" if info.data["driver"] == "piezo-pin" else "channels"
        if several not in info.data:
            return value  # reported already
        if value is not None and info.data[several] is not None:
            raise ValueError(f"is also given by {several}, one for each seat")
        if value is None and info.data[several] is None and info.field_name == "pin":
            raise ValueError("is required")
        return value


KNOCKS = Registry("tallybone.knocks", KnockDriver, "hardware.knock.drivers")
