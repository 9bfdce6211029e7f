"""Profiles of players over all games: averages, streaks, ratings, and results against each other. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import permutations

from engine.game.seating import name_key
from tallybone.replay.figures import BestPlay, GameFigures
from tallybone.replay.glicko import Rating, rated


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """Figures of a player over all games.

    Attributes:
        name: Name in the last game. Names that differ only in case and spaces are the same player.
        games: Number of matches, finished or not.
        won: Number of matches won.
        hands: Number of hands.
        plays: Number of plays and stacks.
        knocks: Number of knocks.
        points: Sum of all points, including those for hands.
        play_points: Points for plays.
        best: The play with the most points, None if no play has scored.
        rating: Rating, None before the first finished match.
        streak: Number of the last finished matches that were all won, or negative if all lost. 0 after a tie.
        longest: Most matches won in a row.
    """

    name: str
    games: int = 0
    won: int = 0
    hands: int = 0
    plays: int = 0
    knocks: int = 0
    points: int = 0
    play_points: int = 0
    best: BestPlay | None = None
    rating: Rating | None = None
    streak: int = 0
    longest: int = 0

    @property
    def points_per_hand(self) -> float:
        """Mean points in a hand, 0 without hands."""
        return self.points / self.hands if self.hands else 0.0

    @property
    def points_per_play(self) -> float:
        """Mean points for a play, 0 without plays."""
        return self.play_points / self.plays if self.plays else 0.0

    @property
    def knocks_per_hand(self) -> float:
        """Mean number of knocks in a hand, 0 without hands."""
        return self.knocks / self.hands if self.hands else 0.0


@dataclass(frozen=True, slots=True)
class PairFigures:
    """Finished matches of a player against another, and those in which each finished ahead of the other."""

    player: str
    other: str
    games: int
    ahead: int
    behind: int


@dataclass(frozen=True, slots=True)
class People:
    """All players, those with the most games first, and each pair that played against each other, in both orders."""

    players: tuple[PlayerFigures, ...]
    pairs: tuple[PairFigures, ...]


def people_in(games: Iterable[GameFigures]) -> People:
    """Return the figures of all players. *games* must be in the order in which they were played.

    Each finished match is a rating period of its players, with a result for each pair of opponents by final position.
    """
    players: dict[str, PlayerFigures] = {}
    met: dict[tuple[str, str], list[float]] = {}
    for game in games:
        keys = [name_key(name) for name in game.players]
        for seat, key in enumerate(keys):
            players[key] = _after(players.get(key, PlayerFigures("")), game, seat)
        scores = _scores(game, keys) if game.over else {}
        for pair, score in scores.items():
            met.setdefault(pair, []).append(score)
        players |= _newly_rated(players, scores)
    pairs = (
        PairFigures(players[one].name, players[other].name, len(scores), scores.count(1), scores.count(0))
        for (one, other), scores in met.items()
    )
    order = sorted(players.values(), key=lambda player: (-player.games, -player.hands, player.name))
    return People(tuple(order), tuple(sorted(pairs, key=lambda pair: (-pair.games, pair.player, pair.other))))


def _after(before: PlayerFigures, game: GameFigures, seat: int) -> PlayerFigures:
    """Return the figures of a player after another game, with the rating from before."""
    side = next(side for side in game.sides if seat in side)
    is_won, is_lost = game.winner in side, game.winner is not None and game.winner not in side
    streak = before.streak
    if game.over:
        streak = max(0, streak) + 1 if is_won else min(0, streak) - 1 if is_lost else 0
    best = [
        play for play in (before.best, *game.best) if play is not None and (play is before.best or play.seat == seat)
    ]
    return PlayerFigures(
        game.players[seat],
        before.games + 1,
        before.won + is_won,
        before.hands + len(game.hands),
        before.plays + sum(hand.plays[seat] for hand in game.hands),
        before.knocks + sum(hand.knocks[seat] for hand in game.hands),
        before.points + sum(hand.points[seat] for hand in game.hands),
        before.play_points + game.play_points[seat],
        max(best, key=lambda play: play.points, default=None),
        before.rating,
        streak,
        max(before.longest, streak),
    )


def _scores(game: GameFigures, keys: list[str]) -> dict[tuple[str, str], float]:
    """Return the score of each player against each opponent: 1 if they finished ahead, 0.5 if equal, 0 if behind."""
    scores: dict[tuple[str, str], float] = {}
    for side, other in permutations(game.sides, 2):
        place, other_place = _place(game, side), _place(game, other)
        score = 0.5 if place == other_place else float(place > other_place)
        scores |= {
            (keys[seat], keys[against]): score for seat in side for against in other if keys[seat] != keys[against]
        }
    return scores


def _place(game: GameFigures, side: tuple[int, ...]) -> tuple[bool, int]:
    """Return a value that is greater for a better final position: the winner comes first, the others by points."""
    return game.winner in side, sum(hand.points[seat] for hand in game.hands for seat in side)


def _newly_rated(
    players: Mapping[str, PlayerFigures], scores: Mapping[tuple[str, str], float]
) -> dict[str, PlayerFigures]:
    """Return the players of a match with their new ratings."""
    old = {key: players[key].rating or Rating() for key, _ in scores}
    results = {key: [(old[other], score) for (one, other), score in scores.items() if one == key] for key in old}
    return {key: replace(players[key], rating=rated(old[key], results[key])) for key in old}
