"""Knock sensors without a device: a null sensor, and a strict fake for tests."""

from __future__ import annotations

from collections import deque

from hardware.knock.errors import KnockError
from hardware.knock.heard import ClassifiedSound
from hardware.knock.sensor import SensorLifecycle
from hardware.part_state import PartState


class NoKnockSensor:
    """Null sensor, for a table without a knock sensor."""

    def __init__(self) -> None:
        self._life = SensorLifecycle("none")

    @property
    def state(self) -> PartState:
        """State without a problem."""
        return PartState()

    def start(self) -> None:
        """Start the sensor."""
        self._life.start()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return no sounds."""
        self._life.require_open()
        return ()

    def close(self) -> None:
        """Close the sensor."""
        self._life.end()


class FakeKnockSensor:
    """Sensor for tests that returns given sounds. It rejects times out of order, and unread sounds on closing."""

    def __init__(self) -> None:
        self._life = SensorLifecycle("fake")
        self._waiting: deque[ClassifiedSound] = deque()
        self._last_ns: int | None = None
        self._state = PartState()

    @property
    def state(self) -> PartState:
        """State set by the test."""
        return self._state

    def start(self) -> None:
        """Start the sensor."""
        self._life.start()

    def hear(self, *sounds: ClassifiedSound) -> None:
        """Queue sounds for `read`.

        Raises:
            KnockError: If the sensor is not open, is unplugged, or a sound is older than the previous one.
        """
        self._life.require_open()
        if self._state.problem is not None:
            raise KnockError(f"fake: asked to queue a sound, but it cannot: {self._state.problem}")
        for sound in sounds:
            if self._last_ns is not None and sound.t_ns < self._last_ns:
                raise KnockError(f"fake: expected times in order, but {sound.t_ns} ns came after {self._last_ns} ns")
            self._last_ns = sound.t_ns
            self._waiting.append(sound)

    def unplug(self, problem: str) -> None:
        """Simulate *problem*."""
        self._state = PartState(problem)

    def plug_in(self) -> None:
        """End the simulated problem."""
        self._state = PartState()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the queued sounds."""
        self._life.require_open()
        sounds = tuple(self._waiting)
        self._waiting.clear()
        return sounds

    def close(self) -> None:
        """Close the sensor.

        Raises:
            KnockError: If queued sounds were not read.
        """
        if self._life.end() and self._waiting:
            raise KnockError(f"fake: closed, but {len(self._waiting)} sounds were never read")
