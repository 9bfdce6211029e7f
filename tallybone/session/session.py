"""State of a sitting: the match, its tracked layout, open questions and pending input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from engine import Event, Outcome, Seat, State
from tallybone.session.inputs import Answer, AnswerBack, KnockHeard, Press
from tallybone.session.knocks import PendingKnock
from tallybone.session.referee import Ambiguity, Places, Question, Resolution, decide
from tallybone.session.referee.places import Unseen
from tallybone.session.zones import Zones
from vision.reader.custom_set import RecordedSet
from vision.tracking.table_view import TableView

Announcement: TypeAlias = Outcome | Ambiguity
# Of consecutive unchanged looks after an answer, only the first and the last are kept. A count has to be seen twice.
_ALIKE = 2
Sensed: TypeAlias = TableView | KnockHeard
Input: TypeAlias = Event | Sensed | Press | Answer | AnswerBack | RecordedSet


@dataclass(frozen=True, slots=True)
class Session:
    """State of a sitting. All times are nanoseconds of a monotonic clock.

    Attributes:
        state: The match.
        places: Its tracked layout.
        questions: The open questions.
        t_ns: Time of the last event.
        laid_ns: Time at which the last new tile was seen, or None.
        heard: Knocks that are not classified yet.
        zones: Zones of boneyard and open hands, fixed during a sitting.
        seen: Last look at the table, or None before the first.
        looked_ns: Time of that look. None once the unchanged table has been counted as a second look.
        drawn: Seat and time of the last draw that the camera saw, or None.
        answered: Answer that can be withdrawn, or None.
        viewed_ns: Time of the last settled view, or None before the first.
        blind_ns: Start of the current gap of at least BLIND_NS without a settled view, or None.
        is_at_rest: The last view showed the table at rest, with nobody in front.
        shown_ns: Time of the last view, settled or not, or None before the first.
        is_hand_missed: No view came for at least A_HAND_NS, so a whole hand may have been played.
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
        """Return the session of a stored match and its places. The time since it was stored is a gap."""
        unseen = replace(places.unseen or Unseen(places.looks + 1), is_deaf=True)
        places = replace(places, unseen=unseen)
        verdict = decide(places, state)
        questions = () if isinstance(verdict, Resolution) else verdict
        return cls(state, places, questions, t_ns, zones=zones or Zones(), blind_ns=t_ns)

    @property
    def open_question(self) -> Ambiguity | None:
        """Question to be answered next, or None."""
        return self.questions[-1].ambiguity if self.questions else None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that can still be withdrawn.

    Attributes:
        before: State of the sitting before the answer.
        since: Views and knocks after the answer, each with its time. Some unchanged views are omitted.
    """

    before: Session
    since: tuple[tuple[Sensed, int], ...] = ()

    @property
    def log(self) -> int:
        """Length of the match log before the answer."""
        return len(self.before.state.log)


def without_alike(since: tuple[tuple[Sensed, int], ...], event: Sensed) -> tuple[tuple[Sensed, int], ...]:
    """Return the views and knocks, without the last if the last two and *event* are all views without changes."""
    last = [*(sensed for sensed, _ in since[-_ALIKE:]), event]
    is_alike = len(last) > _ALIKE and all(isinstance(sensed, TableView) and not sensed.changes for sensed in last)
    return since[:-1] if is_alike else since
