"""A piezo with a comparator on a pin, through gpiozero: it says when, and nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

from hardware.knock.errors import KnockSensorError
from hardware.knock.heard import KnockHeard
from hardware.knock.peaks import PulseRow
from hardware.knock.sensor import BackOff, Life, SensorState

_MOST_WAITING = 256


def _gpiozero() -> ModuleType:
    """Return the library, which is in the extra `pi`.

    Raises:
        KnockSensorError: If it is missing.
    """
    try:
        import gpiozero
    except ImportError as error:
        raise KnockSensorError(f"piezo: {error}; it comes with: pip install 'tallybone[pi]'") from error
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
        self._find_library = library
        self._library: Any = None
        self._life = Life(f"piezo on pin {pin}")
        self._back_off = BackOff()
        self._row = PulseRow(seat=seat)
        self._times_ns: deque[int] = deque()
        self._device: Any = None
        self._problem: str | None = None
        self._lost = 0

    @property
    def state(self) -> SensorState:
        """Whether the pin could be had."""
        return SensorState(self._problem, self._lost)

    def start(self) -> None:
        """Begin to watch the pin."""
        if self._library is None:
            self._library = self._find_library()
        self._life.start()
        self._open()

    def read(self) -> tuple[KnockHeard, ...]:
        """Return what hit the table; a pin that could not be had is asked for again, now and then."""
        self._life.require_open()
        heard = []
        while self._times_ns:
            # A comparator does not say how hard: that it was beyond its threshold is all there is.
            one = self._row.pulse(self._times_ns.popleft(), 1.0)
            heard += [] if one is None else [one]
        if self._device is None and self._back_off.is_due(self._clock()):
            self._open()
        return tuple(heard)

    def close(self) -> None:
        """Give the pin back."""
        if self._life.end() and self._device is not None:
            self._device.close()
            self._device = None

    def _open(self) -> None:
        try:
            self._device = self._library.DigitalInputDevice(self._pin, pull_up=False, pin_factory=self._factory)
        except (self._library.GPIOZeroError, OSError) as error:
            self._problem = f"pin {self._pin} cannot be used: {error}"
            self._back_off.failed(self._clock())
            return
        self._device.when_activated = self._hit
        self._problem = None
        self._back_off.worked()

    def _hit(self) -> None:
        """Note the moment; called by gpiozero's own thread, so that it only stores."""
        if len(self._times_ns) >= _MOST_WAITING:
            self._lost += 1
            return
        self._times_ns.append(self._clock())
