"""Base of the emulated firmwares: receive bytes over the wire and count the work they cause."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hardware.display.emulation.intake import Intake


class Firmware(ABC):
    """A firmware that obeys one byte after the other."""

    def __init__(self, *, baud: int, uart_bytes: int, ring_bytes: int) -> None:
        """Start with nothing counted; the buffers hold so many bytes."""
        self._baud = baud
        self._writes = 0
        self._commands: list[str] = []
        self._intake = Intake(self._obey, baud=baud, uart_bytes=uart_bytes, ring_bytes=ring_bytes)

    @property
    def baud(self) -> int:
        """Bits a second at which it listens and talks."""
        return self._baud

    @property
    def eeprom_writes(self) -> int:
        """How many cells of memory that wears out were written since it was made."""
        return self._writes

    @property
    def commands(self) -> tuple[str, ...]:
        """What it was told beside texts and places for them, since it was made."""
        return tuple(self._commands)

    @property
    def lost_bytes(self) -> int:
        """How many bytes came when its buffers were full."""
        return self._intake.lost_bytes

    def receive(self, data: bytes, t_ns: int) -> None:
        """Take bytes from the wire, sent from *t_ns* on."""
        self._intake.receive(data, t_ns)

    @abstractmethod
    def _obey(self, byte: int, t_ns: int) -> int:
        """Take a byte; return for how many nanoseconds it is busy with it."""
