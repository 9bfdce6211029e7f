"""Single keys of a terminal, without Enter, and the terminal as it was afterwards whatever happens."""

from __future__ import annotations

import os
import select
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

_MOST_BYTES = 256
_ESCAPE = "\x1b"


class Keyboard:
    """Keys from a file descriptor: those of a terminal, or what a pipe says."""

    def __init__(self, fd: int) -> None:
        """Read from *fd*, which somebody else opens and closes."""
        self._fd = fd
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """Whether no key will ever come."""
        return self._is_over

    def pressed(self, wait_s: float) -> str:
        """Return the keys that were pressed since the last call, after up to *wait_s* seconds; "" for none.

        Arrows and the like, which terminals send as an escape and more, are left out.
        """
        ready, _, _ = select.select([] if self._is_over else [self._fd], [], [], wait_s)
        if not ready:
            return ""
        try:
            data = os.read(self._fd, _MOST_BYTES)
        except OSError:  # the terminal was closed
            data = b""
        self._is_over = not data
        text = data.decode(errors="ignore")
        return text.partition(_ESCAPE)[0]


@contextmanager
def keyboard_on(fd: int) -> Iterator[Keyboard]:
    """Yield the keyboard of a terminal, which gives each key at once until this ends; of a pipe, what it says."""
    if not os.isatty(fd):
        yield Keyboard(fd)
        return
    before = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)  # Ctrl-C still ends the program
        yield Keyboard(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
