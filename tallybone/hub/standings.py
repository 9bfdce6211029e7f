"""Count who won how often; keep the results in a file, a line of JSON each, written before they are shown."""

from __future__ import annotations

import json
import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from tallybone.hub.heard import Scores, scores_of

log = logging.getLogger(__name__)
MOST_RESULTS = 20_000
"""So many matches are remembered; with more, the oldest go."""
MOST_LINES = 5 * MOST_RESULTS
"""Of the file, two for each result that was written."""
_MOST_LINE = 16 * 1024


@dataclass(frozen=True, slots=True)
class Finished:
    """Somebody's share of a match that is over."""

    name: str
    total: int
    won: bool


@dataclass(frozen=True, slots=True)
class MatchResult:
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


def match_result(table: str, scores: Scores) -> MatchResult | None:
    """Return the result of a table's match; None where it is not over."""
    if not scores.over or scores.winner is None or scores.match is None:
        return None
    team = scores.players[scores.winner].team
    players = tuple(
        Finished(one.name, one.total, seat == scores.winner or (team is not None and one.team == team))
        for seat, one in enumerate(scores.players)
        if one.name
    )
    return MatchResult(key_of(table, scores.match), scores.tournament, scores.game, scores.at, players)


def key_of(table: str, match: str) -> str:
    """Return the key of a match of a table.

    >>> key_of("table-3", "ab12-1")
    'table-3/ab12-1'
    """
    return f"{table}/{match}"


def standings(results: Iterable[MatchResult]) -> dict[str | None, tuple[Standing, ...]]:
    """Return the standings of each tournament, the best first; players with the same name are one."""
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
    """Yield the rows, the best first; a player with as many wins and points as the one before shares the rank."""
    best = sorted(rows.items(), key=lambda row: (-row[1][1], -row[1][2], row[0]))
    rank, before = 0, (-1, 0)
    for place, (key, (played, wins, points)) in enumerate(best, start=1):
        rank = rank if (wins, points) == before else place
        before = (wins, points)
        yield Standing(rank, names[key], played, wins, points)


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last score of a match that is over, and its result."""

    table: str
    scores: Scores
    result: MatchResult


class Results:
    """The results of all matches that were seen, kept in a file where there is one."""

    def __init__(self, path: Path | None) -> None:
        """Begin with the results in the file; a line that was cut off or damaged is left out.

        Raises:
            OSError: If it is there and cannot be read.
        """
        self._path, self._kept = path, dict[str, _Kept]()
        self._lines = 0
        self.version = 0
        self.problem: str | None = None
        """Why results are not kept; None while they are."""
        if path is not None and path.exists():
            self._load(path)

    def __iter__(self) -> Iterator[MatchResult]:
        """Give every result, the oldest first."""
        return iter(tuple(one.result for one in self._kept.values()))

    def take(self, table: str, scores: Scores) -> None:
        """Take the score of a match: it may be over, or not over any more because its last play was taken back."""
        if scores.match is None:
            return
        key, result = key_of(table, scores.match), match_result(table, scores)
        known = self._kept.get(key)
        if (None if known is None else known.result) == result or (result is None and not scores.playing):
            return
        self._write((_line(table, scores),))
        self._put(key, table, scores)
        self.version += 1

    def _put(self, key: str, table: str, scores: Scores) -> None:
        result = match_result(table, scores)
        if result is None:
            self._kept.pop(key, None)
            return
        self._kept[key] = _Kept(table, scores, result)
        if len(self._kept) > MOST_RESULTS:
            del self._kept[next(iter(self._kept))]

    def _load(self, path: Path) -> None:
        with path.open("rb") as file:
            while line := file.readline(_MOST_LINE):
                self._lines += 1
                try:
                    said = json.loads(line)
                    table = str(said["table"])
                    scores = scores_of(said, table)
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
                if scores.match is not None:
                    self._put(key_of(table, scores.match), table, scores)

    def _write(self, lines: tuple[bytes, ...]) -> None:
        """Add to the file; one that has grown far beyond its results is rewritten first."""
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._lines > MOST_LINES:
                fresh = tuple(_line(one.table, one.scores) for one in self._kept.values())
                written = self._path.with_name(self._path.name + ".new")
                _append(written, fresh, "wb")
                written.replace(self._path)
                self._lines = 2 * len(fresh)
            _append(self._path, lines, "ab")
            self._lines += 2 * len(lines)
            self.problem = None
        except OSError as error:
            self.problem = f"results are not kept: {error}"
            log.warning("%s", self.problem)


def _append(path: Path, lines: Iterable[bytes], mode: str) -> None:
    with path.open(mode) as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())


def _line(table: str, scores: Scores) -> bytes:
    """Return a score as a line of the file, in the fields of the table's message."""
    said = {"table": table, **asdict(scores), "at": None if scores.at is None else scores.at.isoformat()}
    # A line that was cut off before it must not spoil this one: it begins on a line of its own.
    return ("\n" + json.dumps(said, separators=(",", ":")) + "\n").encode("ascii")
