"""SparkFun SerLCD (OpenLCD firmware), 16x2 and 20x4: a page to bytes.

A lost byte must do no harm. After `|` the firmware writes EEPROM for many an ordinary letter, so `|` is never sent in
play: the cursor is set with FE, and rows are written over instead of clearing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from hardware.colour import Rgb
from hardware.config.fields import Lax
from hardware.display.driver import DisplayEmulation, SerialDisplay
from hardware.display.encoder import Burst, DisplayLook, WireTiming
from hardware.display.page import DisplayPage
from hardware.display.rows import screen_at
from hardware.display.text import LCD_CHARACTERS

if TYPE_CHECKING:  # a table starts without them
    from hardware.display.emulation.intake import Emulated

_COMMAND, _SETTING, _SET_CURSOR, _SET_RGB = 0xFE, 0x7C, 0x80, 0x2B
_ROW_ADDRESS = (0x00, 0x40, 0x14, 0x54)
# The firmware's loop copies 64 bytes of the UART's ring only when it is not busy.
_BUFFER_BYTES = 48
_BYTE_NS = 200_000
_REFRESH_NS = 600_000_000
# Three bytes of EEPROM at 3.4 ms each, and slack.
_STORES_NS = 30_000_000
# While its splash is shown this byte sets its speed back (Ctrl-R), in EEPROM. As a shade of a colour nobody misses it.
_RESETS_BAUD = 0x12
# Whether it waits for nothing or for the byte after FE: then it waits for nothing, and what it printed is overwritten.
_RESYNC = bytes((_COMMAND, _SET_CURSOR, 0x20))


@dataclass(frozen=True, slots=True)
class SerLcd:
    """A SerLCD.

    Attributes:
        columns: 16 or 20.
        rows: 2 or 4.
        baud: What it was set to; 9600 as it comes.
        backlight: Its colour, which it remembers; None leaves it as it is, and then nothing ever writes its EEPROM.
    """

    columns: int = 16
    rows: int = 2
    baud: int = 9600
    backlight: Rgb | None = None

    def __post_init__(self) -> None:
        if (self.columns, self.rows) not in ((16, 2), (20, 4)):
            raise ValueError(f"a SerLCD has 16x2 or 20x4 characters, but got {self.columns}x{self.rows}")

    @property
    def wire(self) -> WireTiming:
        """How quickly it can be talked to."""
        return WireTiming(self.baud, _BUFFER_BYTES, _BYTE_NS, _REFRESH_NS)

    @property
    def setup(self) -> tuple[Burst, ...]:
        """The colour, which it keeps in EEPROM."""
        if self.backlight is None:
            return ()
        shades = (self.backlight.red, self.backlight.green, self.backlight.blue)
        safe = (shade + (shade == _RESETS_BAUD) for shade in shades)
        return (Burst(bytes((_SETTING, _SET_RGB, *safe)), _STORES_NS),)

    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return its rows."""
        return screen_at(page, self.columns, self.rows, t_ns, LCD_CHARACTERS)

    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return the parts of rows that change, or a resync and all rows."""
        if before is None:
            rows = (Burst(_at(row, 0) + text.encode("ascii")) for row, text in enumerate(look))
            return (Burst(_RESYNC), *rows)
        return tuple(
            Burst(_changed(row, new, old))
            for row, (new, old) in enumerate(zip(look, before, strict=True))
            if new != old
        )

    def is_lost(self, heard: bytes) -> bool:
        """It never says anything."""
        return False


def _at(row: int, column: int) -> bytes:
    return bytes((_COMMAND, _SET_CURSOR | (_ROW_ADDRESS[row] + column)))


def _changed(row: int, new: str, old: str) -> bytes:
    """Return the bytes from the first to the last character of a row that differs."""
    differ = [column for column, (a, b) in enumerate(zip(new, old, strict=True)) if a != b]
    return _at(row, differ[0]) + new[differ[0] : differ[-1] + 1].encode("ascii")


Shades = Annotated[
    tuple[Annotated[int, Field(ge=0, le=255)], ...],
    Lax,
    Field(min_length=3, max_length=3, title="red, green and blue of 0 to 255"),
]


def _emulated(columns: int, rows: int, baud: int) -> Emulated:
    from hardware.display.emulation.serlcd import EmulatedSerLcd

    return EmulatedSerLcd(columns, rows, baud=baud)


class SerLcdDriver(SerialDisplay):
    """A SparkFun SerLCD."""

    driver: Literal["serlcd-16x2", "serlcd-20x4"]
    backlight: Annotated[Shades | None, Field(description="else it stays as it is")] = None

    emulations = (
        DisplayEmulation("serlcd", "SerLCD 16x2", partial(_emulated, 16, 2)),
        DisplayEmulation("serlcd-20x4", "SerLCD 20x4", partial(_emulated, 20, 4)),
    )

    @property
    def encoder(self) -> SerLcd:
        """What turns pages into bytes."""
        columns, rows = (16, 2) if self.driver == "serlcd-16x2" else (20, 4)
        return SerLcd(columns, rows, self.baud, None if self.backlight is None else Rgb(*self.backlight))
