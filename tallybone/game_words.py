"""What each game is called elsewhere, and what it is, in a line."""

from __future__ import annotations

from dataclasses import dataclass


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
