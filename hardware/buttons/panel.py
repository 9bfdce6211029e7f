"""Button panels: the interface, a virtual implementation, and debouncing.

Debouncing turns samples of a pin into short, long and double presses. The functions are pure, so replayed samples give
the same presses. gpiozero's own debouncing drops edges and misfires with lgpio, and the kernel may drop edges too.
Samples therefore come from both edges and polling. Repeating the last level never changes a result.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from hardware.part import PartState

_NS_PER_MS = 1_000_000


class PressKind(StrEnum):
    """Kind of button press."""

    SHORT = "short"
    LONG = "long"
    DOUBLE = "double"


@dataclass(frozen=True, slots=True)
class PinSample:
    """State of a button at a time."""

    t_ns: int
    is_down: bool


@dataclass(frozen=True, slots=True)
class PinPress:
    """A press of the button on a pin.

    Attributes:
        t_ns: Time at which the kind was determined, independent of when samples were taken.
        down_ns: Start of the press, or of the first one in a double press.
    """

    t_ns: int
    down_ns: int
    kind: PressKind


@dataclass(frozen=True, slots=True)
class PressTiming:
    """Thresholds for detecting presses.

    Attributes:
        bounce_ns: Time that a level must last to be accepted.
        long_ns: Minimum duration of a long press.
        double_ns: Maximum gap between the two presses of a double press. 0 disables double presses, so that short ones
            are reported on release.
    """

    bounce_ns: int = 15 * _NS_PER_MS
    long_ns: int = 800 * _NS_PER_MS
    double_ns: int = 300 * _NS_PER_MS

    def __post_init__(self) -> None:
        if not 0 < self.bounce_ns < self.long_ns or self.double_ns < 0:
            raise ValueError(f"expected 0 < bounce_ns < long_ns and double_ns >= 0, but got {self}")


class _Phase(StrEnum):
    IDLE = "idle"
    DOWN = "down"
    RELEASED = "released"
    DONE = "done"
    """Reported, but the button is still down."""


@dataclass(frozen=True, slots=True)
class Debouncing:
    """Debouncing state of a button. The first sample only sets the level, without a press."""

    level: bool | None = None
    level_ns: int = 0
    stable: bool = False
    now_ns: int = 0
    phase: _Phase = _Phase.IDLE
    down_ns: int = 0
    up_ns: int = 0


def feed(state: Debouncing, sample: PinSample, timing: PressTiming) -> tuple[Debouncing, tuple[PinPress, ...]]:
    """Return the next state, and the presses determined by the time of *sample*.

    A sample older than the previous one is treated as simultaneous with it.
    """
    t_ns = max(sample.t_ns, state.now_ns)
    if state.level is None:
        return Debouncing(
            sample.is_down, t_ns, sample.is_down, t_ns, _Phase.DONE if sample.is_down else _Phase.IDLE
        ), ()
    presses: list[PinPress] = []
    while (due := _next_due(state, timing)) is not None and due[0] <= t_ns:
        state, press = _advance(state, timing, due)
        presses += [] if press is None else [press]
    if sample.is_down != state.level:
        state = replace(state, level=sample.is_down, level_ns=t_ns)
    return replace(state, now_ns=t_ns), tuple(presses)


class _Due(StrEnum):
    EDGE = "edge"
    LONG = "long"
    SHORT = "short"


def _next_due(state: Debouncing, timing: PressTiming) -> tuple[int, _Due] | None:
    """Return the next transition if the level does not change, and its time. None if nothing is due."""
    due: list[tuple[int, _Due]] = []
    # For equal times this order decides. An edge is accepted only after bounce_ns, so the other transitions, which
    # require that there was no edge, wait for bounce_ns as well.
    if state.level != state.stable:
        due.append((state.level_ns + timing.bounce_ns, _Due.EDGE))
    if state.phase is _Phase.DOWN:
        due.append((state.down_ns + timing.long_ns + timing.bounce_ns, _Due.LONG))
    if state.phase is _Phase.RELEASED:
        due.append((state.up_ns + timing.double_ns + timing.bounce_ns, _Due.SHORT))
    return min(due, key=lambda transition: transition[0], default=None)


def _advance(state: Debouncing, timing: PressTiming, due: tuple[int, _Due]) -> tuple[Debouncing, PinPress | None]:
    """Return the state after the transition *due*, and the press that it completes, if any."""
    t_ns, transition = due
    if transition is _Due.LONG:
        return replace(state, phase=_Phase.DONE), PinPress(t_ns, state.down_ns, PressKind.LONG)
    if transition is _Due.SHORT:
        return replace(state, phase=_Phase.IDLE), PinPress(t_ns, state.down_ns, PressKind.SHORT)
    state = replace(state, stable=not state.stable)
    if state.stable:
        if state.phase is _Phase.RELEASED:
            return replace(state, phase=_Phase.DONE), PinPress(t_ns, state.down_ns, PressKind.DOUBLE)
        return replace(state, phase=_Phase.DOWN, down_ns=state.level_ns), None
    if state.phase is not _Phase.DOWN:
        return replace(state, phase=_Phase.IDLE), None
    if timing.double_ns == 0:
        return replace(state, phase=_Phase.IDLE), PinPress(t_ns, state.down_ns, PressKind.SHORT)
    return replace(state, phase=_Phase.RELEASED, up_ns=state.level_ns), None


SEAT_BUTTONS = ("call", "knock", "draw", "done")
"""Buttons that each player may have. With a single pin, all players share the button."""
SHARED_BUTTONS = ("next", "undo", "stands", "hand_end", "redeal", "stack", "table")


def button_name(button: str, seat: int | None) -> str:
    """Return the name of a button for users, with players numbered from 1. *seat* is None for a shared button.

    >>> button_name("call", 0), button_name("next", None)
    ('call 1', 'next')
    """
    return button if seat is None else f"{button} {seat + 1}"


class ButtonError(Exception):
    """Buttons are configured or used incorrectly."""


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A press of a named button."""

    button: str
    press: PinPress


class Buttons(Protocol):
    """A panel of buttons. It is polled, never blocks, and has no callbacks."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the buttons."""

    @property
    def state(self) -> PartState:
        """State of the buttons."""

    def read(self) -> tuple[ButtonPress, ...]:
        """Return the presses since the last call, in order of time.

        Raises:
            ButtonError: If the buttons are closed, or a pin cannot be read.
        """

    def close(self) -> None:
        """Release the buttons. Further calls do nothing."""


class VirtualButtons:
    """Buttons pressed from a terminal, a page or a test. Thread-safe."""

    state = PartState()

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._waiting: deque[ButtonPress] = deque()
        self._lock = threading.Lock()
        self._is_closed = False

    def press(self, button: str, t_ns: int, kind: PressKind = PressKind.SHORT) -> None:
        """Press a button at time *t_ns*.

        Raises:
            ButtonError: If there is no such button, or the buttons are closed.
        """
        refuse_if_closed(is_closed=self._is_closed)
        if button not in self.names:
            raise ButtonError(f"there is no button {button}; there are {', '.join(self.names)}")
        with self._lock:
            self._waiting.append(ButtonPress(button, PinPress(t_ns, t_ns, kind)))

    def read(self) -> tuple[ButtonPress, ...]:
        """Return the presses since the last call."""
        refuse_if_closed(is_closed=self._is_closed)
        with self._lock:
            waiting = tuple(self._waiting)
            self._waiting.clear()
        return waiting

    def close(self) -> None:
        """Reject further presses and reads."""
        self._is_closed = True


def refuse_if_closed(*, is_closed: bool) -> None:
    """Raise ButtonError if the buttons are closed."""
    if is_closed:
        raise ButtonError("the buttons are closed and cannot be read")
