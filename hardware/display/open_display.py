"""Which displays there are, by the names of their drivers."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from hardware.clock import Clock
from hardware.colour import Rgb
from hardware.display.display import DisplayError, NoDisplay, ScoreDisplay
from hardware.display.encoder import DisplayEncoder
from hardware.display.link import BytePort, LinkedDisplay
from hardware.display.nextion import Nextion
from hardware.display.segment import Segment
from hardware.display.serial_port import serial_port
from hardware.display.serlcd import SerLcd
from hardware.display.terminal import PlainTerminal


@dataclass(frozen=True, slots=True)
class DisplayWish:
    """A display as it is asked for.

    Attributes:
        driver: One of `DRIVERS`.
        url: A path such as /dev/ttyUSB0, or any URL of pyserial; of `terminal` that of a terminal or a file; `none` has
            none.
        baud: Bits a second that the display is set to.
        seat: For `segment`: whose points, 0 upwards; None for all in turns.
        brightness: For `segment`, 0 to 100 percent; None leaves it as it is.
        backlight: For `serlcd`; None leaves it as it is.
    """

    driver: str
    url: str = ""
    baud: int = 9600
    seat: int | None = None
    brightness: int | None = None
    backlight: Rgb | None = None


_PARTS: dict[str, Callable[[DisplayWish], DisplayEncoder]] = {
    "serlcd-16x2": lambda wish: SerLcd(16, 2, wish.baud, wish.backlight),
    "serlcd-20x4": lambda wish: SerLcd(20, 4, wish.baud, wish.backlight),
    "segment": lambda wish: Segment(wish.seat, wish.baud, wish.brightness),
    "nextion": lambda wish: Nextion(wish.baud),
}
DRIVERS = ("none", "terminal", *_PARTS)


def open_display(wish: DisplayWish, out: TextIO | None = None, *, clock: Clock = time.monotonic_ns) -> ScoreDisplay:
    """Return a display; whether it is plugged in is its state.

    Args:
        wish: Which one.
        out: What `terminal` prints to where no url is said, by default stdout; the caller closes it.
        clock: Monotonic, in nanoseconds.

    Raises:
        DisplayError: If there is no such driver, or something it needs is missing.
        ValueError: If what is wished is out of range.
    """
    if wish.driver == "none":
        return NoDisplay()
    if wish.driver == "terminal":
        if wish.url:
            return LinkedDisplay(PlainTerminal(), lambda: _TextFile(Path(wish.url)), name=wish.url, clock=clock)
        return LinkedDisplay(PlainTerminal(), lambda: _stream(out or sys.stdout), name="the terminal", clock=clock)
    make = _PARTS.get(wish.driver)
    if make is None:
        raise DisplayError(f"{wish.driver}: there is no such display; there are {', '.join(DRIVERS)}")
    if not wish.url:
        raise DisplayError(f"{wish.driver}: say where it is plugged in, such as /dev/ttyUSB0")
    return LinkedDisplay(make(wish), serial_port(wish.url, wish.baud), name=wish.url, clock=clock)


class _TextFile:
    """Another terminal, such as /dev/tty1, as a port."""

    def __init__(self, path: Path) -> None:
        # Not as a file of Python's: a terminal that is gone would fail once more when that is thrown away.
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY | os.O_NONBLOCK, 0o644)

    def write(self, data: bytes) -> None:
        os.write(self._fd, data)

    def read(self) -> bytes:
        return b""

    def close(self) -> None:
        """Let it go."""
        os.close(self._fd)


class _Stream:
    """A stream of text as a port."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, data: bytes) -> None:
        self._out.write(data.decode("ascii"))
        self._out.flush()

    def read(self) -> bytes:
        return b""

    def close(self) -> None:
        """Leave the stream to whom it belongs."""


def _stream(out: TextIO) -> BytePort:
    return _Stream(out)
