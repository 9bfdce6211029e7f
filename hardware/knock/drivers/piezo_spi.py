"""Piezos behind peak-hold circuits and an MCP3008 on SPI, through spidev: when, how hard, and at whose side."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from hardware.clock import Clock
from hardware.config.fields import Lax, SeatIndex, SpiChip, SpiPort
from hardware.knock.detector import KnockDetector
from hardware.knock.device import SensorDevice
from hardware.knock.driver import PiezoDriver
from hardware.knock.heard import ClassifiedSound
from hardware.knock.peaks import HitRow, PeakFinder
from hardware.part_state import PartState
from hardware.pin_factory import OpenPins

FULL_LEVEL = 1023
# 1.35 MHz is the most that the part takes at 2.7 V; at 3.3 V it is well within.
_CLOCK_HZ = 1_000_000
# Python reads 270 times a second on a Pi Zero, 1300 on a 3B+. At most 500 is enough, for the circuit holds the peak.
_EVERY_S = 0.002
_MOST_WAITING = 4_096
_COMES_WITH = "sudo apt install python3-spidev"
_spidev = partial(import_module, "spidev")


def asked(channel: int) -> list[int]:
    """Return the three bytes that ask an MCP3008 for one channel, 0 to 7, measured against ground."""
    return [1, (8 + channel) << 4, 0]


def level_of(answer: list[int]) -> int:
    """Return the level in its answer, 0 to 1023: the last ten bits."""
    return (answer[1] & 3) << 8 | answer[2]


class SpiKnockSensor:
    """Polls channels of an MCP3008 in a thread of its own.

    Args:
        channels: Each 0 to 7, one for each piezo.
        clock: Tells the time in ns on the clock of the game.
        bus, chip: Which SPI.
        seats: Whose side each piezo is at, None where it serves the whole table; None for all of them so.
        library: What gives the module spidev.
    """

    def __init__(
        self,
        channels: Sequence[int],
        *,
        clock: Clock,
        bus: int = 0,
        chip: int = 0,
        seats: Sequence[int | None] | None = None,
        library: Callable[[], Any] = _spidev,
    ) -> None:
        for channel in channels:
            if not 0 <= channel <= 7:
                raise ValueError(f"channel must be 0 to 7, but got {channel}")
        self._channels, self._clock, self._bus, self._chip = tuple(channels), clock, bus, chip
        self._device = SensorDevice("piezo on SPI", clock=clock, library=library, comes_with=_COMES_WITH)
        self._peaks = [PeakFinder(full_level=FULL_LEVEL, piezo=number) for number in range(len(self._channels))]
        self._row = HitRow([None] * len(self._channels) if seats is None else seats)
        self._levels: deque[tuple[int, tuple[int, ...]]] = deque()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> PartState:
        """Whether the part answers, and how many levels nobody took."""
        return self._device.state

    def start(self) -> None:
        """Begin to poll."""
        self._device.start()
        self._thread = threading.Thread(target=self._run, name="knock-spi", daemon=True)
        self._thread.start()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return what hit the table."""
        self._device.require_open()
        heard: list[ClassifiedSound | None] = []
        while self._levels:
            t_ns, levels = self._levels.popleft()
            for finder, level in zip(self._peaks, levels, strict=True):
                hit = finder.feed(t_ns, level)
                heard += [] if hit is None else [self._row.feed(hit)]
            heard.append(self._row.until(t_ns))
        return tuple(one for one in heard if one is not None)

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
                # One time for all: what each is worth is told by how hard it was hit.
                levels = tuple(level_of(spi.xfer2(asked(channel))) for channel in self._channels)
                self._keep(self._clock(), levels)
                self._device.worked()
        finally:
            spi.close()

    def _keep(self, t_ns: int, levels: tuple[int, ...]) -> None:
        if len(self._levels) >= _MOST_WAITING:
            self._levels.popleft()
            self._device.lost += 1
        self._levels.append((t_ns, levels))


Channel = Annotated[int, Field(ge=0, le=7)]


def _each_once(channels: tuple[int, ...]) -> tuple[int, ...]:
    for place, channel in enumerate(channels):
        if channel in channels[:place]:
            raise ValueError(f"expected channels 0 to 7, each once, but got {channel}")
    return channels


class PiezoSpiSettings(PiezoDriver):
    """Piezos behind an MCP3008."""

    driver: Literal["piezo-spi"]
    channels: Annotated[
        Annotated[
            tuple[Channel, ...],
            Lax,
            Field(
                min_length=1, max_length=8, title="a list of 1 to 8 channels", json_schema_extra={"uniqueItems": True}
            ),
            AfterValidator(_each_once),
        ]
        | None,
        Field(description="one for each seat"),
    ] = None
    channel: Annotated[Channel | None, Field(description="the only one, else 0")] = None
    seat: SeatIndex | None = None
    spi: SpiChip = SpiPort()

    @property
    def wired(self) -> tuple[int, ...]:
        """The channel of each piezo."""
        return self.channels or (self.channel or 0,)

    @property
    def seats(self) -> tuple[int | None, ...]:
        """Whose side each piezo is at, 0 upwards; None for the whole table."""
        return (self.seat,) if self.channels is None else tuple(range(len(self.channels)))

    @property
    def spi_port(self) -> SpiPort:
        """The SPI that the MCP3008 is wired to."""
        return self.spi

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> SpiKnockSensor:
        """Return the sensor."""
        bus, chip = self.spi.bus, self.spi.chip
        return SpiKnockSensor(self.wired, clock=clock, bus=bus, chip=chip, seats=self.seats)
