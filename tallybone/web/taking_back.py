"""The events that take one back, so that nothing is lost by a wrong tap: pure."""

from __future__ import annotations

from engine import (
    Abandon,
    Action,
    Amend,
    Entry,
    Event,
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
from engine.value import changed

_FINAL = (MatchStart, NewHand, Redeal, Abandon)
"""With these the table was cleared; undo takes them back."""


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
            return () if old is None or _find(now, seq) is None else _as_it_was(old)
        case Insert():
            return () if _find(now, at) is None else (Remove(Seq(at)),)
        case _:
            is_final = isinstance(event, _FINAL) or _find(now, at) is None
            return () if is_final else (Remove(Seq(at)),)


def _as_it_was(old: Entry) -> tuple[Event, ...]:
    amended = Amend(old.seq, old.action)
    return (amended, ItStands(old.seq)) if old.accepted else (amended,)


def _played_again(before: tuple[Entry, ...], since: int, next_seq: int) -> tuple[Event, ...]:
    """Return the actions from *since* on, as if they were done now; tiles on one another stay on one another."""
    undone = [at for at, entry in enumerate(before) if entry.seq == since]
    if not undone:
        return ()
    names: dict[int, int] = {}
    events: list[Event] = []
    for entry in before[undone[0] :]:
        names[entry.seq] = next_seq + len(events)
        events.append(_on(entry.action, names))
        if entry.accepted:
            events.append(ItStands(Seq(names[entry.seq])))
    return tuple(events)


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
        moved = _on(entry.action, {seq: next_seq})
        if moved is not entry.action:
            events.append(Amend(entry.seq, moved))
    return tuple(events)


def _on(action: Action, names: dict[int, int]) -> Action:
    """Return an action with the tile that it lies on under its new name."""
    match action:
        case Play(at=Spot(host=host, port=port)) if host in names:
            return changed(action, at=Spot(NodeId(names[host]), port))
        case Stack(on=on) if on in names:
            return changed(action, on=NodeId(names[on]))
        case _:
            return action


def _find(kept: tuple[Entry, ...], seq: int) -> Entry | None:
    return next((entry for entry in kept if entry.seq == seq), None)
