"""The display encoder interface: a page to the look of the display, and to the bytes that produce it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from hardware.display.page import DisplayPage

DisplayLook: TypeAlias = tuple[str, ...]
"""What a display shows, as texts that are reduced already: its rows, its digits or its fields."""

_BITS_PER_BYTE = 10  # 8N1: a start bit, eight of data, a stop bit
_NS_PER_S = 1_000_000_000
# Clocks of small parts are off by a few percent; it also covers what an adapter keeps back for a moment.
_SLACK = 1.1


@dataclass(frozen=True, slots=True)
class WireTiming:
    """How quickly a part can be talked to.

    Attributes:
        baud: Bits a second.
        buffer_bytes: What it surely keeps while it is busy.
        byte_ns: The longest that it is busy with one byte.
        refresh_ns: After so long everything is sent again, because it may have been replugged unseen; None for never.
    """

    baud: int
    buffer_bytes: int
    byte_ns: int
    refresh_ns: int | None

    def __post_init__(self) -> None:
        if self.baud <= 0 or self.buffer_bytes <= 0:
            raise ValueError(f"baud and buffer_bytes must be above 0, but got {self.baud} and {self.buffer_bytes}")


@dataclass(frozen=True, slots=True)
class Burst:
    """Bytes that belong together.

    Attributes:
        data: What is sent.
        busy_ns: How long the part is busy after the last byte, beside `WireTiming.byte_ns` for each.
    """

    data: bytes
    busy_ns: int = 0


class DisplayEncoder(Protocol):
    """Turns pages into the bytes of one kind of display. It has no memory: what is shown is a parameter."""

    @property
    def wire(self) -> WireTiming:
        """How quickly it can be talked to."""

    @property
    def setup(self) -> tuple[Burst, ...]:
        """What it remembers without power (EEPROM wears out): sent once while the program runs."""

    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return what it shows of a page at a time; what does not fit is shown in turns."""

    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return what turns one look into another; *before* is None where nothing is known about the part's state."""

    def is_lost(self, heard: bytes) -> bool:
        """Say whether what the part has sent means that it does not show what it was told."""


def paced(bursts: tuple[Burst, ...], wire: WireTiming) -> Iterator[tuple[bytes, int]]:
    """Yield pieces to send and how many nanoseconds to wait after each.

    When a piece begins, the part has read all of those before it. No piece is longer than its buffer, so the buffer
    cannot overflow.
    """
    per_byte_ns = max(_BITS_PER_BYTE * _NS_PER_S // wire.baud, wire.byte_ns)
    for burst in bursts:
        for begin in range(0, len(burst.data), wire.buffer_bytes):
            piece = burst.data[begin : begin + wire.buffer_bytes]
            is_last = begin + wire.buffer_bytes >= len(burst.data)
            yield piece, round(len(piece) * per_byte_ns * _SLACK) + (burst.busy_ns if is_last else 0)
