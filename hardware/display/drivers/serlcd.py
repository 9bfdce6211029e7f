"""SparkFun SerLCD displays (OpenLCD firmware) with 16x2 or 20x4 characters.

A lost byte must be harmless. After `|` the firmware treats many ordinary characters as settings and writes EEPROM, so
`|` is never sent during play: FE commands move the cursor, and rows are overwritten instead of cleared.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hardware.display.drivers import SerialDisplay
from hardware.display.page import LCD_CHARACTERS, Burst, DisplayLook, DisplayPage, WireTiming, screen_at
from hardware.part import Lax

_COMMAND = 0xFE
_SETTING = 0x7C
_SET_CURSOR = 0x80
_SET_RGB = 0x2B
_ROW_ADDRESS = (0x00, 0x40, 0x14, 0x54)
# The firmware empties the UART's 64-byte ring buffer only when it is idle.
_BUFFER_BYTES = 48
_BYTE_NS = 200_000
_REFRESH_NS = 600_000_000
# Three bytes of EEPROM at 3.4 ms each, and slack.
_STORES_NS = 30_000_000
# During the splash screen this byte (Ctrl-R) resets the baud rate in EEPROM. Colours avoid it by one level.
_RESETS_BAUD = 0x12
# Completes a pending FE command. Anything that it prints is overwritten.
_RESYNC = bytes((_COMMAND, _SET_CURSOR, 0x20))


Shades = Annotated[
    tuple[Annotated[int, Field(ge=0, le=255)], ...],
    Lax,
    Field(min_length=3, max_length=3, title="red, green and blue of 0 to 255"),
]


class SerLcdDriver(SerialDisplay):
    """A SparkFun SerLCD."""

    driver: Literal["serlcd-16x2", "serlcd-20x4"]
    backlight: Annotated[Shades | None, Field(description="default: unchanged")] = None

    @property
    def wire(self) -> WireTiming:
        """Speed at which the display can receive data."""
        return WireTiming(self.baud, _BUFFER_BYTES, _BYTE_NS, _REFRESH_NS)

    @property
    def setup(self) -> tuple[Burst, ...]:
        """Command to set the backlight colour, which the display stores in EEPROM."""
        if self.backlight is None:
            return ()
        safe = (level + (level == _RESETS_BAUD) for level in self.backlight)
        return (Burst(bytes((_SETTING, _SET_RGB, *safe)), _STORES_NS),)

    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return the rows."""
        columns, rows = (16, 2) if self.driver == "serlcd-16x2" else (20, 4)
        return screen_at(page, columns, rows, t_ns, LCD_CHARACTERS)

    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return the changed parts of rows, or a resync and all rows."""
        if before is None:
            rows = (Burst(_cursor(row, 0) + text.encode("ascii")) for row, text in enumerate(look))
            return (Burst(_RESYNC), *rows)
        bursts = []
        for row, (new, old) in enumerate(zip(look, before, strict=True)):
            changed = [column for column, (a, b) in enumerate(zip(new, old, strict=True)) if a != b]
            if changed:
                text = new[changed[0] : changed[-1] + 1]
                bursts.append(Burst(_cursor(row, changed[0]) + text.encode("ascii")))
        return tuple(bursts)


def _cursor(row: int, column: int) -> bytes:
    return bytes((_COMMAND, _SET_CURSOR | (_ROW_ADDRESS[row] + column)))
