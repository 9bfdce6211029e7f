"""The paths of the page of all tables: everybody on the network may look, and nothing can be changed."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Response, WebSocket, WebSocketDisconnect

from tallybone.hub.hall import Hall
from tallybone.hub.shapes import HubShown, TableSeen, TournamentSeen, found, tournaments_seen
from tallybone.serve.metrics import verdict_on, verdict_routes
from tallybone.web.access import Guard
from tallybone.web.app import MOST_VIEWERS, STATIC, guarded, listen_to

OWN_STATIC = Path(__file__).with_name("static")
_ABOUT = "All tables of a club or a tournament, as they tell a broker how they stand. Everybody may look."


def hub_app(hall: Hall) -> Guard:
    """Return the page of a hall."""
    routers = (hub_routes(hall), verdict_routes(lambda: verdict_on(hall.problems)))
    return guarded(routers, _ABOUT, OWN_STATIC, STATIC, snapshot=lambda _: hall.body())


def hub_routes(hall: Hall) -> APIRouter:
    """Return the paths of the API."""
    router = APIRouter()

    @router.get("/state", response_model=HubShown)
    async def state() -> Response:
        """All tables, at this moment."""
        return Response(hall.body(), media_type="application/json")

    @router.get("/tables")
    async def tables(find: Annotated[str, Query(max_length=80)] = "") -> tuple[TableSeen, ...]:
        """The tables whose name, tournament or players have this text in them; capitals and accents do not matter."""
        return found(hall.tables(), find)

    @router.get("/standings")
    async def standings() -> tuple[TournamentSeen, ...]:
        """How all stand in each tournament, over the matches that were seen to their end."""
        return tournaments_seen(hall.standings, None)

    router.add_api_websocket_route("/live", _Viewers(hall).watch)
    return router


class _Viewers:
    """Those who are told every change."""

    def __init__(self, hall: Hall) -> None:
        self._hall, self._count = hall, 0

    async def watch(self, socket: WebSocket) -> None:
        """Send all tables, then what changes; who is slow gets several changes at once."""
        if self._count >= MOST_VIEWERS:
            await socket.close(1013)
            return
        await socket.accept()
        self._count += 1
        sending = asyncio.create_task(self._send(socket))
        try:
            await listen_to(socket, asyncio.get_running_loop().time)
        finally:
            self._count -= 1
            sending.cancel()
            with suppress(asyncio.CancelledError, RuntimeError, OSError, WebSocketDisconnect):
                await sending

    async def _send(self, socket: WebSocket) -> None:
        version, body = self._hall.version, self._hall.body()
        while True:
            await socket.send_text(body)
            since = version
            body = await self._hall.after(since)
            version = self._hall.version
