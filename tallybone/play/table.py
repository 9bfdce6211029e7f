"""Run a match at its table: forward presses, keys and requests from the page to the game until it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from hardware.part import Clock
from tallybone.play.counts import Counts
from tallybone.play.game import Listener, Listeners, LiveGame
from tallybone.play.keys import KeyCommand, Keys, Typed
from tallybone.play.learning import Learning, Teaching
from tallybone.play.parts import LiveParts
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import PreparedMatch, recorder_of, sitting_of
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.sources.camera import Camera


class Page(Protocol):
    """Interface of the page of a live game."""

    @property
    def text(self) -> str:
        """Address and PIN, as text. "" if there is no page."""

    @property
    def pin_text(self) -> str:
        """PIN for small displays, as text. "" if there is no page."""

    @property
    def listener(self) -> Listener:
        """Listener that shows a game on the page."""

    def see_to(self, live: LiveGame) -> bool:
        """Process the requests of the page. Return False if the game is to end."""


class NoPage:
    """Implementation of `Page` for a game without a page."""

    text = pin_text = ""
    listener = Listener()

    def see_to(self, live: LiveGame) -> bool:
        """Return True without doing anything."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class TableParts:
    """Everything around a match.

    Attributes:
        parts: LEDs, buttons, knock sensors and displays.
        clock: Monotonic clock, in nanoseconds.
        room: Folder and quota of the recordings, or None to record nothing.
        max_per_s: Maximum number of pictures per second to process.
        counts: Counters of the table.
        is_endless: Whether the game continues after the last picture until a person ends it.
    """

    camera: Camera
    parts: LiveParts
    page: Page
    clock: Clock
    room: RecordingQuota | None
    max_per_s: float
    counts: Counts = field(default_factory=Counts)
    is_endless: bool = False


class LiveTable:
    """A match at its table, with camera, parts, page and keyboard."""

    def __init__(self, match: PreparedMatch, around: TableParts) -> None:
        """Prepare to play *match* with the parts *around* it.

        Raises:
            EngineError: If the rules do not allow this number of players.
            PictureError: If a picture of the state to resume is damaged.
        """
        self._match, self._around = match, around
        self._keys, self._wants_help = Keys(), False
        self._sitting, self._announcements = sitting_of(
            match.game, match.reader, t_ns=around.camera.now_ns(), counts=around.counts
        )
        self._learning: Learning | None = None
        if match.knocks is not None:
            around.parts.use(match.knocks.classifier())
            if match.learns:
                self._learning = Learning(match.knocks, self._sitting.session, around.parts.use)
        self._teaching: Teaching | None = None
        if match.tiles is not None:
            own_set, session = match.game.start.own_set, self._sitting.session
            self._teaching = Teaching(match.tiles, match.reader, own_set, match.calibrated, session)

    @property
    def session(self) -> Session:
        """Current session of the sitting."""
        return self._sitting.session

    def run(self, shown: Listener, typed: Typed, is_stopped: Callable[[], bool], *, has_terminal: bool = False) -> None:
        """Run until a person ends the game or the program, or the pictures end and no open question can be answered.

        Args:
            shown: Listener for the terminal.
            typed: The keyboard.
            is_stopped: Returns True if the program should exit.
            has_terminal: Whether questions can be answered in the terminal.
        """
        around, game = self._around, self._match.game
        page = around.page.text
        if page:
            shown.note(page)
        listener = Listeners((around.parts.listener(around.page.pin_text), around.page.listener, shown))
        for text in self._match.text:
            listener.note(text)
        for damage in () if game.left is None else game.left.damage:
            listener.note(f"the resumed recording is damaged: {damage}; check the score")
        for why in () if game.left is None else game.left.passed_over:
            listener.note(why)
        recorder = recorder_of(game, around.room, listener.note, t_ns=self.session.t_ns)
        try:
            live = LiveGame(
                around.camera,
                self._sitting,
                recorder,
                listener,
                clock=around.clock,
                max_per_s=around.max_per_s,
                parts=around.parts,
                page=page,
                counts=around.counts,
                is_endless=around.is_endless,
                learning=self._learning,
                teaching=self._teaching,
                own_set=game.start.own_set,
            )
            if self._announcements:
                listener.happened(Step(self.session.t_ns, self.session, self._announcements))
            else:
                listener.continues(self.session)
            for evidence in () if game.left is None else game.left.evidence:
                listener.evidence(evidence)
            keys, can_answer = partial(self._see_to, typed, live, listener), has_terminal or page != ""
            live.run(keys, is_stopped, is_answerable=can_answer)
        finally:
            recorder.close()
            if self._learning is not None:
                self._learning.learn()

    def _see_to(self, typed: Typed, live: LiveGame, listener: Listener, wait_s: float) -> bool:
        """Process inputs of the parts, the page and the keyboard. Return False to end the game."""
        # Waits up to *wait_s* seconds for keys, after the parts and the page.
        around = self._around
        for pressed in around.parts.read():
            live.pressed(pressed.item, around.camera.now_ns() - pressed.ago_ns, is_held=pressed.is_held)
        for sound, ago_ns in around.parts.take_sounds():
            if self._learning is not None:
                self._learning.heard(sound, around.camera.now_ns() - ago_ns)
        if not around.page.see_to(live):
            return False
        for key in typed.pressed(wait_s):
            self._keys, intended = self._keys.after(key, live.session)
            match intended:
                case KeyCommand.QUIT:
                    return False
                case KeyCommand.HELP:
                    self._wants_help = not self._wants_help
                case None:
                    pass
                case _:
                    if not around.parts.pressed(intended):
                        live.pressed(intended)
            listener.typed(self._keys.prompt, wants_help=self._wants_help)
        return True
