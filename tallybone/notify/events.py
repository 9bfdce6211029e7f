"""Derive events from two snapshots of a table. Pure.

Events with points include the new total, so that a receiver knows the score even if it misses or repeats an event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from tallybone.store.table_file import EventKind
from tallybone.web.shapes import PlayShown, Snapshot
from tallybone.web.snapshot import LOBBY

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""Any JSON value."""


@dataclass(frozen=True, slots=True)
class TableEvent:
    """An event, and the fields of its message."""

    kind: EventKind
    payload: Mapping[str, Json]


def events_between(before: Snapshot | None, after: Snapshot, *, is_same_match: bool) -> tuple[TableEvent, ...]:
    """Return the events between two snapshots, in order.

    Args:
        before: Earlier snapshot. None if there is none. In that case, earlier plays are not reported.
        after: Later snapshot.
        is_same_match: Whether both snapshots are from the same match.
    """
    known = before if before is not None and is_same_match and before.match.phase != LOBBY else None
    if after.match.phase == LOBBY:
        was_played = before is not None and before.match.phase != LOBBY and not before.match.over
        return (TableEvent(EventKind.MATCH_LEFT, {}),) if was_played else ()
    if known is None:
        return (_began(after), *_asked(None, after))
    return tuple(chain.from_iterable(find(known, after) for find in (_hands, _plays, _points, _ended, _asked)))


def play_said(play: PlayShown, shown: Snapshot) -> dict[str, Json]:
    """Return the message fields of a play. Its `seq` identifies the play in the match, even after corrections."""
    return {
        "seq": play.seq,
        "kind": play.kind,
        "seat": play.seat,
        "name": _name(shown, play.seat),
        "pips": None if play.pips is None else list(play.pips),
        "points": play.points,
        "sum": play.sum,
        "text": str(play.text),
        "irregular": None if play.irregular is None else str(play.irregular),
        "inferred": play.inferred,
    }


def _began(after: Snapshot) -> TableEvent:
    players: list[Json] = [player.name for player in after.players]
    payload: dict[str, Json] = {"game": after.match.game, "target": after.match.target, "players": players}
    return TableEvent(EventKind.MATCH_BEGAN, payload)


def _hands(before: Snapshot, after: Snapshot) -> Iterator[TableEvent]:
    hand = after.match.hand
    if hand is not None and hand > (before.match.hand or 0):
        yield TableEvent(EventKind.HAND_BEGAN, {"hand": hand})


def _plays(before: Snapshot, after: Snapshot) -> Iterator[TableEvent]:
    """Yield events for new, corrected and removed plays of the current hand.

    Plays of an earlier hand are not compared.
    """
    old = {play.seq: play for play in before.plays} if before.match.hand == after.match.hand else {}
    is_earlier = (after.match.hand or 0) < (before.match.hand or 0)
    new = {play.seq: play for play in after.plays}
    for seq, play in new.items():
        payload: dict[str, Json] = {"hand": after.match.hand, "play": play_said(play, after)}
        if seq not in old and not is_earlier:
            yield TableEvent(EventKind.PLAY, payload)
        elif seq in old and _without_names(old[seq]) != _without_names(play):
            yield TableEvent(EventKind.PLAY_CHANGED, payload)
    for seq in old.keys() - new.keys():
        yield TableEvent(EventKind.PLAY_REMOVED, {"hand": after.match.hand, "play": {"seq": seq}})


def _without_names(play: PlayShown) -> PlayShown:
    """Return a play without its texts, which also change when a player is renamed."""
    return replace(play, text="", what="", irregular=None if play.irregular is None else "")


def _points(before: Snapshot, after: Snapshot) -> Iterator[TableEvent]:
    """Yield events for new totals. Players who changed places are found by name, renamed ones by seat."""
    by_seat = {player.seat: player.total for player in before.players}
    by_name = {player.name: player.total for player in before.players}
    for player in after.players:
        is_unique = len(by_name) == len(by_seat) and player.name in by_name
        points = player.total - (by_name[player.name] if is_unique else by_seat.get(player.seat, 0))
        if points:
            payload: dict[str, Json] = {
                "seat": player.seat,
                "name": player.name,
                "points": points,
                "total": player.total,
                "provisional": after.match.provisional,
            }
            yield TableEvent(EventKind.POINTS, payload)


def _ended(before: Snapshot, after: Snapshot) -> Iterator[TableEvent]:
    winner, earlier = after.match.winner, before.match.winner
    is_same = winner == earlier or _name(after, winner) == _name(before, earlier)  # renamed, or changed places
    if after.match.over and not (before.match.over and is_same):
        totals: list[Json] = [player.total for player in after.players]
        payload: dict[str, Json] = {"seat": winner, "name": _name(after, winner), "totals": totals}
        yield TableEvent(EventKind.MATCH_OVER, {**payload, "provisional": after.match.provisional})


def _asked(before: Snapshot | None, after: Snapshot) -> Iterator[TableEvent]:
    old = None if before is None or before.question is None else before.question.topic
    new = after.question
    if old is not None and (new is None or new.topic != old):
        yield TableEvent(EventKind.ANSWERED, {"topic": old})
    if new is not None and new.topic != old:
        choices: list[Json] = [str(choice) for choice in new.choices]
        yield TableEvent(EventKind.QUESTION, {"topic": new.topic, "text": str(new.text), "choices": choices})


def _name(shown: Snapshot, seat: int | None) -> str | None:
    return next((player.name for player in shown.players if player.seat == seat), None)
