"""Events at the table, as values. The log of a match is a tuple of events, from which all state is derived."""

from enum import StrEnum
from typing import NewType, get_args

from engine.errors import EngineError
from engine.rules.rules import Rules
from engine.state.layout import NodeId, Spot
from engine.tiles import Tile
from engine.value import check_fields, value

__all__ = ["Abandon", "Action", "Adjust", "Amend", "Boneyard", "Call", "Confirmed", "Decline", "Domino", "Draw"]
__all__ += ["Event", "HandEnd", "Inferred", "Insert", "ItStands", "Knock", "Lead", "MatchClose", "MatchStart"]
__all__ += ["NewHand", "Play", "Redeal", "RedealReason", "Remove", "Rename", "Reveal", "RevealPips", "Revision"]
__all__ += ["Seat", "Seq", "Stack", "Swap", "Undo"]

Seat = NewType("Seat", int)
"""A player's seat, from 0, clockwise seen from above: the next seat is to the left."""

Seq = NewType("Seq", int)
"""Index of an event in the log, from 0."""


class RedealReason(StrEnum):
    """Reason for a redeal."""

    TOO_MANY_DOUBLES = "too_many_doubles"
    NO_DOUBLE = "no_double"
    MISDEAL = "misdeal"


@value
class MatchStart:
    """A match starts. *players* are the names by seat, clockwise."""

    rules: Rules
    players: tuple[str, ...]


@value
class NewHand:
    """The next hand was dealt.

    Attributes:
        dealt: Number of tiles dealt to each seat. None for the number in the rules.
        boneyard: Number of tiles in the boneyard. None for the rest of the set.
    """

    dealt: tuple[int, ...] | None = None
    boneyard: int | None = None

    def __post_init__(self) -> None:
        if any(tiles < 0 for tiles in (*(self.dealt or ()), self.boneyard or 0)):
            raise EngineError(f"a deal needs 0 tiles or more, got {self.dealt} and {self.boneyard} in the boneyard")


@value
class Redeal:
    """The hand is dealt again. Its plays do not count."""

    reason: RedealReason


@value
class Lead:
    """The players named the seat that leads the hand."""

    seat: Seat


@value
class Play:
    """A tile was laid.

    Attributes:
        seat: Seat that laid it.
        tile: The tile.
        at: Spot that it was attached to. None for the first tile of the hand.
        inner: Number against the host, or on the west side of the first tile. None for the number that matches the
            host, or for the smaller number of the first tile.
    """

    seat: Seat
    tile: Tile
    at: Spot | None = None
    inner: int | None = None

    def __post_init__(self) -> None:
        if self.inner is not None and self.inner != self.tile.low and self.inner != self.tile.high:
            raise EngineError(f"inner must be a number of {self.tile}, got {self.inner}")


@value
class Stack:
    """A tile was stacked on its copy, to steal the points of the previous play."""

    seat: Seat
    tile: Tile
    on: NodeId


@value
class Draw:
    """A player drew tiles from the boneyard.

    Attributes:
        seat: Seat that drew.
        tiles: Number of tiles, at least 1.
        forced: Whether another player's tile forced the draw. The engine has already counted it then.
        faces: The tiles drawn, if known. Empty otherwise.
    """

    seat: Seat
    tiles: int = 1
    forced: bool = False
    faces: tuple[Tile, ...] = ()

    def __post_init__(self) -> None:
        if self.tiles < 1:
            raise EngineError(f"a draw takes 1 tile or more, got {self.tiles}")
        if self.faces and len(self.faces) != self.tiles:
            raise EngineError(f"the faces must be those of {self.tiles} drawn, got {len(self.faces)}")


@value
class Boneyard:
    """The boneyard was counted. The player to move drew the tiles that are missing."""

    tiles: int

    def __post_init__(self) -> None:
        if self.tiles < 0:
            raise EngineError(f"a boneyard has 0 tiles or more, got {self.tiles}")


@value
class Knock:
    """A player passes. Before the lead, passing declares that the player has no double to lead."""

    seat: Seat


@value
class Decline:
    """A player declines an extra turn."""

    seat: Seat


@value
class Call:
    """A player calls the points of their last play. *points* is None if only the button was pressed."""

    seat: Seat
    points: int | None = None


@value
class Domino:
    """A player declares that they are out. Needed if the tracked number of their tiles is wrong."""

    seat: Seat


@value
class HandEnd:
    """The players end the hand: nobody can play or, once the hands are shown, nobody wins the tie."""


@value
class Abandon:
    """The hand is abandoned. It is not counted, and the next one is dealt."""


@value
class Reveal:
    """A player showed their remaining tiles. Another event for the same seat replaces it."""

    seat: Seat
    tiles: tuple[Tile, ...]


@value
class RevealPips:
    """The pip total of a player's remaining tiles was entered by hand."""

    seat: Seat
    pips: int

    def __post_init__(self) -> None:
        if self.pips < 0:
            raise EngineError(f"pips must be 0 or more, got {self.pips}")


@value
class Adjust:
    """Points were added or, if negative, subtracted by hand."""

    seat: Seat
    points: int
    why: str


@value
class Rename:
    """A player got another name. The score stays."""

    seat: Seat
    name: str


@value
class Swap:
    """The players at *seat* and *other* changed places, each with their score."""

    seat: Seat
    other: Seat


@value
class MatchClose:
    """The players end the match early. The highest total wins."""


_InTurn = Lead | Play | Stack | Draw | Boneyard | Knock | Decline | Call
InHand = _InTurn | Redeal | Domino | HandEnd | Abandon | Reveal | RevealPips
"""An action during a hand, from the deal to the count."""

Action = MatchStart | NewHand | Adjust | Rename | Swap | MatchClose | InHand
"""An action of the game, as opposed to a revision of the log."""


@value
class Undo:
    """The action at *seq* and all later ones are removed."""

    seq: Seq


@value
class Amend:
    """The action at *seq* is replaced by *action*, for example after a misread tile."""

    seq: Seq
    action: Action


@value
class Insert:
    """A missed *action* is inserted before the one at *seq*. The log index of this event becomes its id."""

    seq: Seq
    action: Action


@value
class Remove:
    """Only the action at *seq* is removed. Later ones stay."""

    seq: Seq


@value
class ItStands:
    """The players accept the action at *seq* despite its problem."""

    seq: Seq


@value
class Inferred:
    """The actions at *seqs* were not observed, but inferred from later observations."""

    seqs: tuple[Seq, ...]


@value
class Confirmed:
    """The players confirm the inferred actions at *seqs*."""

    seqs: tuple[Seq, ...]


Revision = Undo | Amend | Insert | Remove | ItStands | Inferred | Confirmed
"""A correction to the log."""

Event = Action | Revision
"""An entry in the log."""

for _event in get_args(Event):
    check_fields(_event)
