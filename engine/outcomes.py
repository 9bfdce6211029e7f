"""What follows from an event, as values: all that lights, displays and pages have to show."""

from dataclasses import dataclass
from enum import StrEnum

from engine.counting import Count
from engine.events import RedealReason, Seat, Seq
from engine.layout import NodeId
from engine.problems import Problem
from engine.settle import HandResult
from engine.tiles import Tile


class Must(StrEnum):
    """What the player whose turn it is has to do; the engine sees no hands, so some leave two ways."""

    LEAD_HIGHEST_DOUBLE = "lead_highest_double"
    LEAD_ANY = "lead_any"
    PLAY_OR_DRAW = "play_or_draw"
    PLAY_OR_KNOCK = "play_or_knock"
    DRAW_OR_END = "draw_or_end"


class Reason(StrEnum):
    """What points are paid for."""

    PLAY = "play"
    BONUS = "bonus"


class Ending(StrEnum):
    """Why a hand is over."""

    DOMINO = "domino"
    BLOCKED_BY_PROOF = "blocked_by_proof"
    BLOCKED_BY_KNOCKS = "blocked_by_knocks"
    CALLED = "called"


@dataclass(frozen=True, slots=True)
class MatchStarted:
    """A match began."""

    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HandStarted:
    """A hand was dealt; *number* counts from 1."""

    number: int
    boneyard: int


@dataclass(frozen=True, slots=True)
class Redealt:
    """The hand is dealt again; points of its plays are gone."""

    reason: RedealReason


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose turn it is; *seat* is None while the roll call looks for the leader."""

    seat: Seat | None
    must: Must


@dataclass(frozen=True, slots=True)
class Placed:
    """A tile is part of the layout, under this name."""

    seat: Seat
    tile: Tile
    node: NodeId


@dataclass(frozen=True, slots=True)
class Counted:
    """What the open ends add up to after a play."""

    count: Count


@dataclass(frozen=True, slots=True)
class Scored:
    """A player is paid; *because* is the sum behind it."""

    seat: Seat
    points: int
    reason: Reason
    because: str


@dataclass(frozen=True, slots=True)
class Drew:
    """A player drew; *left* tiles remain in the boneyard."""

    seat: Seat
    tiles: int
    left: int


@dataclass(frozen=True, slots=True)
class Passed:
    """A player knocked; *in_succession* counts the knocks since the last play."""

    seat: Seat
    in_succession: int


@dataclass(frozen=True, slots=True)
class Blocked:
    """No tile outside the layout fits anywhere, although the boneyard is not empty: end the hand, or draw it out."""

    boneyard: int


@dataclass(frozen=True, slots=True)
class ShowHands:
    """The hand is over; *seats* have yet to lay their tiles open, or to show tiles where only the sum is known."""

    ending: Ending
    out: Seat | None
    seats: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class HandOver:
    """The hand is counted."""

    ending: Ending
    result: HandResult


@dataclass(frozen=True, slots=True)
class MatchOver:
    """The match is won."""

    winner: Seat
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Irregular:
    """Something is wrong with the action at *seq*; *stands* says whether it counts all the same."""

    seq: Seq
    problem: Problem
    stands: bool


@dataclass(frozen=True, slots=True)
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
    | Scored
    | Drew
    | Passed
    | Blocked
    | ShowHands
    | HandOver
    | MatchOver
    | Irregular
    | Revised
)
