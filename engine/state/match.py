"""State of a match and its hand, as frozen values, with the tally marks of a score.

`engine.game.questions` derives legal actions from it. A tally slash is worth 5 and a circle 10. In Bones, two slashes
form the cross of a house. Each of its quadrants takes a circle or an X of two slashes, and a full house is worth 50. In
Twoset, slashes, crosses and circles fill rows of 50, and stolen marks are struck out. See docs/reference/rules.md 3.1
and 3.6. A remainder below 5 is kept as a number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import reduce
from typing import Self

from engine.errors import EngineError
from engine.rules.rules import Rules, TallyStyle
from engine.state.events import Action, Event, Holding, Seat, Seq
from engine.state.layout import Count, Layout, Port, count
from engine.state.outcomes import Ending
from engine.value import Trail, replaced_at, value

SLASH_POINTS = 5
CIRCLE_POINTS = 10
ROW_POINTS = 50
_WORTH = {"": 0, "\\": SLASH_POINTS, "/": SLASH_POINTS, "X": CIRCLE_POINTS, "O": CIRCLE_POINTS}


class Mark(StrEnum):
    """Mark in a quadrant of a house."""

    EMPTY = ""
    SLASH = "\\"
    X = "X"
    CIRCLE = "O"


@dataclass(frozen=True, slots=True)
class House:
    """A house, which is worth 50 points when full.

    Attributes:
        cross: Number of strokes in the cross: 0, 1 (horizontal) or 2.
        quadrants: The four marks in reading order.
    """

    cross: int = 0
    quadrants: tuple[Mark, Mark, Mark, Mark] = (Mark.EMPTY, Mark.EMPTY, Mark.EMPTY, Mark.EMPTY)

    @property
    def points(self) -> int:
        """Points of the marks."""
        return self.cross * SLASH_POINTS + sum(_WORTH[mark] for mark in self.quadrants)

    @property
    def is_full(self) -> bool:
        """True if the house is worth 50."""
        return all(_WORTH[mark] == CIRCLE_POINTS for mark in self.quadrants)

    def marked(self, points: int) -> tuple[Self, int]:
        """Return the house with one more mark, and the rest of *points*, which are a multiple of 5 and at least 5.

        Raises:
            EngineError: If the house is full.
        """
        if self.cross < 2:
            return replace(self, cross=self.cross + 1), points - SLASH_POINTS
        if self.is_full:
            raise EngineError("a full house takes no more marks")
        place, old = next((at, old) for at, old in enumerate(self.quadrants) if _WORTH[old] < CIRCLE_POINTS)
        mark = Mark.X if old is Mark.SLASH else Mark.CIRCLE if points >= CIRCLE_POINTS else Mark.SLASH
        first, second, third, fourth = replaced_at(self.quadrants, place, mark)
        return replace(self, quadrants=(first, second, third, fourth)), points - _WORTH[mark] + _WORTH[old]

    def lines(self) -> tuple[str, str, str]:
        r"""Return the house as three rows of three characters.

        >>> print("\n".join(House(2, (Mark.X, Mark.X, Mark.CIRCLE, Mark.SLASH)).lines()))
        X|X
        -+-
        O|\
        """
        upright = "|" if self.cross == 2 else " "
        level = ("   ", "---", "-+-")[self.cross]
        marks = [mark.value or " " for mark in self.quadrants]
        return marks[0] + upright + marks[1], level, marks[2] + upright + marks[3]


@dataclass(frozen=True, slots=True)
class HouseTally:
    """All houses of a player. Only the last may be incomplete.

    Attributes:
        houses: Houses in the order in which they were drawn.
        rest: Points without a mark: a remainder of 1 to 4, or a negative total.
    """

    houses: tuple[House, ...] = ()
    rest: int = 0

    @classmethod
    def of(cls, scores: Iterable[int]) -> Self:
        """Return the tally after adding *scores* in order."""
        return reduce(cls.add, scores, cls())

    @property
    def points(self) -> int:
        """Points of all marks plus the rest."""
        return sum(house.points for house in self.houses) + self.rest

    def add(self, points: int) -> Self:
        """Return the tally with *points* added. A negative number redraws all marks for the new total."""
        if points < 0:
            return replace(self, houses=(), rest=min(0, self.points + points)).add(max(0, self.points + points))
        if self.rest + points < 0:
            return replace(self, rest=self.rest + points)
        marks, rest = divmod(self.rest + points, SLASH_POINTS)
        left, houses = marks * SLASH_POINTS, list(self.houses)
        while left:
            if not houses or houses[-1].is_full:
                houses.append(House())
            houses[-1], left = houses[-1].marked(left)
        return replace(self, houses=tuple(houses), rest=rest)


class Stroke(StrEnum):
    """One mark in a row."""

    SLASH = "/"
    X = "X"
    CIRCLE = "O"


@dataclass(frozen=True, slots=True)
class RowMark:
    """A mark in a row, struck out if its points were stolen."""

    stroke: Stroke
    struck_out: bool = False

    @property
    def points(self) -> int:
        """Points of the mark, 0 if it is struck out."""
        return 0 if self.struck_out else _WORTH[self.stroke]


@dataclass(frozen=True, slots=True)
class RowsTally:
    """All rows of a player, each worth up to 50.

    Attributes:
        rows: Marks of each row, from left to right.
        rest: Points without a mark: a remainder of 1 to 4, or a negative total.
    """

    rows: tuple[tuple[RowMark, ...], ...] = ()
    rest: int = 0

    @classmethod
    def of(cls, scores: Iterable[int]) -> Self:
        """Return the tally after adding *scores* in order."""
        return reduce(cls.add, scores, cls())

    @property
    def points(self) -> int:
        """Total points: those of the marks that are not struck out, plus `rest`, which may be negative."""
        return sum(mark.points for row in self.rows for mark in row) + self.rest

    def add(self, points: int) -> Self:
        r"""Return the tally with *points* added. A negative number strikes out marks, starting with the last.

        >>> print("\n".join(RowsTally.of([10, 5, -10, 20]).lines()))
        O- /- X O /
        """
        rows, rest = [list(row) for row in self.rows], self.rest + points
        while rest < 0 and (left := [(row, at) for row in rows for at, mark in enumerate(row) if mark.points]):
            row, at = left[-1]
            rest += row[at].points
            row[at] = RowMark(row[at].stroke, struck_out=True)
        while rest >= SLASH_POINTS:
            rest -= _mark_row(rows, rest)
        return replace(self, rows=tuple(tuple(row) for row in rows), rest=rest)

    def lines(self) -> tuple[str, ...]:
        """Return each row as text. A struck-out mark is followed by a dash."""
        return tuple(" ".join(mark.stroke + ("-" if mark.struck_out else "") for mark in row) for row in self.rows)


def _mark_row(rows: list[list[RowMark]], points: int) -> int:
    """Write one mark in the first row with room, or in a new row. Return the points that it adds."""
    row = next((row for row in rows if sum(mark.points for mark in row) < ROW_POINTS), None)
    if row is None:
        rows.append(row := [])
    if row and row[-1] == RowMark(Stroke.SLASH):
        row[-1] = RowMark(Stroke.X)
        return SLASH_POINTS
    has_room = ROW_POINTS - sum(mark.points for mark in row) >= CIRCLE_POINTS
    row.append(RowMark(Stroke.CIRCLE if points >= CIRCLE_POINTS and has_room else Stroke.SLASH))
    return row[-1].points


class Phase(StrEnum):
    """Next step that the match expects."""

    DEAL = "deal"
    LEAD = "lead"
    PLAY = "play"
    REVEAL = "reveal"
    MATCH_OVER = "match_over"


class LeadTile(StrEnum):
    """Kind of tile that must lead a hand."""

    ANY = "any"
    ANY_DOUBLE = "any_double"
    HIGHEST_DOUBLE = "highest_double"
    RACE = "race"
    SET_DOUBLE = "set_double"


ROLL_CALLS = (LeadTile.HIGHEST_DOUBLE, LeadTile.RACE)


class ClaimKind(StrEnum):
    """Way in which a player claims something about their hand. The letters are those of a position's text."""

    DREW = "d"
    KNOCKED = "k"
    KEPT_DEAL = "o"
    LET_ANOTHER_LEAD = "l"
    NO_DOUBLE = "n"


@value
class Claim:
    """A player's claim about their hand.

    Attributes:
        kind: How the claim was made.
        denied: Bit mask of the tiles that the claim denies, without those that the player was seen to draw later.
        allowed: Number of denied tiles that the player may still show without breaking the claim: tiles drawn unseen
            since, and, for a kept deal, the doubles that do not require a redeal.
        numbers: Numbers at the open ends when the claim was made.
    """

    kind: ClaimKind
    denied: int
    allowed: int = 0
    numbers: tuple[int, ...] = ()


@value
class Spell:
    """An active spell.

    Attributes:
        caster: Seat that cast it.
        arm: Arm on which it must be broken. None for the starter's spell, which lasts until all six arms are started.
        returns: Number of times that the turn has come back to the caster.
    """

    caster: Seat
    arm: Port | None
    returns: int = 0


@value
class Course:
    """Turn state that only the six-arm game uses.

    Attributes:
        direction: 1 if play passes to the left, -1 to the right.
        spell: The active spell, or None.
        extra: Whether the player to move has just played and may play again.
        skip: Whether the next player loses their turn.
        drawn: Number of tiles that the player to move has drawn this turn.
        without_double: Number of players who have declared that they have no double to lead.
        owed: For each seat, number of forced draws that have not been seen yet. Empty if there are none.
    """

    direction: int = 1
    spell: Spell | None = None
    extra: bool = False
    skip: bool = False
    drawn: int = 0
    without_double: int = 0
    owed: tuple[int, ...] = ()


NO_COURSE = Course()


@value
class Chance:
    """Points of the last play that must be called, or can be stolen.

    Attributes:
        seat: Seat that laid the tile.
        worth: Points that the layout scores.
        points: Points that the player receives.
        count: Count that scored.
        called: Whether the player has called them.
        victim: Seat that loses points to a stack. None for a play.
        loss: Points that the victim of a stack loses, twice *worth* for a double. 0 for a play.
    """

    seat: Seat
    worth: int
    points: int
    count: Count
    called: bool
    victim: Seat | None = None
    loss: int = 0


Claims = tuple[tuple[Claim, ...], ...]
"""Claims by seat."""


@value
class Hand:
    """One hand, from the deal to the count.

    Attributes:
        number: Number of the hand in the match, from 1.
        layout: The layout on the table.
        sizes: Number of tiles in each seat's hand.
        boneyard: Number of tiles in the boneyard.
        turn: Seat to move. None while the leader is unknown, and when the hand is over.
        lead: Kind of tile that must lead.
        scores_before: Scores of each seat when the hand was dealt.
        claims: Claims of each seat about its tiles.
        held: For each seat, bit mask of the tiles that it was seen to draw and has not played.
        holdings: Tiles that each seat has shown at the end. None for a seat that has not.
        passes: Number of knocks since the last play.
        locked: Whether no tile outside the layout fits an open end.
        course: Turn state of the six-arm game.
        chance: Points of the last play that can be called or stolen. None if it scored nothing.
        lapsed: Points that were not called in time. Kept until the next tile is played.
        ending: Reason why the hand is over. None while it is in progress.
        out: Seat that played its last tile. None if nobody did.
    """

    number: int
    layout: Layout
    sizes: tuple[int, ...]
    boneyard: int
    turn: Seat | None
    lead: LeadTile
    scores_before: tuple[tuple[int, ...], ...]
    claims: Claims
    held: tuple[int, ...]
    holdings: tuple[Holding | None, ...]
    passes: int = 0
    locked: bool = False
    course: Course = NO_COURSE
    chance: Chance | None = None
    lapsed: Chance | None = None
    ending: Ending | None = None
    out: Seat | None = None


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
    other: Game | None = field(default=None, compare=False, repr=False)

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
        if self.rules.tally is TallyStyle.HOUSE:
            return HouseTally.of(self.scores[seat])
        return RowsTally.of(self.scores[seat]) if self.rules.tally is TallyStyle.ROWS else None


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
