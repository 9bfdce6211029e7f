"""Serve the page of all tables: receive their messages from the broker, and send changes at most ten times a second."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import json
import logging
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, assert_never

import aiomqtt
from fastapi import APIRouter, Query, Response, WebSocket

from tallybone.hub.heard import Gone, JunkError, MatchProgress, Online, Scores, TableNews, heard
from tallybone.hub.standings import Results, Standing, standings
from tallybone.notify.broker import BrokerConnection
from tallybone.notify.mqtt import VERSION
from tallybone.serve.metrics import verdict_on, verdict_routes
from tallybone.web.access.access import Guard
from tallybone.web.access.visitors import KnownHosts
from tallybone.web.live.app import STATIC, guarded, watch

MAX_TABLES = 5000
"""Maximum number of tables. Further ones are ignored, as a protection against junk on the broker."""
_MAX_GONE = 1000

MAX_STANDINGS = 50
"""Maximum number of players per tournament in a snapshot. The route `standings` returns all of them."""


@dataclass(frozen=True, slots=True)
class KnownTable:
    """State of a table.

    Attributes:
        scores: Latest score. None before the first.
        state: Latest progress of its match. None before the first.
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
        self.version = 0
        self._tables: dict[str, KnownTable] = {}
        self._gone: deque[tuple[int, str]] = deque(maxlen=_MAX_GONE)
        self._forgotten = 0

    def hear(self, table: str, news: TableNews, now: datetime) -> bool:
        """Process news of a table. Return True if anything changed."""
        before = self._tables.get(table)
        if isinstance(news, Gone):
            if self._tables.pop(table, None) is None:
                return False
            self.version += 1
            if len(self._gone) == _MAX_GONE:
                self._forgotten = self._gone[0][0]
            self._gone.append((self.version, table))
            return True
        if before is None and len(self._tables) >= MAX_TABLES:
            return False
        after = _after(before or KnownTable(table), news, now)
        if after == before:
            return False
        self.version += 1
        self._tables[table] = replace(after, version=self.version)
        return True

    def __iter__(self) -> Iterator[KnownTable]:
        return iter(tuple(self._tables.values()))

    def since(self, version: int) -> tuple[tuple[KnownTable, ...], tuple[str, ...]] | None:
        """Return the tables that changed after a version, and the ids of removed ones.

        None if the version is too old.
        """
        if version < self._forgotten:
            return None
        changed = tuple(known for known in self._tables.values() if known.version > version)
        return changed, tuple(table for gone, table in self._gone if gone > version and table not in self._tables)


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


log = logging.getLogger(__name__)
PACE_S = 0.1
_HEARD = ("availability", "scores", "state")
# At start the broker delivers thousands of messages. After this many, other tasks run, to serve pages meanwhile.
_AT_ONCE = 200
_MARKS_KEPT = 600

_ABOUT = "All tables of a club or a tournament, from the broker to which they publish their state. Everybody can watch."


@dataclass(frozen=True, slots=True)
class _Seen:
    """A table, and its representation for viewers as a value and as JSON."""

    table: KnownTable
    seen: TableSeen
    text: str


class Hall:
    """Tracks all tables and sends changes to viewers. Runs in one event loop."""

    def __init__(self, line: BrokerConnection, prefix: str, results: Results, now: Callable[[], datetime]) -> None:
        """Receive messages on topics with *prefix* over the connection *line*. *now* returns the current time."""
        self._line, self._prefix, self._results, self._now = line, prefix, results, now
        self._tables = Tables()
        self._seen: dict[str, _Seen] = {}
        self._standings: tuple[int, dict[str | None, tuple[Standing, ...]]] = (-1, {})
        self._changed = asyncio.Event()
        # State at the current version: the versions of tables and results, and the problem of the connection.
        self._told: tuple[int, int, str | None] | None = None
        self._bodies: dict[int, str] = {}
        self._marks: list[tuple[int, int, int]] = []
        self.version = 0
        self.junk = self.viewers = 0

    async def run(self) -> None:
        """Receive messages and publish changes until cancelled."""
        await asyncio.gather(self._line.keep(self._listen), self._publish())

    async def after(self, version: int) -> str:
        """Wait for a version other than *version*, and return the changes since *version* as JSON."""
        while self.version == version:
            await self._changed.wait()
        return self.body(version)

    def body(self, since: int = 0) -> str:
        """Return the changes since a version as JSON, or the whole state if the version is 0 or too old."""
        if since not in self._bodies:
            self._bodies[since] = self._text(since)
        return self._bodies[since]

    def _text(self, since: int) -> str:
        """Encode the state as JSON with the fields of `HubShown`. `body` caches the result."""
        mark = next((known for known in reversed(self._marks) if known[0] == since), None) if since else None
        changes = None if mark is None else self._tables.since(mark[1])
        tables, gone = (tuple(self._tables), ()) if changes is None else changes
        is_new = changes is None or mark is None or mark[2] != self._results.version
        stood = tournaments_seen(self.standings) if is_new else None
        snapshot = {
            "type": "snapshot",
            "version": self.version,
            "whole": changes is None,
            "line": self._line.problem,
            "gone": gone,
            "standings": None if stood is None else [asdict(tournament) for tournament in stood],
        }
        # The JSON of each table is cached until it changes, because encoding 500 tables takes 0.1 s.
        return f'{_json(snapshot)[:-1]},"tables":[{",".join(self._table(table).text for table in tables)}]}}'

    def tables(self) -> tuple[TableSeen, ...]:
        """Return all tables."""
        return tuple(self._table(table).seen for table in self._tables)

    @property
    def standings(self) -> dict[str | None, tuple[Standing, ...]]:
        """Standings by tournament. The key None is for matches outside any tournament."""
        if self._standings[0] != self._results.version:
            self._standings = (self._results.version, standings(self._results))
        return self._standings[1]

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems with the broker connection and the results file."""
        named = (("broker", self._line.problem), ("results", self._results.problem))
        return tuple(f"{part}: {text}" for part, text in named if text is not None)

    def hear(self, topic: str, payload: bytes) -> None:
        """Process a message. Invalid messages are counted and ignored, and the first of them is logged."""
        try:
            table, news = heard(self._prefix, topic, payload)
        except JunkError as error:
            self.junk += 1
            if self.junk == 1:
                log.warning("ignored an invalid message on topic %r: %s", topic[:80], error)
            return
        if isinstance(news, Scores):
            self._results.take(table, news)
        if isinstance(news, Gone):
            self._seen.pop(table, None)
        self._tables.hear(table, news, self._now())

    def publish(self) -> None:
        """Create a new version if anything has changed."""
        known = (self._tables.version, self._results.version, self._line.problem)
        if known == self._told:
            return
        self._told = known
        self.version += 1
        self._bodies.clear()
        self._marks = [*self._marks[-_MARKS_KEPT:], (self.version, self._tables.version, self._results.version)]
        self._changed.set()
        self._changed = asyncio.Event()

    async def _publish(self) -> None:
        while True:
            self.publish()
            await asyncio.sleep(PACE_S)

    async def _listen(self, client: aiomqtt.Client) -> None:
        for what in _HEARD:
            await client.subscribe(f"{self._prefix}/v{VERSION}/+/{what}", qos=1)
        count = 0
        async for message in client.messages:
            self.hear(str(message.topic), message.payload)
            count += 1
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)

    def _table(self, table: KnownTable) -> _Seen:
        """Return the representation of a table, cached until the table changes."""
        known = self._seen.get(table.id)
        if known is None or known.table is not table:
            seen = table_seen(table)
            known = self._seen[table.id] = _Seen(table, seen, _json(asdict(seen)))
        return known


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"))


OWN_STATIC = Path(__file__).with_name("static")


def hub_app(hall: Hall, hosts: KnownHosts) -> Guard:
    """Return the web application of a hall, reachable under the host names *hosts*."""
    routers = (hub_routes(hall), verdict_routes(lambda: verdict_on(hall.problems)))
    return guarded(routers, _ABOUT, OWN_STATIC, *STATIC, snapshot=lambda _: hall.body(), hosts=hosts)


def hub_routes(hall: Hall) -> APIRouter:
    """Return the routes for viewers of a hall."""
    router = APIRouter()

    @router.get("/state", response_model=HubShown)
    async def state() -> Response:
        """All tables, at this moment."""
        return Response(hall.body(), media_type="application/json")

    @router.get("/tables")
    async def tables(find: Annotated[str, Query(max_length=80)] = "") -> tuple[TableSeen, ...]:
        """The tables whose name, tournament or players have this text in them; capitals and accents do not matter."""
        return matching_tables(hall.tables(), find)

    @router.get("/standings")
    async def standings() -> tuple[TournamentSeen, ...]:
        """Return the standings of each tournament. Only matches that the hub saw to their end count."""
        return tournaments_seen(hall.standings, None)

    @router.websocket("/live")
    async def live(socket: WebSocket) -> None:
        """Send all tables, then what changes; a slow viewer gets several changes at once."""
        await watch(socket, hall, lambda: _send_changes(socket, hall))

    return router


async def _send_changes(socket: WebSocket, hall: Hall) -> None:
    version, body = hall.version, hall.body()
    while True:
        await socket.send_text(body)
        body = await hall.after(version)
        version = hall.version
