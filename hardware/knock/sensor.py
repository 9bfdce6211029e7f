"""The knock sensor interface: start, read what was heard, close."""

from __future__ import annotations

from typing import Protocol

from hardware.knock.errors import KnockError
from hardware.knock.heard import NS_PER_S, ClassifiedSound
from hardware.part_state import PartState

_FIRST_WAIT_NS, _LONGEST_WAIT_NS = NS_PER_S // 2, 30 * NS_PER_S


class KnockSensor(Protocol):
    """Hears knocks. A part that is missing or unplugged is a problem of its state, and is tried again by `read`."""

    @property
    def state(self) -> PartState:
        """How it is."""

    def start(self) -> None:
        """Begin to listen; once.

        Raises:
            KnockSensorError: If its library is not installed.
            KnockError: If it was started before.
        """

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return every sudden sound that was heard since the last call, in the order of time; never waits.

        Raises:
            KnockError: If it was not started, or is closed.
        """

    def close(self) -> None:
        """Stop and give the device back; further calls do nothing."""


class SensorLifecycle:
    """Whether a sensor may be used now: it is started once, read while it is open, closed as often as one likes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_started = self._is_closed = False

    def start(self) -> None:
        """Begin.

        Raises:
            KnockError: If it has begun or ended.
        """
        if self._is_started or self._is_closed:
            raise KnockError(f"{self._name}: started again, but a sensor is started once")
        self._is_started = True

    def require_open(self) -> None:
        """Refuse to be read.

        Raises:
            KnockError: If it has not begun, or has ended.
        """
        if not self._is_started or self._is_closed:
            raise KnockError(f"{self._name}: read, but it is {'closed' if self._is_closed else 'not started'}")

    def end(self) -> bool:
        """End, and return whether anything has to be given back: it had begun, and this is the first end."""
        is_first = self._is_started and not self._is_closed
        self._is_closed = True
        return is_first


class BackOff:
    """When to try a part again that has failed: after half a second, then twice as long each time, up to 30 s."""

    def __init__(self) -> None:
        self._wait_ns = _FIRST_WAIT_NS
        self._not_before_ns: int | None = None

    def failed(self, t_ns: int) -> None:
        """Note that it failed just now."""
        self._not_before_ns = t_ns + self._wait_ns
        self._wait_ns = min(2 * self._wait_ns, _LONGEST_WAIT_NS)

    def worked(self) -> None:
        """Note that it works: the next failure is a first one."""
        self._wait_ns, self._not_before_ns = _FIRST_WAIT_NS, None

    def is_due(self, t_ns: int) -> bool:
        """Return whether it is time to try."""
        return self._not_before_ns is None or t_ns >= self._not_before_ns
