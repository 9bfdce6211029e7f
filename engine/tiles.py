"""Domino tiles and the sets they come in."""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Self

from engine.errors import EngineError
from engine.phrases import phrase

HIGHEST_PIPS = 18  # the largest set sold is the double-18

_TILE = re.compile(r"([0-9]{1,2})-([0-9]{1,2})")
_SET_NAMES = {
    6: phrase("double-six"),
    9: phrase("double-nine"),
    12: phrase("double-twelve"),
    15: phrase("double-fifteen"),
    18: phrase("double-eighteen"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """One tile, whichever way round it lies: 5-3 and 3-5 are equal.

    Attributes:
        low: The smaller number, 0 to 18.
        high: The larger number, equal to *low* for a double.
        bit: The tile as a set of tiles: one bit, counted from 0-0 upwards as in `full_set`, so that the tiles of a
            smaller set are the low bits of a larger one. Sets of tiles are ints: who holds what is asked at every play.
    """

    low: int
    high: int
    bit: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse numbers that no tile has."""
        if not 0 <= self.low <= self.high <= HIGHEST_PIPS:
            raise EngineError(f"a tile needs 0 <= low <= high <= {HIGHEST_PIPS}, got {self.low} and {self.high}")
        object.__setattr__(self, "bit", 1 << (self.high * (self.high + 1) // 2 + self.low))

    @classmethod
    def of(cls, one: int, other: int) -> Self:
        """Return the tile with these two numbers, in any order."""
        return cls(one, other) if one <= other else cls(other, one)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a tile as players write it.

        >>> Tile.parse("3-5")
        Tile(low=3, high=5)
        >>> str(Tile.parse("3-5"))
        '5-3'

        Raises:
            EngineError: If *text* is not two numbers of 0 to 18 with a hyphen between them.
        """
        found = _TILE.fullmatch(text)
        if found is None:
            raise EngineError(f'expected a tile such as "5-3", got "{text}"')
        return cls.of(int(found[1]), int(found[2]))

    def __eq__(self, other: object) -> bool:
        """Return True if *other* is the same tile; comparing their one bit is fast."""
        return isinstance(other, Tile) and self.bit == other.bit

    def __hash__(self) -> int:
        """Return the hash of the tile's bit."""
        return hash(self.bit)

    def __str__(self) -> str:
        """Return the tile with its larger number first, as players say it."""
        return f"{self.high}-{self.low}"

    @property
    def is_double(self) -> bool:
        """True if both halves show the same number."""
        return self.low == self.high

    @property
    def pips(self) -> int:
        """The sum of both halves."""
        return self.low + self.high

    def has(self, number: int) -> bool:
        """Return True if one of the halves shows *number*."""
        return number in (self.low, self.high)

    def other(self, number: int) -> int:
        """Return the number on the half across from *number*.

        Raises:
            EngineError: If the tile has no such number.
        """
        if not self.has(number):
            raise EngineError(f"{self} has no {number}")
        return self.high if number == self.low else self.low


@cache
def full_set(max_pips: int) -> tuple[Tile, ...]:
    """Return every tile of a double-*max_pips* set once, from 0-0 upwards."""
    return tuple(Tile(low, high) for high in range(max_pips + 1) for low in range(high + 1))


@cache
def set_bits(max_pips: int) -> int:
    """Return every tile of a double-*max_pips* set, as bits."""
    return (1 << len(full_set(max_pips))) - 1


@cache
def bits_with(number: int) -> int:
    """Return every tile with *number* on a half, up to the double-18, as bits."""
    return sum(tile.bit for tile in full_set(HIGHEST_PIPS) if tile.has(number))


@cache
def double_bits() -> int:
    """Return every double, up to the double-18, as bits."""
    return sum(tile.bit for tile in full_set(HIGHEST_PIPS) if tile.is_double)


def set_name(max_pips: int) -> str:
    """Return the players' name for a set.

    >>> set_name(6), set_name(16)
    ('double-six', 'double-16')
    """
    return _SET_NAMES.get(max_pips) or phrase("double-{pips}", pips=max_pips)
