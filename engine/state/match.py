"""State of a match as frozen values; `engine.game.questions` derives turns and legal actions from it."""

from enum import StrEnum
from typing import assert_never

from engine.rules.rules import Rules, TallyStyle
from engine.state.counting import Count, count
from engine.state.events import Event, Seat, Seq
from engine.state.hand import Hand
from engine.state.layout import Layout
from engine.state.tally import HouseTally, RowsTally
from engine.value import value


class Phase(StrEnum):
    """Step that the table waits for."""

    DEAL = "deal"
    LEAD = "lead"
    PLAY = "play"
    REVEAL = "reveal"
    MATCH_OVER = "match_over"


@value
class Game:
    """One match.

    Attributes:
        rules: What was agreed.
        players: Names by seat, clockwise.
        phase: What the table waits for.
        scores: For each seat what it was paid, in the order of payment; what was stolen is below zero.
        hand: The hand that is played, or was played last; None before the first.
        hand_winner: Winner of the last hand that was counted; None before it and after a dead tie.
        winner: Winner of the match.
    """

    rules: Rules
    players: tuple[str, ...]
    phase: Phase
    scores: tuple[tuple[int, ...], ...]
    hand: Hand | None = None
    hand_winner: Seat | None = None
    winner: Seat | None = None

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of each seat, for itself also where partners share theirs."""
        return tuple(sum(scores) for scores in self.scores)

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """The seats that play together: each alone, or the two pairs across."""
        seats = len(self.players)
        if self.rules.partners:
            return tuple(tuple(Seat(at) for at in range(first, seats, 2)) for first in range(2))
        return tuple((Seat(at),) for at in range(seats))

    def side_total(self, seat: Seat) -> int:
        """Return the points that count towards the target for *seat*: its own, with those of its partner."""
        if not self.rules.partners:
            return sum(self.scores[seat])
        return sum(sum(self.scores[at]) for side in self.sides for at in side if seat in side)

    @property
    def layout(self) -> Layout:
        """The layout on the table."""
        return Layout() if self.hand is None else self.hand.layout

    @property
    def count(self) -> Count:
        """The open ends and their sum."""
        return count(self.layout, self.rules.spinner_count)

    def tally(self, seat: Seat) -> HouseTally | RowsTally | None:
        """Return the marks of *seat*, or None when these rules keep the score in numbers."""
        match self.rules.tally:
            case TallyStyle.HOUSE:
                return HouseTally.of(self.scores[seat])
            case TallyStyle.ROWS:
                return RowsTally.of(self.scores[seat])
            case TallyStyle.NUMBERS:
                return None
            case _:
                assert_never(self.rules.tally)


@value
class State:
    """The log of a match, and the match it leads to; `engine.game.fold.entries` are the actions in force.

    Attributes:
        log: Every event as it came in.
        irregular: Actions in force that have a problem which the table has not accepted.
        game: The match; None before the first start.
        start: The match that the log goes on from, when it comes from a position; None where the log begins it.
        inferred: Actions in force that were inferred and not confirmed, in order.
    """

    log: tuple[Event, ...] = ()
    irregular: tuple[Seq, ...] = ()
    game: Game | None = None
    start: Game | None = None
    inferred: tuple[Seq, ...] = ()

    @property
    def is_provisional(self) -> bool:
        """True if the totals rely on inferred actions."""
        return bool(self.inferred)

    @property
    def next_seq(self) -> Seq:
        """The place in the log, and with a play the name on the table, that the next event gets."""
        return Seq(len(self.log))
