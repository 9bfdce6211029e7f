"""Piezos with comparators on pins, or with peak-hold circuits on an MCP3008, read by gpiozero and spidev.

A comparator gives the time of a knock, a peak-hold circuit also its strength, and several of either its seat. Piezos
give no audio.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from hardware.knock.detector import KnockDetector
from hardware.knock.drivers import KnockDriver
from hardware.knock.sensor import ClassifiedSound, KnockSensorError, SensorDevice
from hardware.libraries import OpenPins, close_devices, install_command, is_connected, pin_errors
from hardware.part import Clock, Lax, Pin, PinNames, Pins, SeatIndex, SpiChip, SpiPort

# Time after a knock during which hits are ignored. A table vibrates for 100 ms.
REFRACTORY_NS = 120_000_000
_DOUBLE_NS = 600_000_000
# A time or level cannot distinguish a knuckle from a tile, so the camera has to confirm the knock.
CONFIDENCE = 0.5
# Time after which every piezo has reported a hit. The wave takes up to 5 ms, and a peak is measured within 10 ms.
GATHERS_NS = 25_000_000
# The seat is ambiguous if another piezo felt the knock within 3 dB and 0.5 ms. The wave travels 20 cm in 0.5 ms.
_LOUDER = 1.4
_SOONER_NS = 500_000
# Minimum rise of a hit above the resting level, as a share of the full scale.
_MIN_SHARE = 0.03


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit felt by a piezo.

    Attributes:
        t_ns: Time of the onset.
        piezo: Index of the piezo, from 0.
        strength: Peak as a share of the full scale. 1 if only the time is known.
    """

    t_ns: int
    piezo: int
    strength: float = 1.0


class HitMerger:
    """Merges simultaneous hits into knocks, with the seat of the piezo that felt the strongest hit.

    Args:
        seats: Seat of each piezo. None for a piezo that serves the whole table.
    """

    def __init__(self, seats: Sequence[int | None]) -> None:
        self._seats = tuple(seats)
        self._pending: list[Hit] = []
        self._last_ns: int | None = None
        self._in_row = 0

    def feed(self, hit: Hit) -> ClassifiedSound | None:
        """Add a hit. Return the previous knock if it is complete.

        Hits less than 120 ms after a completed knock are ignored. Hits need only be roughly in order of time.
        """
        complete = self.until(hit.t_ns)
        begun_ns = self._pending[0].t_ns if self._pending else self._last_ns
        if self._pending or begun_ns is None or hit.t_ns - begun_ns >= REFRACTORY_NS:
            self._pending.append(hit)
        return complete

    def until(self, t_ns: int) -> ClassifiedSound | None:
        """Return the pending knock if it is complete by *t_ns*, else None."""
        if not self._pending or t_ns - self._pending[0].t_ns < GATHERS_NS:
            return None
        hits, self._pending = self._pending, []
        begin_ns = min(hit.t_ns for hit in hits)
        is_next = self._last_ns is not None and begin_ns - self._last_ns <= _DOUBLE_NS
        self._in_row = self._in_row + 1 if is_next else 1
        self._last_ns = begin_ns
        first, *others = sorted(hits, key=lambda hit: (-hit.strength, hit.t_ns))
        is_ambiguous = any(
            other.piezo != first.piezo
            and first.strength < _LOUDER * other.strength
            and other.t_ns - first.t_ns < _SOONER_NS
            for other in others
        )
        seat = None if is_ambiguous else self._seats[first.piezo]
        return ClassifiedSound(begin_ns, seat, first.strength, CONFIDENCE, in_row=self._in_row)


class PeakFinder:
    """Detects hits in the levels of a peak-hold circuit, which rises instantly and falls within tens of milliseconds.

    Args:
        full_level: Full-scale level of the converter, such as 1023.
        piezo: Index of the piezo, from 0.
    """

    def __init__(self, *, full_level: int, piezo: int = 0) -> None:
        self._full_level, self._piezo, self._min = full_level, piezo, _MIN_SHARE * full_level
        self._rest: float | None = None
        self._hit_ns: int | None = None
        self._highest = 0
        # Level of the previous hit that the circuit still holds.
        self._holds = 0.0

    def feed(self, t_ns: int, level: int) -> Hit | None:
        """Return the hit that this level completes, at least 10 ms after its onset, else None."""
        if self._rest is None:
            self._rest = float(level)
        if self._hit_ns is not None:
            self._highest = max(self._highest, level)
            begin_ns = self._hit_ns
            if t_ns - begin_ns < 10_000_000:
                return None
            self._hit_ns, self._holds = None, float(self._highest)
            return Hit(begin_ns, self._piezo, min(1.0, self._highest / self._full_level))
        self._holds = max(float(self._rest), min(self._holds, float(level)))
        if level > self._holds + self._min and level > 1.3 * self._holds:
            self._hit_ns, self._highest = t_ns, level
        else:
            self._rest += (min(level, self._rest + self._min) - self._rest) / 64
        return None


_MAX_HITS = 256
_gpiozero = partial(import_module, "gpiozero")


class PinKnockSensor(SensorDevice):
    """Detects knocks with pins that go high when their piezo is hit.

    Args:
        pins: BCM number of the pin of each piezo.
        clock: Clock of the game, in nanoseconds.
        pin_factory: gpiozero pin factory. Required, because gpiozero's default fails on a laptop.
        seats: Seat of each piezo, or None for a piezo that serves the whole table. None if all do.
        library: Returns the module gpiozero.
    """

    def __init__(
        self,
        pins: Sequence[int],
        *,
        clock: Clock,
        pin_factory: Any,
        seats: Sequence[int | None] | None = None,
        library: Callable[[], Any] = _gpiozero,
    ) -> None:
        name = f"piezo on pin {', '.join(map(str, pins))}"
        super().__init__(name, clock=clock, library=library, comes_with=install_command("pi"))
        self._pins, self._factory = tuple(pins), pin_factory
        self._merger = HitMerger([None] * len(self._pins) if seats is None else seats)
        self._hits: deque[Hit] = deque()
        self._inputs: list[Any] = []

    def start(self) -> None:
        """Start watching the pins."""
        super().start()
        self._open()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the knocks since the last call. Retries pins that could not be opened, with increasing delays.

        Raises:
            KnockError: If the sensor is not started, or is closed.
            KnockSensorError: If the GPIO chip has disappeared. A new sensor with a new pin factory is required.
        """
        self.require_open()
        if not is_connected(self._factory):  # Otherwise unnoticed: edges would simply cease.
            raise KnockSensorError("the GPIO chip has disappeared")
        now_ns = self._clock()
        knocks: list[ClassifiedSound | None] = []
        while self._hits:
            knocks.append(self._merger.feed(self._hits.popleft()))
        knocks.append(self._merger.until(now_ns))
        if not self._inputs and self.is_due():
            self._open()
        return tuple(knock for knock in knocks if knock is not None)

    def close(self) -> None:
        """Release the pins."""
        if self.end():
            self._close_pins()

    def _open(self) -> None:
        for number, pin in enumerate(self._pins):
            try:
                device = self.library.DigitalInputDevice(pin, pull_up=False, pin_factory=self._factory)
            except pin_errors() as error:
                self._close_pins()
                self.failed(f"pin {pin} cannot be used: {error}")
                return
            self._inputs.append(device)
            device.when_activated = partial(self._queue_hit, number)
        self.worked()

    def _close_pins(self) -> None:
        close_devices(self._inputs, self._factory)
        self._inputs = []

    def _queue_hit(self, number: int) -> None:
        """Queue a hit. Does nothing else, because it runs in gpiozero's thread."""
        if len(self._hits) >= _MAX_HITS:
            self.lost += 1
            return
        # The strength is unknown: a comparator only signals that its threshold was exceeded.
        self._hits.append(Hit(self._clock(), number))


class PiezoDriver(KnockDriver):
    """Piezos: a single one, or one for each seat."""

    @field_validator("pin", "channel", "seat", check_fields=False)
    @classmethod
    def _one_or_several(cls, value: int | None, info: ValidationInfo) -> int | None:
        several = "pins" if info.data["driver"] == "piezo-pin" else "channels"
        if several not in info.data:
            return value  # reported already
        if value is not None and info.data[several] is not None:
            raise ValueError(f"is also given by {several}, one for each seat")
        if value is None and info.data[several] is None and info.field_name == "pin":
            raise ValueError("is required")
        return value


class PiezoPinSettings(PiezoDriver):
    """Piezos with comparators."""

    driver: Literal["piezo-pin"]
    pins: Annotated[Pins | None, Field(description="one for each seat, BCM")] = None
    pin: Annotated[Pin | None, Field(description="a single pin, BCM")] = None
    seat: SeatIndex | None = None

    @property
    def wired(self) -> tuple[int, ...]:
        """The pin of each piezo."""
        return self.pins or (() if self.pin is None else (self.pin,))

    @property
    def seats(self) -> tuple[int | None, ...]:
        """Seat of each piezo, from 0. None for a piezo that serves the whole table."""
        return (self.seat,) if self.pins is None else tuple(range(len(self.pins)))

    @property
    def pin_uses(self) -> PinNames:
        """The pin of each piezo."""
        names = ("piezo" if seat is None else f"piezo {seat + 1}" for seat in self.seats)
        return list(zip(self.wired, names, strict=False))

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> PinKnockSensor:
        """Return the sensor, not yet started."""
        return PinKnockSensor(self.wired, clock=clock, pin_factory=pins(), seats=self.seats)


FULL_LEVEL = 1023
# The MCP3008 allows 1.35 MHz at 2.7 V, and more at 3.3 V.
_CLOCK_HZ = 1_000_000
# Polls at most 500 times per second, enough because the circuit holds peaks. A Pi Zero reaches 270, and a 3B+ 1300.
_EVERY_S = 0.002
_MAX_LEVELS = 4_096
_COMES_WITH = "sudo apt install python3-spidev"
_spidev = partial(import_module, "spidev")


def read_command(channel: int) -> list[int]:
    """Return the three bytes that request a single-ended reading of an MCP3008 channel from 0 to 7."""
    return [1, (8 + channel) << 4, 0]


def parse_level(reply: list[int]) -> int:
    """Return the level in a reply of an MCP3008, from 0 to 1023."""
    return (reply[1] & 3) << 8 | reply[2]


class SpiKnockSensor(SensorDevice):
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
        super().__init__("piezo on SPI", clock=clock, library=library, comes_with=_COMES_WITH)
        self._channels, self._bus, self._chip = tuple(channels), bus, chip
        self._peaks = [PeakFinder(full_level=FULL_LEVEL, piezo=number) for number in range(len(self._channels))]
        self._merger = HitMerger([None] * len(self._channels) if seats is None else seats)
        self._levels: deque[tuple[int, tuple[int, ...]]] = deque()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start polling."""
        super().start()
        self._thread = threading.Thread(target=self._run, name="knock-spi", daemon=True)
        self._thread.start()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the knocks since the last call."""
        self.require_open()
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
        if self.end() and self._thread is not None:
            self._stop.set()
            self._thread.join()

    def _run(self) -> None:
        """Poll until the sensor is closed. After an error, reopen the bus with increasing delays."""
        while not self._stop.is_set():
            if self.is_due():
                try:
                    self._poll()
                except OSError as error:
                    reason = error.strerror or error
                    self.failed(f"SPI {self._bus}.{self._chip} cannot be read: {reason}")
            self._stop.wait(0.05)

    def _poll(self) -> None:
        spi = self.library.SpiDev()
        try:
            spi.open(self._bus, self._chip)
            spi.max_speed_hz = _CLOCK_HZ
            while not self._stop.wait(_EVERY_S):
                # All levels share a timestamp: the seat is determined by the strength of the hits.
                levels = tuple(parse_level(spi.xfer2(read_command(channel))) for channel in self._channels)
                if len(self._levels) >= _MAX_LEVELS:
                    self._levels.popleft()
                    self.lost += 1
                self._levels.append((self._clock(), levels))
                self.worked()
        finally:
            spi.close()


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
