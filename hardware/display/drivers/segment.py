"""SparkFun OpenSegment and Serial 7-Segment displays with four digits.

A display either shows the points of one seat, or alternates between all seats. Only digits, blanks, minus and P are
sent as text. Letters from `v` upwards are commands, and some of these write EEPROM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from hardware.config.part import Percent, SeatIndex
from hardware.display.driver import SerialDisplay
from hardware.display.encoder import Burst, DisplayLook, WireTiming, points_text
from hardware.display.page import DisplayPage, ScoreLine

DIGITS = 4
_DECIMALS, _CURSOR, _BRIGHTNESS = 0x77, 0x79, 0x7A
# The firmware buffers 63 bytes. A page has up to 9.
_BUFFER_BYTES = 32
# The firmware multiplexes four digits for some milliseconds between reads. Each read takes all buffered bytes.
_BYTE_NS = 500_000
_REFRESH_NS = 600_000_000
_STORES_NS = 10_000_000
_SCREEN_NS = 2_000_000_000
_MAX_BRIGHTNESS = 100
_TURN_DOT, PROVISIONAL_DOT = 3, 5
_TOO_LARGE = "----"


@dataclass(frozen=True, slots=True)
class Segment:
    """Encoder for a four-digit display. The last dot marks the turn, and the apostrophe marks provisional points.

    Attributes:
        seat: Seat whose points are shown, from 0. None to alternate between all seats.
        baud: Configured bits per second. 9600 by default.
        brightness: Brightness from 0 to 100 percent. Setting it writes EEPROM. None leaves it unchanged.
    """

    seat: int | None = None
    baud: int = 9600
    brightness: int | None = None

    def __post_init__(self) -> None:
        if self.brightness is not None and not 0 <= self.brightness <= _MAX_BRIGHTNESS:
            raise ValueError(f"brightness must be 0 to {_MAX_BRIGHTNESS} percent, but got {self.brightness}")
        if self.seat is not None and self.seat < 0:
            raise ValueError(f"seat must be 0 or more, but got {self.seat}")

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
            screens = _points_screens(page, self.seat)
        else:
            screens = [screen for seat in range(len(page.scores)) for screen in _seat_screens(page, seat)]
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

    def is_lost(self, heard: bytes) -> bool:
        """Return False: the display never replies."""
        return False


def _points_screens(page: DisplayPage, seat: int) -> list[DisplayLook]:
    """Return the screen with the points of *seat*, or nothing if the page has no such seat."""
    if seat >= len(page.scores):
        return []
    score = page.scores[seat]
    return [(_digits(score.points), _marks(score))]


def _seat_screens(page: DisplayPage, seat: int) -> list[DisplayLook]:
    """Return the number and points of *seat* on one screen if they fit, else on two."""
    score = page.scores[seat]
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


class SegmentDriver(SerialDisplay):
    """A SparkFun OpenSegment or Serial 7-Segment Display."""

    driver: Literal["segment"]
    seat: Annotated[
        SeatIndex | None, Field(description="seat whose points are shown, from 0; default: all in turn")
    ] = None
    brightness: Annotated[Percent | None, Field(description="default: unchanged")] = None

    @property
    def encoder(self) -> Segment:
        """The encoder of the display."""
        return Segment(self.seat, self.baud, self.brightness)
