"""Go back to an earlier place in the log: by events, because nothing in a log is ever deleted. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile

from engine import (
    Action,
    Amend,
    Confirmed,
    Entry,
    Event,
    Inferred,
    ItStands,
    NodeId,
    Outcome,
    Play,
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
