"""What becomes of players over many games: sums and averages by name. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tallybone.replay.figures import GameFigures


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """A player over all games.

    Attributes:
        name: As it was typed; who plays under two names is two players.
        games, won: How many matches, and of them won.
        hands, plays, knocks: How many.
        points: All that was paid.
        play_points: What was paid for plays.
        best: The most that one play was paid.
    """

    name: str
    games: int = 0
    won: int = 0
    hands: int = 0
    plays: int = 0
    knocks: int = 0
    points: int = 0
    play_points: int = 0
    best: int = 0

    @property
    def points_per_hand(self) -> float:
        """What a hand was worth on average; 0 without one."""
        return self.points / self.hands if self.hands else 0.0

    @property
    def points_per_play(self) -> float:
        """What a play was worth on average; 0 without one."""
        return self.play_points / self.plays if self.plays else 0.0

    @property
    def knocks_per_hand(self) -> float:
        """How often this player knocked in a hand on average; 0 without one."""
        return self.knocks / self.hands if self.hands else 0.0


def players_in(games: Iterable[GameFigures]) -> tuple[PlayerFigures, ...]:
    """Return everybody who played, who played most first."""
    found: dict[str, PlayerFigures] = {}
    for game in games:
        for seat, name in enumerate(game.players):
            before = found.get(name, PlayerFigures(name))
            found[name] = _after(before, game, seat)
    return tuple(sorted(found.values(), key=lambda one: (-one.games, -one.hands, one.name)))


def _after(before: PlayerFigures, game: GameFigures, seat: int) -> PlayerFigures:
    """Return the figures of a player after one more game."""
    return PlayerFigures(
        before.name,
        before.games + 1,
        before.won + (game.winner == seat),
        before.hands + len(game.hands),
        before.plays + sum(hand.plays[seat] for hand in game.hands),
        before.knocks + sum(hand.knocks[seat] for hand in game.hands),
        before.points + sum(hand.points[seat] for hand in game.hands),
        before.play_points + game.play_points[seat],
        max([before.best, *(one.points for one in game.best if one.seat == seat)]),
    )
