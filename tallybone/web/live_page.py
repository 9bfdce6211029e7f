"""The page of a live game while it is served: what people ask for there is done in the game's own thread."""

from __future__ import annotations

import secrets

from tallybone.live_camera import Camera, Clock
from tallybone.live_game import Display, LiveGame
from tallybone.web.access import Access, new_pin
from tallybone.web.actions import AnswerQuestion
from tallybone.web.app import make_app
from tallybone.web.hub import Acted, Hub, Outcome, Wanted
from tallybone.web.meant import Refused, meant_by
from tallybone.web.pictures import Pictures
from tallybone.web.serving import Serving, listen_on, url_of
from tallybone.web.shown import LookedOver, ShownOnPage
from tallybone.web.story import Story
from tallybone.web.taking_back import events_back


class LivePage:
    """A page that is served until it is closed."""

    def __init__(self, where: str, clock: Clock, *, pin: str | None = None) -> None:
        """Serve at *where*, as `serving.listen_on` takes it; *pin* is a new one if none is given.

        Raises:
            OSError: If it cannot be served there.
        """
        listening = listen_on(where)
        self.url, self.pin = url_of(listening), pin or new_pin()
        self._hub, self._story = Hub(clock), Story()
        access = Access(self.pin, secrets.token_bytes(32), clock)
        self._serving = Serving(make_app(self._hub, access, Pictures(clock)), listening, self._hub)

    @property
    def words(self) -> str:
        """Where it is and its PIN."""
        return f"page {self.url}  {self.pin_words}"

    @property
    def pin_words(self) -> str:
        """The PIN."""
        return f"PIN {self.pin}"

    def on(self, display: Display) -> Display:
        """Return a display that shows everything on the page too."""
        display.note(self.words)
        return ShownOnPage(display, self._hub, self.words)

    def looking_through(self, camera: Camera) -> Camera:
        """Return a camera whose pictures are on the page too."""
        return LookedOver(camera, self._hub)

    def see_to(self, live: LiveGame, display: Display) -> bool:
        """Do what people want; they are answered when it is published. The game goes on."""
        for wanted in self._hub.came():
            if wanted.done.set_running_or_notify_cancel():  # otherwise nobody waits for it any more
                outcome = self._do(wanted, live)
                display.show(live.now)
                wanted.done.set_result(outcome)
        return True

    def close(self) -> None:
        """Serve no more."""
        self._serving.close()

    def _do(self, wanted: Wanted, live: LiveGame) -> Outcome:
        session = live.session
        self._story = self._story.after(session.state)
        log = session.state.log
        meant = meant_by(wanted.action, session, self._story, self._hub.log_since(wanted.if_version, log))
        if isinstance(meant, Refused):
            return meant
        for one in meant:
            live.came(one, by=wanted.by)
        can_go_back = not isinstance(wanted.action, AnswerQuestion) and bool(events_back(live.session.state, len(log)))
        return Acted(len(log) if can_go_back else None)
