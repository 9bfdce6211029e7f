"""A display at the end of a wire: a thread sends it the newest page, and finds it again when it was unplugged."""

from __future__ import annotations

import contextlib
import errno
import threading
import time
from collections.abc import Callable
from typing import Protocol, TypeAlias

from hardware.clock import Clock
from hardware.display.display import refuse_if_closed
from hardware.display.encoder import Burst, DisplayEncoder, DisplayLook, paced
from hardware.display.page import DisplayPage
from hardware.part_state import PartState

_NS_PER_S = 1_000_000_000
# So long is waited before an unplugged display is tried again. Opening fails in microseconds, and a page is to be back
# within 2 s of plugging it in.
_BACK_OFF_S = (0.1, 0.2, 0.4, 0.8)
# How often it is looked whether another screen has its turn, or everything is to be sent again.
_TICK_S = 0.05
# What it remembers is told only when it has surely started, so that nothing has to be written to its EEPROM twice.
_SETTLES_NS = 1_500_000_000
_CLOSES_S = 2.0
_TAIL_BYTES = 5


class BytePort(Protocol):
    """Bytes to a display and back. Every method may raise OSError: then it was unplugged."""

    def write(self, data: bytes) -> None:
        """Send some bytes; does not wait until they are gone."""

    def read(self) -> bytes:
        """Return what has come, at once."""

    def close(self) -> None:
        """Let the wire go."""


OpenPort: TypeAlias = Callable[[], BytePort]
"""Opens the wire. Raises OSError if it is not there."""


class LinkedDisplay:
    """A display that shows the newest page as soon as it can."""

    def __init__(
        self, encoder: DisplayEncoder, open_port: OpenPort, *, name: str, clock: Clock = time.monotonic_ns
    ) -> None:
        """Look for a display in a thread of its own; people call it *name*."""
        self._encoder, self._open, self._name, self._clock = encoder, open_port, name, clock
        self._lock = threading.Lock()
        self._newest: DisplayPage | None = None
        self._state = PartState(is_opening=True)
        self._is_set_up = not encoder.setup
        self._stops, self._wakes = threading.Event(), threading.Event()
        self._never = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"display {name}", daemon=True)
        self._thread.start()

    @property
    def state(self) -> PartState:
        """How it is."""
        with self._lock:
            return self._state

    def show(self, page: DisplayPage) -> None:
        """Leave a page for the thread."""
        refuse_if_closed(is_closed=self._stops.is_set())
        with self._lock:
            self._newest = page
        self._wakes.set()

    def close(self) -> None:
        """Let the thread show the last page and end."""
        self._stops.set()
        self._wakes.set()
        self._thread.join(_CLOSES_S)

    def _run(self) -> None:
        failures = 0
        while not self._stops.is_set():
            try:
                port = self._open()
            except OSError as error:
                self._say(PartState(self._problem(error)))
                self._stops.wait(_BACK_OFF_S[min(failures, len(_BACK_OFF_S) - 1)])
                failures += 1
                continue
            failures = 0
            self._use(port)

    def _use(self, port: BytePort) -> None:
        """Show pages until the display is unplugged or closed."""
        self._say(PartState())
        try:
            self._converse(port)
        except OSError as error:
            self._say(PartState(self._problem(error)))
            # An adapter that opens but takes nothing would otherwise be opened without end.
            self._stops.wait(_BACK_OFF_S[0])
        finally:
            with contextlib.suppress(OSError):  # what was unplugged need not be closed
                port.close()

    def _converse(self, port: BytePort) -> None:
        opened_ns = full_ns = self._clock()
        before: DisplayLook | None = None
        tail = b""
        while True:
            is_last = self._stops.is_set()  # asked first: the page that was left before is still shown
            self._wakes.clear()
            t_ns = self._clock()
            if self._is_refresh_due(t_ns - full_ns):
                before = None
            if before is None:
                full_ns = t_ns
            before = self._step(port, before, t_ns)
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

    def _is_refresh_due(self, since_ns: int) -> bool:
        refresh_ns = self._encoder.wire.refresh_ns
        return refresh_ns is not None and since_ns >= refresh_ns

    def _step(self, port: BytePort, before: DisplayLook | None, t_ns: int) -> DisplayLook | None:
        """Send what has changed, and return how the display looks then."""
        with self._lock:
            page = self._newest
        if page is None:
            return None
        look = self._encoder.look(page, t_ns)
        self._send(port, self._encoder.encode(look, before))
        return look

    def _send(self, port: BytePort, bursts: tuple[Burst, ...]) -> None:
        for data, wait_ns in paced(bursts, self._encoder.wire):
            port.write(data)
            self._never.wait(wait_ns / _NS_PER_S)

    def _say(self, state: PartState) -> None:
        with self._lock:
            self._state = state

    def _problem(self, error: OSError) -> str:
        if isinstance(error, PermissionError) or error.errno == errno.EACCES:
            return f"the display on {self._name} may not be used: add this user to the group dialout, and log in again"
        return f"the display on {self._name} does not answer: is it plugged in? ({error})"
