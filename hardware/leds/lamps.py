"""A set of LEDs with any driver, and null and fake drivers.

LEDs are turned off when they are closed, and when the program ends for any reason except SIGKILL or a power cut.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol

from hardware.colour import Rgb
from hardware.leds.patterns import OFF
from hardware.part_state import PartState


class LedError(Exception):
    """LEDs are configured or used incorrectly."""


class LedDevice(Protocol):
    """Opened LEDs of one driver."""

    @property
    def count(self) -> int:
        """Number of LEDs."""

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Set the colour of each LED. May raise OSError."""

    def require_connected(self) -> None:
        """Raise OSError if the LEDs are known to be disconnected. Do nothing if that cannot be detected."""

    def release(self) -> None:
        """Release the pins or the bus. May raise OSError."""


class Lamps:
    """A set of LEDs. Colours are sent only when they change, and again after an error."""

    def __init__(self, driver: LedDevice) -> None:
        """Use the LEDs of *driver*, and turn them off."""
        self._driver = driver
        # Reentrant, because a signal handler may close the LEDs while the same thread holds the lock.
        self._lock = threading.RLock()
        self._shown: tuple[Rgb, ...] | None = None
        self._state = PartState()
        self._is_closed = False
        self.light((OFF,) * driver.count)

    @property
    def count(self) -> int:
        """Number of LEDs."""
        return self._driver.count

    @property
    def state(self) -> PartState:
        """State after the last attempt to send colours."""
        return self._state

    def light(self, colours: tuple[Rgb, ...]) -> None:
        """Set the colour of each LED. A failure is reported by `state`, and the next call retries.

        Raises:
            LedError: If the number of colours is wrong, or the LEDs are closed.
        """
        if len(colours) != self._driver.count:
            raise LedError(f"expected a colour for each of {self._driver.count} LEDs, but got {len(colours)}")
        with self._lock:
            if self._is_closed:
                raise LedError("the LEDs are closed")
            self._send(colours)

    def close(self) -> None:
        """Turn the LEDs off and release them. Further calls do nothing."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._shown = None  # Send the colours even if they seem to be off.
            self._send((OFF,) * self._driver.count)
            try:
                self._driver.release()
            except OSError as error:
                self._state = PartState(f"the LEDs cannot be released ({error})")

    def _send(self, colours: tuple[Rgb, ...]) -> None:
        try:
            if colours == self._shown:
                self._driver.require_connected()
                return
            self._driver.write(colours)
        except OSError as error:
            self._shown = None
            self._state = PartState(f"the LEDs do not respond ({error}): check their wiring, and that SPI is enabled")
        else:
            self._shown, self._state = colours, PartState()


class NoLeds:
    """Null driver, for a table without LEDs."""

    def __init__(self, count: int) -> None:
        self._count = count

    @property
    def count(self) -> int:
        """Number of missing LEDs."""
        return self._count

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Do nothing."""

    def require_connected(self) -> None:
        """Do nothing."""

    def release(self) -> None:
        """Do nothing."""


class FakeLeds:
    """LEDs for tests. They record all colours in `shown`, and reject colours after `release`."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._is_released = self._is_unplugged = False
        self.shown: list[tuple[Rgb, ...]] = []

    @property
    def count(self) -> int:
        """Number of LEDs."""
        return self._count

    def unplug(self) -> None:
        """Start failing."""
        self._is_unplugged = True

    def plug(self) -> None:
        """Stop failing."""
        self._is_unplugged = False

    def write(self, colours: tuple[Rgb, ...]) -> None:
        """Record the colours.

        Raises:
            OSError: If the LEDs are unplugged.
        """
        assert not self._is_released, "written after release"
        assert len(colours) == self._count, f"expected {self._count} colours, but got {len(colours)}"
        if self._is_unplugged:
            raise OSError("unplugged")
        self.shown.append(colours)

    def require_connected(self) -> None:
        """Check that the LEDs are plugged in.

        Raises:
            OSError: If they are not.
        """
        if self._is_unplugged:
            raise OSError("unplugged")

    def release(self) -> None:
        """Release the LEDs. Asserts that they are off (unless unplugged), and that it is called once."""
        assert not self._is_released, "released twice"
        assert self._is_unplugged or self.shown[-1] == (OFF,) * self._count, "released while lit"
        self._is_released = True


# SIGINT raises KeyboardInterrupt and needs no handler. SIGHUP is sent when the terminal is closed.
_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def off_at_exit(lamps: Lamps) -> Iterator[Lamps]:
    """Yield LEDs that are turned off and closed when the block or the program ends.

    Signals are handled only if called from the main thread, the only one in which Python allows handlers to be set.
    """
    atexit.register(lamps.close)
    before: dict[signal.Signals, Any] = {}

    def end(number: int, frame: FrameType | None) -> None:
        lamps.close()
        previous = before[signal.Signals(number)]
        if callable(previous):
            previous(number, frame)
        else:  # Die from the signal, to give the parent process the right exit status.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    if threading.current_thread() is threading.main_thread():
        for ending in _ENDING:
            before[ending] = signal.getsignal(ending)
            if before[ending] is not signal.SIG_IGN:
                signal.signal(ending, end)
    try:
        yield lamps
    finally:
        lamps.close()
        atexit.unregister(lamps.close)
        for ending, previous in before.items():
            signal.signal(ending, previous)
