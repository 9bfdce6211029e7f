"""What everybody on the network may do: look at the game as JSON, as pictures, and as it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, HTTPException, Query, Request, Response, WebSocket, WebSocketDisconnect
from pydantic import BaseModel

from engine import Tile
from engine.phrases import phrase
from tallybone.web.actions import Number
from tallybone.web.feed import Hub, Made, Pictures, Taken, crop_of
from tallybone.web.shapes import PlayShown, Snapshot, ToldShown
from tallybone.web.snapshot import EndOffered, as_json, ends_before

Language: TypeAlias = Literal["en", "es", "pt", "fr"]
"""In which one wants to read what the table says."""
MOST_FRAME = 1024
"""Bytes that a viewer may send at once; it has nothing to say but pings."""
MOST_VIEWERS = 200
_MOST_FRAMES, _WITHIN_S = 50, 10.0
_JPEG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/jpeg": {}}}, 304: {"description": "As before"}}


class Error(BaseModel):
    """Why something was not done, in plain words."""

    error: str


def looking(hub: Hub, pictures: Pictures) -> APIRouter:
    """Return the paths that need no PIN."""
    router = APIRouter()
    making = asyncio.Lock()

    @router.get("/state", response_model=Snapshot)
    async def state(lang: Language = "en") -> Response:
        """All that a page shows, at this moment."""
        if not hub.newest.version:
            raise HTTPException(404, phrase("no match has begun"))
        return Response(hub.newest.body(lang), media_type="application/json")

    @router.get("/events", response_model=list[ToldShown])
    async def events(after: Annotated[int, Query(ge=0, le=10**9)] = 0, lang: Language = "en") -> Response:
        """What was said to the table after the thing with this id, the oldest first; the last 500 are kept."""
        return Response(as_json(hub.told_after(after), lang), media_type="application/json")

    @router.get("/plays", response_model=list[PlayShown])
    async def plays(hand: Annotated[int, Query(ge=1, le=10**6)], lang: Language = "en") -> Response:
        """The actions of a hand of the match, counted from 1."""
        return Response(as_json(hub.plays_of(hand), lang), media_type="application/json")

    @router.get("/ends")
    async def ends(
        before: Annotated[int, Query(ge=0, le=10**6)],
        pips: Annotated[list[Number], Query(min_length=2, max_length=2)],
    ) -> list[EndOffered]:
        """The ends that were open before the action with this name, for a tile that has these numbers."""
        now = hub.now
        async with making:
            found = None if now is None else await asyncio.to_thread(ends_before, now.session, before, Tile.of(*pips))
        if found is None:
            raise HTTPException(404, phrase("that is not part of the game any more"))
        return list(found)

    @router.get("/picture.jpg", responses=_JPEG, response_class=Response)
    async def picture(request: Request, width: Literal["320", "640", "1280"] = "640") -> Response:
        """The newest picture of the camera."""
        taken = _taken(hub)
        async with making:
            made = await asyncio.to_thread(pictures.of_width, taken, int(width))
        return _picture(made, request)

    @router.get("/tiles/{seq}.jpg", responses=_JPEG, response_class=Response)
    async def tile(seq: int, request: Request) -> Response:
        """The tile of a play as the camera sees it now."""
        taken, now = _taken(hub), hub.now
        async with making:
            made = None if now is None else await asyncio.to_thread(crop_of, taken, now.session, seq)
        return _picture(made, request)

    router.add_api_websocket_route("/live", _Viewers(hub).watch)
    return router


class _Viewers:
    """Those who are shown every change."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def watch(self, socket: WebSocket, lang: Language = "en") -> None:
        """Send the snapshot now and whenever it changes; who is slow gets only the newest."""
        if self._hub.viewers >= MOST_VIEWERS:
            await socket.close(1013)
            return
        await socket.accept()
        self._hub.viewers += 1
        sending = asyncio.create_task(self._send(socket, lang))
        try:
            await listen_to(socket, asyncio.get_running_loop().time)
        finally:
            self._hub.viewers -= 1
            sending.cancel()
            # Who leaves while something is sent to him is no error that a log should keep.
            with suppress(asyncio.CancelledError, RuntimeError, OSError, WebSocketDisconnect):
                await sending

    async def _send(self, socket: WebSocket, language: str) -> None:
        version = 0
        while True:
            newest = await self._hub.after(version)
            await socket.send_text(newest.message(language))
            version = newest.version


async def listen_to(socket: WebSocket, clock_s: Callable[[], float]) -> None:
    """Wait until a viewer leaves; one that says too much is shown the door."""
    began_s, frames = clock_s(), 0
    with suppress(WebSocketDisconnect):  # he may leave while he is answered
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if clock_s() - began_s > _WITHIN_S:
                began_s, frames = clock_s(), 0
            frames += 1
            said = message.get("text") or message.get("bytes") or ""
            if len(said) > MOST_FRAME or frames > _MOST_FRAMES:
                await socket.close(1008)
                return
            if said == "ping":
                await socket.send_text('{"type":"pong"}')


def _taken(hub: Hub) -> Taken:
    if hub.picture is None:
        raise HTTPException(404, phrase("there is no picture yet"))
    view = None if hub.now is None else hub.now.view
    return hub.picture if view is None else replace(hub.picture, aim=view.aim)


def _picture(made: Made | None, request: Request) -> Response:
    if made is None:
        raise HTTPException(404, phrase("there is no such picture"))
    # A browser may keep it, and asks after it each time.
    headers = {"etag": made.etag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == made.etag:
        return Response(status_code=304, headers=headers)
    return Response(made.jpeg, media_type="image/jpeg", headers=headers)
