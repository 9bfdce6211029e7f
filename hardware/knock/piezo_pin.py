"""Piezos with comparators on pins, through gpiozero: they say when, and with several, at whose side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from hardware.clock import Clock
from hardware.knock.device import SensorDevice
from hardware.knock.errors import KnockSensorError
from hardware.knock.heard import ClassifiedSound
from hardware.knock.peaks import Hit, HitRow
from hardware.part_state import PartState
from hardware.pin_factory import is_there, let_go, pin_errors

_MOST_WAITING = 256
_COMES_WITH = "pip install 'tallybone[pi]'"


def _gpiozero() -> ModuleType:
    import gpiozero

    module: ModuleType = gpiozero
    return module


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
        if not is_there(self._factory):  # no edge comes any more, and nothing else says so
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
            self._let_go()

    def _open(self) -> None:
        for number, pin in enumerate(self._pins):
            try:
                one = self._device.library.DigitalInputDevice(pin, pull_up=False, pin_factory=self._factory)
            except pin_errors() as error:
                self._let_go()
                self._device.failed(f"pin {pin} cannot be used: {error}")
                return
            self._watched.append(one)
            one.when_activated = partial(self._felt, number)
        self._device.worked()

    def _let_go(self) -> None:
        let_go(self._watched, self._factory)
        self._watched = []

    def _felt(self, number: int) -> None:
        """Note the moment; called by gpiozero's own thread, so that it only stores."""
        if len(self._hits) >= _MOST_WAITING:
            self._device.lost += 1
            return
        # A comparator does not say how hard: that it was beyond its threshold is all there is.
        self._hits.append(Hit(self._clock(), number))
