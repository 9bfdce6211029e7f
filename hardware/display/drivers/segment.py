"""SparkFun OpenSegment and Serial 7-Segment, four digits: a page to bytes.

One display per seat shows that seat's points; one for all shows seat and points in turns. Only digits, blanks, minus
and P are ever sent as text: from `v` upwards letters are commands, some of which write EEPROM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from hardware.config.fields import Percent, SeatIndex
from hardware.display.driver import DisplayEmulation, SerialDisplay
from hardware.display.encoder import Burst, DisplayLook, WireTiming
from hardware.display.page import DisplayPage, ScoreLine
from hardware.display.rows import points_text

if TYPE_CHECKING:  # a table starts without them
    from hardware.display.emulation.intake import Emulated

DIGITS = 4
_DECIMALS, _CURSOR, _BRIGHTNESS = 0x77, 0x79, 0x7A
# The firmware keeps 63 bytes; a page has 9.
_BUFFER_BYTES = 32
# It shows four digits, some milliseconds, before it looks for bytes again; then it reads all of them.
_BYTE_NS = 500_000
_REFRESH_NS = 600_000_000
_STORES_NS = 10_000_000
_SCREEN_NS = 2_000_000_000
_MOST_BRIGHTNESS = 100
_TURN_DOT, _PROVISIONAL_DOT = 3, 5
_TOO_LARGE = "----"


@dataclass(frozen=True, slots=True)
class Segment:
    """A display of four digits. A dot at the right marks whose turn it is, the apostrophe provisional points.

    Attributes:
        seat: Whose points it shows, 0 upwards; None for all, in turns.
        baud: What it was set to; 9600 as it comes.
        brightness: 0 to 100 percent, which it writes to EEPROM each time it is told; None leaves it.
    """

    seat: int | None = None
    baud: int = 9600
    brightness: int | None = None

    def __post_init__(self) -> None:
        if self.brightness is not None and not 0 <= self.brightness <= _MOST_BRIGHTNESS:
            raise ValueError(f"brightness must be 0 to {_MOST_BRIGHTNESS} percent, but got {self.brightness}")
        if self.seat is not None and self.seat < 0:
            raise ValueError(f"seat must be 0 or more, but got {self.seat}")

    @property
    def wire(self) -> WireTiming:
        """How quickly it can be talked to."""
        return WireTiming(self.baud, _BUFFER_BYTES, _BYTE_NS, _REFRESH_NS)

    @property
    def setup(self) -> tuple[Burst, ...]:
        """The brightness, which it keeps in EEPROM."""
        return () if self.brightness is None else (Burst(bytes((_BRIGHTNESS, self.brightness)), _STORES_NS),)

    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return four digits, and the places of the dots that are lit."""
        if self.seat is not None:
            screens = _of_seat(page, self.seat)
        else:
            screens = [screen for seat in range(len(page.scores)) for screen in _in_turns(page, seat)]
        return screens[t_ns // _SCREEN_NS % len(screens)] if screens else (" " * DIGITS, "")

    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return all digits and dots, they are no more than the commands to reach some."""
        if look == before:
            return ()
        digits, dots = look
        lit = sum(1 << int(place) for place in dots)
        # The cursor is at 0 after four digits, so the first one sent once more shows nothing else. Where a command
        # waits for its byte, it takes this one: no cursor is that far right, and the dots follow.
        resync = digits[:1].encode("ascii") if before is None else b""
        return (Burst(resync + bytes((_CURSOR, 0)) + digits.encode("ascii") + bytes((_DECIMALS, lit))),)

    def is_lost(self, heard: bytes) -> bool:
        """It never says anything."""
        return False


def _of_seat(page: DisplayPage, seat: int) -> list[DisplayLook]:
    if seat >= len(page.scores):
        return []
    score = page.scores[seat]
    return [(_digits(score.points), _marks(score))]


def _in_turns(page: DisplayPage, seat: int) -> list[DisplayLook]:
    """Return the seat's number and points on one screen, or on two where they do not fit on one."""
    score = page.scores[seat]
    marks = _marks(score)
    number, points = str(seat + 1), points_text(score.points, DIGITS)
    if len(number) + len(points) <= DIGITS and "#" not in points:
        return [(f"{number}{points:>{DIGITS - len(number)}}", f"{len(number) - 1}{marks}")]
    return [(f"P{number:>{DIGITS - 1}}", marks), (_digits(score.points), marks)]


def _marks(score: ScoreLine) -> str:
    """Return the places of the dots that mark the turn and provisional points."""
    return f"{_TURN_DOT if score.is_turn else ''}{_PROVISIONAL_DOT if score.is_provisional else ''}"


def _digits(points: int) -> str:
    text = points_text(points, DIGITS)
    return _TOO_LARGE if "#" in text else f"{text:>{DIGITS}}"


def _draw(screen: tuple[str, ...]) -> tuple[str, ...]:
    """Return the four digits with their dots on one line; the apostrophe is left of the last digit."""
    digits, lit = screen
    gaps = ["." if str(place) in lit else " " for place in range(len(digits))]
    if str(_PROVISIONAL_DOT) in lit:
        gaps[-2] = "'"
    return ("".join(f"{digit}{gap}" for digit, gap in zip(digits, gaps, strict=True)),)


def _emulated(baud: int) -> Emulated:
    from hardware.display.emulation.segment import EmulatedSegment

    return EmulatedSegment(baud=baud)


class SegmentDriver(SerialDisplay):
    """A SparkFun OpenSegment or Serial 7-Segment Display."""

    driver: Literal["segment"]
    seat: Annotated[SeatIndex | None, Field(description="whose points, from 0; else all in turns")] = None
    brightness: Annotated[Percent | None, Field(description="else it stays as it is")] = None

    emulations = (DisplayEmulation("segment", "Serial 7-Segment", _emulated, _draw),)

    @property
    def encoder(self) -> Segment:
        """What turns pages into bytes."""
        return Segment(self.seat, self.baud, self.brightness)
