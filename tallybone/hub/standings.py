"""Standings of tournaments, and the results file with one line of JSON per result."""

from __future__ import annotations

import json
import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from engine.game.closing import name_key
from tallybone.hub.heard import Scores, scores_of

log = logging.getLogger(__name__)
MAX_RESULTS = 20_000
"""Maximum number of matches kept. If there are more, the oldest are dropped."""
MAX_LINES = 5 * MAX_RESULTS
"""If the file has more lines than this, it is rewritten. Each result takes two lines, one of them empty."""
_MAX_LINE = 16 * 1024


@dataclass(frozen=True, slots=True)
class PlayerResult:
    """Result of a player in a finished match."""

    name: str
    total: int
    won: bool


@dataclass(frozen=True, slots=True)
class MatchResult:
    """Result of a finished match.

    *key* identifies the match, and stays the same if the match continues after a correction.
    """

    key: str
    tournament: str | None
    game: str
    at: datetime | None
    players: tuple[PlayerResult, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Standing of a player in a tournament: matches played and won, and total points."""

    rank: int
    player: str
    played: int
    wins: int
    points: int


def match_result(table: str, scores: Scores) -> MatchResult | None:
    """Return the result of a table's match, or None if it is not finished, has no winner or no id.

    Players without a name are left out. If partners play, all players of the winning team have won.
    """
    if not scores.over or scores.winner is None or scores.match is None:
        return None
    team = scores.players[scores.winner].team
    players = tuple(
        PlayerResult(player.name, player.total, seat == scores.winner or (team is not None and player.team == team))
        for seat, player in enumerate(scores.players)
        if player.name
    )
    return MatchResult(key_of(table, scores.match), scores.tournament, scores.game, scores.at, players)


def key_of(table: str, match: str) -> str:
    """Return the key of a match.

    >>> key_of("table-3", "ab12-1")
    'table-3/ab12-1'
    """
    return f"{table}/{match}"


def standings(results: Iterable[MatchResult]) -> dict[str | None, tuple[Standing, ...]]:
    """Return the standings of each tournament, best first. Names that differ only in case and spaces are the same."""
    sums: dict[str | None, dict[str, list[int]]] = defaultdict(dict)
    names: dict[str, str] = {}
    for result in results:
        for player in result.players:
            key = name_key(player.name)
            names.setdefault(key, player.name)
            row = sums[result.tournament].setdefault(key, [0, 0, 0])
            for at, more in enumerate((1, int(player.won), player.total)):
                row[at] += more
    return {tournament: tuple(_ranked(rows, names)) for tournament, rows in sums.items()}


def _ranked(rows: dict[str, list[int]], names: dict[str, str]) -> Iterable[Standing]:
    """Yield standings, best first. Players with equal wins and points share a rank."""
    best = sorted(rows.items(), key=lambda row: (-row[1][1], -row[1][2], row[0]))
    rank, before = 0, (-1, 0)
    for place, (key, (played, wins, points)) in enumerate(best, start=1):
        rank = rank if (wins, points) == before else place
        before = (wins, points)
        yield Standing(rank, names[key], played, wins, points)


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last score of a finished match, and its result."""

    table: str
    scores: Scores
    result: MatchResult


class Results:
    """Results of all finished matches, stored in a file if a path is given."""

    def __init__(self, path: Path | None) -> None:
        """Load the results in the file, if there is one. Truncated and damaged lines are ignored.

        Raises:
            OSError: If the file exists but cannot be read.
        """
        self._path, self._kept = path, dict[str, _Kept]()
        self._lines = 0
        self.version = 0
        self.problem: str | None = None
        """Reason why results cannot be stored, or None."""
        if path is not None and path.exists():
            self._load(path)

    def __iter__(self) -> Iterator[MatchResult]:
        return iter(tuple(kept.result for kept in self._kept.values()))

    def take(self, table: str, scores: Scores) -> None:
        """Store the score of a match if its result has changed.

        A match that was over can continue, if a play is undone.
        """
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
        if len(self._kept) > MAX_RESULTS:
            del self._kept[next(iter(self._kept))]

    def _load(self, path: Path) -> None:
        with path.open("rb") as file:
            while line := file.readline(_MAX_LINE):
                self._lines += 1
                try:
                    data = json.loads(line)
                    table = str(data["table"])
                    scores = scores_of(data, table)
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
                if scores.match is not None:
                    self._put(key_of(table, scores.match), table, scores)

    def _write(self, lines: tuple[bytes, ...]) -> None:
        """Append lines to the file, if any. If it has too many lines, first rewrite it with the current results."""
        # If that fails, set `problem`.
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._lines > MAX_LINES:
                fresh = tuple(_line(kept.table, kept.scores) for kept in self._kept.values())
                written = self._path.with_name(self._path.name + ".new")
                _append(written, fresh, "wb")
                written.replace(self._path)
                self._lines = 2 * len(fresh)
            _append(self._path, lines, "ab")
            self._lines += 2 * len(lines)
            self.problem = None
        except OSError as error:
            self.problem = f"results cannot be saved: {error}"
            log.warning("%s", self.problem)


def _append(path: Path, lines: Iterable[bytes], mode: str) -> None:
    with path.open(mode) as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())


def _line(table: str, scores: Scores) -> bytes:
    """Return a score as a line of the file, with the fields of the MQTT message."""
    data = {"table": table, **asdict(scores), "at": None if scores.at is None else scores.at.isoformat()}
    # Start a new line, in case the previous one was truncated.
    return ("\n" + json.dumps(data, separators=(",", ":")) + "\n").encode("ascii")
