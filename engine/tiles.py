"""Domino tiles and tile sets."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Self

from engine.errors import EngineError
from engine.phrases import phrase

HIGHEST_PIPS = 18  # The largest set on sale is the double-18.

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
    """A domino tile. Its orientation does not matter: 5-3 and 3-5 are equal.

    Attributes:
        low: The smaller number, 0 to 18.
        high: The larger number, equal to *low* for a double.
        bit: Bit mask with one bit set, at the tile's index in `full_set`. A set of tiles is an int with the bits of its
            tiles, which keeps membership tests fast. A smaller set uses the low bits of a larger one.
    """

    low: int
    high: int
    bit: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high <= HIGHEST_PIPS:
            raise EngineError(f"a tile needs 0 <= low <= high <= {HIGHEST_PIPS}, got {self.low} and {self.high}")
        object.__setattr__(self, "bit", 1 << (self.high * (self.high + 1) // 2 + self.low))

    @classmethod
    def of(cls, first: int, second: int) -> Self:
        """Return the tile with two numbers, in any order."""
        return cls(first, second) if first <= second else cls(second, first)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a tile written as two numbers with a hyphen.

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
        """Return True if *other* is the same tile. Comparing the bits is fastest."""
        return isinstance(other, Tile) and self.bit == other.bit

    def __hash__(self) -> int:
        return hash(self.bit)

    def __str__(self) -> str:
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
        """Return True if either half shows *number*."""
        return number in (self.low, self.high)

    def other(self, number: int) -> int:
        """Return the number on the other half. For a double it is *number* itself.

        Raises:
            EngineError: If neither half shows *number*.
        """
        if not self.has(number):
            raise EngineError(f"{self} has no {number}")
        return self.high if number == self.low else self.low


@cache
def full_set(max_pips: int) -> tuple[Tile, ...]:
    """Return each tile of a double-*max_pips* set once, in the order 0-0, 1-0, 1-1, 2-0, ..."""
    return tuple(Tile(low, high) for high in range(max_pips + 1) for low in range(high + 1))


@cache
def set_bits(max_pips: int) -> int:
    """Return the bit mask of a double-*max_pips* set."""
    return (1 << len(full_set(max_pips))) - 1


def bits_of(tiles: Iterable[Tile]) -> int:
    """Return the bit mask of *tiles*."""
    bits = 0
    for tile in tiles:
        bits |= tile.bit
    return bits


def tile_of(bit: int) -> Tile:
    """Return the tile with this bit."""
    return full_set(HIGHEST_PIPS)[bit.bit_length() - 1]


def tiles_of(bits: int) -> tuple[Tile, ...]:
    """Return the tiles in a bit mask, in the order of `full_set`."""
    return tuple(tile for tile in full_set(HIGHEST_PIPS) if tile.bit & bits)


@cache
def bits_with(number: int) -> int:
    """Return the bit mask of all tiles with *number* on a half, up to the double-18."""
    return sum(tile.bit for tile in full_set(HIGHEST_PIPS) if tile.has(number))


@cache
def double_bits() -> int:
    """Return the bit mask of all doubles up to the double-18."""
    return sum(tile.bit for tile in full_set(HIGHEST_PIPS) if tile.is_double)


def set_name(max_pips: int) -> str:
    """Return the players' name for a set.

    >>> set_name(6), set_name(16)
    ('double-six', 'double-16')
    """
    return _SET_NAMES.get(max_pips) or phrase("double-{pips}", pips=max_pips)
