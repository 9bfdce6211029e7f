"""Statistics of a game, and profiles of players over all games: averages, streaks, and results against each other.

Ratings are Glicko-2 after Glickman's paper, whose steps the comments name: http://www.glicko.net/glicko/glicko2.pdf.
All of it is pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from math import exp, log, pi, sqrt
from typing import Any

import engine
from engine.game.closing import name_key
from tallybone.replay.export import ExportedPlay
from tallybone.replay.recorded_game import RecordedGame, transcript_of

_SCALE = 173.7178
_START = 1500.0
_TAU = 0.5  # limits changes of the volatility; the paper suggests 0.3 to 1.2, and its example has 0.5
_PRECISION = 1e-6


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating, its standard deviation, and the volatility of the player's results. The defaults are a new player's."""

    value: float = _START
    deviation: float = 350.0
    volatility: float = 0.06


def rated(old: Rating, results: Sequence[tuple[Rating, float]]) -> Rating:
    """Return a rating after a period with at least one result.

    Args:
        old: The rating before.
        results: Ratings of the opponents before, and the scores against them: 1 won, 0.5 drawn, 0 lost.
    """
    phi = old.deviation / _SCALE  # step 2
    precision = gain = 0.0
    for other, score in results:  # steps 3 and 4
        g = 1 / sqrt(1 + 3 * (other.deviation / _SCALE / pi) ** 2)
        expected = 1 / (1 + exp(-g * (old.value - other.value) / _SCALE))
        precision += g * g * expected * (1 - expected)
        gain += g * (score - expected)
    sigma = _volatility(old.volatility, phi, 1 / precision, gain / precision)
    phi = 1 / sqrt(1 / (phi * phi + sigma * sigma) + precision)  # steps 6 and 7
    return Rating(old.value + _SCALE * phi * phi * gain, _SCALE * phi, sigma)  # step 8


def _volatility(sigma: float, phi: float, variance: float, delta: float) -> float:
    """Return the new volatility by the Illinois algorithm: step 5."""
    start = log(sigma * sigma)

    def f(x: float) -> float:
        spread = phi * phi + variance + exp(x)
        return exp(x) * (delta * delta - spread) / (2 * spread * spread) - (x - start) / (_TAU * _TAU)

    low, high = start, start - _TAU
    if delta * delta > phi * phi + variance:
        high = log(delta * delta - phi * phi - variance)
    else:
        while f(high) < 0:
            high -= _TAU
    f_low, f_high = f(low), f(high)
    while abs(high - low) > _PRECISION:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return exp(low / 2)


_MAX_BEST = 10
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class HandFigures:
    """Points, plays, knocks and draws of each seat in a hand. The winner is None until the hand ends."""

    number: int
    points: tuple[int, ...]
    plays: tuple[int, ...]
    knocks: tuple[int, ...]
    draws: tuple[int, ...]
    winner: int | None


@dataclass(frozen=True, slots=True)
class PaidFigures:
    """Time and hand of a payment, and the totals by seat after it."""

    t_ms: int
    hand: int
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BestPlay:
    """A play that scored more than most."""

    t_ms: int
    hand: int
    seat: int
    tile: str
    points: int


@dataclass(frozen=True, slots=True)
class GameFigures:
    """A game at the end of its log, with all corrections."""

    players: tuple[str, ...]
    hands: tuple[HandFigures, ...]
    paid: tuple[PaidFigures, ...]
    best: tuple[BestPlay, ...]
    play_points: tuple[int, ...]
    winner: int | None
    sides: tuple[tuple[int, ...], ...]
    over: bool


def figures_of(game: RecordedGame) -> GameFigures:
    """Return the figures of a recorded game.

    Raises:
        NoGameError: If no score was kept, or the log cannot be scored.
    """
    transcript = transcript_of(game)
    assert transcript.state.game is not None  # checked by `transcript_of`
    match = transcript.state.game
    players = match.players
    times = {step.log - 1: step.since_ns // _NS_PER_MS for step in game.steps}
    counted = _Counted()
    results = engine.history(transcript.state)
    for step, counted.seats in zip(results, engine.last_seats(results, len(players)), strict=True):
        for outcome in step.outcomes:
            counted.add(outcome, times.get(step.entry.seq, 0))
    plays = transcript.plays
    paid = [0] * len(players)
    for play in plays:
        paid[play.seat] += play.points
    over = match.phase is engine.Phase.MATCH_OVER
    hands, payments = tuple(counted.hands), tuple(counted.paid)
    return GameFigures(players, hands, payments, _best(plays), tuple(paid), match.winner, match.sides, over)


def _best(plays: Sequence[ExportedPlay]) -> tuple[BestPlay, ...]:
    best = sorted((play for play in plays if play.points > 0), key=lambda play: -play.points)[:_MAX_BEST]
    return tuple(BestPlay(play.since_ns // _NS_PER_MS, play.hand, play.seat, play.tile, play.points) for play in best)


@dataclass(slots=True)
class _Counted:
    """Counts the outcomes of a game. *seats* has, for each seat now, that of the same player at the end."""

    seats: tuple[engine.Seat, ...] = ()
    hands: list[HandFigures] = field(default_factory=list)
    paid: list[PaidFigures] = field(default_factory=list)

    def add(self, outcome: engine.Outcome, t_ms: int) -> None:
        """Count an outcome."""
        match outcome:
            case engine.HandStarted(number=number):
                self.hands.append(self._empty(number))
            case engine.Redealt() if self.hands:
                self.hands[-1] = self._empty(self.hands[-1].number)
                self._pay(t_ms)
            case engine.Scored(seat=seat, points=points):
                self._change(points=self._more(self._hand.points, seat, points))
                self._pay(t_ms)
            case engine.Placed(seat=seat) | engine.Stacked(seat=seat):
                self._change(plays=self._more(self._hand.plays, seat))
            case engine.Passed(seat=seat):
                self._change(knocks=self._more(self._hand.knocks, seat))
            case engine.Drew(seat=seat, tiles=tiles) | engine.ForcedDraw(seat=seat, tiles=tiles):
                self._change(draws=self._more(self._hand.draws, seat, tiles))
            case engine.HandOver(result=result):
                self._change(winner=self._last(result.winner))
            case _:
                pass

    def _empty(self, number: int) -> HandFigures:
        none = (0,) * len(self.seats)
        return HandFigures(number, none, none, none, none, None)

    @property
    def _hand(self) -> HandFigures:
        """The current hand. Outcomes before the first hand count for the first."""
        if not self.hands:
            self.hands.append(self._empty(1))
        return self.hands[-1]

    def _change(self, **values: Any) -> None:
        self.hands[-1] = replace(self._hand, **values)

    def _pay(self, t_ms: int) -> None:
        totals = tuple(sum(hand.points[seat] for hand in self.hands) for seat in range(len(self.seats)))
        self.paid.append(PaidFigures(t_ms, self._hand.number, totals))

    def _more(self, counts: tuple[int, ...], seat: engine.Seat, more: int = 1) -> tuple[int, ...]:
        last = self.seats[seat]
        return (*counts[:last], counts[last] + more, *counts[last + 1 :])

    def _last(self, seat: engine.Seat | None) -> int | None:
        return None if seat is None else self.seats[seat]


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """Figures of a player over all games.

    Attributes:
        name: Name in the last game. Names that differ only in case and spaces are the same player.
        games: Number of matches, finished or not.
        points: Sum of all points, including those for hands.
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
        old = {key: players[key].rating or Rating() for key, _ in scores}
        results = {key: [(old[other], score) for (one, other), score in scores.items() if one == key] for key in old}
        players |= {key: replace(players[key], rating=rated(old[key], results[key])) for key in old}
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
