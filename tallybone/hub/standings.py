"""Who has won how often, over all matches that were seen to their end: pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tallybone.hub.heard import Scores


@dataclass(frozen=True, slots=True)
class Finished:
    """Somebody's share of a match that is over."""

    name: str
    total: int
    won: bool


@dataclass(frozen=True, slots=True)
class Result:
    """A match that is over; *key* is its own, whatever becomes of it."""

    key: str
    tournament: str | None
    game: str
    at: datetime | None
    players: tuple[Finished, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How somebody stands in a tournament: matches played and won, and the points of all of them."""

    rank: int
    player: str
    played: int
    wins: int
    points: int


def result_of(table: str, scores: Scores) -> Result | None:
    """Return the result that a table says; None where its match is not over."""
    if not scores.over or scores.winner is None or scores.match is None:
        return None
    team = scores.players[scores.winner].team
    players = tuple(
        Finished(one.name, one.total, seat == scores.winner or (team is not None and one.team == team))
        for seat, one in enumerate(scores.players)
        if one.name
    )
    return Result(key_of(table, scores.match), scores.tournament, scores.game, scores.at, players)


def key_of(table: str, match: str) -> str:
    """Return what a match of a table is known by.

    >>> key_of("table-3", "ab12-1")
    'table-3/ab12-1'
    """
    return f"{table}/{match}"


def standings(results: Iterable[Result]) -> dict[str | None, tuple[Standing, ...]]:
    """Return how all stand in each tournament, the best first; those who are called alike are one."""
    sums: dict[str | None, dict[str, list[int]]] = defaultdict(dict)
    names: dict[str, str] = {}
    for result in results:
        for one in result.players:
            key = one.name.casefold()
            names.setdefault(key, one.name)
            row = sums[result.tournament].setdefault(key, [0, 0, 0])
            for at, more in enumerate((1, int(one.won), one.total)):
                row[at] += more
    return {tournament: tuple(_ranked(rows, names)) for tournament, rows in sums.items()}


def _ranked(rows: dict[str, list[int]], names: dict[str, str]) -> Iterable[Standing]:
    """Yield the rows, the best first; who has as many wins and points as the one before shares the rank."""
    best = sorted(rows.items(), key=lambda row: (-row[1][1], -row[1][2], row[0]))
    rank, before = 0, (-1, 0)
    for place, (key, (played, wins, points)) in enumerate(best, start=1):
        rank = rank if (wins, points) == before else place
        before = (wins, points)
        yield Standing(rank, names[key], played, wins, points)
