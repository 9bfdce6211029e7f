"""Page of an always-on table, before, between and after matches, and the search for a match to resume."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal, TypeAlias

from fastapi import APIRouter

from engine import EngineError, MatchStart, Phase
from engine.phrases import phrase
from hardware.part import Clock
from tallybone.play.game import LiveGame, LiveState
from tallybone.play.start import MatchPlan, newest_left, state_of
from tallybone.recording.format import RecordingError
from tallybone.sources.source import Shot
from tallybone.web.access.access import Access
from tallybone.web.access.visitors import THIS_MACHINE, KnownHosts
from tallybone.web.live.actions import Refusal, Refused
from tallybone.web.live.feed import CameraPicture, Desk, LiveFeed, Wanted
from tallybone.web.live.page import LivePage
from tallybone.web.live.snapshot import NO_MATCH, Lobby

_IS_PLAYED = phrase("a match is being played: end it first")


class TablePage(LivePage):
    """Page for all matches of a table, used by each game and by the lobby between games."""

    def __init__(
        self,
        where: str,
        clock: Clock,
        desk: Requests,
        *,
        pin: str | None = None,
        feed: LiveFeed,
        language: Callable[[], str | None],
        says_pin: bool,
        hosts: KnownHosts = THIS_MACHINE,
        more: Callable[[Access, TablePage], tuple[APIRouter, ...]],
    ) -> None:
        """Serve at *where* with additional routes *more*. Requests for matches arrive at *desk*.

        Every match uses *pin*, or a new PIN if it is None. Other arguments are as for `LivePage`.

        Raises:
            OSError: If the page cannot be served at *where*.
        """
        self._desk = desk
        self._started: PendingRequest | None = None
        self._ended: PendingRequest | None = None
        self._kept: list[PendingRequest] = []
        self._now: LiveState | None = None
        self.is_played = False
        """Whether there is a match, even if it is over."""
        self._next_pin = pin
        super().__init__(
            where,
            clock,
            pin=pin,
            feed=feed,
            language=language,
            says_pin=says_pin,
            hosts=hosts,
            more=lambda access: more(access, self),
        )

    # Called by a game.

    def see_to(self, live: LiveGame) -> bool:
        """Handle requests from viewers. Return False if the game is to end."""
        if self._started is not None:
            self._started.answer(None)
            self._started = None
        super().see_to(live)
        self._now = live.now
        return all(self._continues_after(wanted, live) for wanted in self._desk.pending())

    # Called by the lobby.

    def pending(self) -> Iterator[PendingRequest]:
        """Remove and yield the pending requests to the table. Refuse those that need a running game."""
        for wanted in self.feed.desk.pending():
            wanted.answer(Refused(Refusal.SENSELESS, NO_MATCH))
        kept, self._kept = self._kept, []
        for request in (*kept, *self._desk.pending()):
            if request.request is PlainRequest.END_MATCH:
                request.answer(Refused(Refusal.CHANGED, NO_MATCH))
            else:
                yield request

    @property
    def is_over(self) -> bool:
        """True if the current or last match is over. False without a match."""
        game = None if self._now is None else self._now.session.state.game
        return game is not None and game.phase is Phase.MATCH_OVER

    def names_now(self, players: tuple[str, ...]) -> tuple[str, ...]:
        """Return *players* with their new names and places, if the current or last match began with them."""
        state = None if self._now is None else self._now.session.state
        if state is None or state.game is None or not isinstance(start := state.log[0], MatchStart):
            return players
        return state.game.players if start.players == players else players

    def refuse(self, text: str) -> None:
        """Refuse all pending requests, with *text* as the reason for those that need no game."""
        for wanted in self.pending():
            wanted.answer(Refused(Refusal.CHANGED, text))

    def begin(self, wanted: PendingRequest) -> None:
        """Prepare for a match. The request for it is answered when the match runs."""
        self.restart(self._next_pin)
        self._started, self._now, self.is_played = wanted, None, True

    def end(self, problem: str | None = None) -> None:
        """End the match, or abort it because of a *problem*, and answer the requests that wait for its begin or end."""
        if self._started is not None:
            self._started.answer(None if problem is None else Refused(Refusal.SENSELESS, problem))
        if self._ended is not None:
            self._ended.answer(None)
        self._started = self._ended = None
        self.is_played = False

    def rest(self, camera: str, problems: tuple[str, ...]) -> None:
        """Show the lobby, with the state of the camera and the problems of the table."""
        self.feed.show_lobby(Lobby(camera, problems, self._now))

    def see(self, shot: Shot) -> None:
        """Show a camera image."""
        self.feed.see(CameraPicture(shot.jpeg(), shot.t_ns))

    def _continues_after(self, wanted: PendingRequest, live: LiveGame) -> bool:
        """Handle a request to the table during a game. Return False if the game is to end."""
        game = live.session.state.game
        is_over = game is None or game.phase is Phase.MATCH_OVER
        match wanted.request:
            case PlainRequest.END_MATCH:
                self._ended = wanted
                return False
            case MatchPlan() | PlainRequest.RESUME_MATCH if is_over:
                self._kept.append(wanted)
                return False
            case _:
                wanted.answer(Refused(Refusal.CHANGED, _IS_PLAYED))
                return True


@dataclass(frozen=True, slots=True)
class RestoreCalibration:
    """Request to restore the calibration backup with a number."""

    number: int


class PlainRequest(Enum):
    """A request without parameters."""

    RESUME_MATCH = "the newest unfinished match resumes"
    END_MATCH = "the match ends; it can be resumed"
    TEST_PARTS = "the parts of the table are tested in turn"
    CALIBRATE = "camera and table are calibrated, step by step"
    CHECK_CALIBRATION = "a picture is compared with the stored calibration"
    FORGET_KNOCKS = "knocks learned in matches are deleted"


CalibrationRequest: TypeAlias = (
    Literal[PlainRequest.CALIBRATE, PlainRequest.CHECK_CALIBRATION, PlainRequest.FORGET_KNOCKS] | RestoreCalibration
)
TableRequest: TypeAlias = MatchPlan | RestoreCalibration | PlainRequest
PendingRequest: TypeAlias = Wanted[TableRequest, None]
Requests: TypeAlias = Desk[TableRequest, None]


# Only so many of the latest recordings are searched. `play --resume-from` can continue any match.
_MAX_RECORDINGS = 3


@dataclass(frozen=True, slots=True)
class LeftMatch:
    """An unfinished match.

    Attributes:
        path: Recording of the match.
        players: Names of the players, by seat.
        totals: Points, by seat.
        written_s: Time at which the recording was last written, as Unix time in seconds.
    """

    path: Path
    game: str
    players: tuple[str, ...]
    totals: tuple[int, ...]
    written_s: float


class LeftMatches:
    """Finds the latest unfinished match in a folder. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        """Prepare to search *folder*."""
        self._folder, self._lock = folder, threading.Lock()
        self._found: LeftMatch | None = None
        self._wanted, self._known = 1, 0  # Unknown until the first search has finished.

    @property
    def is_known(self) -> bool:
        """True if a search has finished since the last call of `look`, or a match has begun since."""
        return self._known == self._wanted

    @property
    def newest(self) -> LeftMatch | None:
        """The latest unfinished match.

        None if there is no such match, during the search, and once another has begun.
        """
        return self._found if self.is_known else None

    def look(self) -> None:
        """Search again in a new thread, after a match has ended."""
        with self._lock:
            self._wanted += 1
        threading.Thread(target=self._look, name="left matches", daemon=True).start()

    def forget(self) -> None:
        """Discard the result, because a match has begun."""
        with self._lock:
            self._wanted += 1
            self._found, self._known = None, self._wanted

    def _look(self) -> None:
        asked = self._wanted
        found = _newest_in(self._folder)
        with self._lock:
            if asked == self._wanted:  # Otherwise the result is outdated.
                self._found, self._known = found, asked


def _newest_in(folder: Path) -> LeftMatch | None:
    try:
        path, left = newest_left(folder, most=_MAX_RECORDINGS)
        game = state_of(left).game
        written_s = path.stat().st_mtime
    except (RecordingError, EngineError, OSError):
        return None
    return None if game is None else LeftMatch(path, left.start.rules, game.players, game.totals, written_s)
