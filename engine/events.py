"""What happens at the table, as values: the log of a match is a tuple of these and everything else follows from it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from engine.errors import EngineError
from engine.layout import Spot
from engine.rules import Rules
from engine.tiles import Tile

Seat = NewType("Seat", int)
"""A player's place at the table, 0 upwards; the next number sits to the left, clockwise from above."""

Seq = NewType("Seq", int)
"""Place of an event in the log, 0 upwards."""


class RedealReason(StrEnum):
    """Why everybody gives the tiles back."""

    TOO_MANY_DOUBLES = "too_many_doubles"
    NO_DOUBLE = "no_double"
    MISDEAL = "misdeal"


@dataclass(frozen=True, slots=True)
class MatchStart:
    """A match begins; *players* sit clockwise from seat 0."""

    rules: Rules
    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewHand:
    """Tiles have been dealt for the next hand."""


@dataclass(frozen=True, slots=True)
class Redeal:
    """The hand is dealt again before it counts."""

    reason: RedealReason


@dataclass(frozen=True, slots=True)
class Lead:
    """It is said who plays the first tile of the hand."""

    seat: Seat


@dataclass(frozen=True, slots=True)
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
        if self.inner is not None and not self.tile.has(self.inner):
            raise EngineError(f"inner must be a number of {self.tile}, got {self.inner}")


@dataclass(frozen=True, slots=True)
class Draw:
    """A player took *tiles* tiles from the boneyard."""

    seat: Seat
    tiles: int = 1

    def __post_init__(self) -> None:
        """Refuse a draw of nothing."""
        if self.tiles < 1:
            raise EngineError(f"a draw takes 1 tile or more, got {self.tiles}")


@dataclass(frozen=True, slots=True)
class Knock:
    """A player passes."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Domino:
    """A player says that he is out, for when the count of his tiles is wrong."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class HandEnd:
    """The button that ends the hand: nobody can play, or, with the hands open, nobody wins the tie."""


@dataclass(frozen=True, slots=True)
class Reveal:
    """A player's remaining tiles lie open; a later one of the same seat corrects it."""

    seat: Seat
    tiles: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class RevealPips:
    """The sum of a player's remaining tiles was keyed in."""

    seat: Seat
    pips: int

    def __post_init__(self) -> None:
        """Refuse a sum below zero."""
        if self.pips < 0:
            raise EngineError(f"pips must be 0 or more, got {self.pips}")


Action = MatchStart | NewHand | Redeal | Lead | Play | Draw | Knock | Domino | HandEnd | Reveal | RevealPips
"""What happens in the game itself."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The action at *seq* and all after it did not happen."""

    seq: Seq


@dataclass(frozen=True, slots=True)
class Amend:
    """What really happened at *seq* was *action*: "that was a 5, not a 6"."""

    seq: Seq
    action: Action


@dataclass(frozen=True, slots=True)
class ItStands:
    """The table lets the action at *seq* stand, whatever the rules say about it."""

    seq: Seq


Revision = Undo | Amend | ItStands
"""What changes the record of the game."""

Event = Action | Revision
