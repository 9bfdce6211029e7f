"""Bound the connections of a page: how many, how many of one visitor, and how long a request may take to come."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hardware.clock import Clock
from tallybone.web.hosts import is_console, visitor_of

log = logging.getLogger(__name__)

# Viewers keep a connection each, and a browser up to six more for pictures.
_MOST, _MOST_OF_ONE = 600, 64
# Camera, recording, parts and broker need some descriptors, and so do connections that are just being closed.
_SHARE_OF_DESCRIPTORS = 2
_LOOKS_IN_A_DEADLINE = 10
_SELDOM_NS = 60_000_000_000
_MOST_FAULTS = 1000
_THIS_MACHINE = "this machine"
# A device that floods a connection is refused for this long; more such devices displace the oldest.
_REFUSED_S, _MOST_REFUSED = 60.0, 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """What a page bears.

    Attributes:
        most: Connections at once. A thirtieth of them is kept for this machine itself.
        most_of_one: Of these from one visitor (`hosts.Visitor`). This machine itself may have all, for a proxy on it
            brings everybody. An IPv6 network of this machine may have half of all.
        request_within_s: A request has to come within so many seconds, from its first byte to its last; so has the
            first one of a connection, and the next one.
        unread_within_s: A connection is closed if its peer takes no byte of what is sent for so many seconds.
    """

    most: int
    most_of_one: int = _MOST_OF_ONE
    request_within_s: float = 10.0
    unread_within_s: float = 20.0

    @property
    def most_of_network(self) -> int:
        """Connections at once from one IPv6 network of this machine, in which one device can take many addresses."""
        return self.most // 2

    @property
    def most_of_others(self) -> int:
        """Connections at once from all but this machine itself."""
        return self.most - self.most // 30


def limits_of(descriptors: int) -> Limits:
    """Return the limits of a page in a process that may have so many descriptors, as `resource` says it.

    >>> limits_of(4096).most, limits_of(1024).most, limits_of(resource.RLIM_INFINITY).most
    (600, 512, 600)
    """
    return Limits(_MOST if descriptors == resource.RLIM_INFINITY else min(_MOST, descriptors // _SHARE_OF_DESCRIPTORS))


class Crowd:
    """Knows all connections of a page. Not for several threads.

    A connection is in use from the end of a request until that is answered, or for as long as it is a WebSocket. All
    others only wait. If there is no room for a new one, the one that has waited longest is closed: a viewer who sends
    a request at once finds room, however many others say nothing.
    """

    def __init__(self, limits: Limits) -> None:
        """Start with no connection."""
        self._limits = limits
        # The visitor of each connection, and their network; () for this machine itself.
        self._groups: dict[asyncio.Transport, tuple[str, ...]] = {}
        self._counts: Counter[str] = Counter()
        # Since when, in seconds of the loop; those that have waited longest come first.
        self._waiting: dict[asyncio.Transport, float] = {}
        # Bytes that a peer has not taken, and since when it has taken none.
        self._unread: dict[asyncio.Transport, tuple[int, float]] = {}
        # Until when, in seconds of the loop, a visitor is refused.
        self._refused: dict[str, float] = {}

    def admit(self, line: asyncio.Transport) -> bool:
        """Take a new connection, or break it off; return whether it is taken."""
        address = str(line.get_extra_info("peername", ("",))[0])
        visitor, limits = visitor_of(address), self._limits
        shares = {} if is_console(address) else {visitor.name: limits.most_of_one}
        if visitor.network is not None:
            shares[visitor.network] = limits.most_of_network
        if self._refused.get(visitor.name, 0.0) > asyncio.get_running_loop().time():
            line.abort()
            return False
        for group, most in shares.items():
            others = (one for one in self._waiting if group in self._groups[one])
            if self._counts[group] >= most and not self._make_room(others):
                log.warning("%s has %d connections in use: further ones are refused", group, self._counts[group])
                line.abort()
                return False
        most = limits.most_of_others if shares else limits.most
        if len(self._groups) >= most and not self._make_room(self._waiting):
            log.warning("all %d connections are in use: further ones are refused", most)
            line.abort()
            return False
        self._groups[line] = tuple(shares)
        self._counts.update(shares.keys())
        self.waits(line)
        return True

    def refuse(self, line: asyncio.Transport) -> None:
        """Admit no further connection of this one's visitor for a minute, unless that is this machine itself."""
        visitor = self._visitor_of(line)
        if visitor == _THIS_MACHINE:  # a proxy on it brings everybody
            log.warning("this machine sends too much on a WebSocket: it is closed")
            return
        log.warning("%s sends too much on a WebSocket: it is refused for a minute", visitor)
        self._refused.pop(visitor, None)
        self._refused[visitor] = asyncio.get_running_loop().time() + _REFUSED_S
        if len(self._refused) > _MOST_REFUSED:
            del self._refused[next(iter(self._refused))]

    def waits(self, line: asyncio.Transport) -> None:
        """Note that a connection waits for its next request, from now on unless it does already."""
        if line in self._groups:
            self._waiting.setdefault(line, asyncio.get_running_loop().time())

    def is_used(self, line: asyncio.Transport) -> None:
        """Note that a request has come."""
        self._waiting.pop(line, None)

    def forget(self, line: asyncio.Transport) -> None:
        """Note that a connection is gone."""
        self._waiting.pop(line, None)
        self._unread.pop(line, None)
        for group in self._groups.pop(line, ()):
            self._counts[group] -= 1
            if not self._counts[group]:
                del self._counts[group]

    async def keep(self) -> None:
        """Break off connections whose request or whose reading is overdue, until it is cancelled."""
        limits, now_s = self._limits, asyncio.get_running_loop().time
        while True:
            for line, since_s in list(self._waiting.items()):
                if now_s() - since_s < limits.request_within_s:
                    break
                if not line.get_write_buffer_size():  # otherwise the answer before is still being read
                    self._break_off(line)
            for line in list(self._groups):
                self._check_reading(line, now_s())
            await asyncio.sleep(min(limits.request_within_s, limits.unread_within_s) / _LOOKS_IN_A_DEADLINE)

    def _check_reading(self, line: asyncio.Transport, now_s: float) -> None:
        """Break off a connection whose peer has not taken a byte for too long."""
        unsent = line.get_write_buffer_size()
        before, since_s = self._unread.get(line, (0, now_s))
        if unsent == 0:
            self._unread.pop(line, None)
        elif unsent != before:
            self._unread[line] = (unsent, now_s)
        elif now_s - since_s >= self._limits.unread_within_s:
            log.warning("%s does not read its answers: a connection is closed", self._visitor_of(line))
            self._break_off(line)

    def _visitor_of(self, line: asyncio.Transport) -> str:
        return next(iter(self._groups[line]), _THIS_MACHINE)

    def _make_room(self, waiting: Iterable[asyncio.Transport]) -> bool:
        longest = next(iter(waiting), None)
        if longest is None:
            return False
        self._break_off(longest)
        return True

    def _break_off(self, line: asyncio.Transport) -> None:
        line.abort()
        self.forget(line)


class SeldomFilter(logging.Filter):
    """Lets a fault into the log once a minute, with how often it came meanwhile, so that no crowd fills the disk."""

    def __init__(self, clock: Clock) -> None:
        """Start with no fault; *clock* is monotonic, in nanoseconds."""
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[object, ...], tuple[int, int]] = {}

    @property
    def known(self) -> int:
        """How many faults it knows."""
        return len(self._last)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record goes into the log."""
        error = record.exc_info[0] if record.exc_info else None
        # asyncio says on further lines which socket or task it was.
        fault = (record.name, str(record.msg).partition("\n")[0], error)
        now_ns = self._clock()
        last_ns, left_out = self._last.get(fault, (now_ns - _SELDOM_NS, 0))
        if now_ns - last_ns < _SELDOM_NS:
            self._last[fault] = (last_ns, left_out + 1)
            return False
        if len(self._last) >= _MOST_FAULTS:
            self._last.clear()
        self._last[fault] = (now_ns, 0)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out} more like it since the last one)", ()
        return True
