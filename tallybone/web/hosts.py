"""Tell the names of this machine from those that a stranger lets point at it (DNS rebinding)."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([\w-]+(?:\.[\w-]+)*)\.?)(?::\d{0,5})?", re.ASCII)
# Nobody can register a name below these, so that only the network at home can let one point anywhere.
_AT_HOME = ("lan", "home", "home.arpa", "internal", "localdomain")


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
