"""Nextion HMI: a page to instructions. docs/nextion.md says how to build the page it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hardware.display.display import DisplayError
from hardware.display.driver import DisplayEmulation, SerialDisplay
from hardware.display.encoder import Burst, DisplayLook, WireTiming
from hardware.display.link import BytePort
from hardware.display.nextion_page import FIELDS, MESSAGE_CHARACTERS, NAME_CHARACTERS, PLAYERS, POINTS_CHARACTERS
from hardware.display.page import DisplayPage
from hardware.display.rows import points_text, provisional_mark
from hardware.display.serial_port import serial_port
from hardware.display.text import NEXTION_CHARACTERS, reduce_text

if TYPE_CHECKING:  # a table starts without them
    from hardware.display.emulation.intake import Emulated

_END = b"\xff\xff\xff"
_BUFFER_BYTES = 512  # of 1024
_BYTE_NS = 0
# A component takes a few milliseconds to draw; the first after a wake-up a quarter of a second, which the buffer bears.
_DRAWS_NS = 5_000_000
_REFRESH_NS = 900_000_000
_SCREEN_NS = 2_500_000_000
# Ends whatever was begun. Where that took only a part of it, the rest spoils the next instruction, which matters not.
_RESYNC = _END + b"bkcmd=2" + _END
# The maker's own editor sends this, so that a display that passes bytes through listens again.
_LISTEN = b"DRAKJHSUYDGBNCJHGJKSHBDN" + _END
_CONNECT, _HERE = b"connect" + _END, b"comok"
BAUDS = (9600, 115_200, 19_200, 38_400, 57_600, 4800, 2400, 230_400)
_MS_PER_S = 1000
_STARTED, _READY, _OVERFLOW = b"\x00\x00\x00" + _END, b"\x88" + _END, b"\x24" + _END


@dataclass(frozen=True, slots=True)
class Nextion:
    """A Nextion with the page of docs/nextion.md. It shows four players; more in turns.

    Attributes:
        baud: What its page sets; 9600 as it comes.
    """

    baud: int = 9600

    @property
    def wire(self) -> WireTiming:
        """How quickly it can be talked to."""
        return WireTiming(self.baud, _BUFFER_BYTES, _BYTE_NS, _REFRESH_NS)

    @property
    def setup(self) -> tuple[Burst, ...]:
        """Nothing: it is told nothing that it would store."""
        return ()

    def look(self, page: DisplayPage, t_ns: int) -> DisplayLook:
        """Return the texts of `FIELDS`."""
        groups = max(1, -(-len(page.scores) // PLAYERS))
        first = t_ns // _SCREEN_NS % groups * PLAYERS
        fields: list[str] = []
        for score in page.scores[first : first + PLAYERS]:
            name = reduce_text(score.name, NEXTION_CHARACTERS)[:NAME_CHARACTERS]
            mark = provisional_mark(score, NEXTION_CHARACTERS)
            points = mark + points_text(score.points, POINTS_CHARACTERS - len(mark))
            fields += (name, points, ">" if score.is_turn else "")
        fields += [""] * (len(FIELDS) - 1 - len(fields))
        return (*fields, reduce_text(page.message, NEXTION_CHARACTERS)[:MESSAGE_CHARACTERS])

    def encode(self, look: DisplayLook, before: DisplayLook | None) -> tuple[Burst, ...]:
        """Return an instruction for each text that changes, or a resync and all of them."""
        if before is None:
            return (Burst(_RESYNC), *(_told(name, text) for name, text in zip(FIELDS, look, strict=True)))
        triples = zip(FIELDS, look, before, strict=True)
        return tuple(_told(name, text) for name, text, old in triples if text != old)

    def is_lost(self, heard: bytes) -> bool:
        """Say whether it has just started, or lost bytes."""
        return any(said in heard for said in (_STARTED, _READY, _OVERFLOW))


def _told(name: str, text: str) -> Burst:
    return Burst(f'{name}.txt="{text}"'.encode("ascii") + _END, _DRAWS_NS)


def doubt_of_nextion(open_at: Callable[[int], BytePort], baud: int, wait: Callable[[float], object]) -> str:
    """Return why a Nextion seems wrong; "" if it answers at the speed at which it is used.

    Args:
        open_at: Opens its wire at a number of bits a second.
        baud: The speed at which it is used.
        wait: Waits a number of seconds.

    Raises:
        OSError: If the wire cannot be opened.
    """
    for tried in (baud, *(other for other in BAUDS if other != baud)):
        if _answers(open_at(tried), tried, wait):
            return "" if tried == baud else f"it talks at {tried} baud: write baud = {tried} in table.toml"
    return "it does not answer: its TX is not wired, or this is no Nextion"


def _answers(port: BytePort, baud: int, wait: Callable[[float], object]) -> bool:
    """Return whether a Nextion answers; closes the wire."""
    try:
        port.write(_LISTEN)
        # Its maker's rule: so long it may take to read the bytes before.
        reads_s = (1_000_000 / baud + 30) / _MS_PER_S
        wait(reads_s)
        port.read()
        port.write(_CONNECT)
        wait(reads_s)
        return _HERE in port.read()
    finally:
        port.close()


def _draw(screen: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line for each player, and the message."""
    lines = []
    for first in range(0, 3 * PLAYERS, 3):
        name, points, turn = screen[first : first + 3]
        lines.append(f"{turn:1} {name:<{NAME_CHARACTERS}} {points:>{POINTS_CHARACTERS}}")
    return (*lines, screen[-1])


def _emulated(baud: int) -> Emulated:
    from hardware.display.emulation.nextion import EmulatedNextion

    return EmulatedNextion(baud=baud)


class NextionDriver(SerialDisplay):
    """A Nextion HMI with the page of docs/nextion.md."""

    driver: Literal["nextion"]

    emulations = (DisplayEmulation("nextion", "Nextion", _emulated, _draw),)

    @property
    def encoder(self) -> Nextion:
        """What turns pages into bytes."""
        return Nextion(self.baud)

    def doubt(self, wait: Callable[[float], object]) -> str:
        """Ask it whether it is one."""
        try:
            doubt = doubt_of_nextion(lambda baud: serial_port(self.url, baud)(), self.baud, wait)
        except (OSError, DisplayError):
            return ""  # the trial with a word reports that it cannot be opened
        return f"{self.url}: {doubt}" if doubt else ""
