"""The scores as plain lines of a terminal, or of whatever takes text: a page to bytes."""

from __future__ import annotations

from dataclasses import dataclass

from hardware.display.encoder import Burst, DisplayLook, WireTiming
from hardware.display.page import DisplayPage
from hardware.display.rows import points_text, provisional_mark
from hardware.display.text import TERMINAL_CHARACTERS, reduce_text

_NAME_COLUMNS, _POINTS_COLUMNS = 20, 6
# A terminal takes bytes as fast as they come.
_WIRE = WireTiming(baud=10_000_000, buffer_bytes=4096, byte_ns=0, refresh_ns=None)


@dataclass(frozen=True, slots=True)
class PlainTerminal:
    """A terminal: each page that differs from the last one is printed below it."""

    @property
    def wire(self) -> WireTiming:
        """How quickly it can be talked to."""
        return _WIRE

    @property
    def setup(self) -> tuple[Burst, ...]:
        """Nothing."""
        return ()

    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return a line for each score, and one for the message."""
        lines = []
        for score in page.scores:
            name = reduce_text(score.name, TERMINAL_CHARACTERS)[:_NAME_COLUMNS]
            mark = provisional_mark(score, TERMINAL_CHARACTERS)
            points = mark + points_text(score.points, _POINTS_COLUMNS - len(mark))
            lines.append(f"{'>' if score.is_turn else ' '} {name:<{_NAME_COLUMNS}} {points:>{_POINTS_COLUMNS}}")
        message = reduce_text(page.message, TERMINAL_CHARACTERS)
        return (*lines, message) if message else tuple(lines)

    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return all lines."""
        return () if look == before else (Burst("".join(f"{line}\n" for line in (*look, "")).encode("ascii")),)

    def is_lost(self, heard: bytes) -> bool:
        """It never says anything."""
        return False
