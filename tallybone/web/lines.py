"""HTTP and WebSocket protocols of uvicorn that report the state of each connection to a `Crowd`."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode
from websockets.protocol import State

from tallybone.web.crowd import Crowd

MAX_FRAME = 1024
"""Maximum payload of a WebSocket frame from a viewer, in bytes. Viewers only send pings."""
# Maximum numbers of frames and bytes from one viewer within a window. Bytes are checked before they are parsed: 240 kB
# of empty frames are 40,000 frames, which took the page's thread 0.1 s.
_WINDOW_S = 10.0
_MAX_FRAMES = 50
_MAX_BYTES = 2 * MAX_FRAME


def http_of(crowd: Crowd) -> type[asyncio.Protocol]:
    """Return the HTTP protocol class for `uvicorn.Config`."""
    return cast(type[asyncio.Protocol], partial(HttpLine, crowd))


def websocket_of(crowd: Crowd) -> type[asyncio.Protocol]:
    """Return the WebSocket protocol class for `uvicorn.Config`."""
    return cast(type[asyncio.Protocol], partial(WebSocketLine, crowd))


class _StrictConnection(h11.Connection):
    """Rejects requests with two lengths. A proxy may use the other one, and see another request in the body."""

    def next_event(self) -> Any:
        """Return the next event."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if {b"content-length", b"transfer-encoding"} <= names:
                raise h11.RemoteProtocolError("expected Content-Length or Transfer-Encoding, got both")
        return event


class HttpLine(H11Protocol):
    """An HTTP connection."""

    def __init__(self, crowd: Crowd, **given: Any) -> None:
        """Report to *crowd*. Other arguments are for uvicorn."""
        super().__init__(**given)
        self.conn = _StrictConnection(h11.SERVER)
        self._crowd = crowd

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Accept the connection unless the limits are exceeded."""
        super().connection_made(transport)
        if not self._crowd.admit(transport):
            self.connections.discard(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection."""
        self._crowd.forget(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process received data, and report whether the connection waits for a request or a response."""
        super().data_received(data)
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and cycle.more_body:
            self._crowd.continues(self.transport, len(data))
        self._note()

    def send_400_response(self, msg: str) -> None:
        """Reject an invalid request and close the connection. If a response has started, only close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None:  # Keep the application from responding too.
            cycle.disconnected = True
            cycle.message_event.set()

    def on_response_complete(self) -> None:
        """Continue after a response, possibly with a request that has already arrived."""
        super().on_response_complete()
        self._note()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Switch to the WebSocket protocol."""
        self._crowd.is_used(self.transport)
        super().handle_websocket_upgrade(event)

    def _note(self) -> None:
        """Report whether a complete request is waiting for its response."""
        if self.transport.get_protocol() is not self:
            return
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, despite uvicorn's type hint.
        if cycle is None or cycle.more_body or cycle.response_complete:
            self._crowd.waits(self.transport)
        else:
            self._crowd.is_used(self.transport)


class WebSocketLine(WebSocketsSansIOProtocol):
    """A WebSocket of a viewer. It is closed with 1007 for invalid UTF-8, and with 1008 for too many bytes or frames."""

    def __init__(self, crowd: Crowd, **given: Any) -> None:
        """Report to *crowd*. Other arguments are for uvicorn."""
        super().__init__(**given)
        self._crowd = crowd
        self._window_began_s, self._bytes, self._frames = self.loop.time(), 0, 0

    def data_received(self, data: bytes) -> None:
        """Parse the received bytes unless the viewer sends too many."""
        if not self.handshake_initiated:  # the initial request, passed on by uvicorn
            super().data_received(data)
            return
        now_s = self.loop.time()
        if now_s - self._window_began_s > _WINDOW_S:
            self._window_began_s, self._bytes, self._frames = now_s, 0, 0
        self._bytes += len(data)
        if self._bytes > _MAX_BYTES:
            self._refuse()
        else:
            super().data_received(data)

    def handle_events(self) -> None:
        """Handle the parsed frames unless the viewer sends too many."""
        self._frames += len(self.conn.events)
        if self._frames > _MAX_FRAMES:
            self._refuse()
        else:
            super().handle_events()

    def connection_lost(self, exc: Exception | None) -> None:
        """Report the end of the connection."""
        self._crowd.forget(self.transport)
        super().connection_lost(exc)

    def send_receive_event_to_app(self) -> None:
        """Pass a message on, or close the connection if it is not UTF-8, for which uvicorn would log an error."""
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_utf8(b"".join(self.frames)):
            self.frames = []
            self.conn.send_close(CloseCode.INVALID_DATA)
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    def _refuse(self) -> None:
        """Close the connection, and refuse its visitor for a minute."""
        self._crowd.refuse(self.transport)
        if self.conn.state is State.OPEN:
            self.conn.send_close(CloseCode.POLICY_VIOLATION)
            self.handle_parser_exception()
        else:
            self.transport.abort()


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
