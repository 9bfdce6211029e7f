"""Check host names against DNS rebinding, and identify visitors by their addresses."""

from __future__ import annotations

import re
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from math import ceil
from pathlib import Path

from hardware.part import Clock

_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([\w-]+(?:\.[\w-]+)*)\.?)(?::\d{0,5})?", re.ASCII)
# Names below these domains cannot be registered publicly, so only the local network controls them.
_AT_HOME = ("lan", "home", "home.arpa", "internal", "localdomain")
_CONSOLE = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """Allowed host names of a page.

    Attributes:
        names: Configured names, in lower case.
        told_by: Description of the setting that configures them.
        own_name: Returns the host name of this machine, which may change.
    """

    names: tuple[str, ...] = ()
    told_by: str = "[page] names in table.toml"
    own_name: Callable[[], str] = socket.gethostname

    def knows(self, host: str) -> bool:
        """Return True if a `Host` header contains an address, or a name that an attacker cannot control.

        >>> [THIS_MACHINE.knows(host) for host in ("192.168.1.7:8080", "[::1]", "tallybone.local", "evil.example")]
        [True, True, True, False]
        """
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        if found[1] is not None:
            return _is_address(found[1], of_version=6)
        name = found[2].lower()
        return (
            name == "localhost"
            or name.endswith(".local")
            or _is_address(name, of_version=4)
            or name in self.names
            or name in self._own()
        )

    def _own(self) -> tuple[str, ...]:
        own = self.own_name().lower()
        first = own.partition(".")[0]
        return own, first, *(f"{first}.{domain}" for domain in _AT_HOME)


THIS_MACHINE = KnownHosts()
"""Allowed host names without configured names."""


def _is_address(text: str, *, of_version: int) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return isinstance(address, IPv6Address) == (of_version == 6)


def is_console(address: str) -> bool:
    """Return True if a request comes from this machine: its own browser, or a proxy on it."""
    return str(_parsed(address)) in _CONSOLE


def own_networks(interfaces: Path = Path("/proc/net/if_inet6")) -> tuple[IPv6Network, ...]:
    """Return the IPv6 networks of this machine. Empty if the file *interfaces* is missing."""
    try:
        lines = interfaces.read_text().splitlines()
    except OSError:
        return ()
    fields = [line.split() for line in lines]
    return tuple(IPv6Network((int(address, 16), int(length, 16)), strict=False) for address, _, length, *_ in fields)


@dataclass(frozen=True, slots=True)
class Visitor:
    """A visitor, identified by address.

    Attributes:
        name: Identifies the visitor: an IPv4 address, an IPv6 address in a network of this machine, or any other /64.
        network: The IPv6 network of this machine that contains the visitor, else None. One device can take any number
            of addresses in such a network, so limits also apply to the network as a whole.
    """

    name: str
    network: str | None = None


def visitor_of(address: str, own: Callable[[], Iterable[IPv6Network]] = own_networks) -> Visitor:
    """Return the visitor with an address. *own* returns the networks of this machine.

    All devices of a home share one /64, so they differ only by their full addresses. A visitor from elsewhere may hold
    a whole /64.

    >>> visitor_of("::ffff:10.0.0.1").name, visitor_of("2001:db8::1:2:3:4").name, visitor_of("::1").name
    ('10.0.0.1', '2001:db8::/64', '::1')
    >>> visitor_of("fe80::7%eth0")
    Visitor(name='fe80::7%eth0', network='fe80::/64')
    """
    found = _parsed(address)
    if not isinstance(found, IPv6Address):
        return Visitor(address if found is None else str(found))
    if found.is_loopback:
        return Visitor(str(found))
    around = IPv6Network((int(found), 64), strict=False)
    if found.is_link_local:
        return Visitor(str(found), str(around))
    shared = next((str(network) for network in own() if found in network), None)
    return Visitor(str(around)) if shared is None else Visitor(str(found), shared)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """Parse an address, IPv4-mapped IPv6 as IPv4. None if it is invalid."""
    try:
        found = ip_address(address)
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return found if mapped is None else mapped


_NS_PER_S = 1_000_000_000
_MAX_VISITORS = 500
_MAX_KNOWN = 100


@dataclass(frozen=True, slots=True)
class _Allowance:
    """Token bucket parameters: *burst* tries at once, then one every *every_s* seconds."""

    burst: int
    every_s: int


# Allowances of each visitor and of all together. Visitors together have 7,200 tries a day for a million PINs, so the
# probability of a correct guess in three hours is 1 in 1,000.
_ONE = _Allowance(5, 30)
_ALL = _Allowance(15, 15)
# Allowance of an IPv6 network of this machine, in which a device can use any number of addresses. It leaves half of the
# newcomers' tries to other networks.
_NETWORK = _Allowance(30, 30)
# Allowance of visitors without a wrong guess, once the shared one is used up. It takes sixty visitors to use that one
# up.
_NEWCOMERS = _Allowance(60, 60)


class _Bucket:
    """Token bucket with the remaining tries of an allowance."""

    def __init__(self, allowance: _Allowance, now_ns: int) -> None:
        self._allowance, self._left, self._at_ns = allowance, float(allowance.burst), now_ns

    def wait_s(self, now_ns: int) -> int:
        """Return the number of seconds until the next try is allowed."""
        refill = (now_ns - self._at_ns) / (self._allowance.every_s * _NS_PER_S)
        self._left, self._at_ns = min(float(self._allowance.burst), self._left + refill), now_ns
        return max(0, ceil((1.0 - self._left) * self._allowance.every_s))

    def take(self) -> None:
        """Use up one try."""
        self._left -= 1.0


@dataclass(slots=True)
class _Visitor:
    """Allowance of a visitor, and whether they guessed wrong since they last entered."""

    own: _Bucket
    was_wrong: bool = False


class Tries:
    """Limits wrong guesses. Not thread-safe.

    Each visitor has an allowance. A wrong guess also counts against one that all visitors share, and against one of the
    visitor's IPv6 network. Once the shared allowance is used up, visitors without a wrong guess use the newcomers'
    allowance. For the machine itself and visitors who have entered before, only their own allowance counts.
    """

    def __init__(self, clock: Clock) -> None:
        """Start without guesses. *clock* is monotonic, in nanoseconds."""
        self._clock = clock
        self._all, self._newcomers = _Bucket(_ALL, clock()), _Bucket(_NEWCOMERS, clock())
        self._networks: dict[str, _Bucket] = {}
        self._visitors: OrderedDict[str, _Visitor] = OrderedDict()
        self._known: OrderedDict[str, _Bucket] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """Return the number of seconds that *address* must wait before the next try."""
        return max(bucket.wait_s(self._clock()) for bucket in self._buckets(address))

    def failed(self, address: str) -> None:
        """Count a wrong guess. Check `wait_s` first. Correct guesses do not count, so they never lock anybody out."""
        for bucket in self._buckets(address):
            bucket.take()
        name = visitor_of(address).name
        known = self._known.get(name)
        if known is None:
            self._of(name).was_wrong = True
        elif known.wait_s(self._clock()):
            del self._known[name]

    def succeeded(self, address: str) -> None:
        """Forget the wrong guesses of an address, and remember it as one of the last _MAX_KNOWN that have entered."""
        name = visitor_of(address).name
        self._visitors.pop(name, None)
        self._known.pop(name, None)
        self._known[name] = _Bucket(_ONE, self._clock())
        if len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)

    def _buckets(self, address: str) -> tuple[_Bucket, ...]:
        """Return the allowances against which a wrong guess of an address counts."""
        visitor = visitor_of(address)
        if visitor.name in self._known:
            return (self._known[visitor.name],)
        attempts = self._of(visitor.name)
        if is_console(address):
            return (attempts.own,)
        is_used_up = self._all.wait_s(self._clock()) > 0
        shared = self._newcomers if is_used_up and not attempts.was_wrong else self._all
        if visitor.network is None:
            return attempts.own, shared
        network = self._networks.setdefault(visitor.network, _Bucket(_NETWORK, self._clock()))
        return attempts.own, shared, network

    def _of(self, name: str) -> _Visitor:
        """Return the state of a visitor. Only the _MAX_VISITORS most recent visitors are kept."""
        visitor = self._visitors.setdefault(name, _Visitor(_Bucket(_ONE, self._clock())))
        self._visitors.move_to_end(name)
        while len(self._visitors) > _MAX_VISITORS:
            self._visitors.popitem(last=False)
        return visitor
