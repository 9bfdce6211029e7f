"""Scores as plain lines of text on a terminal or in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hardware.display import page as pages
from hardware.display.display import LinkedDisplay, ScoreDisplay
from hardware.display.drivers import DisplayDriver
from hardware.part import Clock, NonEmpty

_NAME_COLUMNS = 20
_POINTS_COLUMNS = 6
# A terminal needs no pacing.
_WIRE = pages.WireTiming(baud=10_000_000, buffer_bytes=4096, byte_ns=0, refresh_ns=None)


class _TextFile:
    """Byte port for another terminal, such as /dev/tty1, or a file."""

    def __init__(self, path: Path) -> None:
        # A file descriptor, because a Python file on a vanished terminal raises again when it is garbage-collected.
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY | os.O_NONBLOCK, 0o644)

    def write(self, data: bytes) -> None:
        os.write(self._fd, data)

    def read(self) -> bytes:
        return b""

    def close(self) -> None:
        """Close the file descriptor."""
        os.close(self._fd)


class TerminalDriver(DisplayDriver, pages.DisplayEncoder):
    """Another terminal, or a file."""

    driver: Literal["terminal"]
    url: Annotated[NonEmpty, Field(description="the terminal, such as /dev/tty1")]

    @property
    def wire(self) -> pages.WireTiming:
        """Speed at which the terminal can receive data."""
        return _WIRE

    def look(self, page: pages.DisplayPage, t_ns: int) -> pages.DisplayLook:
        """Return a line for each score, and a line for the message if there is one."""
        lines = []
        for score in page.scores:
            name = pages.reduce_text(score.name, pages.TERMINAL_CHARACTERS)[:_NAME_COLUMNS]
            mark = pages.provisional_mark(score, pages.TERMINAL_CHARACTERS)
            points = mark + pages.points_text(score.points, _POINTS_COLUMNS - len(mark))
            lines.append(f"{'>' if score.is_turn else ' '} {name:<{_NAME_COLUMNS}} {points:>{_POINTS_COLUMNS}}")
        message = pages.reduce_text(page.message, pages.TERMINAL_CHARACTERS)
        return (*lines, message) if message else tuple(lines)

    def encode(self, look: pages.DisplayLook, before: pages.DisplayLook | None) -> tuple[pages.Burst, ...]:
        """Return all lines, or nothing if they have not changed."""
        return () if look == before else (pages.Burst("".join(f"{line}\n" for line in (*look, "")).encode("ascii")),)

    @property
    def location(self) -> str:
        """The path of the terminal."""
        return self.url

    def open(self, clock: Clock) -> ScoreDisplay:
        """Open the display, even if the terminal does not exist yet."""
        return LinkedDisplay(self, lambda: _TextFile(Path(self.url)), name=self.url, clock=clock)
