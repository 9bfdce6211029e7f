"""One deal as it stands: sizes, whose turn, what was said and what is owed. Frozen values without behaviour."""

from enum import StrEnum

from engine.state.events import Seat
from engine.state.layout import Layout, Port
from engine.state.outcomes import Ending
from engine.state.problems import ProblemKind
from engine.state.settle import Holding
from engine.value import value


class LeadTile(StrEnum):
    """Kind of tile that has to lead a hand."""

    ANY = "any"
    ANY_DOUBLE = "any_double"
    HIGHEST_DOUBLE = "highest_double"
    RACE = "race"
    SET_DOUBLE = "set_double"


@value
class Claim:
    """Claim of a player about their hand, made by knocking, drawing, not leading or keeping the deal.

    Attributes:
        denied: Tiles of which they cannot have held more than so many then, as bits; none that they were seen to draw
            since.
        allowed: How many of them they can show yet: those they may have drawn since unseen, and of a deal that they
            kept the doubles that nobody has to speak of.
        broken: What it is called when they show one more.
        words: How they said it.
        numbers: The open ends on which they said it.
    """

    denied: int
    allowed: int
    broken: ProblemKind
    words: str
    numbers: tuple[int, ...] = ()


@value
class Spell:
    """A spell that is on.

    Attributes:
        caster: Who cast it.
        arm: Where it has to be broken; None for that of the starter, which asks for all six arms.
        returns: How often the turn has come back to the caster.
    """

    caster: Seat
    arm: Port | None
    returns: int = 0


@value
class Course:
    """State of the turns that only the six-arm game has.

    Attributes:
        direction: 1 to the left, -1 to the right.
        spell: The spell that is on.
        extra: Whether the player whose turn it is has just played and may play again.
        skip: Whether the next player loses their turn.
        drawn: Tiles that the player whose turn it is has drawn in it.
        without_double: How many have said that they have no double to lead.
        owed: Tiles that each seat was made to take and has not been seen to take.
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
    """Points of the last play that have to be called, or can be stolen.

    Attributes:
        seat: Who laid the tile.
        worth: What the layout scores.
        points: What the player gets.
        because: The sum behind it.
        called: Whether the player has called them.
        victim: From whom a stack takes; None for a play.
        loss: How much it takes.
    """

    seat: Seat
    worth: int
    points: int
    because: str
    called: bool
    victim: Seat | None = None
    loss: int = 0


@value
class Hand:
    """One deal.

    Attributes:
        number: Counts from 1.
        layout: What lies on the table.
        sizes: Tiles that each seat holds.
        boneyard: Tiles left to draw.
        turn: Whose turn it is; None while nobody knows who leads, and when the hand is over.
        lead: What the first tile has to be.
        scores_before: Scores of each seat when the hand was dealt.
        claims: What each seat has said about its tiles.
        holdings: What each seat has shown at the end; None where it has not.
        passes: Knocks since the last play.
        locked: Whether no tile outside the layout fits.
        course: How the turn goes round in the six-arm game.
        chance: Points of the last play; None when it scored nothing.
        lapsed: Points that were not called in time, until the next tile is played.
        ending: Why the hand is over; None while it is played.
        out: Who played their last tile.
    """

    number: int
    layout: Layout
    sizes: tuple[int, ...]
    boneyard: int
    turn: Seat | None
    lead: LeadTile
    scores_before: tuple[tuple[int, ...], ...]
    claims: tuple[tuple[Claim, ...], ...]
    holdings: tuple[Holding | None, ...]
    passes: int = 0
    locked: bool = False
    course: Course = NO_COURSE
    chance: Chance | None = None
    lapsed: Chance | None = None
    ending: Ending | None = None
    out: Seat | None = None
