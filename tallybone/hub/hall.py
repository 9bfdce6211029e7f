"""Serve the page of all tables: receive messages from the broker, and send changes at most ten times a second."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import aiomqtt
from fastapi import APIRouter, Query, Response, WebSocket

from tallybone.hub.heard import Gone, JunkError, Scores, heard
from tallybone.hub.standings import Results, Standing, standings
from tallybone.hub.tables import (
    HubShown,
    KnownTable,
    Tables,
    TableSeen,
    TournamentSeen,
    matching_tables,
    table_seen,
    tournaments_seen,
)
from tallybone.notify.broker import BrokerConnection
from tallybone.notify.mqtt import VERSION
from tallybone.serve.metrics import verdict_on, verdict_routes
from tallybone.web.access import Guard
from tallybone.web.app import STATIC, guarded, watch
from tallybone.web.hosts import KnownHosts

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
        """Encode the result of `body` as JSON with the fields of `HubShown`, without the cache."""
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
    return guarded(routers, _ABOUT, OWN_STATIC, STATIC, snapshot=lambda _: hall.body(), hosts=hosts)


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
