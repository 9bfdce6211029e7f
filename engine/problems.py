"""What is wrong with an action, as data with a reason in the players' words. RULES.md 2.6."""

from dataclasses import dataclass
from enum import Enum, StrEnum


class ProblemKind(StrEnum):
    """What is wrong."""

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
    WRONG_HAND_SIZE = "wrong_hand_size"


class Weight(Enum):
    """What a problem does to the action.

    IMPOSSIBLE: it cannot have happened, or means nothing now; it never stands.
    DOUBTFUL: more likely a mistake of a sensor or a thumb; it waits for "it stands".
    ILLEGAL: against the rules; it is refused under the strict policy, else it stands and is reported.
    NOTED: the action itself is good, but it shows an earlier fault; it stands and is reported.
    """

    IMPOSSIBLE = 3
    DOUBTFUL = 2
    ILLEGAL = 1
    NOTED = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an action.

    Attributes:
        kind: What it is.
        weight: What it does to the action.
        words: The reason, as one would say it at the table.
    """

    kind: ProblemKind
    weight: Weight
    words: str
