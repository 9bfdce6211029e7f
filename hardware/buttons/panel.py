"""Button panels: the interface, and null, virtual and fake implementations."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from hardware.buttons.debounce import PinPress, PressKind
from hardware.part_state import PartState

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
    """A press of a named button.

    Attributes:
        button: Name of the button.
        press: Kind and times of the press.
    """

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


class NoButtons:
    """Null panel, for a table without buttons."""

    def __init__(self) -> None:
        self._is_closed = False

    names: tuple[str, ...] = ()
    state = PartState()

    def read(self) -> tuple[ButtonPress, ...]:
        """Return no presses."""
        refuse_if_closed(is_closed=self._is_closed)
        return ()

    def close(self) -> None:
        """Reject further reads."""
        self._is_closed = True


class VirtualButtons:
    """Buttons pressed from a terminal, a page or a test. Thread-safe."""

    state = PartState()

    def __init__(self, names: tuple[str, ...], *, keys: Mapping[str, str] | None = None) -> None:
        """Create buttons. *keys* maps keyboard keys to names of buttons.

        Raises:
            ButtonError: If a key maps to an unknown button.
        """
        self._names = names
        self._keys = dict(keys or {})
        self._waiting: deque[ButtonPress] = deque()
        self._lock = threading.Lock()
        self._is_closed = False
        for key, name in self._keys.items():
            if name not in names:
                raise ButtonError(f"the key {key} is for the button {name}, but there are {', '.join(names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the buttons."""
        return self._names

    def press(self, button: str, t_ns: int, kind: PressKind = PressKind.SHORT) -> None:
        """Press a button at time *t_ns*.

        Raises:
            ButtonError: If there is no such button, or the buttons are closed.
        """
        refuse_if_closed(is_closed=self._is_closed)
        if button not in self._names:
            raise ButtonError(f"there is no button {button}; there are {', '.join(self._names)}")
        with self._lock:
            self._waiting.append(ButtonPress(button, PinPress(t_ns, t_ns, kind)))

    def type_key(self, key: str, t_ns: int) -> bool:
        """Press the button of a key. Return False if no button has this key."""
        button = self._keys.get(key)
        if button is None:
            return False
        self.press(button, t_ns)
        return True

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


class FakeButtons(VirtualButtons):
    """Buttons for tests, which can simulate a problem and check that all presses were read."""

    def break_down(self, problem: str) -> None:
        """Report *problem* as state."""
        self.state = PartState(problem)

    def check_all_read(self) -> None:
        """Check that every press was read.

        Raises:
            AssertionError: If a press was not read. The message lists the presses.
        """
        assert not self._waiting, f"never read: {list(self._waiting)}"


def refuse_if_closed(*, is_closed: bool) -> None:
    """Raise ButtonError if the buttons are closed."""
    if is_closed:
        raise ButtonError("the buttons are closed and cannot be read")
