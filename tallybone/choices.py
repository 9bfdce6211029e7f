"""Define what commands can choose: sets of tiles, difficulty, and sizes such as 20GB."""

from __future__ import annotations

import re
from enum import StrEnum

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([KMGT]?)B?", re.IGNORECASE | re.ASCII)


class TileSet(StrEnum):
    """A set by its highest double, or AUTO where it is not known."""

    DOUBLE_6 = "double-6"
    DOUBLE_9 = "double-9"
    DOUBLE_12 = "double-12"
    DOUBLE_15 = "double-15"
    DOUBLE_18 = "double-18"
    AUTO = "auto"

    @property
    def max_pips(self) -> int | None:
        """Most pips on a half, or None where the set is not known.

        >>> TileSet.DOUBLE_9.max_pips, TileSet.AUTO.max_pips
        (9, None)
        """
        return None if self is TileSet.AUTO else int(self.value.removeprefix("double-"))

    @classmethod
    def to(cls, max_pips: int) -> TileSet:
        """Return the set whose highest double is that of *max_pips*; AUTO for one that nobody makes.

        >>> TileSet.to(12)
        <TileSet.DOUBLE_12: 'double-12'>
        """
        return next((one for one in cls if one.max_pips == max_pips), cls.AUTO)

    @classmethod
    def named(cls, said: str) -> TileSet:
        """Return the set that a recording names; AUTO where it names none, or one that nobody knows.

        >>> TileSet.named("double-9"), TileSet.named("mah-jongg")
        (<TileSet.DOUBLE_9: 'double-9'>, <TileSet.AUTO: 'auto'>)
        """
        return next((one for one in cls if one.value == said), cls.AUTO)


class Difficulty(StrEnum):
    """How hard a simulated table is to follow."""

    EASY = "easy"
    NORMAL = "normal"
    HARD = "hard"


def parse_size(text: str) -> int:
    """Return a size in bytes.

    >>> parse_size("20GB"), parse_size("1.5 M"), parse_size("0")
    (20000000000, 1500000, 0)

    Raises:
        ValueError: If it is none.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"expected a size such as 500MB or 20GB, got {text!r}")
    return round(float(found[1]) * _UNITS[found[2].upper()])
