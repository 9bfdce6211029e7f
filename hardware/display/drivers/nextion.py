"""Nextion HMI display. docs/reference/nextion.md explains how to build its page, which shows four players at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hardware.display import page as pages
from hardware.display.display import BytePort, DisplayError, serial_port
from hardware.display.drivers import SerialDisplay

# Components of the page of docs/reference/nextion.md, and their lengths in characters.
PLAYERS = 4
NAME_CHARACTERS = 12
POINTS_CHARACTERS = 5
MESSAGE_CHARACTERS = 60
FIELDS = (*(f"{kind}{seat}" for seat in range(PLAYERS) for kind in "npt"), "msg")
"""Names of the text components: name, points and turn mark of each seat, then the message."""
_END = b"\xff\xff\xff"
_BUFFER_BYTES = 512  # half of the display's 1024
_BYTE_NS = 0
# Drawing a component takes a few milliseconds. The first one after a wake-up takes 250 ms, which the buffer absorbs.
_DRAWS_NS = 5_000_000
_REFRESH_NS = 900_000_000
_SCREEN_NS = 2_500_000_000
# Terminates an incomplete instruction. If the display needs only part of the terminator for it, the rest harmlessly
# invalidates "bkcmd".
_RESYNC = _END + b"bkcmd=2" + _END
# Sent by the Nextion editor to end the pass-through mode of a display.
_LISTEN = b"DRAKJHSUYDGBNCJHGJKSHBDN" + _END
_CONNECT = b"connect" + _END
_CONNECT_REPLY = b"comok"
BAUDS = (9600, 115_200, 19_200, 38_400, 57_600, 4800, 2400, 230_400)
_MS_PER_S = 1000
_STARTED = b"\x00\x00\x00" + _END
_READY = b"\x88" + _END
_OVERFLOW = b"\x24" + _END


class NextionDriver(SerialDisplay):
    """A Nextion HMI with the page of docs/reference/nextion.md."""

    driver: Literal["nextion"]

    @property
    def wire(self) -> pages.WireTiming:
        """Speed at which the display can receive data."""
        return pages.WireTiming(self.baud, _BUFFER_BYTES, _BYTE_NS, _REFRESH_NS)

    def look(self, page: pages.DisplayPage, t_ns: int) -> pages.DisplayLook:
        """Return the texts of `FIELDS`."""
        groups = max(1, -(-len(page.scores) // PLAYERS))
        first = t_ns // _SCREEN_NS % groups * PLAYERS
        fields: list[str] = []
        for score in page.scores[first : first + PLAYERS]:
            name = pages.reduce_text(score.name, pages.NEXTION_CHARACTERS)[:NAME_CHARACTERS]
            mark = pages.provisional_mark(score, pages.NEXTION_CHARACTERS)
            points = mark + pages.points_text(score.points, POINTS_CHARACTERS - len(mark))
            fields += (name, points, ">" if score.is_turn else "")
        fields += [""] * (len(FIELDS) - 1 - len(fields))
        return (*fields, pages.reduce_text(page.message, pages.NEXTION_CHARACTERS)[:MESSAGE_CHARACTERS])

    def encode(self, look: pages.DisplayLook, before: pages.DisplayLook | None) -> tuple[pages.Burst, ...]:
        """Return an instruction for each text that changes, or a resync and instructions for all texts."""
        if before is None:
            return (pages.Burst(_RESYNC), *(_set_text(name, text) for name, text in zip(FIELDS, look, strict=True)))
        triples = zip(FIELDS, look, before, strict=True)
        return tuple(_set_text(name, text) for name, text, old in triples if text != old)

    def is_lost(self, heard: bytes) -> bool:
        """Return True if the display has just started, or reports a buffer overflow."""
        return any(reply in heard for reply in (_STARTED, _READY, _OVERFLOW))

    def doubt(self, wait: Callable[[float], object]) -> str:
        """Return a message if no Nextion answers at the configured baud rate. "" if one does, or the port fails."""
        try:
            problem = nextion_problem(lambda baud: serial_port(self.url, baud)(), self.baud, wait)
        except (OSError, DisplayError):
            return ""  # Reported when the display is opened for its test.
        return f"{self.url}: {problem}" if problem else ""


def _set_text(name: str, text: str) -> pages.Burst:
    return pages.Burst(f'{name}.txt="{text}"'.encode("ascii") + _END, _DRAWS_NS)


def nextion_problem(open_at: Callable[[int], BytePort], baud: int, wait: Callable[[float], object]) -> str:
    """Return a message if no Nextion answers at *baud*, or "" if one does. Tries all other baud rates too.

    Raises:
        OSError: If the port cannot be opened.
    """
    for rate in (baud, *(other for other in BAUDS if other != baud)):
        if _answers(open_at(rate), rate, wait):
            return "" if rate == baud else f"it talks at {rate} baud: write baud = {rate} in table.toml"
    return "no response: its TX is not wired, or it is not a Nextion"


def _answers(port: BytePort, baud: int, wait: Callable[[float], object]) -> bool:
    """Return True if a Nextion answers. Closes the port."""
    try:
        port.write(_LISTEN)
        # Time that the display may need for the preceding bytes, by the manufacturer's rule.
        reads_s = (1_000_000 / baud + 30) / _MS_PER_S
        wait(reads_s)
        port.read()
        port.write(_CONNECT)
        wait(reads_s)
        return _CONNECT_REPLY in port.read()
    finally:
        port.close()
