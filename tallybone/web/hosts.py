"""Check host names against DNS rebinding, and identify visitors by their addresses."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path

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
