"""Piezos with comparators on pins, read by gpiozero. One gives the time of a knock, and several also give its seat."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import Field

from hardware.clock import Clock
from hardware.config.part import Pin, PinNames, Pins, SeatIndex
from hardware.knock.detector import KnockDetector
from hardware.knock.driver import PiezoDriver
from hardware.knock.heard import ClassifiedSound
from hardware.knock.peaks import Hit, HitMerger
from hardware.knock.sensor import KnockSensorError, SensorDevice
from hardware.libraries.installing import install_command
from hardware.libraries.pin_factory import OpenPins, close_devices, is_connected, pin_errors
from hardware.part_state import PartState

_MOST_WAITING = 256
_gpiozero = partial(import_module, "gpiozero")


class PinKnockSensor:
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
        self._pins, self._clock, self._factory = tuple(pins), clock, pin_factory
        name = f"piezo on pin {', '.join(map(str, self._pins))}"
        self._device = SensorDevice(name, clock=clock, library=library, comes_with=install_command("pi"))
        self._merger = HitMerger([None] * len(self._pins) if seats is None else seats)
        self._hits: deque[Hit] = deque()
        self._inputs: list[Any] = []

    @property
    def state(self) -> PartState:
        """State of the sensor, with a problem if a pin could not be opened."""
        return self._device.state

    def start(self) -> None:
        """Start watching the pins."""
        self._device.start()
        self._open()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the knocks since the last call. Retries pins that could not be opened, with increasing delays.

        Raises:
            KnockError: If the sensor is not started, or is closed.
            KnockSensorError: If the GPIO chip has disappeared. A new sensor with a new pin factory is required.
        """
        self._device.require_open()
        if not is_connected(self._factory):  # Otherwise unnoticed: edges would simply cease.
            raise KnockSensorError("the GPIO chip has disappeared")
        knocks: list[ClassifiedSound | None] = []
        now_ns = self._clock()
        while self._hits:
            knocks.append(self._merger.feed(self._hits.popleft()))
        knocks.append(self._merger.until(now_ns))
        if not self._inputs and self._device.is_due():
            self._open()
        return tuple(knock for knock in knocks if knock is not None)

    def close(self) -> None:
        """Release the pins."""
        if self._device.end():
            self._close_pins()

    def _open(self) -> None:
        for number, pin in enumerate(self._pins):
            try:
                device = self._device.library.DigitalInputDevice(pin, pull_up=False, pin_factory=self._factory)
            except pin_errors() as error:
                self._close_pins()
                self._device.failed(f"pin {pin} cannot be used: {error}")
                return
            self._inputs.append(device)
            device.when_activated = partial(self._queue_hit, number)
        self._device.worked()

    def _close_pins(self) -> None:
        close_devices(self._inputs, self._factory)
        self._inputs = []

    def _queue_hit(self, number: int) -> None:
        """Queue a hit. Does nothing else, because it runs in gpiozero's thread."""
        if len(self._hits) >= _MOST_WAITING:
            self._device.lost += 1
            return
        # The strength is unknown: a comparator only signals that its threshold was exceeded.
        self._hits.append(Hit(self._clock(), number))


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
