"""The page of a live game while it is served: what people ask for there is done in the game's own thread."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import TypeAlias

from fastapi import APIRouter

from tallybone.play.game import Display, LiveGame
from tallybone.sources.camera import Camera, Clock
from tallybone.web.access import Access, new_pin
from tallybone.web.actions import Refused, meant_by, way_back
from tallybone.web.app import make_app
from tallybone.web.feed import Acted, Hub, Outcome, Pictures, Wanted
from tallybone.web.serving import Address, Serving, listen_on
from tallybone.web.shown import LookedOver, ShownOnPage
from tallybone.web.snapshot import Story

MoreRoutes: TypeAlias = Callable[[Access], Iterable[APIRouter]]


def _no_more(access: Access) -> Iterable[APIRouter]:
    return ()


class LivePage:
    """A page that is served until it is closed."""

    def __init__(
        self,
        where: str,
        clock: Clock,
        *,
        pin: str | None = None,
        hub: Hub | None = None,
        language: Callable[[], str | None] = lambda: None,
        says_pin: bool = True,
        more: MoreRoutes = _no_more,
    ) -> None:
        """Serve at *where*, as `serving.listen_on` takes it.

        Args:
            where: A port, or an address and a port; "" for the usual port of the whole network.
            clock: Monotonic, in nanoseconds.
            pin: A new one if none is given.
            hub: Where it has everything from; one of its own if none is given.
            language: Says that of the table, for those who have chosen none.
            says_pin: Whether its words hold the PIN; what goes into a log must not.
            more: Gives paths beside those of a game.

        Raises:
            OSError: If it cannot be served there.
        """
        listening, self._says_pin = listen_on(where), says_pin
        self._address, self.pin = Address.of(listening), pin or new_pin()
        self._hub, self._story = hub or Hub(clock), Story()
        self._access = Access(self.pin, secrets.token_bytes(32), clock)
        app = make_app(self._hub, self._access, Pictures(clock), more=more(self._access), language=language)
        self._serving = Serving(app, listening, self._hub)

    def begin_anew(self, pin: str | None = None) -> None:
        """Get ready for another match: it has a new PIN, and whoever was in is out."""
        self.pin, self._story = pin or new_pin(), Story()
        self._access.renew(self.pin, secrets.token_bytes(32))
        self._hub.begin_anew()

    @property
    def url(self) -> str:
        """Where it is at this moment."""
        return self._address.url

    @property
    def hub(self) -> Hub:
        """Where it has everything from."""
        return self._hub

    @property
    def words(self) -> str:
        """Where it is, whether a network is there, and its PIN if that may be said."""
        network = ("(no network yet)",) if self._address.is_alone else ()
        pin = (self.pin_words,) if self._says_pin else ()
        return "  ".join((f"page {self.url}", *network, *pin))

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
        return Acted(way_back(wanted.action, live.session, len(log)))
