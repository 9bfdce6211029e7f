"""List what a command can choose for a game: its rules and its set of tiles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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


class ReplayRules(StrEnum):
    """What a replay keeps score by; FREE is no game."""

    FREE = "free"
    BONES = "bones"
    DRAW = "draw"
    ALLFIVES = "allfives"
    BLOCK = "block"
    SUPER = "super"
    TWOSET = "twoset"
    CUTTHROAT = "cutthroat"


class DemoRules(StrEnum):
    """Which game a demo plays."""

    BONES = "bones"
    DRAW = "draw"
    ALLFIVES = "allfives"
    BLOCK = "block"
    SUPER = "super"
    TWOSET = "twoset"
    CUTTHROAT = "cutthroat"


class Difficulty(StrEnum):
    """How hard a simulated table is to follow."""

    EASY = "easy"
    NORMAL = "normal"
    HARD = "hard"


class DisplayKind(StrEnum):
    """The score displays that can be emulated."""

    SERLCD = "serlcd"
    SERLCD_20X4 = "serlcd-20x4"
    SEGMENT = "segment"
    NEXTION = "nextion"


@dataclass(frozen=True, slots=True)
class GameWords:
    """A game in words: what it is called *elsewhere*, and *what* it is."""

    elsewhere: str
    what: str


_GAMES = {
    "bones": GameWords("Fives", "Open ends that add up to a multiple of five score. A spinner opens its sides first."),
    "draw": GameWords("Draw", "Who cannot play draws until he can. Only the end of a hand pays."),
    "allfives": GameWords(
        "All Fives, Sniff", "Fives with a spinner that is open on all four edges and goes on counting."
    ),
    "block": GameWords("Block", "Nobody draws: who cannot play knocks. Only the end of a hand pays."),
    "super": GameWords("Super Dominoes", "Six arms grow from a double; 15, 14, 13, 3 and doubles do something."),
    "twoset": GameWords("4 man, 2 box", "Fives with two sets; points count only when they are called."),
    "cutthroat": GameWords("4 man, 2 box", "Twoset in which the next player may stack a tile and steal the points."),
    "free": GameWords("no game", "Every tile is reported as it is placed, moved or removed."),
}


def words_of(game: str) -> GameWords:
    """Return a game in words; it has to be one of `engine.profiles.PROFILES`."""
    return _GAMES[game]
