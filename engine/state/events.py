"""Events at the table, as values; the log of a match is a tuple of them, and all else derives from it."""

from enum import StrEnum
from typing import NewType

from engine.errors import EngineError
from engine.rules.rules import Rules
from engine.state.layout import NodeId, Spot
from engine.tiles import Tile
from engine.value import value

Seat = NewType("Seat", int)
"""A player's place at the table, 0 upwards; the next number sits to the left, clockwise from above."""

Seq = NewType("Seq", int)
"""Place of an event in the log, 0 upwards."""


class RedealReason(StrEnum):
    """Reason for a redeal."""

    TOO_MANY_DOUBLES = "too_many_doubles"
    NO_DOUBLE = "no_double"
    MISDEAL = "misdeal"


@value
class MatchStart:
    """A match begins; *players* sit clockwise from seat 0."""

    rules: Rules
    players: tuple[str, ...]


@value
class NewHand:
    """Tiles have been dealt for the next hand.

    Attributes:
        dealt: Tiles that each seat got; None for what the rules say.
        boneyard: Tiles left; None for what the set leaves.
    """

    dealt: tuple[int, ...] | None = None
    boneyard: int | None = None

    def __post_init__(self) -> None:
        """Refuse fewer tiles than none."""
        if any(tiles < 0 for tiles in (*(self.dealt or ()), self.boneyard or 0)):
            raise EngineError(f"a deal needs 0 tiles or more, got {self.dealt} and {self.boneyard} in the boneyard")


@value
class Redeal:
    """The hand is dealt again before it counts."""

    reason: RedealReason


@value
class Lead:
    """The player of the first tile of the hand is named."""

    seat: Seat


@value
class Play:
    """A tile was laid.

    Attributes:
        seat: Who laid it.
        tile: The tile.
        at: Port it was laid against; None for the first tile of the hand.
        inner: Number that touches that port, of the first tile the one on the west side; None for the one that fits, of
            the first tile the smaller.
    """

    seat: Seat
    tile: Tile
    at: Spot | None = None
    inner: int | None = None

    def __post_init__(self) -> None:
        """Refuse an inner number that the tile does not have."""
        if self.inner is not None and self.inner != self.tile.low and self.inner != self.tile.high:
            raise EngineError(f"inner must be a number of {self.tile}, got {self.inner}")


@value
class Stack:
    """A tile was laid on top of its copy, to steal the points of the play before."""

    seat: Seat
    tile: Tile
    on: NodeId


@value
class Draw:
    """A player took tiles from the boneyard.

    Attributes:
        seat: Who took them.
        tiles: How many.
        forced: Whether another's play made them: this confirms what the engine has already counted.
        faces: Which they were, where that is known.
    """

    seat: Seat
    tiles: int = 1
    forced: bool = False
    faces: tuple[Tile, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a draw of nothing, or of other tiles than were drawn."""
        if self.tiles < 1:
            raise EngineError(f"a draw takes 1 tile or more, got {self.tiles}")
        if self.faces and len(self.faces) != self.tiles:
            raise EngineError(f"the faces must be those of {self.tiles} drawn, got {len(self.faces)}")


@value
class Boneyard:
    """The boneyard was counted; what is missing was drawn by the player whose turn it is."""

    tiles: int

    def __post_init__(self) -> None:
        """Refuse fewer tiles than none."""
        if self.tiles < 0:
            raise EngineError(f"a boneyard has 0 tiles or more, got {self.tiles}")


@value
class Knock:
    """A player passes; before the first tile, they say that they have no double to lead."""

    seat: Seat


@value
class Decline:
    """A player who may play again does not."""

    seat: Seat


@value
class Call:
    """A player calls the points of what they have just played; None when they only pressed the button."""

    seat: Seat
    points: int | None = None


@value
class Domino:
    """A player says that they are out, for when the count of their tiles is wrong."""

    seat: Seat


@value
class HandEnd:
    """The button that ends the hand: nobody can play, or, with the hands open, nobody wins the tie."""


@value
class Abandon:
    """The hand is given up: it is not counted, and the next one is dealt."""


@value
class Reveal:
    """A player's remaining tiles lie open; a later one of the same seat corrects it."""

    seat: Seat
    tiles: tuple[Tile, ...]


@value
class RevealPips:
    """The sum of a player's remaining tiles was keyed in."""

    seat: Seat
    pips: int

    def __post_init__(self) -> None:
        """Refuse a sum below zero."""
        if self.pips < 0:
            raise EngineError(f"pips must be 0 or more, got {self.pips}")


@value
class Adjust:
    """The table gives or takes points by hand."""

    seat: Seat
    points: int
    why: str


@value
class MatchClose:
    """The table ends the match here; the highest total wins."""


InHand = (
    Redeal
    | Lead
    | Play
    | Stack
    | Draw
    | Boneyard
    | Knock
    | Decline
    | Call
    | Domino
    | HandEnd
    | Abandon
    | Reveal
    | RevealPips
)
"""An action between the deal and the count."""

Action = MatchStart | NewHand | Adjust | MatchClose | InHand
"""An action of the game itself."""


@value
class Undo:
    """The action at *seq* and all after it did not happen."""

    seq: Seq


@value
class Amend:
    """The action at *seq* was really *action*: "that was a 5, not a 6"."""

    seq: Seq
    action: Action


@value
class Insert:
    """Nobody saw that *action* happened before the one at *seq*; it is named by the place of this event in the log."""

    seq: Seq
    action: Action


@value
class Remove:
    """The one action at *seq* did not happen; those after it did."""

    seq: Seq


@value
class ItStands:
    """The table lets the action at *seq* stand, whatever the rules say about it."""

    seq: Seq


@value
class Inferred:
    """Nobody saw the actions at *seqs*: they were inferred from what was seen later."""

    seqs: tuple[Seq, ...]


@value
class Confirmed:
    """The table confirms the inferred actions at *seqs*."""

    seqs: tuple[Seq, ...]


Revision = Undo | Amend | Insert | Remove | ItStands | Inferred | Confirmed
"""A change to the record of the game."""

Event = Action | Revision
"""An entry of the log."""
