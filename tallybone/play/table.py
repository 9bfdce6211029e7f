"""Run a match at its table: pass on pictures, presses, keys and wishes from the page until it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from hardware.clock import Clock
from tallybone.play.assemble import PreparedMatch
from tallybone.play.counts import Counts
from tallybone.play.game import Listener, Listeners, LiveGame
from tallybone.play.keys import KeyCommand, Keys, Typed
from tallybone.play.parts import LiveParts
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import recorder_of, sitting_of
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.sources.camera import Camera


class Page(Protocol):
    """The page of a live game, as the game sees it."""

    @property
    def words(self) -> str:
        """Where it is and its PIN, in words; "" for no page."""

    @property
    def pin_words(self) -> str:
        """The PIN, for small displays; "" for no page."""

    @property
    def listener(self) -> Listener:
        """The listener that shows a game on the page."""

    def see_to(self, live: LiveGame) -> bool:
        """Do as the visitors of the page wish; return whether the game goes on."""


class NoPage:
    """A live game without a page."""

    words = pin_words = ""
    listener = Listener()

    def see_to(self, live: LiveGame) -> bool:
        """Do nothing: the game goes on."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class TableParts:
    """Everything around a match.

    Attributes:
        camera: The camera over it.
        parts: Lights, buttons, displays.
        page: Where browsers see it.
        clock: Monotonic, in nanoseconds.
        room: Where it is recorded; None for nowhere.
        most_per_s: Most pictures a second that are looked at.
        counts: The counters of this table.
        is_endless: Whether it goes on after the last picture, until somebody ends it.
    """

    camera: Camera
    parts: LiveParts
    page: Page
    clock: Clock
    room: RecordingQuota | None
    most_per_s: float
    counts: Counts = field(default_factory=Counts)
    is_endless: bool = False


class LiveTable:
    """A match at its table: it passes on all that comes from there until the match ends."""

    def __init__(self, match: PreparedMatch, around: TableParts) -> None:
        """Play *match* with what is *around* it.

        Raises:
            EngineError: If it cannot be played so.
            PictureError: If a picture that it needs to go on is damaged.
        """
        self._match, self._around = match, around
        self._keys, self._wants_help = Keys(), False
        self._sitting, self._said = sitting_of(
            match.game, match.reader, t_ns=around.camera.now_ns(), counts=around.counts
        )

    @property
    def session(self) -> Session:
        """Where the sitting stands."""
        return self._sitting.session

    def run(self, shown: Listener, typed: Typed, is_stopped: Callable[[], bool], *, has_terminal: bool = False) -> None:
        """Play until somebody ends the game, or its pictures end and no question is open that can be answered.

        Args:
            shown: Shows the game at the terminal too.
            typed: The keyboard.
            is_stopped: Whether the program is told to end.
            has_terminal: Whether somebody sees the questions in a terminal and can type the answers.
        """
        around, game = self._around, self._match.game
        page = around.page.words
        if page:
            shown.note(page)
        listener = Listeners((around.parts.listener(around.page.pin_words), around.page.listener, shown))
        for words in self._match.words:
            listener.note(words)
        for damage in () if game.left is None else game.left.damage:
            listener.note(f"the recording that goes on is damaged: {damage}; compare the score")
        for why in () if game.left is None else game.left.passed_over:
            listener.note(f"a recording that was written later cannot be read, so an older match goes on: {why}")
        recorder = recorder_of(game, around.room, listener.note, t_ns=self.session.t_ns)
        try:
            live = LiveGame(
                around.camera,
                self._sitting,
                recorder,
                listener,
                clock=around.clock,
                most_per_s=around.most_per_s,
                parts=around.parts,
                page=page,
                counts=around.counts,
                is_endless=around.is_endless,
            )
            if self._said:
                listener.happened(Step(self.session.t_ns, self.session, self._said))
            else:
                listener.goes_on(self.session)
            for one in () if game.left is None else game.left.evidence:
                listener.evidence(one)
            live.run(
                lambda wait_s: self._see_to(typed, wait_s, live, listener),
                is_stopped,
                is_answerable=has_terminal or page != "",
            )
        finally:
            recorder.close()

    def _see_to(self, typed: Typed, wait_s: float, live: LiveGame, listener: Listener) -> bool:
        """Act on table, page and keys, after waiting for keys; return whether the game goes on."""
        around = self._around
        for one in around.parts.came():
            live.pressed(one.item, around.camera.now_ns() - one.ago_ns, is_held=one.is_held)
        if not around.page.see_to(live):
            return False
        for key in typed.pressed(wait_s):
            self._keys, meant = self._keys.after(key, live.session)
            match meant:
                case KeyCommand.QUIT:
                    return False
                case KeyCommand.HELP:
                    self._wants_help = not self._wants_help
                case None:
                    pass
                case _:
                    if not around.parts.pressed(meant):
                        live.pressed(meant)
            listener.typed(self._keys.prompt, wants_help=self._wants_help)
        return True
