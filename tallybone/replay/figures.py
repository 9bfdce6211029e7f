"""Compute statistics of a game: points over time, best plays and knocks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine import (
    Drew,
    ForcedDraw,
    HandOver,
    HandStarted,
    Outcome,
    Passed,
    Phase,
    Placed,
    Redealt,
    Scored,
    Seat,
    Stacked,
    history,
    last_seats,
)
from tallybone.replay.export import ExportedPlay
from tallybone.replay.recorded_game import RecordedGame, transcript_of

_MAX_BEST = 10
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class HandFigures:
    """Points, plays, knocks and draws of each seat in a hand. The winner is None until the hand ends."""

    number: int
    points: tuple[int, ...]
    plays: tuple[int, ...]
    knocks: tuple[int, ...]
    draws: tuple[int, ...]
    winner: int | None


@dataclass(frozen=True, slots=True)
class PaidFigures:
    """Time and hand of a payment, and the totals by seat after it."""

    t_ms: int
    hand: int
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BestPlay:
    """A play that scored more than most."""

    t_ms: int
    hand: int
    seat: int
    tile: str
    points: int


@dataclass(frozen=True, slots=True)
class GameFigures:
    """A game at the end of its log, with all corrections.

    Attributes:
        players: Names by seat.
        hands: Each hand.
        paid: The points over time.
        best: The best plays, the best first, ten at most.
        play_points: What the plays of each seat were paid.
        winner: Who has won the match.
        sides: Seats that score together.
        over: Whether the match is over.
    """

    players: tuple[str, ...]
    hands: tuple[HandFigures, ...]
    paid: tuple[PaidFigures, ...]
    best: tuple[BestPlay, ...]
    play_points: tuple[int, ...]
    winner: int | None
    sides: tuple[tuple[int, ...], ...]
    over: bool


def figures_of(game: RecordedGame) -> GameFigures:
    """Return the figures of a recorded game.

    Raises:
        NoGameError: If no score was kept, or the log cannot be scored.
    """
    transcript = transcript_of(game)
    assert transcript.state.game is not None  # checked by `transcript_of`
    match = transcript.state.game
    players = match.players
    times = {step.log - 1: step.since_ns // _NS_PER_MS for step in game.steps}
    counted = _Counted()
    told = history(transcript.state)
    for step, counted.seats in zip(told, last_seats(told, len(players)), strict=True):
        for outcome in step.outcomes:
            counted.add(outcome, times.get(step.entry.seq, 0))
    plays = transcript.plays
    paid = [0] * len(players)
    for play in plays:
        paid[play.seat] += play.points
    over = match.phase is Phase.MATCH_OVER
    hands, payments = tuple(counted.hands), tuple(counted.paid)
    return GameFigures(players, hands, payments, _best(plays), tuple(paid), match.winner, match.sides, over)


def _best(plays: Sequence[ExportedPlay]) -> tuple[BestPlay, ...]:
    best = sorted((play for play in plays if play.points > 0), key=lambda play: -play.points)[:_MAX_BEST]
    return tuple(BestPlay(play.since_ns // _NS_PER_MS, play.hand, play.seat, play.tile, play.points) for play in best)


@dataclass(slots=True)
class _Counted:
    """Counts the outcomes of a game. *seats* has, for each seat now, that of the same player at the end."""

    seats: tuple[Seat, ...] = ()
    hands: list[HandFigures] = field(default_factory=list)
    paid: list[PaidFigures] = field(default_factory=list)

    def add(self, outcome: Outcome, t_ms: int) -> None:
        """Count an outcome."""
        match outcome:
            case HandStarted(number=number):
                self.hands.append(self._empty(number))
            case Redealt() if self.hands:
                self.hands[-1] = self._empty(self.hands[-1].number)
                self._pay(t_ms)
            case Scored(seat=seat, points=points):
                self._change(points=self._more(self._hand.points, seat, points))
                self._pay(t_ms)
            case Placed(seat=seat) | Stacked(seat=seat):
                self._change(plays=self._more(self._hand.plays, seat))
            case Passed(seat=seat):
                self._change(knocks=self._more(self._hand.knocks, seat))
            case Drew(seat=seat, tiles=tiles) | ForcedDraw(seat=seat, tiles=tiles):
                self._change(draws=self._more(self._hand.draws, seat, tiles))
            case HandOver(result=result):
                self._change(winner=self._last(result.winner))
            case _:
                pass

    def _empty(self, number: int) -> HandFigures:
        none = (0,) * len(self.seats)
        return HandFigures(number, none, none, none, none, None)

    @property
    def _hand(self) -> HandFigures:
        """The current hand. Outcomes before the first hand count for the first."""
        if not self.hands:
            self.hands.append(self._empty(1))
        return self.hands[-1]

    def _change(self, **values: Any) -> None:
        self.hands[-1] = replace(self._hand, **values)

    def _pay(self, t_ms: int) -> None:
        totals = tuple(sum(hand.points[seat] for hand in self.hands) for seat in range(len(self.seats)))
        self.paid.append(PaidFigures(t_ms, self._hand.number, totals))

    def _more(self, counts: tuple[int, ...], seat: Seat, more: int = 1) -> tuple[int, ...]:
        last = self.seats[seat]
        return (*counts[:last], counts[last] + more, *counts[last + 1 :])

    def _last(self, seat: Seat | None) -> int | None:
        return None if seat is None else self.seats[seat]
