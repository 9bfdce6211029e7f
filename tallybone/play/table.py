"""A game at its table: what is seen, pressed, typed and asked for on the page goes to it, until it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tallybone.play.counts import Counts
from tallybone.play.game import Display, LiveGame
from tallybone.play.keys import Keys, Leave
from tallybone.play.parts import LiveParts
from tallybone.play.recorder import Room
from tallybone.play.start import Game, recorder_of, sitting_of
from tallybone.session.session import Session
from tallybone.session.sitting import Happened
from tallybone.sources.camera import Camera, Clock
from vision.reader import Reader


class Typed(Protocol):
    """What is typed, such as `tallybone.play.keys.Keyboard`."""

    def pressed(self, wait_s: float) -> str:
        """Return the keys that were pressed since the last call, after up to so many seconds; "" for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is around a game.

    Attributes:
        camera: What looks at it.
        parts: Lights, buttons, displays.
        page: Where browsers see it.
        clock: Monotonic, in nanoseconds.
        reader: What reads tiles.
        room: Where it is recorded; None for nowhere.
        most_per_s: Most pictures a second that are looked at.
        counts: What is counted at this table.
    """

    camera: Camera
    parts: LiveParts
    page: Page
    clock: Clock
    reader: Reader
    room: Room | None
    most_per_s: float
    counts: Counts = field(default_factory=Counts)


class LiveTable:
    """Puts a game together and sees to all that is around it."""

    def __init__(self, game: Game, around: Around, about: tuple[str, ...] = ()) -> None:
        """Play *game*; the players are told *about* it at the beginning, a sentence each.

        Raises:
            EngineError: If it cannot be played so.
            PictureError: If a picture that it needs to go on is damaged.
        """
        self._game, self._around, self._about = game, around, about
        self._keys, self._wants_help = Keys(), False
        self._sitting, self._said = sitting_of(game, around.reader, t_ns=around.camera.now_ns(), counts=around.counts)

    @property
    def session(self) -> Session:
        """Where the sitting stands."""
        return self._sitting.session

    def run(self, shown: Display, typed: Typed, is_stopped: Callable[[], bool]) -> None:
        """Play until somebody ends it or nothing will ever come; all of it is *shown* at the terminal too."""
        around = self._around
        display = around.parts.on(around.page.on(shown), first=around.page.pin_words)
        for words in self._about:
            display.note(words)
        for damage in () if self._game.left is None else self._game.left.damage:
            display.note(f"the recording that goes on is damaged: {damage}; compare the score")
        recorder = recorder_of(self._game, around.room, display.note, t_ns=self.session.t_ns)
        try:
            live = LiveGame(
                around.camera, self._sitting, recorder, display, clock=around.clock, most_per_s=around.most_per_s
            )
            if self._said:
                display.happened(Happened(self.session.t_ns, self.session, self._said))
            else:
                display.goes_on(self.session)
            live.run(lambda wait_s: self._see_to(typed, wait_s, live, display), is_stopped)
        finally:
            recorder.close()

    def _see_to(self, typed: Typed, wait_s: float, live: LiveGame, display: Display) -> bool:
        """Do what table, page and keys say, after waiting for keys; return whether the game goes on."""
        around = self._around
        for one in around.parts.came():
            live.pressed(one.item, around.camera.now_ns() - one.ago_ns, is_held=one.is_held)
        if not around.page.see_to(live, display):
            return False
        for key in typed.pressed(wait_s):
            self._keys, meant = self._keys.after(key, live.session)
            match meant:
                case Leave.QUIT:
                    return False
                case Leave.HELP:
                    self._wants_help = not self._wants_help
                case None:
                    pass
                case _:
                    if not around.parts.pressed(meant):
                        live.pressed(meant)
            display.typed(self._keys.prompt, wants_help=self._wants_help)
        return True


class Page(Protocol):
    """What a live game has to do with its page."""

    @property
    def words(self) -> str:
        """Where it is and its PIN, in words; "" for no page."""

    @property
    def pin_words(self) -> str:
        """The PIN, for small displays; "" for no page."""

    def on(self, display: Display) -> Display:
        """Return a display that shows everything on the page too."""

    def looking_through(self, camera: Camera) -> Camera:
        """Return a camera whose pictures are on the page too."""

    def see_to(self, live: LiveGame, display: Display) -> bool:
        """Do what people want who look at the page; return whether the game goes on."""


class NoPage:
    """A live game without a page."""

    words = pin_words = ""

    def on(self, display: Display) -> Display:
        """Return the display itself."""
        return display

    def looking_through(self, camera: Camera) -> Camera:
        """Return the camera itself."""
        return camera

    def see_to(self, live: LiveGame, display: Display) -> bool:
        """Do nothing: the game goes on."""
        return True
