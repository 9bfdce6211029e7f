"""Base class of emulated firmware."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hardware.display.emulation.intake import Intake


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
