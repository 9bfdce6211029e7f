"""Asks a Nextion whether it is one, and at which speed: the only display that can answer."""

from __future__ import annotations

from collections.abc import Callable

from hardware.display.link import Port

_END = b"\xff\xff\xff"
# What the maker's own editor sends, so that a display that passes bytes through listens again.
_LISTEN = b"DRAKJHSUYDGBNCJHGJKSHBDN" + _END
_CONNECT, _HERE = b"connect" + _END, b"comok"
BAUDS = (9600, 115_200, 19_200, 38_400, 57_600, 4800, 2400, 230_400)
_MS_PER_S = 1000


def doubt_of_nextion(open_at: Callable[[int], Port], baud: int, wait: Callable[[float], None]) -> str:
    """Return what is odd about a Nextion; "" if it answers at the speed at which it is used.

    Args:
        open_at: Opens its wire at so many bits a second.
        baud: At which it is used.
        wait: Waits so many seconds.

    Raises:
        OSError: If the wire cannot be opened.
    """
    for tried in (baud, *(other for other in BAUDS if other != baud)):
        if _answers(open_at(tried), tried, wait):
            return "" if tried == baud else f"it talks at {tried} baud: write baud = {tried} in table.toml"
    return "it does not answer: its TX is not wired, or this is no Nextion"


def _answers(port: Port, baud: int, wait: Callable[[float], None]) -> bool:
    """Return whether a Nextion says that it is there; closes the wire."""
    try:
        port.write(_LISTEN)
        # Its maker's rule: so long it may take until it has read what came before.
        wait((1_000_000 / baud + 30) / _MS_PER_S)
        port.read()
        port.write(_CONNECT)
        wait((1_000_000 / baud + 30) / _MS_PER_S)
        return _HERE in port.read()
    finally:
        port.close()
