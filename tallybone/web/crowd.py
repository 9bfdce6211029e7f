"""Bound the connections of a page: how many, how many of one visitor, and how long a request may take to come."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from hardware.clock import Clock
from tallybone.web.hosts import is_console, network_of

log = logging.getLogger(__name__)

# Viewers keep a connection each, and a browser up to six more for pictures.
_MOST, _MOST_OF_ONE = 600, 64
# Camera, recording, parts and broker need some descriptors, and so do connections that are just being closed.
_SHARE_OF_DESCRIPTORS = 2
_LOOKS_IN_A_DEADLINE = 10
_SELDOM_NS = 60_000_000_000
_MOST_FAULTS = 1000
# A device that floods a connection is refused for this long; more such devices displace the oldest.
_REFUSED_S, _MOST_REFUSED = 60.0, 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """What a page bears.

    Attributes:
        most: Connections at once.
        most_of_one: Of these from one address (a /64 of IPv6). This machine itself may have all, for a proxy on it
            brings everybody.
        request_within_s: A request has to come within so many seconds, from its first byte to its last; so has the
            first one of a connection, and the next one.
    """

    most: int
    most_of_one: int = _MOST_OF_ONE
    request_within_s: float = 10.0


def limits_of(descriptors: int) -> Limits:
    """Return the limits of a page in a process that may have so many descriptors, as `resource` says it.

    >>> limits_of(4096).most, limits_of(1024).most, limits_of(resource.RLIM_INFINITY).most
    (600, 512, 600)
    """
    return Limits(_MOST if descriptors == resource.RLIM_INFINITY else min(_MOST, descriptors // _SHARE_OF_DESCRIPTORS))


class Crowd:
    """Knows all connections of a page. Not for several threads.

    A connection is in use from the end of a request until that is answered, or for as long as it is a WebSocket. All
    others only wait. Where there is no room for a new one, the one that has waited longest makes some: who says at
    once what he wants finds room, however many others say nothing.
    """

    def __init__(self, limits: Limits) -> None:
        """Start with no connection."""
        self._limits = limits
        self._networks: dict[asyncio.Transport, str] = {}
        self._counts: Counter[str] = Counter()
        # Since when, in seconds of the loop; those that have waited longest come first.
        self._waiting: dict[asyncio.Transport, float] = {}
        # Until when, in seconds of the loop, a network is refused.
        self._refused: dict[str, float] = {}

    def admit(self, line: asyncio.Transport) -> bool:
        """Take a new connection, or break it off; return whether it is taken."""
        address = str(line.get_extra_info("peername", ("",))[0])
        network = network_of(address)
        if self._refused.get(network, 0.0) > asyncio.get_running_loop().time():
            line.abort()
            return False
        if not is_console(address) and self._counts[network] >= self._limits.most_of_one:
            others = (one for one in self._waiting if self._networks[one] == network)
            if not self._make_room(others):
                log.warning("%s has %d connections in use: more of it are refused", network, self._counts[network])
                line.abort()
                return False
        elif len(self._networks) >= self._limits.most and not self._make_room(self._waiting):
            log.warning("all %d connections are in use: more are refused", self._limits.most)
            line.abort()
            return False
        self._networks[line] = network
        self._counts[network] += 1
        self.waits(line)
        return True

    def refuse(self, line: asyncio.Transport) -> None:
        """Admit no further connection of this one's visitor for a minute, unless that is this machine itself."""
        network = self._networks.get(line, "")
        if is_console(network):  # a proxy on it brings everybody
            log.warning("this machine sends too much on a WebSocket: it is closed")
            return
        log.warning("%s sends too much on a WebSocket: it is refused for a minute", network)
        self._refused.pop(network, None)
        self._refused[network] = asyncio.get_running_loop().time() + _REFUSED_S
        if len(self._refused) > _MOST_REFUSED:
            del self._refused[next(iter(self._refused))]

    def waits(self, line: asyncio.Transport) -> None:
        """Note that a connection waits for its next request, from now on unless it does already."""
        if line in self._networks:
            self._waiting.setdefault(line, asyncio.get_running_loop().time())

    def is_used(self, line: asyncio.Transport) -> None:
        """Note that a request has come."""
        self._waiting.pop(line, None)

    def forget(self, line: asyncio.Transport) -> None:
        """Note that a connection is gone."""
        self._waiting.pop(line, None)
        network = self._networks.pop(line, None)
        if network is not None:
            self._counts[network] -= 1
            if not self._counts[network]:
                del self._counts[network]

    async def keep(self) -> None:
        """Break off the connections whose request does not come in time, until it is cancelled."""
        within_s, now_s = self._limits.request_within_s, asyncio.get_running_loop().time
        while True:
            for line, since_s in list(self._waiting.items()):
                if now_s() - since_s < within_s:
                    break
                self._break_off(line)
            await asyncio.sleep(within_s / _LOOKS_IN_A_DEADLINE)

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
