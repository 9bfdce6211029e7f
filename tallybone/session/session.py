"""State of a sitting: the match, its tracked layout, open questions, and input that waits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from engine import Event, Outcome, Seat, State
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.knocks import PendingKnock
from tallybone.session.referee import Decided, Places, Question, Unclear, decide
from tallybone.session.referee.places import Unseen
from tallybone.session.zones import Zones
from vision.tracking.table_view import TableView

Announcement: TypeAlias = Outcome | Unclear
Came: TypeAlias = TableView | KnockHeard
Input: TypeAlias = Event | Came | Press | Answer | AnswerBack


@dataclass(frozen=True, slots=True)
class Session:
    """Where a sitting stands.

    Attributes:
        state: The match.
        places: Where its tiles lie in the picture.
        questions: The open ones.
        t_ns: When the last event came, in nanoseconds of a monotonic clock.
        laid_ns: When a tile was last seen to be laid; None for never.
        heard: Knocks that wait.
        zones: Where boneyard and open hands lie, fixed for the sitting.
        seen: The last look at the table; None before the first.
        looked_ns: When that was; None once it has lain there unchanged for long.
        drawn: The draw that was seen last, and when; None for none.
        answered: The answer that can be taken back; None for none.
        viewed_ns: When the table was last seen settled; None before the first time.
        blind_ns: Since when nobody has seen the table settled, if that is long; None where somebody sees it.
        is_at_rest: Whether the last view showed the table at rest, with nobody in front.
        shown_ns: When the last view came, settled or not; None before the first.
        is_hand_missed: Whether no view came for so long that a whole hand may have been played.
    """

    state: State = field(default_factory=State)
    places: Places = field(default_factory=Places)
    questions: tuple[Question, ...] = ()
    t_ns: int = 0
    laid_ns: int | None = None
    heard: tuple[PendingKnock, ...] = ()
    zones: Zones = field(default_factory=Zones)
    seen: TableView | None = None
    looked_ns: int | None = None
    drawn: tuple[Seat, int] | None = None
    answered: Answered | None = None
    viewed_ns: int | None = None
    blind_ns: int | None = None
    is_at_rest: bool = True
    shown_ns: int | None = None
    is_hand_missed: bool = False

    @classmethod
    def resumed(cls, state: State, places: Places, *, t_ns: int = 0, zones: Zones | None = None) -> Session:
        """Return the sitting that stood where the match and the places say; nobody has seen the table since."""
        deaf = replace(places.unseen or Unseen(places.looks + 1), is_deaf=True)
        places = replace(places, unseen=deaf)
        found = decide(places, state)
        questions = () if isinstance(found, Decided) else found
        return cls(state, places, questions, t_ns, zones=zones or Zones(), blind_ns=t_ns)

    @property
    def open_question(self) -> Unclear | None:
        """The question that the table has to answer first; None for none."""
        return self.questions[-1].unclear if self.questions else None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that was given.

    Attributes:
        before: Where the sitting stood before it.
        since: The views and knocks after it, each with its time.
    """

    before: Session
    since: tuple[tuple[Came, int], ...] = ()

    @property
    def log(self) -> int:
        """How long the log of the match was then."""
        return len(self.before.state.log)
