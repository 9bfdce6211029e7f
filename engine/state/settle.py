"""The end of a hand: who won it and what it pays, with the arithmetic. docs/rules.md 2.4, 3.4 (partners) and 3.5."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import EngineError
from engine.phrases import Phrase, listed, phrase, plural
from engine.rules.rules import HandMode, HandPoints, PartnersMode, TieBreak, TieOrder
from engine.state.events import Seat
from engine.tiles import Tile


@dataclass(frozen=True, slots=True)
class Holding:
    """Tiles that a player has left.

    Attributes:
        pips: The sum of the tiles.
        tiles: The tiles; None when only the sum is known.
        size: How many they are; None when not even that is known.
    """

    pips: int
    tiles: tuple[Tile, ...] | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        """Refuse tiles that do not have this sum."""
        if self.tiles is not None and sum(tile.pips for tile in self.tiles) != self.pips:
            raise EngineError(f"the tiles must have {self.pips} pips together, got {self.tiles}")

    @classmethod
    def of(cls, tiles: Sequence[Tile]) -> "Holding":
        """Return the holding of these tiles."""
        return cls(sum(tile.pips for tile in tiles), tuple(tiles), len(tiles))

    def weight(self, mode: HandMode) -> int:
        """Return the number of tiles if *mode* pays for tiles, else the pips."""
        return (self.size or 0) if mode is HandMode.SIMPLE else self.pips

    def lightest_first(self, order: TieOrder) -> tuple[tuple[int, int], ...]:
        """Return the weight of each tile, the lightest first; empty when the tiles are not known."""
        high = order is TieOrder.PIPS_THEN_HIGH
        return tuple(sorted((tile.pips, tile.high if high else 0) for tile in self.tiles or ()))


@dataclass(frozen=True, slots=True)
class HandResult:
    """Winner of a hand, and the arithmetic of their points.

    Attributes:
        winner: Who is paid; None when the tie could not be broken.
        pips: What each seat had left.
        parts: What each of the losers adds, in the order of the seats.
        subtracted: Pips of the winner that were taken off.
        rounded: The total after rounding.
        points: What the winner is paid.
        in_tiles: Whether *parts* are tiles and not pips.
        each_less: What the winner has left, already taken off each of *parts*.
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
        """The total before rounding."""
        return sum(self.parts) - self.subtracted

    @property
    def arithmetic(self) -> Phrase:
        """The sum as players would do it on paper.

        >>> HandResult(Seat(0), (3, 5, 11, 13), (5, 11, 13), subtracted=3, rounded=25, points=5).arithmetic
        '5 + 11 + 13 - 3 = 26, rounded 25, paid 5'
        """
        if self.winner is None:
            return phrase("the best hands are equal: nobody wins the hand")
        text = " + ".join(self._text(part) for part in self.parts)
        if self.subtracted:
            text += f" - {self.subtracted}"
        if text != str(self.difference):
            text += f" = {self.difference}"
        said = listed([text])
        if self.in_tiles:
            said = plural("{sum} tile", "{sum} tiles", number=self.difference, sum=text)
        if self.rounded != self.difference:
            said = phrase("{sum}, rounded {rounded}", sum=said, rounded=self.rounded)
        if self.points != self.rounded:
            said = phrase("{sum}, paid {points}", sum=said, points=self.points)
        return said

    def _text(self, part: int) -> str:
        """Return one part as it is worked out."""
        return f"({part + self.each_less} - {self.each_less})" if self.each_less and part else str(part)


def round_nearest(value: int, multiple: int) -> int:
    """Return the multiple nearest to *value*; half-way goes up.

    >>> round_nearest(27, 5), round_nearest(28, 5)
    (25, 30)
    """
    return (2 * value + multiple) // (2 * multiple) * multiple


def winners(
    holdings: Sequence[Holding], out: Seat | None, rule: HandPoints, partners: PartnersMode | None = None
) -> tuple[Seat, ...]:
    """Return the winner, or all seats that the known tiles cannot tell apart.

    Args:
        holdings: What each seat has left, by seat.
        out: Who played their last tile; None for a blocked hand.
        rule: How hands are weighed and equal ones told apart.
        partners: How two pairs share what they hold; None when everybody plays alone.
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
    """Return the result of a hand, with the arguments of `winners`; no winner if a tie cannot be broken."""
    pips = tuple(holding.pips for holding in holdings)
    best = winners(holdings, out, rule, partners)
    if len(best) != 1:
        return HandResult(None, pips)
    (winner,) = best
    parts = _parts(holdings, winner, out, rule, partners)
    if rule.round_to is not None and rule.round_each:
        parts = tuple(round_nearest(part, rule.round_to) for part in parts)
    takes_own_off = rule.subtract_own and rule.mode is HandMode.PIPS and partners is not PartnersMode.TEAM_TOTAL
    subtracted = pips[winner] if takes_own_off else 0
    difference = sum(parts) - subtracted
    rounded = difference if rule.round_to is None else round_nearest(difference, rule.round_to)
    points = rounded // rule.bonus_divisor
    in_tiles = rule.mode is HandMode.SIMPLE
    own = 0 if rule.mode is HandMode.PIPS or out is not None else holdings[winner].weight(rule.mode)
    return HandResult(winner, pips, parts, subtracted, rounded, points, in_tiles, own)


def _best(holdings: Sequence[Holding], seats: Sequence[int], rule: HandPoints) -> tuple[Seat, ...]:
    """Return the seats with the best hand of a blocked game, as far as the known tiles tell them apart."""
    weights = [
        holding.pips if rule.mode is HandMode.PIPS or holding.size is None else holding.size for holding in holdings
    ]
    lightest = min(weights[seat] for seat in seats)
    tied = [Seat(seat) for seat in seats if weights[seat] == lightest]
    if rule.tie is TieBreak.FEWEST_PIPS:
        fewest = min(holdings[seat].pips for seat in tied)
        tied = [seat for seat in tied if holdings[seat].pips == fewest]
    if rule.tie is not TieBreak.LIGHTEST_TILE or any(holdings[seat].tiles is None for seat in tied):
        return tuple(tied)
    best = min(holdings[seat].lightest_first(rule.tie_order) for seat in tied)
    return tuple(seat for seat in tied if holdings[seat].lightest_first(rule.tie_order) == best)


def _parts(
    holdings: Sequence[Holding], winner: Seat, out: Seat | None, rule: HandPoints, partners: PartnersMode | None
) -> tuple[int, ...]:
    """Return the share of each payer in the total."""
    pairs = partners in (PartnersMode.INDIVIDUAL, PartnersMode.TEAM_TOTAL)
    payers = [holding for at, holding in enumerate(holdings) if at != winner and not (pairs and at % 2 == winner % 2)]
    if rule.mode is HandMode.PIPS:
        return tuple(holding.pips for holding in payers)
    mine = 0 if out is not None else holdings[winner].weight(rule.mode)
    parts = [holding.weight(rule.mode) - mine for holding in payers]
    return tuple(part if rule.signed else max(0, part) for part in parts)
