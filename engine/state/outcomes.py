"""Outcomes of an event, as values for LEDs, displays and pages."""

from enum import StrEnum

from engine.state.counting import Count
from engine.state.events import RedealReason, Seat, Seq
from engine.state.layout import NodeId, Port
from engine.state.problems import Problem
from engine.state.settle import HandResult
from engine.tiles import Tile
from engine.value import value


class Must(StrEnum):
    """Task of the player whose turn it is; the engine sees no hands, so some leave two ways."""

    LEAD_HIGHEST_DOUBLE = "lead_highest_double"
    LEAD_SET_DOUBLE = "lead_set_double"
    LEAD_ANY = "lead_any"
    LEAD_DOUBLE = "lead_double"
    RACE = "race"
    DRAW_A_DOUBLE = "draw_a_double"
    PLAY_OR_DRAW = "play_or_draw"
    PLAY_OR_KNOCK = "play_or_knock"
    DRAW_OR_END = "draw_or_end"
    PLAY_AGAIN = "play_again"
    BREAK_OR_DRAW = "break_or_draw"
    BREAK_OR_KNOCK = "break_or_knock"
    START_ARM_OR_DRAW = "start_arm_or_draw"
    START_ARM_OR_KNOCK = "start_arm_or_knock"


class Reason(StrEnum):
    """Reason for a payment."""

    PLAY = "play"
    BONUS = "bonus"
    STEAL = "steal"
    ADJUST = "adjust"


class Ending(StrEnum):
    """Reason for the end of a hand."""

    DOMINO = "domino"
    BLOCKED_BY_PROOF = "blocked_by_proof"
    BLOCKED_BY_KNOCKS = "blocked_by_knocks"
    CALLED = "called"


@value
class MatchStarted:
    """A match began."""

    players: tuple[str, ...]


@value
class HandStarted:
    """A hand was dealt; *number* counts from 1."""

    number: int
    boneyard: int


@value
class Redealt:
    """The hand is dealt again; points of its plays are gone."""

    reason: RedealReason


@value
class Turn:
    """Turn of a player.

    Attributes:
        seat: None while nobody knows who leads.
        must: What they have to do.
        extra: Whether they need not, and the next player may go on.
    """

    seat: Seat | None
    must: Must
    extra: bool = False


@value
class Placed:
    """A tile is part of the layout, under this name."""

    seat: Seat
    tile: Tile
    node: NodeId


@value
class Counted:
    """The open ends and their sum after a play."""

    count: Count


@value
class Scored:
    """A player is paid; *because* is the sum behind it."""

    seat: Seat
    points: int
    reason: Reason
    because: str


@value
class Stacked:
    """A tile lies on its copy, the tile with this name."""

    seat: Seat
    tile: Tile
    node: NodeId


@value
class Claimable:
    """A player has points to call before the next tile is laid; *steals_from* loses as many by a stack."""

    seat: Seat
    points: int
    because: str
    steals_from: Seat | None = None


@value
class Forfeited:
    """A player did not call their points in time."""

    seat: Seat
    points: int


@value
class Drew:
    """A player drew; *left* tiles remain in the boneyard."""

    seat: Seat
    tiles: int
    left: int


@value
class ForcedDraw:
    """A play makes another player take tiles at once; *left* remain in the boneyard."""

    seat: Seat
    tiles: int
    left: int


@value
class Spelled:
    """A spell is cast or lifted; *arm* is None for that of the starter, which asks for all six arms."""

    caster: Seat
    arm: Port | None
    is_on: bool


@value
class Turned:
    """The direction of play turned round; whether it is clockwise now."""

    clockwise: bool


@value
class Skipped:
    """A player lost their turn."""

    seat: Seat


@value
class Declined:
    """A player who could have played again did not."""

    seat: Seat


@value
class Passed:
    """A player knocked.

    Attributes:
        seat: Who did.
        in_succession: Knocks since the last play.
        instead_of_leading: Whether this says that they have no double to lead.
    """

    seat: Seat
    in_succession: int
    instead_of_leading: bool = False


@value
class Blocked:
    """No tile outside the layout fits anywhere, although the boneyard is not empty: end the hand, or draw it out."""

    boneyard: int


@value
class ShowHands:
    """The hand is over; *seats* have yet to lay their tiles open, or to show tiles where only the sum is known."""

    ending: Ending
    out: Seat | None
    seats: tuple[Seat, ...]


@value
class Abandoned:
    """The hand is given up and not counted; *number* counts from 1."""

    number: int


@value
class HandOver:
    """The hand is counted."""

    ending: Ending
    result: HandResult


@value
class MatchOver:
    """The match is over; *winner* is None when it was closed with nobody ahead, *partner* shares the win."""

    winner: Seat | None
    totals: tuple[int, ...]
    partner: Seat | None = None


@value
class Irregular:
    """Something is wrong with the action at *seq*; *stands* says whether it counts all the same."""

    seq: Seq
    problem: Problem
    stands: bool


@value
class Revised:
    """The record was changed; totals are what a replay gives."""

    before: tuple[int, ...]
    after: tuple[int, ...]


Outcome = (
    MatchStarted
    | HandStarted
    | Redealt
    | Turn
    | Placed
    | Counted
    | Stacked
    | Scored
    | Claimable
    | Forfeited
    | Drew
    | ForcedDraw
    | Spelled
    | Turned
    | Skipped
    | Declined
    | Passed
    | Blocked
    | ShowHands
    | Abandoned
    | HandOver
    | MatchOver
    | Irregular
    | Revised
)
