"""Common state of knock sensors on a device: library, life cycle, problem and retries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardware.clock import Clock
from hardware.knock.errors import KnockSensorError
from hardware.knock.sensor import BackOff, SensorLifecycle
from hardware.part_state import PartState


class SensorDevice:
    """Device of a knock sensor: its library, its state, and when to retry. The sensor reads the device itself.

    Args:
        name: Name used in messages.
        clock: Clock of the game, in nanoseconds.
        library: Imports and returns the module that accesses the device.
        comes_with: Command that installs the library.
    """

    def __init__(self, name: str, *, clock: Clock, library: Callable[[], Any], comes_with: str) -> None:
        self.library: Any = None
        self.lost = 0
        self.problem: str | None = None
        self._name, self._clock = name, clock
        self._import_library, self._comes_with = library, comes_with
        self._life = SensorLifecycle(name)
        self._back_off = BackOff()

    @property
    def state(self) -> PartState:
        """State of the device."""
        return PartState(self.problem, lost=self.lost)

    def start(self) -> None:
        """Import the library and start the life cycle.

        Raises:
            KnockSensorError: If the library cannot be imported.
            KnockError: If the sensor was started or closed before.
        """
        if self.library is None:
            try:
                self.library = self._import_library()
            except (ImportError, OSError) as error:  # OSError if a shared library is missing
                raise KnockSensorError(f"{self._name}: {error}; it comes with: {self._comes_with}") from error
        self._life.start()

    def require_open(self) -> None:
        """Check that the sensor is open.

        Raises:
            KnockError: If it is not started, or is closed.
        """
        self._life.require_open()

    def end(self) -> bool:
        """End the life cycle. Return True if the device must be released."""
        return self._life.end()

    def failed(self, problem: str) -> None:
        """Record a failure, described by *problem*."""
        self.problem = problem
        self._back_off.failed(self._clock())

    def worked(self) -> None:
        """Record a success."""
        self.problem = None
        self._back_off.worked()

    def is_due(self) -> bool:
        """Return True if the device should be tried now."""
        return self._back_off.is_due(self._clock())
