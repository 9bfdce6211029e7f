"""Speak HTTP and WebSocket on the connections of a crowd: uvicorn's protocols, which tell it what a connection does."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode

from tallybone.web.crowd import Crowd


def http_of(crowd: Crowd) -> type[asyncio.Protocol]:
    """Return what speaks HTTP on a new connection, for `uvicorn.Config`."""
    return cast(type[asyncio.Protocol], partial(HttpLine, crowd))


def websocket_of(crowd: Crowd) -> type[asyncio.Protocol]:
    """Return what speaks WebSocket on a connection that asked for it, for `uvicorn.Config`."""
    return cast(type[asyncio.Protocol], partial(WebSocketLine, crowd))


class HttpLine(H11Protocol):
    """A connection on which requests come."""

    def __init__(self, crowd: Crowd, **given: Any) -> None:
        """Join *crowd* once there is a connection; the rest is for uvicorn."""
        super().__init__(**given)
        self._crowd = crowd

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Begin, unless there is no room."""
        super().connection_made(transport)
        if not self._crowd.admit(transport):
            self.connections.discard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._crowd.forget(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Go on after an answer, maybe with a request that has come already."""
        super().on_response_complete()
        self._note()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand the connection over."""
        self._crowd.is_used(self.transport)
        super().handle_websocket_upgrade(event)

    def _note(self) -> None:
        """Tell the crowd whether a whole request has come that is not answered yet."""
        if self.transport.get_protocol() is not self:
            return
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, whatever uvicorn declares
        if cycle is None or cycle.more_body or cycle.response_complete:
            self._crowd.waits(self.transport)
        else:
            self._crowd.is_used(self.transport)


class WebSocketLine(WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket; one that sends a text that is none is closed with 1007."""

    def __init__(self, crowd: Crowd, **given: Any) -> None:
        """Leave *crowd* at the end; the rest is for uvicorn."""
        super().__init__(**given)
        self._crowd = crowd

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._crowd.forget(self.transport)
        super().connection_lost(exc)

    def send_receive_event_to_app(self) -> None:
        """Hand a message over, or refuse one that is no UTF-8: uvicorn would log a fault of its own."""
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_utf8(b"".join(self.frames)):
            self.frames = []
            self.conn.send_close(CloseCode.INVALID_DATA)
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
