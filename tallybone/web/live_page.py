"""Connect a live game with its page: publish its state, and fulfil wishes in the game's thread."""

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
from tallybone.recording.evidence import Evidence
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

_GOES_ON = phrase("the match goes on")


class LivePage:
    """A page that is served until it is closed."""

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
        """Serve at *where*, as `serving.listen_on` takes it.

        Args:
            where: A port, or an address and a port; "" for the usual port of the whole network; or a listening socket.
            clock: Monotonic, in nanoseconds.
            pin: A new one if none is given.
            feed: Gives it the game; one of its own if none is given.
            language: Returns that of the table, for viewers who have chosen none.
            says_pin: Whether its words hold the PIN; those for a log must not.
            hosts: The names by which it may be asked for.
            more: Returns paths beside those of a game.

        Raises:
            OSError: If it cannot be served there.
        """
        listening = listen_on(where) if isinstance(where, str) else where
        self._says_pin = says_pin
        self._address, self.pin = Address.of(listening), pin or new_pin()
        self.feed = feed or LiveFeed(clock)
        self._access = Access(self.pin, secrets.token_bytes(32), clock)
        app = make_app(
            self.feed, self._access, PagePictures(clock), more=more(self._access), language=language, hosts=hosts
        )
        self._serving = Serving(app, listening, self.feed)

    def begin_anew(self, pin: str | None = None) -> None:
        """Get ready for another match: it has a new PIN, and all logins end."""
        self.pin = pin or new_pin()
        self._access.renew(self.pin, secrets.token_bytes(32))
        self.feed.begin_anew()

    @property
    def url(self) -> str:
        """Where it is at this moment."""
        return self._address.url

    @property
    def words(self) -> str:
        """Its address, whether there is a network, and its PIN if that may be shown."""
        network = ("(no network yet)",) if self._address.is_alone else ()
        pin = (self.pin_words,) if self._says_pin else ()
        return "  ".join((f"page {self.url}", *network, *pin))

    @property
    def pin_words(self) -> str:
        """The PIN."""
        return f"PIN {self.pin}"

    @property
    def listener(self) -> Listener:
        """Shows a game on the page."""
        return ShownOnPage(self.feed)

    def see_to(self, live: LiveGame) -> bool:
        """Fulfil wishes; they are answered when the result is published. The game goes on."""
        for wanted in self.feed.desk.came():
            if wanted.done.set_running_or_notify_cancel():  # otherwise nobody waits for it any more
                outcome = self._do(wanted.wish, live)
                live.show()
                wanted.done.set_result(outcome)
        return True

    def close(self) -> None:
        """Serve no more."""
        self._serving.close()

    def _do(self, wanted: PageRequest, live: LiveGame) -> Acted | Refused:
        session = live.session
        log, story = session.state.log, self.feed.story_of(session.state)
        meant = meant_by(wanted.action, session, story, self.feed.log_since(wanted.if_version, log))
        if isinstance(meant, Refused):
            return meant
        for one in meant:
            live.came(one, by=wanted.by)
        return Acted(taking_back(wanted.action, live.session, len(log)))


@dataclass(frozen=True, slots=True)
class ShownOnPage(Listener):
    """Publishes a live game on its page: its state, its words, and the pictures that it looks at."""

    feed: LiveFeed

    def picture(self, jpeg: bytes, t_ns: int) -> None:
        """Show a picture of the camera."""
        self.feed.see(CameraPicture(jpeg, t_ns))

    def happened(self, happened: Step) -> None:
        """Show the words of a step."""
        if happened.said:
            self.feed.say(happened)

    def evidence(self, one: Evidence) -> None:
        """Offer a crop of the picture from which a play or a question was read."""
        self.feed.crops.add(one)

    def goes_on(self, session: Session) -> None:
        """Show that a match goes on."""
        self.feed.say(_GOES_ON)

    def show(self, now: LiveState) -> None:
        """Show the state of the game."""
        self.feed.show(now)

    def note(self, words: str) -> None:
        """Show a note to the people at the table."""
        self.feed.say(words)
