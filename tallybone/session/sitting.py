"""Follow a whole sitting at the table: frames and inputs go in, steps with announcements come out.

It has no clock, no file and no device: the same input gives the same steps. The same machine follows a live table, a
recording and a video.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from engine import Event, MatchStart, Outcome, Rules, State, describe
from tallybone.json_values import tag_of, to_json
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.session import Announcement, Session
from tallybone.session.zones import Zones
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame

ByHand: TypeAlias = Event | Press | KnockHeard | Answer | AnswerBack
"""The inputs besides pictures."""

Look: TypeAlias = Callable[[Frame], TableView]
"""Follows the table: `Watch.feed`, or a reader of pictures that are all settled."""

# The eye also says that a tile was "placed" on the table; that the rules took it for a play is another thing.
_NAMES = {"placed": "played"}


@dataclass(frozen=True, slots=True)
class Step:
    """The effects of a frame or an input.

    Attributes:
        t_ns: When it came in.
        session: Where the sitting stands after it.
        said: The announcements for the players.
        events: The additions to the log of the match, in this order.
        view: The table, if it was a frame.
    """

    t_ns: int
    session: Session
    said: tuple[Announcement, ...] = ()
    events: tuple[Event, ...] = ()
    view: TableView | None = None

    @property
    def lines(self) -> tuple[dict[str, Any], ...]:
        """The announcements for JSON, each as `said_line` makes it."""
        return tuple(said_line(one, self.t_ns, self.session.state) for one in self.said)


class Sitting:
    """Follows one sitting from its first frame."""

    def __init__(self, look: Look, session: Session) -> None:
        """Start where *session* stands; every frame is looked at by *look*."""
        self._look = look
        self.session = session

    def feed(self, item: Frame | ByHand, t_ns: int) -> Step:
        """Take the next frame or input.

        Args:
            item: A frame, press, knock, answer or correction.
            t_ns: When, in nanoseconds of a monotonic clock.

        Returns:
            Its effects.

        Raises:
            VisionError: If a frame cannot be looked at; the sitting stays as it was.
        """
        before = self.session
        came = self._look(item) if isinstance(item, Frame) else item
        self.session, said = feed(before, came, t_ns=t_ns)
        events = self.session.state.log[len(before.state.log) :]
        return Step(t_ns, self.session, said, events, came if isinstance(came, TableView) else None)


def opened(
    rules: Rules, players: tuple[str, ...], zones: Zones | None = None
) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session of a match that begins, and the announcements; *zones* is None for a table without zones.

    Raises:
        EngineError: If so many cannot play this game.
    """
    return feed(Session(zones=zones or Zones()), MatchStart(rules, players), t_ns=0)


def said_line(said: Announcement, t_ns: int, state: State) -> dict[str, Any]:
    """Return an announcement for JSON: time, kind, words for the players, its own fields, and the totals by seat.

    *provisional* is true while the totals rely on plays that nobody saw or confirmed.
    A question that the eye's doubt has raised is the event "unclear", with the choices of an answer.
    """
    game = state.game
    players = () if game is None else game.players
    totals = [] if game is None else list(game.totals)
    if isinstance(said, Outcome):
        fields = {"words": describe(said, players), **to_json(said, type(said))}
    else:
        fields = {"words": said.words, "choices": list(said.choices), "holds_up": said.holds_up}
    return {"t_ns": t_ns, "event": kind_of(said), **fields, "totals": totals, "provisional": state.is_provisional}


def kind_of(said: Announcement) -> str:
    """Return the kind of an announcement, in one word."""
    if not isinstance(said, Outcome):
        return "unclear"
    name = tag_of(type(said))
    return _NAMES.get(name, name)
