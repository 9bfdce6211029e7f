"""Choices for command options: tile sets, difficulty, and sizes such as 20GB."""

from __future__ import annotations

import re
from enum import StrEnum

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([KMGT]?)B?", re.IGNORECASE | re.ASCII)


class OptionError(OSError):
    """An option has an invalid value, so the exit code is 2."""


class TileSet(StrEnum):
    """A tile set by its highest double, or AUTO if unknown."""

    DOUBLE_6 = "double-6"
    DOUBLE_9 = "double-9"
    DOUBLE_12 = "double-12"
    DOUBLE_15 = "double-15"
    DOUBLE_18 = "double-18"
    AUTO = "auto"

    @property
    def max_pips(self) -> int | None:
        """Highest number in the set, or None if unknown.

        >>> TileSet.DOUBLE_9.max_pips, TileSet.AUTO.max_pips
        (9, None)
        """
        return None if self is TileSet.AUTO else int(self.value.removeprefix("double-"))

    @classmethod
    def to(cls, max_pips: int) -> TileSet:
        """Return the set with the highest number *max_pips*, or AUTO if there is no such set.

        >>> TileSet.to(12)
        <TileSet.DOUBLE_12: 'double-12'>
        """
        return next((tile_set for tile_set in cls if tile_set.max_pips == max_pips), cls.AUTO)

    @classmethod
    def named(cls, name: str) -> TileSet:
        """Return the set with a name from a recording, or AUTO if the name is unknown.

        >>> TileSet.named("double-9"), TileSet.named("mah-jongg")
        (<TileSet.DOUBLE_9: 'double-9'>, <TileSet.AUTO: 'auto'>)
        """
        return next((tile_set for tile_set in cls if tile_set.value == name), cls.AUTO)


class Difficulty(StrEnum):
    """Difficulty of a simulated table for the camera."""

    EASY = "easy"
    NORMAL = "normal"
    HARD = "hard"


def parse_size(text: str) -> int:
    """Parse a size, and return the number of bytes.

    >>> parse_size("20GB"), parse_size("1.5 M"), parse_size("0")
    (20000000000, 1500000, 0)

    Raises:
        ValueError: If the text is not a size.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"expected a size such as 500MB or 20GB, got {text!r}")
    return round(float(found[1]) * _UNITS[found[2].upper()])
