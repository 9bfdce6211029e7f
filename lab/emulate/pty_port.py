"""An emulated display behind a pseudo-terminal, which programs open like /dev/ttyUSB0."""

from __future__ import annotations

import contextlib
import os
import select
import termios
import threading
import time
from pathlib import Path

from hardware.part import Clock
from lab.emulate.firmware import Emulated

_MAX_BYTES = 4096
_TICK_S = 0.02
_CLOSES_S = 2.0
# Index of the output speed in the result of `termios.tcgetattr`.
_OUT_SPEED = 5


class PtyPort:
    """An emulated display that can be unplugged after any byte and plugged in again."""

    def __init__(self, emulated: Emulated, path: Path, *, clock: Clock = time.monotonic_ns) -> None:
        """Create an unplugged display. `plug` creates *path*, which must not exist."""
        self._emulated, self._path, self._clock = emulated, path, clock
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stops = threading.Event()
        self._cut_after: int | None = None
        self.received_bytes = 0
        self.unplugged = threading.Event()

    def plug(self) -> None:
        """Power on the display and create its path.

        Raises:
            OSError: If the path exists.
        """
        master, slave = os.openpty()
        os.set_blocking(master, False)
        self._stops.clear()
        self.unplugged.clear()
        with self._lock:
            self._emulated.power_on(self._clock())
        try:
            self._path.symlink_to(os.ttyname(slave))
        except OSError:
            os.close(slave)
            os.close(master)
            raise
        self._thread = threading.Thread(target=self._pump, args=(master, slave), name="pty", daemon=True)
        self._thread.start()

    def cut_after(self, count: int) -> None:
        """Unplug the display after *count* more bytes."""
        with self._lock:
            self._cut_after = count

    def lose_power(self) -> None:
        """Restart the display without closing the port, which other programs cannot notice."""
        with self._lock:
            self._emulated.power_on(self._clock())

    def screen(self) -> tuple[str, ...]:
        """Return the visible content."""
        with self._lock:
            return self._emulated.screen(self._clock())

    def close(self) -> None:
        """Unplug the display."""
        self._stops.set()
        if self._thread is not None:
            self._thread.join(_CLOSES_S)

    def _pump(self, master: int, slave: int) -> None:
        """Transfer bytes until the display is unplugged."""
        try:
            while not self._stops.is_set() and self._transfer(master):
                pass
        finally:
            self._path.unlink(missing_ok=True)
            # Programs that still write now get an error, as from an unplugged adapter.
            os.close(slave)
            os.close(master)
            self.unplugged.set()

    def _transfer(self, master: int) -> bool:
        """Pass received bytes to the display and send its replies. Return False once it is to be unplugged."""
        ready, _, _ = select.select([master], [], [], _TICK_S)
        data = b""
        with self._lock:
            left = self._cut_after  # A cut requested during this transfer counts from the next one.
        if ready:
            with contextlib.suppress(BlockingIOError):
                data = os.read(master, _MAX_BYTES if left is None else min(_MAX_BYTES, left))
        is_understood = _has_speed(master, self._emulated.baud)
        with self._lock:
            t_ns = self._clock()
            # At another baud rate only framing errors arrive, in both directions.
            self._emulated.receive(data if is_understood else b"", t_ns)
            self._emulated.screen(t_ns)
            self.received_bytes += len(data)
            replies = self._emulated.replies() if is_understood else b""
            if left is not None:
                self._cut_after = left - len(data)
            is_cut = self._cut_after == 0
            self._cut_after = None if is_cut else self._cut_after
        with contextlib.suppress(BlockingIOError):
            os.write(master, replies)
        return not is_cut


def _has_speed(master: int, baud: int) -> bool:
    """Return True if the program at the other end has set *baud*. Also True if termios has no constant for it."""
    constant = getattr(termios, f"B{baud}", None)
    return constant is None or termios.tcgetattr(master)[_OUT_SPEED] == constant
