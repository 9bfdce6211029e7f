"""Assign the LEDs of a set to seats, status, direction and spell, in wiring order."""

from __future__ import annotations

from enum import StrEnum

from hardware.colour import Rgb
from hardware.leds.patterns import OFF, Glow


class LedsRole(StrEnum):
    """What a set of LEDs is for; the names of `hardware.leds.patterns.Glow`."""

    SEATS = "seats"
    STATUS = "status"
    DIRECTION = "direction"
    """Two LEDs: clockwise, and anticlockwise."""
    SPELL = "spell"
    ALL = "all"
    """Seats, followed by four LEDs: status, clockwise, anticlockwise and spell."""


LEDS_FOR = {LedsRole.STATUS: 1, LedsRole.DIRECTION: 2, LedsRole.SPELL: 1}
"""Number of LEDs for each role with a fixed number."""
LEAST_FOR_ALL = 1 + sum(LEDS_FOR.values())


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
            seats = _seats(count - LEAST_FOR_ALL + 1, glow)
            return (*seats, glow.status, glow.clockwise, glow.counter, glow.spell)


def _seats(count: int, glow: Glow) -> tuple[Rgb, ...]:
    return (*glow.seats, *(OFF,) * count)[:count]
