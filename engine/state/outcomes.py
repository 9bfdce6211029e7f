"""Outcomes of an event and problems with it, as values for LEDs, displays and pages.

See docs/reference/rules.md 2.6 for the problems.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, StrEnum

from engine.phrases import Phrase, phrase, plural
from engine.state.events import HandResult, RedealReason, Seat, Seq
from engine.state.layout import Count, NodeId, Port
from engine.tiles import Tile, set_name
from engine.value import value


class ProblemKind(StrEnum):
    """Kind of problem with an action."""

    NOT_NOW = "not_now"
    NO_SUCH_SEAT = "no_such_seat"
    NO_SUCH_ACTION = "no_such_action"
    CANNOT_BE_DEALT = "cannot_be_dealt"
    CANNOT_LIE_THERE = "cannot_lie_there"
    BONEYARD_TOO_SMALL = "boneyard_too_small"
    WRONG_SEAT = "wrong_seat"
    NOT_IN_SET = "not_in_set"
    ALREADY_USED = "already_used"
    WRONG_NUMBER = "wrong_number"
    TIP_CLOSED = "tip_closed"
    NO_BRANCH = "no_branch"
    LEAD_NOT_A_DOUBLE = "lead_not_a_double"
    NO_DRAWING = "no_drawing"
    KNOCK_TOO_EARLY = "knock_too_early"
    NOT_BLOCKED = "not_blocked"
    NOT_OUT = "not_out"
    NO_REDEAL = "no_redeal"
    REVOKE = "revoke"
    HIGHER_DOUBLE_HELD = "higher_double_held"
    TOO_MANY_DOUBLES = "too_many_doubles"
    WRONG_HAND_SIZE = "wrong_hand_size"
    WRONG_DEAL = "wrong_deal"
    SEVENTH_ARM = "seventh_arm"
    UNDER_A_SPELL = "under_a_spell"
    DRAWN_ENOUGH = "drawn_enough"
    DRAWN_TOO_FEW = "drawn_too_few"
    NO_EXTRA_TURN = "no_extra_turn"
    NOTHING_OWED = "nothing_owed"
    BONEYARD_GREW = "boneyard_grew"
    NOTHING_TO_CALL = "nothing_to_call"
    WRONG_CALL = "wrong_call"
    LATE_CALL = "late_call"
    NO_STACKING = "no_stacking"
    NOT_ITS_COPY = "not_its_copy"
    NOTHING_TO_STEAL = "nothing_to_steal"
    WRONG_NAME = "wrong_name"
    KNOWN_TILE = "known_tile"


class Weight(Enum):
    """Severity of a problem.

    IMPOSSIBLE: the action cannot have happened, or has no meaning now. It is never accepted.
    DOUBTFUL: probably a sensor error or a wrong button. It counts only after an `ItStands` event.
    ILLEGAL: against the rules. The strict policy rejects it. Otherwise it counts and is reported.
    NOTED: the action is valid but reveals an earlier fault. It counts and is reported.
    """

    IMPOSSIBLE = 3
    DOUBTFUL = 2
    ILLEGAL = 1
    NOTED = 0


@value
class Problem:
    """A problem with an action. Its weight decides whether the action counts. Its words tell players the reason."""

    kind: ProblemKind
    weight: Weight
    text: str


_WAITS = {
    "deal": phrase("the next hand has not been dealt"),
    "lead": phrase("the first tile has not been played"),
    "play": phrase("the hand is being played"),
    "reveal": phrase("the hand is over: lay your tiles open"),
    "match_over": phrase("the match is over"),
}


def _of_weight(weight: Weight) -> Callable[[ProblemKind, str], Problem]:
    return lambda kind, text: Problem(kind, weight, text)


impossible = _of_weight(Weight.IMPOSSIBLE)
doubtful = _of_weight(Weight.DOUBTFUL)
illegal = _of_weight(Weight.ILLEGAL)
noted = _of_weight(Weight.NOTED)


def not_now(phase: str) -> Problem:
    """Return the problem with an action in the wrong *phase*. Its words name the expected step."""
    return impossible(ProblemKind.NOT_NOW, _WAITS[phase])


def tiles_text(number: int) -> Phrase:
    """Return a number of tiles as a phrase.

    >>> tiles_text(1), tiles_text(3)
    ('1 tile', '3 tiles')
    """
    return plural("1 tile", "{number} tiles", number=number)


def the_tile(tile: object) -> Phrase:
    """Return a tile as a phrase with the article.

    >>> the_tile("5-4")
    'the 5-4'
    """
    return phrase("the {tile}", tile=tile)


def not_in_set(max_pips: int, tile: Tile) -> Phrase:
    """Return the message about a tile that is not in the set."""
    return phrase("a {set} set has no {tile}", set=set_name(max_pips), tile=tile)


__all__ = ["Abandoned", "Blocked", "Claimable", "Counted", "Declined", "Drew", "Ending", "ForcedDraw", "Forfeited"]
__all__ += ["HandOver", "HandStarted", "Irregular", "MatchOver", "MatchStarted", "Must", "Outcome", "Passed", "Placed"]
__all__ += ["Reason", "Redealt", "Renamed", "Revised", "Scored", "ShowHands", "Skipped", "Spelled", "Stacked"]
__all__ += ["Swapped", "Turn", "Turned"]


class Must(StrEnum):
    """Task of the player to move. Some offer two options because the engine does not know the hands."""

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
    """Reason for a change of score."""

    PLAY = "play"
    BONUS = "bonus"
    STEAL = "steal"
    ADJUST = "adjust"


class Ending(StrEnum):
    """Reason why a hand ended."""

    DOMINO = "domino"
    BLOCKED_BY_PROOF = "blocked_by_proof"
    BLOCKED_BY_KNOCKS = "blocked_by_knocks"
    CALLED = "called"


@value
class MatchStarted:
    """A match started."""

    players: tuple[str, ...]


@value
class HandStarted:
    """A hand was dealt. *number* counts from 1, *boneyard* is the number of tiles left to draw."""

    number: int
    boneyard: int


@value
class Redealt:
    """The hand is dealt again. Points scored in it are removed."""

    reason: RedealReason


@value
class Turn:
    """A player's turn began.

    Attributes:
        seat: Seat to move. None while the leader is unknown.
        must: Task of the player.
        extra: Whether the task is optional, so the next player may go on instead.
    """

    seat: Seat | None
    must: Must
    extra: bool = False


@value
class Placed:
    """A tile was added to the layout as the node *node*."""

    seat: Seat
    tile: Tile
    node: NodeId


@value
class Counted:
    """The open ends were counted after a play."""

    count: Count


@value
class Scored:
    """A player scored *points*, negative for a loss. *because* is the arithmetic or reason as text."""

    seat: Seat
    points: int
    reason: Reason
    because: str


@value
class Stacked:
    """A tile was stacked on its copy, the node *node*."""

    seat: Seat
    tile: Tile
    node: NodeId


@value
class Claimable:
    """A player can call points before the next tile is laid. After a stack, *steals_from* loses points."""

    seat: Seat
    points: int
    because: str
    steals_from: Seat | None = None


@value
class Forfeited:
    """A player forfeited points by not calling them in time."""

    seat: Seat
    points: int


@value
class Drew:
    """A player drew *tiles* tiles. *left* remain in the boneyard."""

    seat: Seat
    tiles: int
    left: int


@value
class ForcedDraw:
    """A play forced another player to draw *tiles* tiles. *left* remain in the boneyard."""

    seat: Seat
    tiles: int
    left: int


@value
class Spelled:
    """A spell was cast or broken. *arm* is None for the starter's spell, which needs all six arms started."""

    caster: Seat
    arm: Port | None
    is_on: bool


@value
class Turned:
    """The direction of play was reversed. *clockwise* is the new direction."""

    clockwise: bool


@value
class Skipped:
    """A player lost their turn."""

    seat: Seat


@value
class Declined:
    """A player declined an extra turn."""

    seat: Seat


@value
class Passed:
    """A player knocked.

    Attributes:
        seat: Seat that knocked.
        in_succession: Number of knocks since the last play, including this one. Before the lead, number of players who
            have declared that they have no double.
        instead_of_leading: Whether the knock declares that they have no double to lead.
    """

    seat: Seat
    in_succession: int
    instead_of_leading: bool = False


@value
class Blocked:
    """No tile outside the layout fits, but the boneyard is not empty. Players end the hand or draw all tiles."""

    boneyard: int


@value
class ShowHands:
    """The hand is over. *seats* must still show their tiles, including those with only a known pip total."""

    ending: Ending
    out: Seat | None
    seats: tuple[Seat, ...]


@value
class Abandoned:
    """The hand was abandoned and is not counted. *number* counts from 1."""

    number: int


@value
class HandOver:
    """The hand was counted."""

    ending: Ending
    result: HandResult


@value
class MatchOver:
    """The match is over. *winner* is None if it was closed with nobody ahead. *partner* shares the win, if any."""

    winner: Seat | None
    totals: tuple[int, ...]
    partner: Seat | None = None


@value
class Renamed:
    """A player named *before* is now named *after*."""

    seat: Seat
    before: str
    after: str


@value
class Swapped:
    """The players at *seat* and *other* changed places."""

    seat: Seat
    other: Seat


@value
class Irregular:
    """The action at *seq* has a problem. *stands* is True if it counts nevertheless."""

    seq: Seq
    problem: Problem
    stands: bool


@value
class Revised:
    """The log was corrected. *before* and *after* are the totals by seat."""

    before: tuple[int, ...]
    after: tuple[int, ...]


OfMatch = MatchStarted | MatchOver | Renamed | Swapped | Irregular | Revised
OfHand = HandStarted | Redealt | ShowHands | Abandoned | HandOver | Blocked
_OfTurn = Turn | Drew | ForcedDraw | Spelled | Turned | Skipped | Declined | Passed

Outcome = OfMatch | OfHand | _OfTurn | Placed | Counted | Stacked | Scored | Claimable | Forfeited
