"""Serve the page of an always-on table: before, between and after matches; pass wishes between threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from fastapi import APIRouter

from engine import Phase
from hardware.clock import Clock
from tallybone.play.game import Listener, LiveGame, LiveState
from tallybone.play.start import MatchPlan
from tallybone.sources.shots import Shot
from tallybone.web.access import Access
from tallybone.web.actions import Refusal, Refused
from tallybone.web.feed import CameraPicture, Desk, Hub, Wanted
from tallybone.web.live_page import LivePage
from tallybone.web.snapshot import NO_MATCH, Lobby

_IS_PLAYED = "a match is being played: end it first"


class TablePage:
    """A page that is served until it is closed; a game sees it as its own, the lobby as its own."""

    def __init__(
        self,
        where: str,
        clock: Clock,
        desk: MatchDesk,
        *,
        pin: str | None = None,
        hub: Hub | None = None,
        language: Callable[[], str | None] = lambda: None,
        says_pin: bool = True,
        more: Callable[[Access, TablePage], tuple[APIRouter, ...]],
    ) -> None:
        """Serve at *where*, with *more* paths, which may ask this page; wishes for matches come to *desk*.

        Each match has *pin*, or a new one if none is given; *hub*, *language* and *says_pin* are as for `LivePage`.

        Raises:
            OSError: If it cannot be served there.
        """
        self._desk, self._hub = desk, hub or Hub(clock)
        self._begun: MatchWanted | None = None
        self._ended: MatchWanted | None = None
        self._kept: list[MatchWanted] = []
        self._now: LiveState | None = None
        self._is_played = False
        self._next_pin = pin
        self._live = LivePage(
            where,
            clock,
            pin=pin,
            hub=self._hub,
            language=language,
            says_pin=says_pin,
            more=lambda access: more(access, self),
        )

    @property
    def hub(self) -> Hub:
        """Where the newest of the table is."""
        return self._hub

    @property
    def url(self) -> str:
        """Where it is."""
        return self._live.url

    @property
    def words(self) -> str:
        """Where it is, and its PIN if that may be said."""
        return self._live.words

    @property
    def pin(self) -> str:
        """The PIN of the match that is played or was played last."""
        return self._live.pin

    @property
    def pin_words(self) -> str:
        """The PIN."""
        return self._live.pin_words

    # What a game calls.

    @property
    def listener(self) -> Listener:
        """What shows a game on the page."""
        return self._live.listener

    def see_to(self, live: LiveGame) -> bool:
        """Do what people want; return whether the game goes on."""
        if self._begun is not None:
            self._begun.answer(None)
            self._begun = None
        self._live.see_to(live)
        self._now = live.now
        return all(self._goes_on_after(wanted, live) for wanted in self._desk.came())

    # What the lobby calls.

    def came(self) -> Iterator[MatchWanted]:
        """Yield what is wanted of matches, after telling those who want something of a game that there is none."""
        for wanted in self._hub.desk.came():
            wanted.answer(Refused(Refusal.SENSELESS, NO_MATCH))
        kept, self._kept = self._kept, []
        for one in (*kept, *self._desk.came()):
            if isinstance(one.wish, EndMatch):
                one.answer(Refused(Refusal.CHANGED, NO_MATCH))
            else:
                yield one

    @property
    def is_played(self) -> bool:
        """Whether there is a match, over or not."""
        return self._is_played

    @property
    def is_over(self) -> bool:
        """Whether the match that is played, if one is, is over."""
        game = None if self._now is None else self._now.session.state.game
        return game is not None and game.phase is Phase.MATCH_OVER

    def refuse(self, words: str) -> None:
        """Tell all who want something that it cannot be now."""
        for wanted in self.came():
            wanted.answer(Refused(Refusal.CHANGED, words))

    def begin(self, wanted: MatchWanted) -> None:
        """Get ready for a match; who wants it is told when it runs."""
        self._live.begin_anew(self._next_pin)
        self._begun, self._now, self._is_played = wanted, None, True

    def end(self, problem: str | None = None) -> None:
        """Take that the match is over, or did not begin because of a *problem*; whoever waits for that is told."""
        if self._begun is not None:
            self._begun.answer(None if problem is None else Refused(Refusal.SENSELESS, problem))
        if self._ended is not None:
            self._ended.answer(None)
        self._begun = self._ended = None
        self._is_played = False

    def rest(self, camera: str, problems: tuple[str, ...]) -> None:
        """Show that no match is played, how the camera is and what has to be looked after."""
        self._hub.show_lobby(Lobby(camera, problems, self._now))

    def note(self, words: str) -> None:
        """Show what the people at the table have to know."""
        self._hub.say(words)

    def see(self, shot: Shot) -> None:
        """Show a picture of the camera."""
        self._hub.see(CameraPicture(shot.jpeg(), shot.t_ns))

    def answer(self, do: Callable[[], object]) -> None:
        """Have the page's thread *do* something as soon as it can."""
        self._hub.answer(do)

    def close(self) -> None:
        """Serve no more."""
        self._live.close()

    def _goes_on_after(self, wanted: MatchWanted, live: LiveGame) -> bool:
        """Take a wish while a game is played; return whether it goes on."""
        game = live.session.state.game
        is_over = game is None or game.phase is Phase.MATCH_OVER
        match wanted.wish:
            case EndMatch():
                self._ended = wanted
                return False
            case StartMatch() | ResumeMatch() if is_over:
                self._kept.append(wanted)
                return False
            case _:
                wanted.answer(Refused(Refusal.CHANGED, _IS_PLAYED))
                return True


@dataclass(frozen=True, slots=True)
class StartMatch:
    """A match begins."""

    game: MatchPlan


@dataclass(frozen=True, slots=True)
class ResumeMatch:
    """The newest match that is not over goes on."""


@dataclass(frozen=True, slots=True)
class EndMatch:
    """The match is ended; it may go on another time."""


@dataclass(frozen=True, slots=True)
class TestParts:
    """The parts of the table are tested, one after the other."""

    __test__ = False  # it is no test of pytest


@dataclass(frozen=True, slots=True)
class Calibrate:
    """Camera and table are calibrated, step by step."""


@dataclass(frozen=True, slots=True)
class CheckCalibration:
    """A picture is compared with what is stored."""


@dataclass(frozen=True, slots=True)
class RestoreCalibration:
    """What was replaced so many times ago is stored again."""

    number: int


StoredWish: TypeAlias = Calibrate | CheckCalibration | RestoreCalibration


MatchWish: TypeAlias = StartMatch | ResumeMatch | EndMatch | TestParts | StoredWish
MatchWanted: TypeAlias = Wanted[MatchWish, None]
MatchDesk: TypeAlias = Desk[MatchWish, None]
