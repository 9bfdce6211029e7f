"""Piezos with comparators on pins, through gpiozero: they say when, and with several, at whose side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import Field

from hardware.clock import Clock
from hardware.config.fields import Pin, Pins, SeatIndex
from hardware.config.part import PinNames
from hardware.knock.detector import KnockDetector
from hardware.knock.device import SensorDevice
from hardware.knock.driver import PiezoDriver
from hardware.knock.errors import KnockSensorError
from hardware.knock.heard import ClassifiedSound
from hardware.knock.peaks import Hit, HitRow
from hardware.part_state import PartState
from hardware.pin_factory import OpenPins, close_devices, is_connected, pin_errors

_MOST_WAITING = 256
_COMES_WITH = "pip install 'tallybone[pi]'"
_gpiozero = partial(import_module, "gpiozero")


class PinKnockSensor:
    """Listens to pins that go high while their piezo is hit.

    Args:
        pins: Their BCM numbers, one for each piezo.
        clock: Tells the time in ns on the clock of the game.
        pin_factory: Of gpiozero. It is always chosen: gpiozero's own guess raises on a laptop.
        seats: Whose side each piezo is at, None where it serves the whole table; None for all of them so.
        library: What gives the module gpiozero.
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
        self._device = SensorDevice(name, clock=clock, library=library, comes_with=_COMES_WITH)
        self._row = HitRow([None] * len(self._pins) if seats is None else seats)
        self._hits: deque[Hit] = deque()
        self._watched: list[Any] = []

    @property
    def state(self) -> PartState:
        """Whether the pins could be had."""
        return self._device.state

    def start(self) -> None:
        """Begin to watch the pins."""
        self._device.start()
        self._open()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return what hit the table; a pin that could not be had is asked for again, now and then.

        Raises:
            KnockError: If it was not started, or is closed.
            KnockSensorError: If the pins have gone; another sensor has to be made, on pins opened anew.
        """
        self._device.require_open()
        if not is_connected(self._factory):  # no edge comes any more, and nothing else says so
            raise KnockSensorError("the pins have gone")
        heard: list[ClassifiedSound | None] = []
        now_ns = self._clock()
        while self._hits:
            heard.append(self._row.feed(self._hits.popleft()))
        heard.append(self._row.until(now_ns))
        if not self._watched and self._device.is_due():
            self._open()
        return tuple(one for one in heard if one is not None)

    def close(self) -> None:
        """Give the pins back."""
        if self._device.end():
            self._close_pins()

    def _open(self) -> None:
        for number, pin in enumerate(self._pins):
            try:
                one = self._device.library.DigitalInputDevice(pin, pull_up=False, pin_factory=self._factory)
            except pin_errors() as error:
                self._close_pins()
                self._device.failed(f"pin {pin} cannot be used: {error}")
                return
            self._watched.append(one)
            one.when_activated = partial(self._felt, number)
        self._device.worked()

    def _close_pins(self) -> None:
        close_devices(self._watched, self._factory)
        self._watched = []

    def _felt(self, number: int) -> None:
        """Note the moment; called by gpiozero's own thread, so that it only stores."""
        if len(self._hits) >= _MOST_WAITING:
            self._device.lost += 1
            return
        # A comparator does not say how hard: that it was beyond its threshold is all there is.
        self._hits.append(Hit(self._clock(), number))


class PiezoPinSettings(PiezoDriver):
    """Piezos with comparators."""

    driver: Literal["piezo-pin"]
    pins: Annotated[Pins | None, Field(description="one for each seat, BCM")] = None
    pin: Annotated[Pin | None, Field(description="the only one, BCM")] = None
    seat: SeatIndex | None = None

    @property
    def wired(self) -> tuple[int, ...]:
        """The pin of each piezo."""
        return self.pins or (() if self.pin is None else (self.pin,))

    @property
    def seats(self) -> tuple[int | None, ...]:
        """Whose side each piezo is at, 0 upwards; None for the whole table."""
        return (self.seat,) if self.pins is None else tuple(range(len(self.pins)))

    @property
    def pin_uses(self) -> PinNames:
        """The pin of each piezo."""
        names = ("piezo" if seat is None else f"piezo {seat + 1}" for seat in self.seats)
        return list(zip(self.wired, names, strict=False))

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> PinKnockSensor:
        """Return the sensor."""
        return PinKnockSensor(self.wired, clock=clock, pin_factory=pins(), seats=self.seats)
