"""What a page shows while no match is played: how the last one ended, and what the camera sees. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.phrases import phrase
from tallybone.plain_text import plain
from tallybone.play.game import Now
from tallybone.session.session import Session
from tallybone.web.shapes import CanShown, EyeShown, LayoutShown, MatchShown, Snapshot, ToldShown
from tallybone.web.snapshot import MOST_TOLD, snapshot_of
from tallybone.web.story import Story

LOBBY = "lobby"
"""The phase of a match that is not played."""
NO_MATCH = phrase("no match is being played")
_NOTHING_PX = (1280, 720)
_USUAL_PIPS = 6


@dataclass(frozen=True, slots=True)
class Lobby:
    """A table at which no match is played.

    Attributes:
        camera: How the camera is, in words.
        problems: What somebody has to look after, in words.
        last: How the last match ended; None for none.
    """

    camera: str
    problems: tuple[str, ...] = ()
    last: Now | None = None

    @property
    def session(self) -> Session | None:
        """Where the last match stood."""
        return None if self.last is None else self.last.session


def lobby_snapshot(lobby: Lobby, told: Sequence[ToldShown], story: Story, *, version: int) -> Snapshot:
    """Return what a page shows; the arguments are those of `snapshot_of`."""
    last = None if lobby.last is None else snapshot_of(lobby.last, told, story, version=version)
    shown = last or _empty(told, version)
    return replace(
        shown,
        match=replace(shown.match, phase=LOBBY),
        players=tuple(replace(player, turn=False) for player in shown.players),
        waits_for=NO_MATCH,
        question=None,
        irregular=(),
        can=CanShown(),
        eye=EyeShown(plain(lobby.camera), None),
        problems=tuple(plain(words) for words in lobby.problems),
    )


def _empty(told: Sequence[ToldShown], version: int) -> Snapshot:
    """Return what a page shows before the first match."""
    return Snapshot(
        version,
        MatchShown("", None, LOBBY, None, None, None, _USUAL_PIPS, 1, over=False, winner=None),
        (),
        NO_MATCH,
        None,
        None,
        tuple(told[:MOST_TOLD]),
        LayoutShown(_NOTHING_PX, (), (), (), (), ()),
        (),
        (),
        CanShown(),
        EyeShown("", None),
        "",
    )
