"""Restore an earlier state of a match by adding events, because a log is append-only. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

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
    Play,
    Redeal,
    Remove,
    Seq,
    Spot,
    Stack,
    State,
    Undo,
    entries,
)
from engine.game.fold import entries_in
from engine.value import changed

_FINAL = (MatchStart, NewHand, Redeal, Abandon)
"""Events that clear the table. They can only be undone, not removed."""


def restored(old: Entry, now: Entry) -> tuple[Event, ...]:
    """Return events that change an action from *now* back to *old*."""
    if replace(now, inferred=old.inferred) == old:  # only the mark differs, so no score changes
        return (Inferred((old.seq,)) if old.inferred else Confirmed((old.seq,)),)
    return (Amend(old.seq, old.action), *marks_of(old, old.seq))


def repeated(entries: Iterable[Entry], next_seq: int) -> tuple[tuple[Event, ...], dict[Seq, Seq]]:
    """Return events, numbered from *next_seq*, that repeat actions, and the actions' new numbers by their old ones.

    Plays and stacks on repeated tiles refer to the new numbers.
    """
    names: dict[Seq, Seq] = {}
    events: list[Event] = []
    for entry in entries:
        names[entry.seq] = Seq(next_seq + len(events))
        events += (with_new_host(entry.action, names), *marks_of(entry, names[entry.seq]))
    return tuple(events), names


def marks_of(entry: Entry, seq: Seq) -> tuple[Event, ...]:
    """Return events that accept the action at *seq* and mark it as inferred, each only if *entry* has that mark."""
    accepted = (ItStands(seq),) if entry.accepted else ()
    return (*accepted, Inferred((seq,))) if entry.inferred else accepted


def with_new_host(action: Action, names: Mapping[Seq, Seq]) -> Action:
    """Return a play or stack with the number of its host replaced by *names*. Return other actions unchanged."""
    match action:
        case Play(at=Spot(host=host, port=port)) if Seq(host) in names:
            return changed(action, at=Spot(NodeId(names[Seq(host)]), port))
        case Stack(on=on) if Seq(on) in names:
            return changed(action, on=NodeId(names[Seq(on)]))
        case _:
            return action


def reversal_events(state: State, at: int) -> tuple[Event, ...]:
    """Return events that reverse the event at index *at* of the log. Empty if that is not possible."""
    if not 0 <= at < len(state.log):
        return ()
    event, before, now = state.log[at], entries_in(state.log[:at]), entries(state)
    match event:
        case Undo(seq=seq):
            # Only as the last event: repeated actions are appended, so they would come after later plays.
            return () if at + 1 < len(state.log) else _redone(before, seq, at + 1)
        case Remove(seq=seq):
            return _reinserted(before, now, seq, len(state.log))
        case Amend(seq=seq) | ItStands(seq=seq):
            old, current = _find(before, seq), _find(now, seq)
            return () if old is None or current is None else restored(old, current)
        case Confirmed(seqs=seqs):
            again = {entry.seq for entry in before if entry.inferred and entry.seq in seqs}
            marked = tuple(entry.seq for entry in now if entry.seq in again)
            return (Inferred(marked),) if marked else ()
        case Insert():
            return () if _find(now, at) is None else (Remove(Seq(at)),)
        case _:
            is_final = isinstance(event, _FINAL) or _find(now, at) is None
            return () if is_final else (Remove(Seq(at)),)


def _redone(before: tuple[Entry, ...], since: int, next_seq: int) -> tuple[Event, ...]:
    """Return events that repeat the actions of *before* from number *since* on."""
    undone = next((at for at, entry in enumerate(before) if entry.seq == since), len(before))
    return repeated(before[undone:], next_seq)[0]


def _reinserted(before: tuple[Entry, ...], now: tuple[Entry, ...], seq: int, next_seq: int) -> tuple[Event, ...]:
    """Return events that restore a removed action and move the tiles played on it to its new number.

    Empty if the action is in force, or its position among the others cannot be determined.
    """
    place = next((at for at, entry in enumerate(before) if entry.seq == seq), None)
    if place is None or _find(now, seq) is not None:
        return ()
    old = before[place]
    later = next((entry for entry in before[place + 1 :] if _find(now, entry.seq) is not None), None)
    if later is None and now and now[-1].seq > seq:
        return ()
    events: list[Event] = [old.action if later is None else Insert(later.seq, old.action)]
    events += marks_of(old, Seq(next_seq))
    for entry in now:
        moved = with_new_host(entry.action, {Seq(seq): Seq(next_seq)})
        if moved is not entry.action:
            events += restored(replace(entry, action=moved), entry)
    return tuple(events)


def _find(kept: tuple[Entry, ...], seq: int) -> Entry | None:
    return next((entry for entry in kept if entry.seq == seq), None)
