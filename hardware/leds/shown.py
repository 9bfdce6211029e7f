"""Assign the LEDs of a set to seats, status, direction and spell, in the order of their wiring."""

from __future__ import annotations

from enum import StrEnum

from hardware.colour import Rgb
from hardware.leds.patterns import OFF, Glow


class LedsRole(StrEnum):
    """What a set of LEDs is for; the names of `hardware.leds.patterns.Glow`."""

    SEATS = "seats"
    STATUS = "status"
    DIRECTION = "direction"
    """Two: clockwise, and the other way."""
    SPELL = "spell"
    ALL = "all"
    """Seats, then status, clockwise, the other way, and spell, which are the last four."""


LEDS_FOR = {LedsRole.STATUS: 1, LedsRole.DIRECTION: 2, LedsRole.SPELL: 1}
"""How many LEDs show what is not about seats."""
LEAST_FOR_ALL = 1 + sum(LEDS_FOR.values())


def lit(shows: LedsRole, count: int, glow: Glow) -> tuple[Rgb, ...]:
    """Return the colour of each of *count* LEDs. Those of seats where nobody sits are dark.

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
