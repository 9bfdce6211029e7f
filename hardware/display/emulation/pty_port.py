"""An emulated display behind a pty: a program opens its path as it would open /dev/ttyUSB0."""

from __future__ import annotations

import contextlib
import os
import select
import termios
import threading
import time
from pathlib import Path

from hardware.clock import Clock
from hardware.display.emulation.intake import Emulated

_MOST_BYTES = 4096
_TICK_S = 0.02
_CLOSES_S = 2.0
# Where the speed stands in what termios says of a terminal.
_OUT_SPEED = 5


class PtyPort:
    """A display at *path*, which can be unplugged at any byte and plugged in again."""

    def __init__(self, emulated: Emulated, path: Path, *, clock: Clock = time.monotonic_ns) -> None:
        """Make a port at *path*, which must not exist yet; nothing is plugged in."""
        self._emulated, self._path, self._clock = emulated, path, clock
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stops = threading.Event()
        self._cut_after: int | None = None
        self.received_bytes = 0
        self.unplugged = threading.Event()

    def plug(self) -> None:
        """Give it power and its path.

        Raises:
            OSError: If there is something at its path already.
        """
        ours, theirs = os.openpty()
        os.set_blocking(ours, False)
        self._stops.clear()
        self.unplugged.clear()
        with self._lock:
            self._emulated.power_on(self._clock())
        try:
            self._path.symlink_to(os.ttyname(theirs))
        except OSError:
            os.close(theirs)
            os.close(ours)
            raise
        self._thread = threading.Thread(target=self._pump, args=(ours, theirs), name="pty", daemon=True)
        self._thread.start()

    def cut_after(self, count: int) -> None:
        """Unplug it as soon as *count* more bytes have come."""
        with self._lock:
            self._cut_after = count

    def lose_power(self) -> None:
        """Take only the power away and give it back at once: the port stays, and nobody is told."""
        with self._lock:
            self._emulated.power_on(self._clock())

    def screen(self) -> tuple[str, ...]:
        """Return what a person reads now."""
        with self._lock:
            return self._emulated.screen(self._clock())

    def close(self) -> None:
        """Unplug it."""
        self._stops.set()
        if self._thread is not None:
            self._thread.join(_CLOSES_S)

    def _pump(self, ours: int, theirs: int) -> None:
        """Carry bytes until it is unplugged."""
        try:
            while not self._stops.is_set() and self._carry(ours):
                pass
        finally:
            self._path.unlink(missing_ok=True)
            # Whoever still writes gets an error now, as with an adapter that is gone.
            os.close(theirs)
            os.close(ours)
            self.unplugged.set()

    def _carry(self, ours: int) -> bool:
        """Give the display what has come, and send what it says; False once it is to be cut."""
        ready, _, _ = select.select([ours], [], [], _TICK_S)
        data = b""
        with self._lock:
            left = self._cut_after  # one that is asked for while bytes come counts from the next
        if ready:
            with contextlib.suppress(BlockingIOError):
                data = os.read(ours, _MOST_BYTES if left is None else min(_MOST_BYTES, left))
        is_understood = _has_speed(ours, self._emulated.baud)
        with self._lock:
            t_ns = self._clock()
            # At another speed nothing but framing errors comes through, either way.
            self._emulated.receive(data if is_understood else b"", t_ns)
            self._emulated.screen(t_ns)
            self.received_bytes += len(data)
            replies = self._emulated.replies() if is_understood else b""
            if left is not None:
                self._cut_after = left - len(data)
            is_cut = self._cut_after == 0
            self._cut_after = None if is_cut else self._cut_after
        with contextlib.suppress(BlockingIOError):
            os.write(ours, replies)
        return not is_cut


def _has_speed(ours: int, baud: int) -> bool:
    """Return whether the program at the other end has set a speed; one that has no name here counts as right."""
    named = getattr(termios, f"B{baud}", None)
    return named is None or termios.tcgetattr(ours)[_OUT_SPEED] == named
