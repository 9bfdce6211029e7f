"""Connect a live game with its page: publish its state, and handle requests in the game's thread."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from socket import socket
from typing import TypeAlias

from fastapi import APIRouter

from engine.phrases import phrase
from hardware.clock import Clock
from tallybone.play.game import Listener, LiveGame, LiveState
from tallybone.recording.resume import Evidence
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.web.access import Access, new_pin
from tallybone.web.actions import Refused
from tallybone.web.app import make_app
from tallybone.web.feed import Acted, CameraPicture, LiveFeed, PagePictures, PageRequest
from tallybone.web.hosts import THIS_MACHINE, KnownHosts
from tallybone.web.meaning import meant_by, taking_back
from tallybone.web.serving import Address, Serving, listen_on

MoreRoutes: TypeAlias = Callable[[Access], Iterable[APIRouter]]

_CONTINUES = phrase("the match goes on")


class LivePage:
    """Page of a live game, served until it is closed."""

    def __init__(
        self,
        where: str | socket,
        clock: Clock,
        *,
        pin: str | None = None,
        feed: LiveFeed | None = None,
        language: Callable[[], str | None] = lambda: None,
        says_pin: bool = True,
        hosts: KnownHosts = THIS_MACHINE,
        more: MoreRoutes = lambda access: (),
    ) -> None:
        """Start serving.

        Args:
            where: A listening socket, or an address as for `serving.listen_on`: a port, an address and port, or "" for
                the default port on all interfaces.
            clock: Monotonic clock in nanoseconds.
            pin: PIN. None for a new one.
            feed: Source of the game. None for a new one.
            language: Returns the default language of the table.
            says_pin: Whether `text` contains the PIN. Set to False if `text` is logged.
            hosts: Allowed host names.
            more: Returns additional routes.

        Raises:
            OSError: If the page cannot be served at *where*.
        """
        listening = listen_on(where) if isinstance(where, str) else where
        self._says_pin = says_pin
        self.address, self.pin = Address.of(listening), pin or new_pin()
        self.feed = feed or LiveFeed(clock)
        self._access = Access(self.pin, secrets.token_bytes(32), clock)
        app = make_app(
            self.feed, self._access, PagePictures(clock), more=more(self._access), language=language, hosts=hosts
        )
        self._serving = Serving(app, listening, self.feed)

    def restart(self, pin: str | None = None) -> None:
        """Prepare for another match, with the PIN *pin* or a new one. All cookies become invalid."""
        self.pin = pin or new_pin()
        self._access.renew(self.pin, secrets.token_bytes(32))
        self.feed.restart()

    @property
    def url(self) -> str:
        """Current address of the page."""
        return self.address.url

    @property
    def text(self) -> str:
        """Address, state of the network, and the PIN if allowed, as text."""
        network = ("(no network yet)",) if self.address.is_alone else ()
        pin = (self.pin_words,) if self._says_pin else ()
        return "  ".join((f"page {self.url}", *network, *pin))

    @property
    def pin_words(self) -> str:
        """The PIN as text."""
        return f"PIN {self.pin}"

    @property
    def listener(self) -> Listener:
        """Listener that shows a game on the page."""
        return ShownOnPage(self.feed)

    def see_to(self, live: LiveGame) -> bool:
        """Handle pending requests, and answer each after its result is published. Always return True."""
        for wanted in self.feed.desk.pending():
            if wanted.done.set_running_or_notify_cancel():  # Otherwise the request was cancelled.
                outcome = self._do(wanted.request, live)
                live.show()
                wanted.done.set_result(outcome)
        return True

    def close(self) -> None:
        """Stop serving."""
        self._serving.close()

    def _do(self, wanted: PageRequest, live: LiveGame) -> Acted | Refused:
        session = live.session
        log, story = session.state.log, self.feed.story_of(session.state)
        intended = meant_by(wanted.action, session, story, self.feed.log_since(wanted.if_version, log))
        if isinstance(intended, Refused):
            return intended
        for each in intended:
            live.feed(each, by=wanted.by)
        return Acted(taking_back(wanted.action, live.session, len(log)))


@dataclass(frozen=True, slots=True)
class ShownOnPage(Listener):
    """Publishes the state, words and images of a live game on its page."""

    feed: LiveFeed

    def picture(self, jpeg: bytes, t_ns: int) -> None:
        """Show a camera image."""
        self.feed.see(CameraPicture(jpeg, t_ns))

    def happened(self, happened: Step) -> None:
        """Show the words of a step, if any."""
        if happened.announcements:
            self.feed.say(happened)

    def evidence(self, evidence: Evidence) -> None:
        """Add a crop of the image from which a play or question was read."""
        self.feed.crops.add(evidence)

    def continues(self, session: Session) -> None:
        """Show that a match was resumed."""
        self.feed.say(_CONTINUES)

    def show(self, now: LiveState) -> None:
        """Show the state of the game."""
        self.feed.show(now)

    def note(self, text: str) -> None:
        """Show a note to players."""
        self.feed.say(text)
