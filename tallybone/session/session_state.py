"""Where a sitting stands, and what comes into it and is said of it: values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from engine import Event, Outcome, Seat, State
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.knocks import Heard
from tallybone.session.referee import Decided, Places, Question, Unclear, decide
from tallybone.session.zones import Zones
from vision.table_view import TableView

Said: TypeAlias = Outcome | Unclear
Came: TypeAlias = TableView | KnockHeard
Input: TypeAlias = Event | Came | Press | Answer | AnswerBack


@dataclass(frozen=True, slots=True)
class Session:
    """Where a sitting stands.

    Attributes:
        state: The match.
        places: Where its tiles lie in the picture.
        questions: What the table is asked.
        t_ns: When the last event came, in nanoseconds of a monotonic clock.
        laid_ns: When a tile was last seen to be laid; None for never.
        heard: Knocks that wait.
        zones: Where boneyard and open hands lie, fixed for the sitting.
        seen: The last look at the table; None before the first.
        looked_ns: When that was; None once it has lain there unchanged for long.
        drawn: The draw that was seen last, and when; None for none.
        answered: The answer that can be taken back; None for none.
    """

    state: State = field(default_factory=State)
    places: Places = field(default_factory=Places)
    questions: tuple[Question, ...] = ()
    t_ns: int = 0
    laid_ns: int | None = None
    heard: tuple[Heard, ...] = ()
    zones: Zones = field(default_factory=Zones)
    seen: TableView | None = None
    looked_ns: int | None = None
    drawn: tuple[Seat, int] | None = None
    answered: Answered | None = None

    @classmethod
    def resumed(cls, state: State, places: Places, *, t_ns: int = 0, zones: Zones | None = None) -> Session:
        """Return the sitting that stood where the match and the places say."""
        found = decide(places, state)
        return cls(state, places, () if isinstance(found, Decided) else found, t_ns, zones=zones or Zones())

    @property
    def open_question(self) -> Unclear | None:
        """What the table has to answer first; None for nothing."""
        return self.questions[-1].unclear if self.questions else None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that was given.

    Attributes:
        before: Where the sitting stood before it.
        since: What was seen and heard after it, and when.
    """

    before: Session
    since: tuple[tuple[Came, int], ...] = ()

    @property
    def log(self) -> int:
        """How long the log of the match was then."""
        return len(self.before.state.log)
