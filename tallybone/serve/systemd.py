"""Notify systemd of the table: that it is ready, its status, that it lives and ends (sd_notify, no library)."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from hardware.clock import Clock

log = logging.getLogger(__name__)

Send: TypeAlias = Callable[[bytes], bool]
"""Takes a message, and returns whether it went; it never waits."""

_NS_PER_US = 1000
_MOST_STATUS = 200


class Sign(Enum):
    """A sign that a table lives, besides the turns of its loop. The value is logged when it stays away."""

    CAMERA = "no pictures come, and the camera does not say why"
    PAGE = "the page's thread does not answer"


@dataclass(frozen=True, slots=True)
class Life:
    """The life of a table, and how much of it systemd knows. Times are monotonic nanoseconds.

    Attributes:
        camera_ns: When a picture came last, or the camera gave a reason for none; None for never.
        page_ns: When the page's thread answered last; None for never.
        status: The activity of the table, in words.
        is_ready: Whether systemd knows that the table is ready.
        told_status: The last *status* that systemd got.
        fed_ns: When the watchdog was fed last; None for never.
    """

    camera_ns: int | None = None
    page_ns: int | None = None
    status: str = ""
    is_ready: bool = False
    told_status: str = ""
    fed_ns: int | None = None

    def after(self, sign: Sign, t_ns: int) -> Life:
        """Return it after a sign of life."""
        return replace(self, camera_ns=t_ns) if sign is Sign.CAMERA else replace(self, page_ns=t_ns)

    def missing(self, t_ns: int, within_ns: int | None) -> tuple[Sign, ...]:
        """Return the signs that have not come within so many nanoseconds; with None, those that have never come."""
        times = ((Sign.CAMERA, self.camera_ns), (Sign.PAGE, self.page_ns))
        return tuple(
            sign for sign, came in times if came is None or (within_ns is not None and t_ns - came > within_ns)
        )

    def told(self, t_ns: int, watchdog_ns: int | None) -> tuple[Life, tuple[str, ...]]:
        """Return the life once systemd is up to date, and the lines of the message for that.

        Args:
            t_ns: Now.
            watchdog_ns: Within this systemd wants to hear of a table that lives; None where it does not ask.
                Signs may be half as old, and it hears four times as often.
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


def plain_status(words: str) -> str:
    r"""Return words as one line of a status: the names of players cannot send systemd anything else.

    >>> plain_status("Ann\nREADY=1 leads")
    'Ann READY=1 leads'
    """
    return " ".join("".join(one if one.isprintable() else " " for one in words).split())[:_MOST_STATUS]


def watchdog_of(environment: Mapping[str, str], pid: int) -> int | None:
    """Return within how many nanoseconds systemd wants to hear of this process; None where it does not ask.

    >>> watchdog_of({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, 7)
    30000000000
    """
    text = environment.get("WATCHDOG_USEC", "")
    meant = environment.get("WATCHDOG_PID", str(pid))
    if not (text.isascii() and text.isdecimal()) or meant != str(pid):
        return None
    return int(text) * _NS_PER_US or None


class Notifier:
    """Notifies systemd of a table, if systemd has started it.

    The loop of the table calls `turn` each time it goes round. A loop that hangs sends nothing more, and neither does
    one whose camera or page has hung: then systemd restarts the program.
    """

    def __init__(self, send: Send | None, clock: Clock, watchdog_ns: int | None = None) -> None:
        """Notify with *send*; *watchdog_ns* is the time within which systemd wants to hear that the table lives."""
        self._send, self._clock, self._watchdog_ns = send, clock, watchdog_ns
        self._lock = threading.Lock()
        self._life = Life()
        self._missing: tuple[Sign, ...] = ()
        self.feeds = 0

    def seen(self, sign: Sign) -> None:
        """Take a sign of life; any thread may call it."""
        with self._lock:
            self._life = self._life.after(sign, self._clock())

    def say(self, words: str) -> None:
        """Have `systemctl status` show the activity of the table."""
        with self._lock:
            self._life = replace(self._life, status=plain_status(words))

    def turn(self) -> None:
        """Send the news that systemd needs now; the table's loop calls this each time."""
        with self._lock:
            t_ns = self._clock()
            self._complain(t_ns)
            after, lines = self._life.told(t_ns, self._watchdog_ns)
            # A message that did not go is sent again at the next turn.
            if lines and self._send is not None and self._send("\n".join(lines).encode()):
                self.feeds += after.fed_ns != self._life.fed_ns
                self._life = after

    def stopping(self) -> None:
        """Send that the table ends."""
        if self._send is not None:
            self._send(b"STOPPING=1")

    def _complain(self, t_ns: int) -> None:
        """Log once why systemd will restart the program."""
        if self._watchdog_ns is None or not self._life.is_ready:
            return
        missing = self._life.missing(t_ns, self._watchdog_ns // 2)
        if missing != self._missing and missing:
            log.warning("systemd is not told that the table lives: %s", "; ".join(sign.value for sign in missing))
        self._missing = missing


@contextmanager
def notifying(environment: Mapping[str, str], clock: Clock, pid: int) -> Iterator[Notifier]:
    """Yield the notifier of systemd; at the end it sends that the table ends.

    Args:
        environment: The variables of systemd, if it has started this: where it listens, the watchdog.
        clock: Monotonic, in nanoseconds.
        pid: Of this process.

    Raises:
        OSError: If NOTIFY_SOCKET is neither a path, nor `@` and a name.
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
            except OSError:  # a full queue or a restarting systemd must not stop a game
                return False
            return True

        notifier = Notifier(send, clock, watchdog_of(environment, pid))
        try:
            yield notifier
        finally:
            notifier.stopping()
