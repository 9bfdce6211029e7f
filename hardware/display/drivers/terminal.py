"""Scores as plain lines of text on a terminal or in a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hardware.clock import Clock
from hardware.config.part import NonEmpty
from hardware.display import encoder
from hardware.display.display import ScoreDisplay
from hardware.display.driver import DisplayDriver
from hardware.display.link import LinkedDisplay
from hardware.display.page import DisplayPage

_NAME_COLUMNS, _POINTS_COLUMNS = 20, 6
# A terminal needs no pacing.
_WIRE = encoder.WireTiming(baud=10_000_000, buffer_bytes=4096, byte_ns=0, refresh_ns=None)


@dataclass(frozen=True, slots=True)
class PlainTerminal:
    """Encoder for a terminal. Prints each page that differs from the previous one."""

    @property
    def wire(self) -> encoder.WireTiming:
        """Speed at which the terminal can receive data."""
        return _WIRE

    @property
    def setup(self) -> tuple[encoder.Burst, ...]:
        """Empty: there are no persistent settings."""
        return ()

    def look(self, page: DisplayPage, t_ns: int) -> encoder.DisplayLook:
        """Return a line for each score, and a line for the message if there is one."""
        lines = []
        for score in page.scores:
            name = encoder.reduce_text(score.name, encoder.TERMINAL_CHARACTERS)[:_NAME_COLUMNS]
            mark = encoder.provisional_mark(score, encoder.TERMINAL_CHARACTERS)
            points = mark + encoder.points_text(score.points, _POINTS_COLUMNS - len(mark))
            lines.append(f"{'>' if score.is_turn else ' '} {name:<{_NAME_COLUMNS}} {points:>{_POINTS_COLUMNS}}")
        message = encoder.reduce_text(page.message, encoder.TERMINAL_CHARACTERS)
        return (*lines, message) if message else tuple(lines)

    def encode(self, look: encoder.DisplayLook, before: encoder.DisplayLook | None) -> tuple[encoder.Burst, ...]:
        """Return all lines, or nothing if they have not changed."""
        return () if look == before else (encoder.Burst("".join(f"{line}\n" for line in (*look, "")).encode("ascii")),)

    def is_lost(self, heard: bytes) -> bool:
        """Return False: a terminal never replies."""
        return False


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


class TerminalDriver(DisplayDriver):
    """Another terminal, or a file."""

    driver: Literal["terminal"]
    url: Annotated[NonEmpty, Field(description="the terminal, such as /dev/tty1")]

    @property
    def location(self) -> str:
        """The path of the terminal."""
        return self.url

    def open(self, clock: Clock) -> ScoreDisplay:
        """Open the display, even if the terminal does not exist yet."""
        return LinkedDisplay(PlainTerminal(), lambda: _TextFile(Path(self.url)), name=self.url, clock=clock)
