"""LED drivers, one module each, and their interface: options in table.toml, opening, and the assignment of LEDs."""

from __future__ import annotations

from abc import abstractmethod
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, ValidationInfo, field_validator

from hardware.leds.lamps import OFF, Glow, LedDevice
from hardware.libraries import OpenPins
from hardware.part import Lax, PartSettings, Registry, Rgb


class LedsRole(StrEnum):
    """Purpose of a set of LEDs, with the names of `Glow`."""

    SEATS = "seats"
    STATUS = "status"
    DIRECTION = "direction"
    """Two LEDs: clockwise, and anticlockwise."""
    SPELL = "spell"
    ALL = "all"
    """Seats, followed by four LEDs: status, clockwise, anticlockwise and spell."""


LEDS_FOR = {LedsRole.STATUS: 1, LedsRole.DIRECTION: 2, LedsRole.SPELL: 1}
"""Number of LEDs for each role with a fixed number."""
MIN_FOR_ALL = 1 + sum(LEDS_FOR.values())


def lit(shows: LedsRole, count: int, glow: Glow) -> tuple[Rgb, ...]:
    """Return the colour of each of *count* LEDs. LEDs of seats without a player are off.

    >>> glow = Glow((Rgb(1, 1, 1), Rgb(2, 2, 2)), Rgb(3, 3, 3), OFF, OFF, Rgb(4, 4, 4))
    >>> [colour.red for colour in lit(LedsRole.SEATS, 3, glow)], [colour.red for colour in lit(LedsRole.ALL, 7, glow)]
    ([1, 2, 0], [1, 2, 0, 3, 0, 0, 4])
    """
    match shows:
        case LedsRole.SEATS:
            return _seats(count, glow)
        case LedsRole.STATUS:
            return (glow.status,)
        case LedsRole.DIRECTION:
            return (glow.clockwise, glow.counter)
        case LedsRole.SPELL:
            return (glow.spell,)
        case LedsRole.ALL:
            seats = _seats(count - MIN_FOR_ALL + 1, glow)
            return (*seats, glow.status, glow.clockwise, glow.counter, glow.spell)


def _seats(count: int, glow: Glow) -> tuple[Rgb, ...]:
    return (*glow.seats, *(OFF,) * count)[:count]


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
        if shows is LedsRole.ALL and count < MIN_FOR_ALL:
            raise ValueError(f"all takes at least {MIN_FOR_ALL} LEDs, but there are {count}")
        return shows


LEDS = Registry("tallybone.leds", LedsDriver, __name__)
