"""Follow a sitting: takes frames and other inputs, returns steps with announcements.

Uses no clock, files or devices, so the same inputs give the same steps for a live table, a recording and a video.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from engine import Event, MatchStart, Outcome, Rules, describe
from tallybone.json_values import tag_of, to_json
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.observations import Zones
from tallybone.session.session import Announcement, Session
from vision.reader.custom_set import RecordedSet
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame

ByHand: TypeAlias = Event | Press | KnockHeard | Answer | AnswerBack | RecordedSet
"""An input other than a frame."""

Look: TypeAlias = Callable[[Frame], TableView]
"""Function that reads a frame: `Watch.feed`, or a reader for pictures that are all settled."""

UseSet: TypeAlias = Callable[[RecordedSet], None]
"""Function that changes the tile set with which frames are read."""

# In JSON, "placed" is already used for a tile placed on the table, so the outcome of a play has another name.
_NAMES = {"placed": "played"}


@dataclass(frozen=True, slots=True)
class Step:
    """The effects of a frame or another input.

    Attributes:
        t_ns: Time of the input, in nanoseconds of a monotonic clock.
        session: Session after it.
        events: Events added to the log of the match, in order.
        view: View of the table, or None if the input was not a frame.
        item: The input, or None if it was a frame.
    """

    t_ns: int
    session: Session
    announcements: tuple[Announcement, ...] = ()
    events: tuple[Event, ...] = ()
    view: TableView | None = None
    item: ByHand | None = None

    @property
    def lines(self) -> tuple[dict[str, Any], ...]:
        """The announcements for JSON, in the form of `announcement_line`."""
        session = self.session
        return tuple(announcement_line(announcement, self.t_ns, session) for announcement in self.announcements)


class Sitting:
    """Follows a sitting from its first frame."""

    def __init__(self, look: Look, session: Session, use: UseSet = lambda _: None) -> None:
        """Start from *session*, and read every frame with *look*. *use* changes the tile set with which it reads."""
        self._look, self._use = look, use
        self.session = session

    def feed(self, item: Frame | ByHand, t_ns: int) -> Step:
        """Process the next frame or other input, and return its effects.

        Args:
            item: A frame, event, press, knock, answer, withdrawal of an answer, or tile set to read with.
            t_ns: Its time, in nanoseconds of a monotonic clock.

        Raises:
            VisionError: If a frame cannot be read. The session stays unchanged.
        """
        before = self.session
        if isinstance(item, RecordedSet):
            self._use(item)
        view = self._look(item) if isinstance(item, Frame) else None
        by_hand = None if isinstance(item, Frame) else item
        received = view if view is not None else by_hand
        assert received is not None  # a frame has a view
        self.session, announcements = feed(before, received, t_ns=t_ns)
        events = self.session.state.log[len(before.state.log) :]
        return Step(t_ns, self.session, announcements, events, view, by_hand)


def opened(
    rules: Rules, players: tuple[str, ...], zones: Zones | None = None
) -> tuple[Session, tuple[Announcement, ...]]:
    """Return the session of a new match, and its announcements. *zones* is None for a table without zones.

    Raises:
        EngineError: If *rules* do not allow this number of players.
    """
    return feed(Session(zones=zones or Zones()), MatchStart(rules, players), t_ns=0)


def announcement_line(announcement: Announcement, t_ns: int, session: Session) -> dict[str, Any]:
    """Return an announcement for JSON: time, kind, text for the players, its own fields, and the totals by seat.

    "provisional" is true while the totals are in doubt, or rely on inferred actions nobody confirmed. A question is
    the event "unclear", with its choices. "players" has the names once they differ from those at the start.
    """
    state = session.state
    game = state.game
    players = () if game is None else game.players
    totals = [] if game is None else list(game.totals)
    if isinstance(announcement, Outcome):
        fields = {"text": describe(announcement, players), **to_json(announcement, type(announcement))}
    else:
        choices = list(announcement.choices)
        fields = {"text": announcement.text, "choices": choices}
    kind = kind_of(announcement)
    line = {"t_ns": t_ns, "event": kind, **fields, "totals": totals, "provisional": session.is_provisional}
    start = state.log[0] if state.log else None
    is_changed = isinstance(start, MatchStart) and start.players != players
    return line | {"players": list(players)} if is_changed else line


def kind_of(announcement: Announcement) -> str:
    """Return the kind of an announcement in JSON: "unclear" for a question, else the name of the outcome."""
    if not isinstance(announcement, Outcome):
        return "unclear"
    name = tag_of(type(announcement))
    return _NAMES.get(name, name)
