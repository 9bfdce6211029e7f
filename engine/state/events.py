"""Events at the table, as values, and the arithmetic of a hand's end.

The log of a match is a tuple of events, from which all state is derived. A hand is settled as in
docs/reference/rules.md 2.4, 3.4 (partners) and 3.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType, get_args

from engine.errors import EngineError
from engine.phrases import Phrase, listed, phrase, plural
from engine.rules.rules import HandMode, HandPoints, PartnersMode, Rules, TieBreak, TieOrder
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


@dataclass(frozen=True, slots=True)
class Holding:
    """Tiles left in a player's hand.

    Attributes:
        pips: Pip total of the tiles.
        tiles: The tiles. None if only the total is known.
        size: Number of tiles. None if unknown.
    """

    pips: int
    tiles: tuple[Tile, ...] | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        if self.tiles is not None and sum(tile.pips for tile in self.tiles) != self.pips:
            raise EngineError(f"the tiles must have {self.pips} pips together, got {self.tiles}")

    @classmethod
    def of(cls, tiles: Sequence[Tile]) -> Holding:
        """Return the holding with these tiles."""
        return cls(sum(tile.pips for tile in tiles), tuple(tiles), len(tiles))

    def weight(self, mode: HandMode) -> int:
        """Return the number of tiles if *mode* scores tiles (0 if unknown), else the pip total."""
        return (self.size or 0) if mode is HandMode.SIMPLE else self.pips

    def lightest_first(self, order: TieOrder) -> tuple[tuple[int, int], ...]:
        """Return the sort keys of the tiles for tie-breaks, lightest first. Empty if the tiles are unknown."""
        high = order is TieOrder.PIPS_THEN_HIGH
        return tuple(sorted((tile.pips, tile.high if high else 0) for tile in self.tiles or ()))


@dataclass(frozen=True, slots=True)
class HandResult:
    """Winner of a hand and the arithmetic of the points.

    Attributes:
        winner: Seat that scores. None if a tie could not be broken.
        pips: Pips left in each seat's hand.
        parts: Contribution of each loser, in seat order.
        subtracted: Pips of the winner subtracted from the total.
        rounded: Total after rounding.
        points: Points that the winner scores.
        in_tiles: Whether *parts* count tiles instead of pips.
        each_less: Amount left in the winner's hand, already subtracted from each of *parts*.
    """

    winner: Seat | None
    pips: tuple[int, ...]
    parts: tuple[int, ...] = ()
    subtracted: int = 0
    rounded: int = 0
    points: int = 0
    in_tiles: bool = False
    each_less: int = 0

    @property
    def difference(self) -> int:
        """Total before rounding."""
        return sum(self.parts) - self.subtracted

    @property
    def arithmetic(self) -> Phrase:
        """The calculation as text.

        >>> HandResult(Seat(0), (3, 5, 11, 13), (5, 11, 13), subtracted=3, rounded=25, points=5).arithmetic
        '5 + 11 + 13 - 3 = 26, rounded to 25, paid 5'
        """
        if self.winner is None:
            return phrase("the best hands are equal: nobody wins the hand")
        less = self.each_less  # a nonzero part shows the winner's share subtracted from it: "(8 - 3)"
        text = " + ".join(f"({part + less} - {less})" if less and part else str(part) for part in self.parts)
        if self.subtracted:
            text += f" - {self.subtracted}"
        if text != str(self.difference):
            text += f" = {self.difference}"
        terms = listed([text])
        if self.in_tiles:
            terms = plural("{sum} tile", "{sum} tiles", number=self.difference, sum=text)
        if self.rounded != self.difference:
            terms = phrase("{sum}, rounded to {rounded}", sum=terms, rounded=self.rounded)
        if self.points != self.rounded:
            terms = phrase("{sum}, paid {points}", sum=terms, points=self.points)
        return terms


def round_nearest(value: int, multiple: int) -> int:
    """Round *value* to the nearest multiple of *multiple*. Halves round up.

    >>> round_nearest(27, 5), round_nearest(28, 5)
    (25, 30)
    """
    return (2 * value + multiple) // (2 * multiple) * multiple


def winners(
    holdings: Sequence[Holding], out: Seat | None, rule: HandPoints, partners: PartnersMode | None = None
) -> tuple[Seat, ...]:
    """Return the winner of a hand, or all tied seats if the known tiles do not break the tie.

    Args:
        holdings: Tiles left, by seat.
        out: Seat that played its last tile. None for a blocked hand.
        rule: Rules for comparing hands and breaking ties.
        partners: Partnership mode. None if everybody plays alone.
    """
    if out is not None:
        return (out,)
    best = _best(holdings, range(len(holdings)), rule)
    if partners is PartnersMode.TEAM_TOTAL:
        pairs = [sum(holding.pips for holding in holdings[first::2]) for first in range(2)]
        if pairs[0] == pairs[1]:
            return tuple(Seat(at) for at in range(len(holdings)))
        return _best(holdings, range(pairs.index(min(pairs)), len(holdings), 2), rule)[:1]
    if partners is not None and len({seat % 2 for seat in best}) == 1:
        return best[:1]
    return best


def settle(
    holdings: Sequence[Holding], out: Seat | None, rule: HandPoints, partners: PartnersMode | None = None
) -> HandResult:
    """Return the result of a hand. Takes the arguments of `winners`. An unbroken tie has no winner."""
    pips = tuple(holding.pips for holding in holdings)
    best = winners(holdings, out, rule, partners)
    if len(best) != 1:
        return HandResult(None, pips)
    (winner,) = best
    own = 0 if rule.mode is HandMode.PIPS or out is not None else holdings[winner].weight(rule.mode)
    # Partners of the winner may be exempt.
    pairs = partners in (PartnersMode.INDIVIDUAL, PartnersMode.TEAM_TOTAL)
    payers = [holding for at, holding in enumerate(holdings) if at != winner and not (pairs and at % 2 == winner % 2)]
    parts = tuple(holding.weight(rule.mode) - own for holding in payers)
    if not rule.signed:
        parts = tuple(max(0, part) for part in parts)
    if rule.round_to is not None and rule.round_each:
        parts = tuple(round_nearest(part, rule.round_to) for part in parts)
    subtracts_own = rule.subtract_own and rule.mode is HandMode.PIPS and partners is not PartnersMode.TEAM_TOTAL
    subtracted = pips[winner] if subtracts_own else 0
    difference = sum(parts) - subtracted
    rounded = difference if rule.round_to is None else round_nearest(difference, rule.round_to)
    points, in_tiles = rounded // rule.bonus_divisor, rule.mode is HandMode.SIMPLE
    return HandResult(winner, pips, parts, subtracted, rounded, points, in_tiles, own)


def _best(holdings: Sequence[Holding], seats: Sequence[int], rule: HandPoints) -> tuple[Seat, ...]:
    """Return the seats with the best hand in a blocked game. Several if the known tiles do not break a tie."""
    is_by_pips = rule.mode is HandMode.PIPS
    weights = [holding.pips if is_by_pips or holding.size is None else holding.size for holding in holdings]
    lightest = min(weights[seat] for seat in seats)
    tied = [Seat(seat) for seat in seats if weights[seat] == lightest]
    if rule.tie is TieBreak.FEWEST_PIPS:
        fewest = min(holdings[seat].pips for seat in tied)
        tied = [seat for seat in tied if holdings[seat].pips == fewest]
    if rule.tie is not TieBreak.LIGHTEST_TILE or any(holdings[seat].tiles is None for seat in tied):
        return tuple(tied)
    best = min(holdings[seat].lightest_first(rule.tie_order) for seat in tied)
    return tuple(seat for seat in tied if holdings[seat].lightest_first(rule.tie_order) == best)
