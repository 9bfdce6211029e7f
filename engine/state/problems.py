"""Problems with an action, as values with a reason for players. See docs/reference/rules.md 2.6."""

from collections.abc import Callable
from enum import Enum, StrEnum

from engine.phrases import Phrase, phrase, plural
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
