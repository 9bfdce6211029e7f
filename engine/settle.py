"""The end of a hand: who won it and what it pays, with the arithmetic. RULES.md 2.4."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import EngineError
from engine.events import Seat
from engine.rules import HandPoints, TieBreak
from engine.tiles import Tile


@dataclass(frozen=True, slots=True)
class Holding:
    """What a player has left.

    Attributes:
        pips: The sum of the tiles.
        tiles: The tiles; None when only the sum is known.
    """

    pips: int
    tiles: tuple[Tile, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse tiles that do not have this sum."""
        if self.tiles is not None and sum(tile.pips for tile in self.tiles) != self.pips:
            raise EngineError(f"the tiles must have {self.pips} pips together, got {self.tiles}")

    @classmethod
    def of(cls, tiles: Sequence[Tile]) -> "Holding":
        """Return what these tiles are worth."""
        return cls(sum(tile.pips for tile in tiles), tuple(tiles))

    @property
    def lightest_first(self) -> tuple[int, ...]:
        """The pips of each tile in rising order; empty when the tiles are not known."""
        return tuple(sorted(tile.pips for tile in self.tiles or ()))


@dataclass(frozen=True, slots=True)
class HandResult:
    """Who won a hand, and why he gets what he gets.

    Attributes:
        winner: Who is paid; None when the tie could not be broken.
        pips: What each seat had left.
        subtracted: Pips of the winner that were taken off.
        rounded: The total after rounding.
        points: What the winner is paid.
    """

    winner: Seat | None
    pips: tuple[int, ...]
    subtracted: int = 0
    rounded: int = 0
    points: int = 0

    @property
    def difference(self) -> int:
        """The total before rounding."""
        return sum(self._opponents()) - self.subtracted

    @property
    def arithmetic(self) -> str:
        """The sum as players would do it on paper.

        >>> HandResult(Seat(0), (3, 5, 11, 13), subtracted=3, rounded=25, points=5).arithmetic
        '5 + 11 + 13 - 3 = 26, rounded 25, paid 5'
        """
        if self.winner is None:
            return "nobody wins the tie"
        text = " + ".join(str(pips) for pips in self._opponents())
        if self.subtracted:
            text += f" - {self.subtracted}"
        if text != str(self.difference):
            text += f" = {self.difference}"
        if self.rounded != self.difference:
            text += f", rounded {self.rounded}"
        if self.points != self.rounded:
            text += f", paid {self.points}"
        return text

    def _opponents(self) -> tuple[int, ...]:
        """Return the pips of everybody else."""
        return tuple(pips for seat, pips in enumerate(self.pips) if seat != self.winner)


def round_nearest(value: int, multiple: int) -> int:
    """Return the multiple nearest to *value*; half-way goes up.

    >>> round_nearest(27, 5), round_nearest(28, 5)
    (25, 30)
    """
    return (2 * value + multiple) // (2 * multiple) * multiple


def winners(holdings: Sequence[Holding], out: Seat | None, tie: TieBreak) -> tuple[Seat, ...]:
    """Return who has won: one seat, or all that cannot be told apart by what is known.

    Args:
        holdings: What each seat has left, by seat.
        out: Who played his last tile; None for a blocked hand.
        tie: How equal hands are told apart.
    """
    if out is not None:
        return (out,)
    lightest = min(holding.pips for holding in holdings)
    tied = [Seat(seat) for seat, holding in enumerate(holdings) if holding.pips == lightest]
    if tie is TieBreak.NONE or any(holdings[seat].tiles is None for seat in tied):
        return tuple(tied)
    best = min(holdings[seat].lightest_first for seat in tied)
    return tuple(seat for seat in tied if holdings[seat].lightest_first == best)


def settle(holdings: Sequence[Holding], out: Seat | None, rule: HandPoints) -> HandResult:
    """Return who won the hand and what it pays; nobody when a tie cannot be broken."""
    pips = tuple(holding.pips for holding in holdings)
    best = winners(holdings, out, rule.tie)
    if len(best) != 1:
        return HandResult(None, pips)
    (winner,) = best
    subtracted = pips[winner] if rule.subtract_own else 0
    difference = sum(pips) - pips[winner] - subtracted
    rounded = difference if rule.round_to is None else round_nearest(difference, rule.round_to)
    return HandResult(winner, pips, subtracted, rounded, rounded // rule.bonus_divisor)
