"""State of a hand: hand sizes, turn, claims and pending points, as frozen values without behaviour."""

from enum import StrEnum

from engine.state.counting import Count
from engine.state.events import Seat
from engine.state.layout import Layout, Port
from engine.state.outcomes import Ending
from engine.state.settle import Holding
from engine.value import value


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
