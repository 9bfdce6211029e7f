"""The knock sensor interface, and its life cycle and retries."""

from __future__ import annotations

from typing import Protocol

from hardware.knock.errors import KnockError
from hardware.knock.heard import NS_PER_S, ClassifiedSound
from hardware.part_state import PartState

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
