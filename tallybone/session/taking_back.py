"""Go back to an earlier place in the log: by events, because nothing in a log is ever deleted. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile

from engine import (
    Abandon,
    Action,
    Amend,
    Confirmed,
    Entry,
    Event,
    Inferred,
    Insert,
    ItStands,
    MatchStart,
    NewHand,
    NodeId,
    Outcome,
    Play,
    Redeal,
    Remove,
    Seq,
    Spot,
    Stack,
    State,
    Undo,
    apply,
)
from engine import entries as entries_of
from engine.value import changed
from tallybone.session.referee import Places

_FINAL = (MatchStart, NewHand, Redeal, Abandon)
"""Events that clear the table; only undo takes them back."""


def back_to(state: State, length: int) -> tuple[State, tuple[Outcome, ...], dict[Seq, Seq]]:
    """Return the match as it was when its log had this *length*.

    Returns:
        The match, the announcements, and the new names of actions that had to be done again.
    """
    then, now = entries_of(State(state.log[:length])), entries_of(state)
    # As many actions as both begin with, as they are named.
    alike = list(takewhile(lambda pair: pair[0].seq == pair[1].seq, zip(then, now, strict=False)))
    kept = len(alike)
    events: list[Event] = [Undo(now[kept].seq)] if kept < len(now) else []
    for old, one in alike:
        if old != one:
            events += as_it_was(old, one)
    again, names = done_again(then[kept:], len(state.log) + len(events))
    said: tuple[Outcome, ...] = ()
    for event in (*events, *again):
        state, more = apply(state, event)
        said = (*said, *more)
    return state, said, names


def as_it_was(old: Entry, now: Entry) -> tuple[Event, ...]:
    """Return the events that restore an action from what it is *now*."""
    if replace(now, inferred=old.inferred) == old:  # only the mark differs, so no score changes
        return (Inferred((old.seq,)) if old.inferred else Confirmed((old.seq,)),)
    return (Amend(old.seq, old.action), *as_marked(old, old.seq))


def done_again(entries: Iterable[Entry], next_seq: int) -> tuple[tuple[Event, ...], dict[Seq, Seq]]:
    """Return actions as if they were done now, and their new names; tiles on one another stay on one another."""
    names: dict[Seq, Seq] = {}
    events: list[Event] = []
    for entry in entries:
        names[entry.seq] = Seq(next_seq + len(events))
        events += (lying_on(entry.action, names), *as_marked(entry, names[entry.seq]))
    return tuple(events), names


def as_marked(entry: Entry, seq: Seq) -> tuple[Event, ...]:
    """Return the events that accept and mark the action at *seq* as *entry* is."""
    accepted = (ItStands(seq),) if entry.accepted else ()
    return (*accepted, Inferred((seq,))) if entry.inferred else accepted


def lying_on(action: Action, names: Mapping[Seq, Seq]) -> Action:
    """Return an action with the tile that it lies on under its new name."""
    match action:
        case Play(at=Spot(host=host, port=port)) if Seq(host) in names:
            return changed(action, at=Spot(NodeId(names[Seq(host)]), port))
        case Stack(on=on) if Seq(on) in names:
            return changed(action, on=NodeId(names[Seq(on)]))
        case _:
            return action


def renamed(places: Places, names: Mapping[Seq, Seq], next_seq: Seq) -> Places:
    """Return the places with all that was done again under its new name; *next_seq* is that of the next event."""
    if not names:
        return places

    def name(seq: Seq) -> Seq:
        return names.get(seq, seq)

    known = tuple(
        replace(one, laid=replace(one.laid, node=NodeId(name(Seq(one.node))))) if Seq(one.node) in names else one
        for one in places.known
    )
    around = places.around
    later = [new for old, new in names.items() if old >= around.yard.seq]
    yard = replace(around.yard, seq=min(later, default=next_seq), caused=tuple(name(seq) for seq in around.yard.caused))
    hands = tuple(replace(hand, shown=None if hand.shown is None else name(hand.shown)) for hand in around.hands)
    lead = None if around.lead_by_side is None else name(around.lead_by_side)
    return replace(places, known=known, around=replace(around, yard=yard, hands=hands, lead_by_side=lead))


def events_back(state: State, at: int) -> tuple[Event, ...]:
    """Return the events that take back the one at this place in the log; empty if that is no longer possible."""
    if not 0 <= at < len(state.log):
        return ()
    event, before, now = state.log[at], entries_of(State(state.log[:at])), entries_of(state)
    match event:
        case Undo(seq=seq):
            # Later plays would come before the undone ones.
            return () if at + 1 < len(state.log) else _played_again(before, seq, at + 1)
        case Remove(seq=seq):
            return _put_back(before, now, seq, len(state.log))
        case Amend(seq=seq) | ItStands(seq=seq):
            old, current = _find(before, seq), _find(now, seq)
            return () if old is None or current is None else as_it_was(old, current)
        case Confirmed(seqs=seqs):
            again = {entry.seq for entry in before if entry.inferred and entry.seq in seqs}
            marked = tuple(entry.seq for entry in now if entry.seq in again)
            return (Inferred(marked),) if marked else ()
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
    """Return the events that restore a removed action, and move the tiles played on it to its new name."""
    place = next((at for at, entry in enumerate(before) if entry.seq == seq), None)
    if place is None or _find(now, seq) is not None:
        return ()
    old = before[place]
    later = next((entry for entry in before[place + 1 :] if _find(now, entry.seq) is not None), None)
    if later is None and now and now[-1].seq > seq:
        return ()
    events: list[Event] = [old.action if later is None else Insert(later.seq, old.action)]
    events += as_marked(old, Seq(next_seq))
    for entry in now:
        moved = lying_on(entry.action, {Seq(seq): Seq(next_seq)})
        if moved is not entry.action:
            events += as_it_was(replace(entry, action=moved), entry)
    return tuple(events)


def _find(kept: tuple[Entry, ...], seq: int) -> Entry | None:
    return next((entry for entry in kept if entry.seq == seq), None)
