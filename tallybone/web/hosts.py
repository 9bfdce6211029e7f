"""Tell this machine's names from those that a stranger lets point at it (DNS rebinding), and visitors apart."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address

_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([\w-]+(?:\.[\w-]+)*)\.?)(?::\d{0,5})?", re.ASCII)
# Nobody can register a name below these, so that only the network at home can let one point anywhere.
_AT_HOME = ("lan", "home", "home.arpa", "internal", "localdomain")
_CONSOLE = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """The names by which a page may be asked for.

    Attributes:
        names: Those that the owner has named, in small letters.
        told_by: Where he names them, in words.
        own_name: Returns the name of this machine, which may change.
    """

    names: tuple[str, ...] = ()
    told_by: str = "[page] names in table.toml"
    own_name: Callable[[], str] = socket.gethostname

    def knows(self, host: str) -> bool:
        """Return whether a `Host` header names this machine: by an address, or by a name that nobody else can give.

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
"""Where the owner has named none."""


def _is_address(text: str, *, of_version: int) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return isinstance(address, IPv6Address) == (of_version == 6)


def is_console(address: str) -> bool:
    """Return whether a request comes from this machine itself: from its own browser, or a proxy on it."""
    return network_of(address) in _CONSOLE


def network_of(address: str) -> str:
    """Return what counts as one visitor: an IPv4 address, or a /64 of IPv6, in which a machine has any it wants.

    >>> network_of("::ffff:10.0.0.1"), network_of("fd00::1:2:3:4"), network_of("::1"), network_of("")
    ('10.0.0.1', 'fd00::/64', '::1', '')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(found) if found.is_loopback else str(IPv6Network((int(found), 64), strict=False))
