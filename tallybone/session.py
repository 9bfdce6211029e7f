"""One sitting at the table: what is seen, heard and pressed, in order, and all that has to be shown after each.

Pure: the same events give the same session and the same outcomes. Time comes with the events.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from engine import Amend, Event, ItStands, Knock, NewHand, NodeId, Outcome, Phase, Redeal, Seat, State, apply
from tallybone.inputs import Answer, Button, KnockHeard, Press, event_of
from tallybone.referee import Decided, Places, Question, Unclear, cleared, decide, follow, observe, settled
from vision.perception import ChangeKind, TableView

Said: TypeAlias = Outcome | Unclear
Input: TypeAlias = Event | TableView | Press | KnockHeard | Answer

# A tile that is put down hard sounds like a knock, and is seen once the hand has left and the picture has settled:
# until then a knock says nothing. Players who knock leave the table as it is for longer than this.
KNOCK_WAITS_NS = 2_000_000_000
# A hand that has just laid a tile may touch the table once more as it leaves.
TILE_ECHOES_NS = 300_000_000


# Who knocks twice in this time passes once.
ONE_KNOCK_NS = 700_000_000


@dataclass(frozen=True, slots=True)
class _Heard:
    """A knock of which it is not known yet whether it was a tile."""

    seat: Seat | None
    t_ns: int


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
    """

    state: State = field(default_factory=State)
    places: Places = field(default_factory=Places)
    questions: tuple[Question, ...] = ()
    t_ns: int = 0
    laid_ns: int | None = None
    heard: tuple[_Heard, ...] = ()

    @classmethod
    def resumed(cls, state: State, places: Places, *, t_ns: int = 0) -> Session:
        """Return the sitting that stood where the match and the places say."""
        found = decide(places, state)
        return cls(state, places, () if isinstance(found, Decided) else found, t_ns)

    @property
    def open_question(self) -> Unclear | None:
        """What the table has to answer first; None for nothing."""
        return self.questions[-1].unclear if self.questions else None


def feed(session: Session, event: Input, *, t_ns: int | None = None) -> tuple[Session, tuple[Said, ...]]:
    """Return the session after one more event, and what to tell the players about it.

    Args:
        session: Where the sitting stands.
        event: What was seen, heard, pressed, or said by hand.
        t_ns: When, in nanoseconds of a monotonic clock; None for the time of the event before.
    """
    session = replace(session, t_ns=session.t_ns if t_ns is None else t_ns)
    session, said = _after_knocks(session, event)
    match event:
        case TableView():
            session = _looked(session, event)
        case KnockHeard(seat=seat):
            session = _heard(session, seat)
        case Answer():
            session, more = _answered(session, event)
            said = (*said, *more)
        case Press(button=Button.STACK):
            session = replace(session, places=replace(session.places, wants_stack=True))
        case Press():
            meant = event_of(event, session.state)
            if meant is not None:
                session, more = _happened(session, meant)
                said = (*said, *more)
        case _:
            session, more = _happened(session, event)
            said = (*said, *more)
    session, more = _settle(session)
    return session, (*said, *more)


def _settle(session: Session) -> tuple[Session, tuple[Said, ...]]:
    """Return the session after all that the table tells, and what to say about it; questions once."""
    said: tuple[Said, ...] = ()
    while isinstance(found := decide(session.places, session.state), Decided):
        session, more = _take(session, found)
        said = (*said, *more)
    topics = tuple(one.unclear.topic for one in found)
    fresh = tuple(one.unclear for one in found if one.unclear.topic not in session.places.asked)
    return replace(session, questions=found, places=replace(session.places, asked=topics)), (*said, *fresh)


def _take(session: Session, found: Decided) -> tuple[Session, tuple[Said, ...]]:
    """Return the session after something was decided, by what was seen or by an answer."""
    state = session.state
    said: tuple[Said, ...] = ()
    for event in found.events:
        state, outcomes = apply(state, event)
        said = (*said, *outcomes)
    return replace(session, state=state, places=follow(found.places, state)), said


def _happened(session: Session, event: Event) -> tuple[Session, tuple[Said, ...]]:
    """Return the session after an event that was said by hand."""
    state, said = apply(session.state, event)
    # A new deal begins with an empty table.
    is_dealt = isinstance(event, NewHand | Redeal)
    places = cleared(session.places) if is_dealt else follow(session.places, state)
    if isinstance(event, Amend | ItStands):
        places = settled(places, state, NodeId(event.seq))
    return replace(session, state=state, places=places), said


def _answered(session: Session, answer: Answer) -> tuple[Session, tuple[Said, ...]]:
    """Return the session after an answer; one that answers nothing is ignored."""
    asked = [one for one in session.questions if one.answers and answer.topic in (None, one.unclear.topic)]
    if not asked or not 0 <= answer.choice < len(asked[-1].answers):
        return session, ()
    return _take(session, asked[-1].answers[answer.choice])


def _looked(session: Session, view: TableView) -> Session:
    """Return the session after one more look at the table."""
    is_laid = any(change.kind is ChangeKind.PLACED for change in view.changes)
    laid_ns = session.t_ns if is_laid else session.laid_ns
    return replace(session, places=observe(session.places, view), laid_ns=laid_ns)


def _heard(session: Session, seat: Seat | None) -> Session:
    """Return the session after a knock, which waits until it is clear that it was no tile."""
    game = session.state.game
    is_echo = session.laid_ns is not None and session.t_ns - session.laid_ns < TILE_ECHOES_NS
    if game is None or game.phase not in (Phase.LEAD, Phase.PLAY) or is_echo:
        return session
    if session.heard and session.heard[-1].seat == seat and session.t_ns - session.heard[-1].t_ns < ONE_KNOCK_NS:
        return session
    return replace(session, heard=(*session.heard, _Heard(seat, session.t_ns)))


def _after_knocks(session: Session, event: Input) -> tuple[Session, tuple[Said, ...]]:
    """Return the session once the knocks that wait are known to be passes or a tile, before *event*."""
    is_tile = isinstance(event, TableView) and any(change.kind is ChangeKind.PLACED for change in event.changes)
    passes = [one for one in session.heard if session.t_ns - one.t_ns >= KNOCK_WAITS_NS]
    waiting = session.heard[len(passes) :]
    if is_tile:
        # The last of them was the tile; what was heard before it was not.
        passes, waiting = [*passes, *waiting[:-1]], ()
    session = replace(session, heard=waiting)
    said: tuple[Said, ...] = ()
    for heard in passes:
        game = session.state.game
        whose = None if game is None or game.hand is None else game.hand.turn
        seat = whose if heard.seat is None else heard.seat
        if seat is not None:
            session, more = _happened(session, Knock(seat))
            said = (*said, *more)
    return session, said
