"""Knock sensors: the interface, life cycle and retries, sensors on a device, a null sensor, and a strict fake."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from hardware.clock import Clock
from hardware.knock.heard import NS_PER_S, ClassifiedSound
from hardware.part_state import PartState


class KnockError(Exception):
    """Base class of knock sensor errors."""


class KnockModelError(KnockError, ValueError):
    """A classifier file cannot be used."""


class KnockSensorError(KnockError, OSError):
    """A sensor cannot be opened: the device, its driver or its library is missing. The message suggests a fix."""


class WavError(KnockError, ValueError):
    """A file is not a supported WAV file, or is truncated."""


_FIRST_WAIT_NS, _LONGEST_WAIT_NS = NS_PER_S // 2, 30 * NS_PER_S


class KnockSensor(Protocol):
    """Detects knocks. A missing or unplugged device is reported by `state`, and `read` tries to open it again."""

    @property
    def state(self) -> PartState:
        """State of the sensor."""

    def start(self) -> None:
        """Start listening. May be called only once.

        Raises:
            KnockSensorError: If the library of the sensor is not installed.
            KnockError: If the sensor was started before.
        """

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the sudden sounds since the last call, in chronological order, without waiting.

        Raises:
            KnockError: If the sensor is not started, or is closed.
        """

    def close(self) -> None:
        """Stop and release the device. Further calls do nothing."""


class SensorLifecycle:
    """Life cycle of a sensor. It is started once, can be read while open, and may be closed repeatedly."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_started = self._is_closed = False

    def start(self) -> None:
        """Mark the sensor as started.

        Raises:
            KnockError: If it was started or closed before.
        """
        if self._is_started or self._is_closed:
            raise KnockError(f"{self._name}: started again, but a sensor is started once")
        self._is_started = True

    def require_open(self) -> None:
        """Check that the sensor is open.

        Raises:
            KnockError: If it is not started, or is closed.
        """
        if not self._is_started or self._is_closed:
            raise KnockError(f"{self._name}: read, but it is {'closed' if self._is_closed else 'not started'}")

    def end(self) -> bool:
        """Mark the sensor as closed. Return True if it was open, so that the device must be released."""
        is_first = self._is_started and not self._is_closed
        self._is_closed = True
        return is_first


class BackOff:
    """Delay before retrying a failed part: half a second at first, doubled after each failure, at most 30 s."""

    def __init__(self) -> None:
        self._wait_ns = _FIRST_WAIT_NS
        self._not_before_ns: int | None = None

    def failed(self, t_ns: int) -> None:
        """Record a failure at *t_ns*."""
        self._not_before_ns = t_ns + self._wait_ns
        self._wait_ns = min(2 * self._wait_ns, _LONGEST_WAIT_NS)

    def worked(self) -> None:
        """Record a success, which resets the delay."""
        self._wait_ns, self._not_before_ns = _FIRST_WAIT_NS, None

    def is_due(self, t_ns: int) -> bool:
        """Return True if the delay has passed."""
        return self._not_before_ns is None or t_ns >= self._not_before_ns


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
