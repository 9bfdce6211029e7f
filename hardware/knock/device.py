"""Shared parts of knock sensors on a device: library, life cycle, problem and retry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardware.clock import Clock
from hardware.knock.errors import KnockSensorError
from hardware.knock.sensor import BackOff, SensorLifecycle
from hardware.part_state import PartState


class SensorDevice:
    """The device of a knock sensor: its library, its state, and when to try it again; the sensor itself reads it.

    Args:
        name: What it is called where something is wrong.
        clock: Tells the time in ns on the clock of the game.
        library: Imports the library that speaks to it, and returns the module.
        comes_with: The command that installs the library.
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
        """How it is."""
        return PartState(self.problem, lost=self.lost)

    def start(self) -> None:
        """Load the library and begin.

        Raises:
            KnockSensorError: If the library is missing, or a part of it.
            KnockError: If it has begun before.
        """
        if self.library is None:
            try:
                self.library = self._import_library()
            except (ImportError, OSError) as error:  # OSError: what the library itself loads is missing
                raise KnockSensorError(f"{self._name}: {error}; it comes with: {self._comes_with}") from error
        self._life.start()

    def require_open(self) -> None:
        """Refuse to be read.

        Raises:
            KnockError: If it has not begun, or has ended.
        """
        self._life.require_open()

    def end(self) -> bool:
        """End, and return whether anything has to be given back."""
        return self._life.end()

    def failed(self, problem: str) -> None:
        """Note what is wrong since now, in plain words."""
        self.problem = problem
        self._back_off.failed(self._clock())

    def worked(self) -> None:
        """Note that it works."""
        self.problem = None
        self._back_off.worked()

    def is_due(self) -> bool:
        """Return whether it is time to try it."""
        return self._back_off.is_due(self._clock())
