"""What happened in a replay, kept for what is written at its end: plain values, no picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine import Counted, Event, HandStarted, NodeId, Placed, Reason, Redealt, Scored, Seat, Stacked, State, history
from tallybone.json_values import to_json
from tallybone.replay.lines import format_change
from tallybone.replay.run import Seen


@dataclass(frozen=True, slots=True)
class Play:
    """A play that is in force at the end.

    Attributes:
        since_ns: When it was seen, from the beginning.
        hand: The hand it belongs to, from 1.
        seat: Who laid it.
        tile: What it was.
        at: Where: the port and the tile there; empty for the first of a hand.
        count: What the open ends add up to; None where nobody counts.
        points: What it was paid, at once or when it was called.
        totals: The points of each seat after it.
    """

    since_ns: int
    hand: int
    seat: Seat
    tile: str
    at: str
    count: int | None
    points: int
    totals: tuple[int, ...]


@dataclass(slots=True)
class Story:
    """Takes in what happens."""

    state: State = field(default_factory=State)
    events: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[Mapping[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    _times: list[int] = field(default_factory=list)

    def add(self, seen: Seen) -> None:
        """Take in what one item has brought about."""
        for change in () if seen.view is None else seen.view.changes:
            self.changes.append(json.loads(format_change(change, seen)))
        if seen.happened is None:
            return
        self.state = seen.happened.session.state
        self._times += [seen.since_ns] * (len(self.state.log) - len(self._times))
        self.events += ({"t_ns": seen.t_ns, **to_json(event, Event)} for event in seen.happened.events)
        self.outcomes += seen.happened.lines

    @property
    def plays(self) -> list[Play]:
        """The plays that are in force at the end, in order."""
        return _Plays(self.state, self._times).found


class _Plays:
    """Goes through the actions in force and keeps what was laid."""

    def __init__(self, state: State, times: list[int]) -> None:
        self.found: list[Play] = []
        seats = 0 if state.game is None else len(state.game.players)
        self._totals = self._at_deal = (0,) * seats
        self._hand = 0
        self._tiles: dict[NodeId, str] = {}
        for told in history(state):
            before = len(self.found)
            spot = getattr(told.entry.action, "at", None)
            for outcome in told.outcomes:
                match outcome:
                    case HandStarted(number=number):
                        self._hand, self._at_deal = number, self._totals
                    case Redealt():
                        self._totals = self._at_deal
                    case Placed(seat=seat, tile=tile, node=node):
                        at = "" if spot is None else f"{spot.port} of {self._tiles.get(spot.host, '?')}"
                        self._lay(times[told.entry.seq], seat, str(tile), at)
                        self._tiles[node] = str(tile)
                    case Stacked(seat=seat, tile=tile, node=node):
                        self._lay(times[told.entry.seq], seat, str(tile), f"on {self._tiles.get(node, '?')}")
                    case Counted(count=count) if len(self.found) > before:
                        self._change(count=count.total)
                    case Scored():
                        self._pay(outcome)
                    case _:
                        pass

    def _lay(self, since_ns: int, seat: Seat, tile: str, at: str) -> None:
        self.found.append(Play(since_ns, self._hand, seat, tile, at, None, 0, self._totals))

    def _pay(self, scored: Scored) -> None:
        """Pay a seat; what is paid for a play counts for the last one of that seat."""
        totals = list(self._totals)
        totals[scored.seat] += scored.points
        self._totals = tuple(totals)
        last = self.found[-1] if self.found else None
        if last is not None and last.seat == scored.seat and scored.reason in (Reason.PLAY, Reason.STEAL):
            self._change(points=last.points + scored.points)
        if last is not None and scored.reason in (Reason.PLAY, Reason.STEAL):
            self._change(totals=self._totals)

    def _change(self, **values: Any) -> None:
        self.found[-1] = replace(self.found[-1], **values)
