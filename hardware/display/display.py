"""Score displays: the interface, and a display on a serial port."""

from __future__ import annotations

import contextlib
import errno
import termios
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from hardware.display.page import TERMINAL_CHARACTERS, Burst, DisplayEncoder, DisplayLook, DisplayPage, paced, screen_at
from hardware.libraries import install_command
from hardware.part import Clock, PartState


class DisplayError(Exception):
    """A display is configured or used incorrectly. An unplugged display is reported by its state instead."""


class ScoreDisplay(Protocol):
    """Shows the newest page. No method except `close` blocks."""

    @property
    def state(self) -> PartState:
        """State of the display."""

    def show(self, page: DisplayPage) -> None:
        """Queue a page. It replaces the previous page, even if that was not shown yet.

        Raises:
            DisplayError: If the display is closed.
        """

    def close(self) -> None:
        """Show the last page, if the display is connected, and release it. Further calls do nothing."""


def refuse_if_closed(*, is_closed: bool) -> None:
    """Raise DisplayError if the display is closed."""
    if is_closed:
        raise DisplayError("the display is closed")


_NS_PER_S = 1_000_000_000
# Delays before reconnecting. They are short, because opening fails within microseconds and a display must show its page
# within 2 s of being plugged in.
_BACK_OFF_S = (0.1, 0.2, 0.4, 0.8)
# Interval for alternating screens and for refreshes.
_TICK_S = 0.05
# Persistent settings are sent only after the display has started, to avoid writing its EEPROM twice.
_SETTLES_NS = 1_500_000_000
_CLOSES_S = 2.0
_TAIL_BYTES = 5


class BytePort(Protocol):
    """A bidirectional byte stream to a display. Every method raises OSError if the display is unplugged."""

    def write(self, data: bytes) -> None:
        """Send bytes, without waiting until they are transmitted."""

    def read(self) -> bytes:
        """Return the bytes received so far, without waiting."""

    def close(self) -> None:
        """Close the port."""


OpenPort: TypeAlias = Callable[[], BytePort]
"""Opens a port. Raises OSError if it does not exist."""


class LinkedDisplay:
    """A display that shows the newest page as soon as it is connected."""

    def __init__(
        self, encoder: DisplayEncoder, open_port: OpenPort, *, name: str, clock: Clock = time.monotonic_ns
    ) -> None:
        """Start a thread that opens and uses the display. *name* appears in messages."""
        self._encoder, self._open, self._name, self._clock = encoder, open_port, name, clock
        self._newest: DisplayPage | None = None
        self.state = PartState(is_opening=True)
        """State of the display."""
        self._is_set_up = not encoder.setup
        self._stops, self._wakes = threading.Event(), threading.Event()
        self._never = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"display {name}", daemon=True)
        self._thread.start()

    def show(self, page: DisplayPage) -> None:
        """Pass a page to the thread."""
        refuse_if_closed(is_closed=self._stops.is_set())
        self._newest = page
        self._wakes.set()

    def close(self) -> None:
        """Show the last page and stop the thread. Waits up to 2 s."""
        self._stops.set()
        self._wakes.set()
        self._thread.join(_CLOSES_S)

    def _run(self) -> None:
        failures = 0
        while not self._stops.is_set():
            try:
                port = self._open()
            except OSError as error:
                self.state = PartState(self._problem(error))
                self._stops.wait(_BACK_OFF_S[min(failures, len(_BACK_OFF_S) - 1)])
                failures += 1
                continue
            failures = 0
            self._use(port)

    def _use(self, port: BytePort) -> None:
        """Show pages until the display is unplugged or closed."""
        self.state = PartState()
        try:
            self._show_pages(port)
        except OSError as error:
            self.state = PartState(self._problem(error))
            # Avoids a busy loop if an adapter opens but fails on every write.
            self._stops.wait(_BACK_OFF_S[0])
        finally:
            with contextlib.suppress(OSError):  # it may be unplugged
                port.close()

    def _show_pages(self, port: BytePort) -> None:
        opened_ns = full_ns = self._clock()
        before: DisplayLook | None = None
        tail = b""
        refresh_ns = self._encoder.wire.refresh_ns
        while True:
            is_last = self._stops.is_set()  # Read first, so that a page passed before closing is still shown.
            self._wakes.clear()
            t_ns = self._clock()
            if refresh_ns is not None and t_ns - full_ns >= refresh_ns:
                before = None
            if before is None:
                full_ns = t_ns
            page = self._newest
            if page is not None:
                look = self._encoder.look(page, t_ns)
                self._send(port, self._encoder.encode(look, before))
                before = look
            if not self._is_set_up and before is not None and t_ns - opened_ns > _SETTLES_NS:
                self._send(port, self._encoder.setup)
                self._is_set_up = True
            if is_last:
                return
            tail += port.read()
            if self._encoder.is_lost(tail):
                before, tail = None, b""
            tail = tail[-_TAIL_BYTES:]
            self._wakes.wait(_TICK_S)

    def _send(self, port: BytePort, bursts: tuple[Burst, ...]) -> None:
        for data, wait_ns in paced(bursts, self._encoder.wire):
            port.write(data)
            self._never.wait(wait_ns / _NS_PER_S)

    def _problem(self, error: OSError) -> str:
        if isinstance(error, PermissionError) or error.errno == errno.EACCES:
            return (
                f"the display on {self._name}: permission denied: add this user to the group dialout, and log in again"
            )
        return f"the display on {self._name} does not respond: check that it is plugged in ({error})"


# Write timeout. A display that accepts nothing for longer is unplugged, or its adapter hangs.
_WRITES_S = 1.0


class SerialPort:
    """An open serial port."""

    def __init__(self, serial: Any) -> None:
        self._serial = serial

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._serial.write(data)

    def read(self) -> bytes:
        """Return the bytes received so far."""
        waiting = self._serial.in_waiting
        return bytes(self._serial.read(waiting)) if waiting else b""

    def close(self) -> None:
        """Close the port."""
        self._serial.close()


def serial_port(url: str, baud: int) -> OpenPort:
    """Return a function that opens a serial port.

    Args:
        url: Path such as /dev/ttyUSB0, or a URL of pyserial: `socket://`, `rfc2217://`, `loop://`.
        baud: Bits per second.

    Raises:
        DisplayError: If pyserial is not installed, or does not support the URL.
    """
    try:
        import serial
    except ImportError:
        raise DisplayError(f"score displays need pyserial: {install_command('pi')}") from None
    try:
        serial.serial_for_url(url, do_not_open=True)
    except ValueError as error:
        raise DisplayError(f"{url}: expected a port such as /dev/ttyUSB0 or socket://host:port ({error})") from None

    def open_port() -> SerialPort:
        # Exclusive, because two programs on one display would interleave their bytes.
        options = {"exclusive": True} if "://" not in url else {}
        try:
            port = serial.serial_for_url(url, baudrate=baud, timeout=0, write_timeout=_WRITES_S, **options)
        except termios.error as error:  # Not wrapped by pyserial if the port disappears while it is opened.
            raise OSError(*error.args) from None
        return SerialPort(port)

    return open_port


COLUMNS = 20
ROWS = 4
"""Size of the virtual display, the same as the larger SerLCD."""


class VirtualDisplay:
    """A display with 20x4 characters that is always connected."""

    state = PartState()

    def __init__(self) -> None:
        self._page = DisplayPage()
        self._is_closed = False

    def show(self, page: DisplayPage) -> None:
        """Show a page."""
        refuse_if_closed(is_closed=self._is_closed)
        self._page = page

    def rows(self, t_ns: int) -> tuple[str, ...]:
        """Return the content at time *t_ns*: `ROWS` texts of `COLUMNS` characters."""
        return screen_at(self._page, COLUMNS, ROWS, t_ns, TERMINAL_CHARACTERS)

    def close(self) -> None:
        """Reject further pages."""
        self._is_closed = True
