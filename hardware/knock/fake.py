"""Knock sensors without a device: none at all, and one for tests that is stricter than any real one."""

from __future__ import annotations

from collections import deque

from hardware.knock.errors import KnockError
from hardware.knock.heard import ClassifiedSound
from hardware.knock.sensor import SensorLifecycle
from hardware.part_state import PartState


class NoKnockSensor:
    """A table without a knock sensor: `driver = "none"`."""

    def __init__(self) -> None:
        self._life = SensorLifecycle("none")

    @property
    def state(self) -> PartState:
        """Never a problem: none is wanted."""
        return PartState()

    def start(self) -> None:
        """Begin to hear nothing."""
        self._life.start()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return nothing."""
        self._life.require_open()
        return ()

    def close(self) -> None:
        """End."""
        self._life.end()


class FakeKnockSensor:
    """Hears what a test tells it; complains about time that runs backwards and about knocks that nobody read."""

    def __init__(self) -> None:
        self._life = SensorLifecycle("fake")
        self._waiting: deque[ClassifiedSound] = deque()
        self._last_ns: int | None = None
        self._state = PartState()

    @property
    def state(self) -> PartState:
        """How the test says it is."""
        return self._state

    def start(self) -> None:
        """Begin."""
        self._life.start()

    def hear(self, *heard: ClassifiedSound) -> None:
        """Let it hear something.

        Raises:
            KnockError: If it is not open, is unplugged, or this was before what it heard last.
        """
        self._life.require_open()
        if self._state.problem is not None:
            raise KnockError(f"fake: told to hear, but it cannot: {self._state.problem}")
        for one in heard:
            if self._last_ns is not None and one.t_ns < self._last_ns:
                raise KnockError(f"fake: expected times in order, but {one.t_ns} ns came after {self._last_ns} ns")
            self._last_ns = one.t_ns
            self._waiting.append(one)

    def unplug(self, problem: str) -> None:
        """Let it fail from now on."""
        self._state = PartState(problem)

    def plug_in(self) -> None:
        """Let it work again."""
        self._state = PartState()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return what it was told to hear."""
        self._life.require_open()
        heard = tuple(self._waiting)
        self._waiting.clear()
        return heard

    def close(self) -> None:
        """End.

        Raises:
            KnockError: If something was heard and never read.
        """
        if self._life.end() and self._waiting:
            raise KnockError(f"fake: closed, but {len(self._waiting)} sounds were never read")
