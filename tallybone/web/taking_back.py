"""The events that take one back, so that nothing is lost by a wrong tap: pure."""

from __future__ import annotations

from dataclasses import replace

from engine import (
    Abandon,
    Amend,
    Entry,
    Event,
    Insert,
    ItStands,
    MatchStart,
    NewHand,
    Redeal,
    Remove,
    Seq,
    State,
    Undo,
    entries,
)
from tallybone.session.inputs import AnswerBack
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand
from tallybone.session.taking_back import as_it_was, done_again, lying_on
from tallybone.web.actions import Action as Asked
from tallybone.web.actions import AnswerQuestion, TakeBack

_FINAL = (MatchStart, NewHand, Redeal, Abandon)
"""With these the table was cleared; undo takes them back."""


def way_back(action: Asked, session: Session, log: int) -> TakeBack | None:
    """Return what takes an action back that was done when the log was so long; *session* is what came of it.

    What is asked again needs no way back: the answer is one tap away.
    """
    if isinstance(action, TakeBack) and action.answer:
        return None
    back = TakeBack(type="take_back", log=log, answer=isinstance(action, AnswerQuestion))
    return back if meant_back(back, session) else None


def meant_back(action: TakeBack, session: Session) -> tuple[ByHand, ...]:
    """Return what takes something back; nothing where that cannot be done any more."""
    if not action.answer:
        return events_back(session.state, action.log)
    answered = session.answered
    return () if answered is None or answered.log != action.log else (AnswerBack(action.log),)


def events_back(state: State, at: int) -> tuple[Event, ...]:
    """Return what takes back the event at this place in the log; nothing where that cannot be done any more."""
    if not 0 <= at < len(state.log):
        return ()
    event, before, now = state.log[at], entries(State(state.log[:at])), entries(state)
    match event:
        case Undo(seq=seq):
            # What was played since would come before what was undone.
            return () if at + 1 < len(state.log) else _played_again(before, seq, at + 1)
        case Remove(seq=seq):
            return _put_back(before, now, seq, len(state.log))
        case Amend(seq=seq) | ItStands(seq=seq):
            old = _find(before, seq)
            return () if old is None or _find(now, seq) is None else as_it_was(old)
        case Insert():
            return () if _find(now, at) is None else (Remove(Seq(at)),)
        case _:
            is_final = isinstance(event, _FINAL) or _find(now, at) is None
            return () if is_final else (Remove(Seq(at)),)


def _played_again(before: tuple[Entry, ...], since: int, next_seq: int) -> tuple[Event, ...]:
    """Return the actions from *since* on, as if they were done now."""
    undone = next((at for at, entry in enumerate(before) if entry.seq == since), len(before))
    return done_again(before[undone:], next_seq)[0]


def _put_back(before: tuple[Entry, ...], now: tuple[Entry, ...], seq: int, next_seq: int) -> tuple[Event, ...]:
    """Return what puts an action back to its place, and the tiles on it onto its new name."""
    place = next((at for at, entry in enumerate(before) if entry.seq == seq), None)
    if place is None or _find(now, seq) is not None:
        return ()
    old = before[place]
    later = next((entry for entry in before[place + 1 :] if _find(now, entry.seq) is not None), None)
    if later is None and now and now[-1].seq > seq:
        return ()
    events: list[Event] = [old.action if later is None else Insert(later.seq, old.action)]
    if old.accepted:
        events.append(ItStands(Seq(next_seq)))
    for entry in now:
        moved = lying_on(entry.action, {Seq(seq): Seq(next_seq)})
        if moved is not entry.action:
            events += as_it_was(replace(entry, action=moved))
    return tuple(events)


def _find(kept: tuple[Entry, ...], seq: int) -> Entry | None:
    return next((entry for entry in kept if entry.seq == seq), None)
