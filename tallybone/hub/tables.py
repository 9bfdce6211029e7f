"""State of all tables, and changes since a version, with the JSON fields of docs/reference/mqtt.md."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from tallybone.hub.heard import Gone, MatchProgress, Online, Scores, TableNews
from tallybone.hub.standings import Standing

MAX_TABLES = 5000
"""Maximum number of tables. Further ones are ignored, as a protection against junk on the broker."""
_MAX_GONE = 1000

MAX_STANDINGS = 50
"""Maximum number of players per tournament in a snapshot. The route `standings` returns all of them."""


@dataclass(frozen=True, slots=True)
class KnownTable:
    """State of a table.

    Attributes:
        id: Id in topics.
        scores: Latest score. None before the first.
        state: Latest progress of its match. None before the first.
        is_online: Whether it is connected to the broker.
        changed: Time of its latest score or progress by its own clock, limited to the hub's time. None if there were
            none.
        version: Version in which it last changed.
    """

    id: str
    scores: Scores | None = None
    state: MatchProgress | None = None
    is_online: bool = False
    changed: datetime | None = None
    version: int = 0


class Tables:
    """State of all tables, updated by news."""

    def __init__(self) -> None:
        """Start without tables."""
        self.version = 0
        self._tables: dict[str, KnownTable] = {}
        self._gone: deque[tuple[int, str]] = deque(maxlen=_MAX_GONE)
        self._forgotten = 0

    def hear(self, table: str, news: TableNews, now: datetime) -> bool:
        """Process news of a table. Return True if anything changed."""
        before = self._tables.get(table)
        if isinstance(news, Gone):
            return self._forget(table)
        if before is None and len(self._tables) >= MAX_TABLES:
            return False
        after = _after(before or KnownTable(table), news, now)
        if after == before:
            return False
        self.version += 1
        self._tables[table] = replace(after, version=self.version)
        return True

    def __iter__(self) -> Iterator[KnownTable]:
        """Iterate over the tables, in the order in which they appeared."""
        return iter(tuple(self._tables.values()))

    def since(self, version: int) -> tuple[tuple[KnownTable, ...], tuple[str, ...]] | None:
        """Return the tables that changed after a version, and the ids of removed ones.

        None if the version is too old.
        """
        if version < self._forgotten:
            return None
        changed = tuple(known for known in self._tables.values() if known.version > version)
        return changed, tuple(table for gone, table in self._gone if gone > version and table not in self._tables)

    def _forget(self, table: str) -> bool:
        if self._tables.pop(table, None) is None:
            return False
        self.version += 1
        if len(self._gone) == _MAX_GONE:
            self._forgotten = self._gone[0][0]
        self._gone.append((self.version, table))
        return True


def _after(before: KnownTable, news: Scores | MatchProgress | Online, now: datetime) -> KnownTable:
    match news:
        case Scores():
            return replace(before, scores=news, changed=_changed(before, news.at, now))
        case MatchProgress():
            return replace(before, state=news, changed=_changed(before, news.at, now))
        case Online():
            return replace(before, is_online=news.is_online)
        case _:
            assert_never(news)


def _changed(before: KnownTable, at: datetime | None, now: datetime) -> datetime | None:
    """Return the time of the latest news of a table, limited to *now*, because the table's clock may be fast."""
    if at is None:
        return before.changed
    at = min(at, now)
    return at if before.changed is None else max(before.changed, at)


@dataclass(frozen=True, slots=True)
class PlayerSeen:
    """A player at a table; *turn* where the table waits for them, *won* where the match is over."""

    name: str
    total: int
    team: int | None
    turn: bool
    won: bool


@dataclass(frozen=True, slots=True)
class TableSeen:
    """A table. *asks* is its open question, *changed* the UTC time of its last change, *page* its page's address."""

    id: str
    name: str
    tournament: str | None
    online: bool
    game: str
    target: int | None
    playing: bool
    over: bool
    hand: int | None
    provisional: bool
    players: tuple[PlayerSeen, ...]
    asks: str | None
    last: str | None
    changed: str | None
    page: str | None


@dataclass(frozen=True, slots=True)
class TournamentSeen:
    """The standings of a tournament; *name* is null for matches that belong to none, *players* how many there are."""

    name: str | None
    players: int
    standings: tuple[Standing, ...]


@dataclass(frozen=True, slots=True)
class HubShown:
    """The tables of a hub. If *whole* is False, only those that have changed. *gone* are the ids of removed ones.

    *line* is the fault of the connection to the broker, if any. *standings* are null if unchanged.
    """

    version: int
    whole: bool
    line: str | None
    tables: tuple[TableSeen, ...]
    gone: tuple[str, ...]
    standings: tuple[TournamentSeen, ...] | None


def table_seen(table: KnownTable) -> TableSeen:
    """Return a table for viewers.

    Progress is ignored if it is from another match than the score, or there is no score.
    """
    scores, state = table.scores or Scores(table.id), table.state
    if state is not None and (table.scores is None or state.match != scores.match):
        state = None
    is_played = scores.playing and not scores.over
    now = state if is_played else None
    turn = None if now is None or not table.is_online else now.turn
    winner = scores.winner
    team = None if winner is None else scores.players[winner].team
    seen = tuple(
        PlayerSeen(
            player.name,
            player.total,
            player.team,
            seat == turn,
            seat == winner or (team is not None and team == player.team),
        )
        for seat, player in enumerate(scores.players)
    )
    return TableSeen(
        id=table.id,
        name=scores.name,
        tournament=scores.tournament,
        online=table.is_online,
        game=scores.game,
        target=scores.target,
        playing=is_played,
        over=scores.over,
        hand=None if now is None else now.hand,
        provisional=scores.provisional,
        players=seen,
        asks=None if now is None else now.question,
        last=None if state is None else state.last,
        changed=None if table.changed is None else table.changed.isoformat(timespec="seconds"),
        page=scores.page,
    )


def tournaments_seen(
    standings: Mapping[str | None, tuple[Standing, ...]], most: int | None = MAX_STANDINGS
) -> tuple[TournamentSeen, ...]:
    """Return the standings of all tournaments, sorted by name, with at most *most* players each, or all for None.

    Matches outside any tournament come last.
    """
    named = sorted(standings.items(), key=lambda item: (item[0] is None, item[0] or ""))
    return tuple(TournamentSeen(name, len(rows), rows[:most]) for name, rows in named)


def matching_tables(tables: Iterable[TableSeen], wanted: str) -> tuple[TableSeen, ...]:
    """Return the tables whose name, id, tournament or players contain a text, regardless of case and accents."""
    key = folded(wanted)
    return tuple(table for table in tables if key in folded(" \n".join(_text(table))))


def folded(text: str) -> str:
    """Normalise a text for searching: lower case, without accents.

    >>> folded("ÉVA Müller")
    'eva muller'
    """
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


def _text(table: TableSeen) -> Iterable[str]:
    return (table.name, table.id, table.tournament or "", *(player.name for player in table.players))
