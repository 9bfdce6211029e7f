"""A set of buttons: the protocol, none, virtual ones, and a strict fake."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from hardware.buttons.debounce import PinPress, PressKind
from hardware.part_state import PartState

OF_SEATS = ("call", "knock", "draw", "done")
"""Buttons that each player may have; said as one pin, all share it."""
SHARED_BUTTONS = ("next", "undo", "stands", "hand_end", "redeal", "stack", "table")


def button_name(button: str, seat: int | None) -> str:
    """Return the name of a button for people, with players from 1; *seat* is None for one that all share.

    >>> button_name("call", 0), button_name("next", None)
    ('call 1', 'next')
    """
    return button if seat is None else f"{button} {seat + 1}"


class ButtonError(Exception):
    """Buttons that are set up or used wrongly."""


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A press of a button that has a name.

    Attributes:
        button: Its name, as it was set up.
        press: How and when.
    """

    button: str
    press: PinPress


class Buttons(Protocol):
    """Buttons that are asked, never wait, and call nobody back."""

    @property
    def names(self) -> tuple[str, ...]:
        """Which buttons there are."""

    @property
    def state(self) -> PartState:
        """Their state."""

    def read(self) -> tuple[ButtonPress, ...]:
        """Return what was pressed since the last call, in the order of time.

        Raises:
            ButtonError: If they were closed.
        """

    def close(self) -> None:
        """Let them go. Once more does nothing."""


class NoButtons:
    """Where there are none."""

    def __init__(self) -> None:
        self._is_closed = False

    names: tuple[str, ...] = ()
    state = PartState()

    def read(self) -> tuple[ButtonPress, ...]:
        """Nothing is ever pressed."""
        refuse_if_closed(is_closed=self._is_closed)
        return ()

    def close(self) -> None:
        """Do nothing."""
        self._is_closed = True


class VirtualButtons:
    """Buttons that a terminal, a page or a test presses, from any thread."""

    state = PartState()

    def __init__(self, names: tuple[str, ...], *, keys: Mapping[str, str] | None = None) -> None:
        """Make buttons; *keys* says which key of a keyboard presses which of them.

        Raises:
            ButtonError: If a key belongs to no button.
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
        """Which buttons there are."""
        return self._names

    def press(self, button: str, t_ns: int, kind: PressKind = PressKind.SHORT) -> None:
        """Press a button at a time.

        Raises:
            ButtonError: If there is no such button, or they were closed.
        """
        refuse_if_closed(is_closed=self._is_closed)
        if button not in self._names:
            raise ButtonError(f"there is no button {button}; there are {', '.join(self._names)}")
        with self._lock:
            self._waiting.append(ButtonPress(button, PinPress(t_ns, t_ns, kind)))

    def type_key(self, key: str, t_ns: int) -> bool:
        """Press the button of a key; say whether it has one."""
        button = self._keys.get(key)
        if button is None:
            return False
        self.press(button, t_ns)
        return True

    def read(self) -> tuple[ButtonPress, ...]:
        """Return what was pressed."""
        refuse_if_closed(is_closed=self._is_closed)
        with self._lock:
            waiting = tuple(self._waiting)
            self._waiting.clear()
        return waiting

    def close(self) -> None:
        """Take no more presses."""
        self._is_closed = True


class FakeButtons(VirtualButtons):
    """Buttons for tests: they also say what is wrong, and that somebody has read all that was pressed."""

    def break_down(self, problem: str) -> None:
        """Have a problem from now on."""
        self.state = PartState(problem)

    def check_all_read(self) -> None:
        """Fail if a press was never read.

        Raises:
            AssertionError: Then; it names the presses.
        """
        assert not self._waiting, f"never read: {list(self._waiting)}"


def refuse_if_closed(*, is_closed: bool) -> None:
    """Raise where buttons that were let go are used."""
    if is_closed:
        raise ButtonError("the buttons were closed: nothing can be read from them any more")
