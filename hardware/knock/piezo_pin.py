"""A piezo with a comparator on a pin, through gpiozero: it says when, and nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

from hardware.knock.device import Device
from hardware.knock.heard import KnockHeard
from hardware.knock.peaks import PulseRow
from hardware.knock.sensor import SensorState

_MOST_WAITING = 256
_COMES_WITH = "pip install 'tallybone[pi]'"


def _gpiozero() -> ModuleType:
    import gpiozero

    module: ModuleType = gpiozero
    return module


class PinKnockSensor:
    """Listens to a pin that goes high while the piezo is hit.

    Args:
        pin: Its BCM number.
        clock: Tells the time in ns on the clock of the game.
        pin_factory: Of gpiozero. It is always chosen: gpiozero's own guess raises on a laptop.
        seat: Whose side the piezo is at; None where it serves the whole table.
        library: What gives the module gpiozero.
    """

    def __init__(
        self,
        pin: int,
        *,
        clock: Callable[[], int],
        pin_factory: Any,
        seat: int | None = None,
        library: Callable[[], Any] = _gpiozero,
    ) -> None:
        self._pin, self._clock, self._factory = pin, clock, pin_factory
        self._device = Device(f"piezo on pin {pin}", clock=clock, library=library, comes_with=_COMES_WITH)
        self._row = PulseRow(seat=seat)
        self._times_ns: deque[int] = deque()
        self._watched: Any = None

    @property
    def state(self) -> SensorState:
        """Whether the pin could be had."""
        return self._device.state

    def start(self) -> None:
        """Begin to watch the pin."""
        self._device.start()
        self._open()

    def read(self) -> tuple[KnockHeard, ...]:
        """Return what hit the table; a pin that could not be had is asked for again, now and then."""
        self._device.require_open()
        heard = []
        while self._times_ns:
            # A comparator does not say how hard: that it was beyond its threshold is all there is.
            one = self._row.pulse(self._times_ns.popleft(), 1.0)
            heard += [] if one is None else [one]
        if self._watched is None and self._device.is_due():
            self._open()
        return tuple(heard)

    def close(self) -> None:
        """Give the pin back."""
        if self._device.end() and self._watched is not None:
            self._watched.close()
            self._watched = None

    def _open(self) -> None:
        try:
            self._watched = self._device.library.DigitalInputDevice(self._pin, pull_up=False, pin_factory=self._factory)
        except (self._device.library.GPIOZeroError, OSError) as error:
            self._device.failed(f"pin {self._pin} cannot be used: {error}")
            return
        self._watched.when_activated = self._hit
        self._device.worked()

    def _hit(self) -> None:
        """Note the moment; called by gpiozero's own thread, so that it only stores."""
        if len(self._times_ns) >= _MOST_WAITING:
            self._device.lost += 1
            return
        self._times_ns.append(self._clock())
