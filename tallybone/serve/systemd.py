"""Notify the systemd of `tallybone.service` of readiness, status and watchdog (sd_notify, without a library)."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from hardware.part import Clock

log = logging.getLogger(__name__)

Send: TypeAlias = Callable[[bytes], bool]
"""Function that sends a message without blocking, and returns True if it was sent."""

_NS_PER_US = 1000
_MAX_STATUS = 200


class Sign(Enum):
    """Sign of life of a table, in addition to its main loop. Its value is logged if the sign is missing."""

    CAMERA = "no pictures arrive, and the camera reports no reason"
    PAGE = "the page's thread does not respond"


@dataclass(frozen=True, slots=True)
class Life:
    """State of the signs of life, and what systemd has been notified of. Times are monotonic, in nanoseconds.

    Attributes:
        camera_ns: Last time at which there was an image or a known reason for having none. None for never.
        page_ns: Time of the last response of the page's thread. None for never.
        status: Activity of the table, as text.
        is_ready: Whether systemd was notified of readiness.
        told_status: Last status sent to systemd.
        fed_ns: Time of the last watchdog message. None for never.
    """

    camera_ns: int | None = None
    page_ns: int | None = None
    status: str = ""
    is_ready: bool = False
    told_status: str = ""
    fed_ns: int | None = None

    def after(self, sign: Sign, t_ns: int) -> Life:
        """Return the state after a sign of life."""
        return replace(self, camera_ns=t_ns) if sign is Sign.CAMERA else replace(self, page_ns=t_ns)

    def missing(self, t_ns: int, within_ns: int | None) -> tuple[Sign, ...]:
        """Return the signs missing for longer than *within_ns*, or that never occurred. With None, only the latter."""
        times = ((Sign.CAMERA, self.camera_ns), (Sign.PAGE, self.page_ns))
        return tuple(
            sign for sign, last in times if last is None or (within_ns is not None and t_ns - last > within_ns)
        )

    def reported(self, t_ns: int, watchdog_ns: int | None) -> tuple[Life, tuple[str, ...]]:
        """Return the state after notifying systemd, and the lines of the message.

        Args:
            t_ns: Current time.
            watchdog_ns: Watchdog interval. None if the watchdog is disabled. Watchdog messages are sent four times per
                interval, as long as all signs of life are at most half an interval old.
        """
        lines: list[str] = []
        after = self
        if not self.is_ready and not self.missing(t_ns, None):
            lines.append("READY=1")
            after = replace(after, is_ready=True)
        if self.status != self.told_status:
            lines.append(f"STATUS={self.status}")
            after = replace(after, told_status=self.status)
        if after.is_ready and watchdog_ns is not None and self._is_hungry(t_ns, watchdog_ns):
            lines.append("WATCHDOG=1")
            after = replace(after, fed_ns=t_ns)
        return after, tuple(lines)

    def _is_hungry(self, t_ns: int, watchdog_ns: int) -> bool:
        if self.missing(t_ns, watchdog_ns // 2):
            return False
        return self.fed_ns is None or t_ns - self.fed_ns >= watchdog_ns // 4


def plain_status(text: str) -> str:
    r"""Return a text as one line of at most 200 printable characters, so players' names cannot inject other messages.

    >>> plain_status("Ann\nREADY=1 leads")
    'Ann READY=1 leads'
    """
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(printable.split())[:_MAX_STATUS]


def watchdog_of(environment: Mapping[str, str], pid: int) -> int | None:
    """Return the watchdog interval for this process in nanoseconds, or None if it is disabled.

    >>> watchdog_of({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, 7)
    30000000000
    """
    text = environment.get("WATCHDOG_USEC", "")
    intended = environment.get("WATCHDOG_PID", str(pid))
    if not (text.isascii() and text.isdecimal()) or intended != str(pid):
        return None
    return int(text) * _NS_PER_US or None


class Notifier:
    """Notifies systemd of the state of a table, if it was started by systemd.

    The main loop of the table calls `turn` in each iteration. If the loop, the camera or the page hangs, no watchdog
    messages are sent, and systemd restarts the program.
    """

    def __init__(self, send: Send | None, clock: Clock, watchdog_ns: int | None = None) -> None:
        """Send messages with *send*, or none if it is None. *watchdog_ns* is the watchdog interval."""
        self._send, self._clock, self._watchdog_ns = send, clock, watchdog_ns
        self._lock = threading.Lock()
        self._life = Life()
        self._missing: tuple[Sign, ...] = ()
        self.feeds = 0

    def seen(self, sign: Sign) -> None:
        """Record a sign of life. Thread-safe."""
        with self._lock:
            self._life = self._life.after(sign, self._clock())

    def say(self, text: str) -> None:
        """Set the status shown by `systemctl status`."""
        with self._lock:
            self._life = replace(self._life, status=plain_status(text))

    def turn(self) -> None:
        """Send due messages. Called in each iteration of the main loop."""
        with self._lock:
            t_ns = self._clock()
            self._complain(t_ns)
            after, lines = self._life.reported(t_ns, self._watchdog_ns)
            # A message that could not be sent is retried at the next turn.
            if lines and self._send is not None and self._send("\n".join(lines).encode()):
                self.feeds += after.fed_ns != self._life.fed_ns
                self._life = after

    def stopping(self) -> None:
        """Notify systemd that the table is stopping."""
        if self._send is not None:
            self._send(b"STOPPING=1")

    def _complain(self, t_ns: int) -> None:
        """Log once each time that signs of life go missing, so that systemd is going to restart the program."""
        if self._watchdog_ns is None or not self._life.is_ready:
            return
        missing = self._life.missing(t_ns, self._watchdog_ns // 2)
        if missing != self._missing and missing:
            log.warning("no watchdog message to systemd: %s", "; ".join(sign.value for sign in missing))
        self._missing = missing


@contextmanager
def notifying(environment: Mapping[str, str], clock: Clock, pid: int) -> Iterator[Notifier]:
    """Yield a notifier, which notifies systemd of stopping at the end of the block. Without systemd, it sends nothing.

    Raises:
        OSError: If NOTIFY_SOCKET is neither a path nor `@` and a name.
    """
    address = environment.get("NOTIFY_SOCKET", "")
    if not address:
        yield Notifier(None, clock)
        return
    if not address.startswith(("/", "@")):
        raise OSError(f"NOTIFY_SOCKET: expected a path or @name, got {address!r}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sending:
        sending.settimeout(0)

        def send(message: bytes) -> bool:
            try:
                sending.sendto(message, "\0" + address[1:] if address.startswith("@") else address)
            except OSError:  # A full queue or a restart of systemd must not interrupt a game.
                return False
            return True

        notifier = Notifier(send, clock, watchdog_of(environment, pid))
        try:
            yield notifier
        finally:
            notifier.stopping()
