"""A piezo behind a peak-hold circuit and an MCP3008 on SPI, through spidev: it says when, and how hard."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

from hardware.knock.device import Device
from hardware.knock.heard import KnockHeard
from hardware.knock.peaks import PeakFinder
from hardware.knock.sensor import SensorState

FULL_LEVEL = 1023
# 1.35 MHz is the most that the part takes at 2.7 V; at 3.3 V it is well within.
_CLOCK_HZ = 1_000_000
# Python reads 270 times a second on a Pi Zero, 1300 on a 3B+. At most 500 is enough, for the circuit holds the peak.
_EVERY_S = 0.002
_MOST_WAITING = 4_096
_COMES_WITH = "sudo apt install python3-spidev"


def _spidev() -> ModuleType:
    import spidev

    module: ModuleType = spidev
    return module


def asked(channel: int) -> list[int]:
    """Return the three bytes that ask an MCP3008 for one channel, 0 to 7, measured against ground."""
    return [1, (8 + channel) << 4, 0]


def level_of(answer: list[int]) -> int:
    """Return the level in its answer, 0 to 1023: the last ten bits."""
    return (answer[1] & 3) << 8 | answer[2]


class SpiKnockSensor:
    """Polls one channel of an MCP3008 in a thread of its own.

    Args:
        channel: 0 to 7.
        clock: Tells the time in ns on the clock of the game.
        bus, chip: Which SPI.
        seat: Whose side the piezo is at; None where it serves the whole table.
        library: What gives the module spidev.
    """

    def __init__(
        self,
        channel: int,
        *,
        clock: Callable[[], int],
        bus: int = 0,
        chip: int = 0,
        seat: int | None = None,
        library: Callable[[], Any] = _spidev,
    ) -> None:
        if not 0 <= channel <= 7:
            raise ValueError(f"channel must be 0 to 7, but got {channel}")
        self._channel, self._clock, self._bus, self._chip = channel, clock, bus, chip
        self._device = Device("piezo on SPI", clock=clock, library=library, comes_with=_COMES_WITH)
        self._peaks = PeakFinder(full_level=FULL_LEVEL, seat=seat)
        self._levels: deque[tuple[int, int]] = deque()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> SensorState:
        """Whether the part answers, and how many levels nobody took."""
        return self._device.state

    def start(self) -> None:
        """Begin to poll."""
        self._device.start()
        self._thread = threading.Thread(target=self._run, name="knock-spi", daemon=True)
        self._thread.start()

    def read(self) -> tuple[KnockHeard, ...]:
        """Return what hit the table."""
        self._device.require_open()
        heard = []
        while self._levels:
            one = self._peaks.feed(*self._levels.popleft())
            heard += [] if one is None else [one]
        return tuple(heard)

    def close(self) -> None:
        """Stop polling and give the bus back."""
        if self._device.end() and self._thread is not None:
            self._stop.set()
            self._thread.join()

    def _run(self) -> None:
        """Poll until it is closed; where the bus cannot be had or breaks down, begin anew, now and then."""
        while not self._stop.is_set():
            if self._device.is_due():
                try:
                    self._poll()
                except OSError as error:
                    why = error.strerror or error
                    self._device.failed(f"SPI {self._bus}.{self._chip} cannot be read: {why}")
            self._stop.wait(0.05)

    def _poll(self) -> None:
        spi = self._device.library.SpiDev()
        try:
            spi.open(self._bus, self._chip)
            spi.max_speed_hz = _CLOCK_HZ
            while not self._stop.wait(_EVERY_S):
                level = level_of(spi.xfer2(asked(self._channel)))
                self._keep(self._clock(), level)
                self._device.worked()
        finally:
            spi.close()

    def _keep(self, t_ns: int, level: int) -> None:
        if len(self._levels) >= _MOST_WAITING:
            self._levels.popleft()
            self._device.lost += 1
        self._levels.append((t_ns, level))
