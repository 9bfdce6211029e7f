"""Piezos with peak-hold circuits on an MCP3008, read by spidev. They give time, strength and seat of a knock."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from hardware.clock import Clock
from hardware.config.part import Lax, SeatIndex, SpiChip, SpiPort
from hardware.knock.detector import KnockDetector
from hardware.knock.driver import PiezoDriver
from hardware.knock.heard import ClassifiedSound
from hardware.knock.peaks import HitMerger, PeakFinder
from hardware.knock.sensor import SensorDevice
from hardware.libraries.pin_factory import OpenPins
from hardware.part_state import PartState

FULL_LEVEL = 1023
# The MCP3008 allows 1.35 MHz at 2.7 V, and more at 3.3 V.
_CLOCK_HZ = 1_000_000
# Polls at most 500 times per second, enough because the circuit holds peaks. A Pi Zero reaches 270, and a 3B+ 1300.
_EVERY_S = 0.002
_MOST_WAITING = 4_096
_COMES_WITH = "sudo apt install python3-spidev"
_spidev = partial(import_module, "spidev")


def read_command(channel: int) -> list[int]:
    """Return the three bytes that request a single-ended reading of an MCP3008 channel from 0 to 7."""
    return [1, (8 + channel) << 4, 0]


def parse_level(reply: list[int]) -> int:
    """Return the level in a reply of an MCP3008, from 0 to 1023."""
    return (reply[1] & 3) << 8 | reply[2]


class SpiKnockSensor:
    """Polls channels of an MCP3008 in its own thread.

    Args:
        channels: Channel of each piezo, from 0 to 7.
        clock: Clock of the game, in nanoseconds.
        bus, chip: SPI port.
        seats: Seat of each piezo, or None for a piezo that serves the whole table. None if all do.
        library: Returns the module spidev.
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
        self._merger = HitMerger([None] * len(self._channels) if seats is None else seats)
        self._levels: deque[tuple[int, tuple[int, ...]]] = deque()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> PartState:
        """State of the sensor, with the number of dropped readings."""
        return self._device.state

    def start(self) -> None:
        """Start polling."""
        self._device.start()
        self._thread = threading.Thread(target=self._run, name="knock-spi", daemon=True)
        self._thread.start()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the knocks since the last call."""
        self._device.require_open()
        knocks: list[ClassifiedSound | None] = []
        while self._levels:
            t_ns, levels = self._levels.popleft()
            for finder, level in zip(self._peaks, levels, strict=True):
                hit = finder.feed(t_ns, level)
                knocks += [] if hit is None else [self._merger.feed(hit)]
            knocks.append(self._merger.until(t_ns))
        return tuple(knock for knock in knocks if knock is not None)

    def close(self) -> None:
        """Stop polling and release the bus."""
        if self._device.end() and self._thread is not None:
            self._stop.set()
            self._thread.join()

    def _run(self) -> None:
        """Poll until the sensor is closed. After an error, reopen the bus with increasing delays."""
        while not self._stop.is_set():
            if self._device.is_due():
                try:
                    self._poll()
                except OSError as error:
                    reason = error.strerror or error
                    self._device.failed(f"SPI {self._bus}.{self._chip} cannot be read: {reason}")
            self._stop.wait(0.05)

    def _poll(self) -> None:
        spi = self._device.library.SpiDev()
        try:
            spi.open(self._bus, self._chip)
            spi.max_speed_hz = _CLOCK_HZ
            while not self._stop.wait(_EVERY_S):
                # All levels share a timestamp: the seat is determined by the strength of the hits.
                levels = tuple(parse_level(spi.xfer2(read_command(channel))) for channel in self._channels)
                self._queue(self._clock(), levels)
                self._device.worked()
        finally:
            spi.close()

    def _queue(self, t_ns: int, levels: tuple[int, ...]) -> None:
        if len(self._levels) >= _MOST_WAITING:
            self._levels.popleft()
            self._device.lost += 1
        self._levels.append((t_ns, levels))


Channel = Annotated[int, Field(ge=0, le=7)]


def _each_once(channels: tuple[int, ...]) -> tuple[int, ...]:
    for index, channel in enumerate(channels):
        if channel in channels[:index]:
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
    channel: Annotated[Channel | None, Field(description="a single channel; default: 0")] = None
    seat: SeatIndex | None = None
    spi: SpiChip = SpiPort()

    @property
    def wired(self) -> tuple[int, ...]:
        """The channel of each piezo."""
        return self.channels or (self.channel or 0,)

    @property
    def seats(self) -> tuple[int | None, ...]:
        """Seat of each piezo, from 0. None for a piezo that serves the whole table."""
        return (self.seat,) if self.channels is None else tuple(range(len(self.channels)))

    @property
    def spi_port(self) -> SpiPort:
        """The SPI port wired to the MCP3008."""
        return self.spi

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> SpiKnockSensor:
        """Return the sensor, not yet started."""
        bus, chip = self.spi.bus, self.spi.chip
        return SpiKnockSensor(self.wired, clock=clock, bus=bus, chip=chip, seats=self.seats)
