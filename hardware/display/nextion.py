"""Nextion HMI: a page to instructions. docs/nextion.md says how to build the page it shows."""

from __future__ import annotations

from dataclasses import dataclass

from hardware.display.encoder import Burst, DisplayLook, WireTiming
from hardware.display.page import DisplayPage
from hardware.display.rows import points_text, provisional_mark
from hardware.display.text import NEXTION_CHARACTERS, reduce_text

PLAYERS = 4
NAME_CHARACTERS, POINTS_CHARACTERS, MESSAGE_CHARACTERS = 12, 5, 60
FIELDS = (*(f"{kind}{seat}" for seat in range(PLAYERS) for kind in "npt"), "msg")
"""Text components of the page, by their names: for each seat its name, points and turn, then the message."""

_END = b"\xff\xff\xff"
_BUFFER_BYTES = 512  # of 1024
_BYTE_NS = 0
# A component takes a few milliseconds to draw; the first after a wake-up a quarter of a second, which the buffer bears.
_DRAWS_NS = 5_000_000
_REFRESH_NS = 900_000_000
_SCREEN_NS = 2_500_000_000
# Ends whatever was begun. Where that took only a part of it, the rest spoils the next instruction, which matters not.
_RESYNC = _END + b"bkcmd=2" + _END
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
