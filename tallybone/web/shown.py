"""What a live game and its page have in common: a display that publishes, a camera that is looked over the shoulder."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.phrases import phrase
from tallybone.play.game import Display, Now
from tallybone.session.session import Session
from tallybone.session.sitting import Happened
from tallybone.sources.camera import Camera, Shown
from tallybone.sources.shots import Shot
from tallybone.web.feed import Hub, Taken

_GOES_ON = phrase("the match goes on")


@dataclass(slots=True)
class ShownOnPage:
    """A display of a live game that hands everything to the page too.

    Attributes:
        display: What shows the game to whoever started it.
        hub: Where the page has it from.
        words: Where the page is, for those at the table.
    """

    display: Display
    hub: Hub
    words: str

    def happened(self, happened: Happened) -> None:
        """Show what has been said."""
        if happened.said:
            self.hub.say(happened)
        self.display.happened(happened)

    def goes_on(self, session: Session) -> None:
        """Show that a match goes on."""
        self.hub.say(_GOES_ON)
        self.display.goes_on(session)

    def show(self, now: Now) -> None:
        """Show where the game stands, and where the page is."""
        self.hub.show(now)
        self.display.show(replace(now, page=self.words))

    def note(self, words: str) -> None:
        """Show what the people at the table have to know."""
        self.hub.say(words)
        self.display.note(words)

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        """Show what to type next."""
        self.display.typed(prompt, wants_help=wants_help)


class LookedOver:
    """A camera whose pictures the page sees too: those that the game keeps."""

    def __init__(self, camera: Camera, hub: Hub) -> None:
        """Look through *camera*."""
        self._camera, self._hub = camera, hub

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures."""
        return self._camera.problem

    @property
    def is_over(self) -> bool:
        """Whether nothing will ever come any more."""
        return self._camera.is_over

    def take(self) -> Shown | None:
        """Return what came since the last call; a picture is handed on when it becomes a JPEG."""
        given = self._camera.take()
        return self._handed_on(given) if isinstance(given, Shot) else given

    def now_ns(self) -> int:
        """Return the time that its pictures are stamped with."""
        return self._camera.now_ns()

    def close(self) -> None:
        """Let it go."""
        self._camera.close()

    def _handed_on(self, shot: Shot) -> Shot:
        def jpeg() -> bytes:
            data = shot.jpeg()
            self._hub.see(Taken(data, shot.t_ns))
            return data

        return replace(shot, jpeg=jpeg)
