"""Interface of LED drivers: their options in table.toml, and opening them."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, ValidationInfo, field_validator

from hardware.config.fields import Lax
from hardware.config.part import PartSettings, Registry
from hardware.leds.lamps import LedDevice
from hardware.leds.shown import LEAST_FOR_ALL, LEDS_FOR, LedsRole
from hardware.libraries.pin_factory import OpenPins

LedCount = Annotated[int, Field(ge=1, le=300)]
Shows = Annotated[LedsRole, Lax, Field(description="purpose of the LEDs")]


class LedsDriver(PartSettings):
    """One of [[hardware.leds]]."""

    has_colours: ClassVar[bool] = True
    """True if `tallybone hardware test` asks for their colours."""

    if TYPE_CHECKING:  # Each driver declares it after the keys that its validator reads.
        shows: LedsRole

    @property
    @abstractmethod
    def led_count(self) -> int:
        """Number of LEDs."""

    @abstractmethod
    def open(self, pins: OpenPins) -> LedDevice:
        """Open and return the LEDs.

        Raises:
            LedError: If they cannot be opened.
            PinError: If the pins cannot be used.
        """

    @field_validator("shows", check_fields=False)
    @classmethod
    def _check_count(cls, shows: LedsRole, info: ValidationInfo) -> LedsRole:
        configured = info.data.get("count", info.data.get("pins"))
        if configured is None:
            return shows
        count, exact = configured if isinstance(configured, int) else len(configured), LEDS_FOR.get(shows)
        if exact is not None and count != exact:
            raise ValueError(f"{shows} takes {exact} LED{'s' if exact > 1 else ''}, but there are {count}")
        if shows is LedsRole.ALL and count < LEAST_FOR_ALL:
            raise ValueError(f"all takes at least {LEAST_FOR_ALL} LEDs, but there are {count}")
        return shows


LEDS = Registry("tallybone.leds", LedsDriver, "hardware.leds.drivers")
