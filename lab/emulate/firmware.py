"""Base class of emulated firmware, and its receive buffers.

Bytes arrive at the baud rate and are lost if a buffer is full.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeAlias

_BITS_PER_BYTE = 10
_NS_PER_S = 1_000_000_000

ProcessByte: TypeAlias = Callable[[int, int], int]
"""Processes a byte at a time, and returns for how many nanoseconds the firmware is busy."""


class Emulated(Protocol):
    """An emulated display."""

    def power_on(self, t_ns: int) -> None:
        """Restart. Only EEPROM is preserved."""

    def receive(self, data: bytes, t_ns: int) -> None:
        """Receive bytes whose transmission starts at *t_ns*."""

    def screen(self, t_ns: int) -> tuple[str, ...]:
        """Return the visible content."""

    def replies(self) -> bytes:
        """Return the bytes sent since the last call."""

    @property
    def baud(self) -> int:
        """Bits per second."""

    @property
    def eeprom_writes(self) -> int:
        """Number of EEPROM cells written so far."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Commands received so far, except for text and cursor positions."""

    @property
    def lost_bytes(self) -> int:
        """Number of bytes lost to full buffers."""


class Intake:
    """Two ring buffers: an interrupt fills the one of the UART, and the main loop moves bytes to the firmware's own."""

    def __init__(self, process: ProcessByte, *, baud: int, uart_bytes: int, ring_bytes: int) -> None:
        """Pass each received byte to *process*."""
        self._process, self._uart_bytes, self._ring_bytes = process, uart_bytes, ring_bytes
        self._byte_ns = _BITS_PER_BYTE * _NS_PER_S // baud
        self._uart: deque[tuple[int, int]] = deque()
        self._ring: deque[int] = deque()
        self._line_free_ns = self._free_ns = self._ready_ns = 0
        self.lost_bytes = 0

    def power_on(self, ready_ns: int) -> None:
        """Clear the buffers, and ignore input until *ready_ns*."""
        self._uart.clear()
        self._ring.clear()
        self._ready_ns = self._free_ns = ready_ns

    def receive(self, data: bytes, t_ns: int) -> None:
        """Receive bytes one after the other, at the baud rate."""
        for byte in data:
            self._line_free_ns = at_ns = max(t_ns, self._line_free_ns) + self._byte_ns
            self.run_until(at_ns)
            if at_ns < self._ready_ns:
                continue
            if len(self._uart) < self._uart_bytes:
                self._uart.append((at_ns, byte))
            else:
                self.lost_bytes += 1

    def run_until(self, t_ns: int) -> None:
        """Run the firmware until *t_ns*."""
        while self._free_ns <= t_ns:
            if not self._ring:
                self._copy()
            if not self._ring:
                return
            byte = self._ring.popleft()
            self._free_ns += self._process(byte, self._free_ns)

    def _copy(self) -> None:
        """Move bytes from the UART to the ring, as the main loop does when the ring is empty."""
        if self._uart:
            self._free_ns = max(self._free_ns, self._uart[0][0])
        while self._uart and self._uart[0][0] <= self._free_ns:
            _, byte = self._uart.popleft()
            if len(self._ring) < self._ring_bytes:
                self._ring.append(byte)
            else:
                self.lost_bytes += 1


class Firmware(ABC):
    """Firmware that processes its input byte by byte."""

    def __init__(self, *, baud: int, uart_bytes: int, ring_bytes: int) -> None:
        """Create firmware with empty buffers of *uart_bytes* and *ring_bytes*."""
        self._baud = baud
        self._writes = 0
        self._commands: list[str] = []
        self._intake = Intake(self._process, baud=baud, uart_bytes=uart_bytes, ring_bytes=ring_bytes)

    @property
    def baud(self) -> int:
        """Bits per second."""
        return self._baud

    @property
    def eeprom_writes(self) -> int:
        """Number of EEPROM cells written so far."""
        return self._writes

    @property
    def commands(self) -> tuple[str, ...]:
        """Commands received so far, except for text and cursor positions."""
        return tuple(self._commands)

    @property
    def lost_bytes(self) -> int:
        """Number of bytes lost to full buffers."""
        return self._intake.lost_bytes

    def receive(self, data: bytes, t_ns: int) -> None:
        """Receive bytes whose transmission starts at *t_ns*."""
        self._intake.receive(data, t_ns)

    @abstractmethod
    def _process(self, byte: int, t_ns: int) -> int:
        """Process a byte, and return the time in nanoseconds that it takes."""
