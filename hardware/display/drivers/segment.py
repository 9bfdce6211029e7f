"""SparkFun OpenSegment and Serial 7-Segment displays with four digits.

The last dot marks the turn, and the apostrophe marks provisional points. A display either shows the points of one seat,
or alternates between all seats. Only digits, blanks, minus and P are sent as text. Letters from `v` upwards are
commands, and some of these write EEPROM.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hardware.display.drivers import SerialDisplay
from hardware.display.page import Burst, DisplayLook, DisplayPage, ScoreLine, WireTiming, points_text
from hardware.part import Percent, SeatIndex

DIGITS = 4
_DECIMALS = 0x77
_CURSOR = 0x79
_BRIGHTNESS = 0x7A
# The firmware buffers 63 bytes. A page has up to 9.
_BUFFER_BYTES = 32
# The firmware multiplexes four digits for some milliseconds between reads. Each read takes all buffered bytes.
_BYTE_NS = 500_000
_REFRESH_NS = 600_000_000
_STORES_NS = 10_000_000
_SCREEN_NS = 2_000_000_000
_TURN_DOT = 3
PROVISIONAL_DOT = 5
_TOO_LARGE = "----"


class SegmentDriver(SerialDisplay):
    """A SparkFun OpenSegment or Serial 7-Segment Display."""

    driver: Literal["segment"]
    seat: Annotated[
        SeatIndex | None, Field(description="seat whose points are shown, from 0; default: all in turn")
    ] = None
    brightness: Annotated[Percent | None, Field(description="default: unchanged")] = None

    @property
    def wire(self) -> WireTiming:
        """Speed at which the display can receive data."""
        return WireTiming(self.baud, _BUFFER_BYTES, _BYTE_NS, _REFRESH_NS)

    @property
    def setup(self) -> tuple[Burst, ...]:
        """Command to set the brightness, which the display stores in EEPROM."""
        return () if self.brightness is None else (Burst(bytes((_BRIGHTNESS, self.brightness)), _STORES_NS),)

    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return the four digits, and the positions of lit dots. Blank if the page has no score for the display."""
        if self.seat is not None:
            scores = page.scores[self.seat : self.seat + 1]
            screens: list[DisplayLook] = [(_digits(score.points), _marks(score)) for score in scores]
        else:
            screens = [screen for seat, score in enumerate(page.scores) for screen in _seat_screens(seat, score)]
        return screens[t_ns // _SCREEN_NS % len(screens)] if screens else (" " * DIGITS, "")

    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return all digits and dots if any has changed. Addressing only the changed ones would not be shorter."""
        if look == before:
            return ()
        digits, dots = look
        lit = sum(1 << int(position) for position in dots)
        # Completes a pending command: the cursor ignores such a value, and the dots are set below. Otherwise it prints
        # the first digit once more at the cursor, which is overwritten.
        resync = digits[:1].encode("ascii") if before is None else b""
        return (Burst(resync + bytes((_CURSOR, 0)) + digits.encode("ascii") + bytes((_DECIMALS, lit))),)


def _seat_screens(seat: int, score: ScoreLine) -> list[DisplayLook]:
    """Return the number and points of *seat* on one screen if they fit, else on two."""
    marks = _marks(score)
    number, points = str(seat + 1), points_text(score.points, DIGITS)
    if len(number) + len(points) <= DIGITS and "#" not in points:
        return [(f"{number}{points:>{DIGITS - len(number)}}", f"{len(number) - 1}{marks}")]
    return [(f"P{number:>{DIGITS - 1}}", marks), (_digits(score.points), marks)]


def _marks(score: ScoreLine) -> str:
    """Return the positions of the dots that mark the turn and provisional points."""
    return f"{_TURN_DOT if score.is_turn else ''}{PROVISIONAL_DOT if score.is_provisional else ''}"


def _digits(points: int) -> str:
    text = points_text(points, DIGITS)
    return _TOO_LARGE if "#" in text else f"{text:>{DIGITS}}"
