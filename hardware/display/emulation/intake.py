"""Receive buffer of a small firmware: bytes arrive at the pace of the wire, and are lost if the ring is full."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeAlias

_BITS_PER_BYTE = 10
_NS_PER_S = 1_000_000_000

Obey: TypeAlias = Callable[[int, int], int]
"""Takes a byte and the time; returns for how many nanoseconds the firmware is busy with it and reads nothing."""


class Emulated(Protocol):
    """A part that is emulated."""

    def power_on(self, t_ns: int) -> None:
        """Start again without the memory that needs power."""

    def receive(self, data: bytes, t_ns: int) -> None:
        """Take bytes that are sent from *t_ns* on."""

    def screen(self, t_ns: int) -> tuple[str, ...]:
        """Return what a person reads."""

    def replies(self) -> bytes:
        """Return what it has sent since the last call."""

    @property
    def baud(self) -> int:
        """Bits a second at which it listens and talks."""

    @property
    def eeprom_writes(self) -> int:
        """How many cells of memory that wears out were written since it was made."""

    @property
    def commands(self) -> tuple[str, ...]:
        """What it was told beside texts and places for them, since it was made."""

    @property
    def lost_bytes(self) -> int:
        """How many bytes came when its buffer was full."""


class Intake:
    """The ring of the UART, filled by an interrupt, and the ring of the firmware, filled when its loop comes round."""

    def __init__(self, obey: Obey, *, baud: int, uart_bytes: int, ring_bytes: int) -> None:
        """Give each byte to *obey*."""
        self._obey, self._uart_bytes, self._ring_bytes = obey, uart_bytes, ring_bytes
        self._byte_ns = _BITS_PER_BYTE * _NS_PER_S // baud
        self._uart: deque[tuple[int, int]] = deque()
        self._ring: deque[int] = deque()
        self._line_free_ns = self._free_ns = self._ready_ns = 0
        self.lost_bytes = 0

    def power_on(self, ready_ns: int) -> None:
        """Forget what waits, and hear nothing until *ready_ns*."""
        self._uart.clear()
        self._ring.clear()
        self._ready_ns = self._free_ns = ready_ns

    def receive(self, data: bytes, t_ns: int) -> None:
        """Take bytes as the wire brings them, one after the other."""
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
        """Let the firmware do what it has come to by *t_ns*."""
        while self._free_ns <= t_ns:
            if not self._ring:
                self._copy()
            if not self._ring:
                return
            byte = self._ring.popleft()
            self._free_ns += self._obey(byte, self._free_ns)

    def _copy(self) -> None:
        """Move what the UART has into the ring, as the firmware's loop does when it has obeyed all it had."""
        if self._uart:
            self._free_ns = max(self._free_ns, self._uart[0][0])
        while self._uart and self._uart[0][0] <= self._free_ns:
            _, byte = self._uart.popleft()
            if len(self._ring) < self._ring_bytes:
                self._ring.append(byte)
            else:
                self.lost_bytes += 1
