"""State of a match, as frozen values. `engine.game.questions` derives turns and legal actions from it."""

from dataclasses import field
from enum import StrEnum

from engine.rules.rules import Rules, TallyStyle
from engine.state.counting import Count, count
from engine.state.events import Action, Event, Seat, Seq
from engine.state.hand import Hand
from engine.state.layout import Layout
from engine.state.tally import HouseTally, RowsTally
from engine.value import Trail, value


class Phase(StrEnum):
    """Next step that the match expects."""

    DEAL = "deal"
    LEAD = "lead"
    PLAY = "play"
    REVEAL = "reveal"
    MATCH_OVER = "match_over"


_TALLIES: dict[TallyStyle, type[HouseTally] | type[RowsTally]] = {
    TallyStyle.HOUSE: HouseTally,
    TallyStyle.ROWS: RowsTally,
}


@value
class Game:
    """One match.

    Attributes:
        rules: Rules of the match.
        players: Names by seat, clockwise.
        phase: Next expected step.
        scores: For each seat, its scores in chronological order. Stolen points are negative.
        totals: Points of each seat, the sums of *scores*. Partners' points are not added together here.
        hand: The current hand, or the last one if none is in progress. None before the first.
        hand_winner: Winner of the last counted hand. None before the first, and after an unbroken tie.
        winner: Winner of the match. None until it is over, and if nobody was ahead.
        other: While the match is won, the match as it goes on if a correction takes back the win. After such a
            correction, the match as it was won. Otherwise None. Ignored in comparisons.
    """

    rules: Rules
    players: tuple[str, ...]
    phase: Phase
    scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]
    hand: Hand | None = None
    hand_winner: Seat | None = None
    winner: Seat | None = None
    other: "Game | None" = field(default=None, compare=False, repr=False)

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Seats that score together: single seats, or the two pairs of partners who sit opposite."""
        seats = len(self.players)
        if self.rules.partners:
            return tuple(tuple(Seat(at) for at in range(first, seats, 2)) for first in range(2))
        return tuple((Seat(at),) for at in range(seats))

    def side_total(self, seat: Seat) -> int:
        """Return the points of *seat* and its partner, if any, which count towards the target."""
        if not self.rules.partners:
            return self.totals[seat]
        return sum(self.totals[at] for side in self.sides for at in side if seat in side)

    @property
    def layout(self) -> Layout:
        """The current layout. Empty before the first hand."""
        return Layout() if self.hand is None else self.hand.layout

    @property
    def count(self) -> Count:
        """The open ends and their sum."""
        return count(self.layout, self.rules.spinner_count)

    def tally(self, seat: Seat) -> HouseTally | RowsTally | None:
        """Return the tally marks of *seat*, or None if the rules keep score in numbers."""
        kind = _TALLIES.get(self.rules.tally)
        return None if kind is None else kind.of(self.scores[seat])


@value
class Entry:
    """An action in force.

    Attributes:
        seq: Index in the log. An amended action keeps its index.
        action: The action, with amendments applied.
        accepted: Whether the players accepted it despite a problem.
        inferred: Whether it was inferred and has not been confirmed, accepted or amended since.
    """

    seq: Seq
    action: Action
    accepted: bool = False
    inferred: bool = False


@value
class Applied:
    """An action in force, with the match *before* it. *is_irregular*: it has a problem that nobody accepted."""

    entry: Entry
    before: Game | None
    is_irregular: bool = False


@value
class State:
    """The event log of a match and the resulting game.

    Attributes:
        log: All events, in the order in which they were received.
        steps: The actions in force, in order. From these, corrections are applied without a replay of the log.
        game: The match. None before the first `MatchStart`.
        start: Initial game if the log continues from a position. None if the log starts the match.
        irregular: Actions in force that have a problem and were not accepted by the players.
        inferred: Actions in force that were inferred but not confirmed, in log order.
    """

    log: Trail[Event] = Trail()
    steps: Trail[Applied] = field(default=Trail(), compare=False, repr=False)
    game: Game | None = None
    start: Game | None = None
    irregular: tuple[Seq, ...] = ()
    inferred: tuple[Seq, ...] = ()

    @property
    def is_provisional(self) -> bool:
        """True if the totals rely on inferred actions."""
        return bool(self.inferred)

    @property
    def next_seq(self) -> Seq:
        """Index of the next event in the log. For a play it is also the `NodeId` of its tile."""
        return Seq(len(self.log))
