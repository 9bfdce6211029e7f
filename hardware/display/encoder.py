"""The display encoder interface: pure conversion of a page to the look of a display, and to bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from hardware.display.page import DisplayPage

DisplayLook: TypeAlias = tuple[str, ...]
"""Content of a display: the texts of its rows, digits or fields, reduced to characters that it can show."""

_BITS_PER_BYTE = 10  # 8N1: a start bit, eight data bits and a stop bit
_NS_PER_S = 1_000_000_000
# Allows for clock errors of a few percent, and for buffering in a USB adapter.
_SLACK = 1.1


@dataclass(frozen=True, slots=True)
class WireTiming:
    """Speed at which a display can receive data.

    Attributes:
        baud: Bits per second.
        buffer_bytes: Number of bytes that the display can buffer while it is busy.
        byte_ns: Maximum time that the display needs to process a byte.
        refresh_ns: Interval after which everything is sent again, in case the display was replugged unnoticed. None for
            never.
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
    """Bytes sent together.

    Attributes:
        data: Bytes to send.
        busy_ns: Time that the display is busy after the last byte, in addition to `WireTiming.byte_ns` per byte.
    """

    data: bytes
    busy_ns: int = 0


class DisplayEncoder(Protocol):
    """Encodes pages for one kind of display. Stateless."""

    @property
    def wire(self) -> WireTiming:
        """Speed at which the display can receive data."""

    @property
    def setup(self) -> tuple[Burst, ...]:
        """Persistent settings, sent once per run because EEPROM wears out."""

    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return the look of *page* at time *t_ns*. Content that does not fit on one screen alternates."""

    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return the data that changes the look *before* to *look*. *before* is None if it is unknown."""

    def is_lost(self, heard: bytes) -> bool:
        """Return True if bytes from the display show that it was restarted or lost data."""


def paced(bursts: tuple[Burst, ...], wire: WireTiming) -> Iterator[tuple[bytes, int]]:
    """Yield chunks to send, each with the time in nanoseconds to wait after it.

    The display has processed each chunk before the next one is sent. No chunk exceeds its buffer, so the buffer cannot
    overflow.
    """
    per_byte_ns = max(_BITS_PER_BYTE * _NS_PER_S // wire.baud, wire.byte_ns)
    for burst in bursts:
        for begin in range(0, len(burst.data), wire.buffer_bytes):
            chunk = burst.data[begin : begin + wire.buffer_bytes]
            is_last = begin + wire.buffer_bytes >= len(burst.data)
            yield chunk, round(len(chunk) * per_byte_ns * _SLACK) + (burst.busy_ns if is_last else 0)
