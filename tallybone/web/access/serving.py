"""Run uvicorn in a thread, and limit its connections: in total, per visitor, and in the duration of requests.

The socket is opened beforehand, so that a port in use is reported immediately.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import Any, TypeAlias, cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode
from websockets.protocol import State

from hardware.part import Clock
from tallybone.choices import OptionError
from tallybone.web.access.visitors import is_console, visitor_of

log = logging.getLogger(__name__)

# Maximum number of connections, in total and per visitor. Each viewer keeps one, and a browser opens up to six more for
# images.
_MOST = 600
_MAX_OF_ONE = 64
# Connections may use the number of file descriptors divided by this. Camera, recording, parts, broker and closing
# connections need the rest.
_SHARE_OF_DESCRIPTORS = 2
_LOOKS_IN_A_DEADLINE = 10
_SELDOM_NS = 60_000_000_000
_MAX_FAULTS = 1000
_THIS_MACHINE = "this machine"
# A device that floods a connection is refused for this time. At most so many devices are refused: a further one
# displaces the oldest.
_REFUSED_S = 60.0
_MAX_REFUSED = 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a page.

    Attributes:
        most: Maximum number of connections. A thirtieth of them is reserved for this machine itself.
        max_of_one: Maximum number per visitor (`visitors.visitor_of`). None for this machine itself, because a proxy on
            it forwards all visitors.
        request_within_s: Maximum duration of the head of a request, and of the wait for the first or next one, in
            seconds. The body of a request is cut off when it has stood still for so long, or is slower than
            *min_bytes_per_s* for longer.
        min_bytes_per_s: Minimum speed of a body, in bytes per second.
        unread_within_s: A connection is closed if its peer reads nothing for this time, in seconds.
    """

    most: int
    max_of_one: int = _MAX_OF_ONE
    request_within_s: float = 10.0
    min_bytes_per_s: float = 50_000.0
    unread_within_s: float = 20.0

    @property
    def max_of_network(self) -> int:
        """Maximum number of connections from one IPv6 network of this machine.

        A device can use many addresses in it.
        """
        return self.most // 2

    @property
    def max_of_others(self) -> int:
        """Maximum number of connections from other machines."""
        return self.most - self.most // 30


def limits_of(descriptors: int) -> Limits:
    """Return the limits for a process that may open this number of file descriptors (RLIMIT_NOFILE).

    >>> limits_of(4096).most, limits_of(1024).most, limits_of(resource.RLIM_INFINITY).most
    (600, 512, 600)
    """
    return Limits(_MOST if descriptors == resource.RLIM_INFINITY else min(_MOST, descriptors // _SHARE_OF_DESCRIPTORS))


class Crowd:
    """Tracks all connections of a page. Not thread-safe.

    A connection is in use from the end of a request until its response, or as long as it is a WebSocket. All others are
    idle. At the limit, the longest idle connection is closed for a new one. Idle connections therefore never keep out a
    viewer who sends a request at once.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        # Visitor and network of each connection. () for this machine itself.
        self._groups: dict[asyncio.Transport, tuple[str, ...]] = {}
        self._counts: Counter[str] = Counter()
        # Time at which each idle connection became idle, in seconds of the loop's clock, longest idle first.
        self._waiting: dict[asyncio.Transport, float] = {}
        # Number of unsent bytes of each connection, and the time at which the number last changed.
        self._unread: dict[asyncio.Transport, tuple[int, float]] = {}
        # Time until which each visitor is refused, in seconds of the loop's clock.
        self._refused: dict[str, float] = {}

    def admit(self, line: asyncio.Transport) -> bool:
        """Accept a new connection as idle, or abort it. Return True if it was accepted."""
        address = str(line.get_extra_info("peername", ("",))[0])
        visitor, limits = visitor_of(address), self._limits
        shares = {} if is_console(address) else {visitor.name: limits.max_of_one}
        if visitor.network is not None:
            shares[visitor.network] = limits.max_of_network
        if self._refused.get(visitor.name, 0.0) > asyncio.get_running_loop().time():
            line.abort()
            return False
        for group, most in shares.items():
            others = (other for other in self._waiting if group in self._groups[other])
            if self._counts[group] >= most and not self._make_room(others):
                log.warning("%s has %d connections in use: rejecting more", group, self._counts[group])
                line.abort()
                return False
        most = limits.max_of_others if shares else limits.most
        if len(self._groups) >= most and not self._make_room(self._waiting):
            log.warning("all %d connections are in use: rejecting more", most)
            line.abort()
            return False
        self._groups[line] = tuple(shares)
        self._counts.update(shares.keys())
        self.waits(line)
        return True

    def refuse(self, line: asyncio.Transport) -> None:
        """Refuse new connections from the visitor of a connection for a minute, unless it is this machine itself."""
        visitor = self._visitor_of(line)
        if visitor == _THIS_MACHINE:  # a proxy on this machine forwards all visitors
            log.warning("this computer sends too much on a WebSocket: closed")
            return
        log.warning("%s sends too much on a WebSocket: blocked for a minute", visitor)
        self._refused.pop(visitor, None)
        self._refused[visitor] = asyncio.get_running_loop().time() + _REFUSED_S
        if len(self._refused) > _MAX_REFUSED:
            del self._refused[next(iter(self._refused))]

    def waits(self, line: asyncio.Transport) -> None:
        """Mark a connection as idle."""
        if line in self._groups:
            self._waiting.setdefault(line, asyncio.get_running_loop().time())

    def continues(self, line: asyncio.Transport, received: int) -> None:
        """Give an idle connection more time for *received* bytes of a body."""
        since_s = self._waiting.pop(line, None)
        if since_s is not None:
            more_s = received / self._limits.min_bytes_per_s
            self._waiting[line] = min(asyncio.get_running_loop().time(), since_s + more_s)

    def is_used(self, line: asyncio.Transport) -> None:
        """Mark a connection as in use."""
        self._waiting.pop(line, None)

    def forget(self, line: asyncio.Transport) -> None:
        """Remove a closed connection."""
        self._waiting.pop(line, None)
        self._unread.pop(line, None)
        for group in self._groups.pop(line, ()):
            self._counts[group] -= 1
            if not self._counts[group]:
                del self._counts[group]

    async def keep(self) -> None:
        """Abort connections that exceed the time limits, until cancelled."""
        limits, now_s = self._limits, asyncio.get_running_loop().time
        while True:
            for line, since_s in list(self._waiting.items()):
                if now_s() - since_s < limits.request_within_s:
                    continue
                if not line.get_write_buffer_size():  # Otherwise the previous response is still being sent.
                    self._break_off(line)
            for line in list(self._groups):
                self._check_reading(line, now_s())
            await asyncio.sleep(min(limits.request_within_s, limits.unread_within_s) / _LOOKS_IN_A_DEADLINE)

    def _check_reading(self, line: asyncio.Transport, now_s: float) -> None:
        """Abort a connection whose peer has not read anything for too long."""
        unsent = line.get_write_buffer_size()
        before, since_s = self._unread.get(line, (0, now_s))
        if unsent == 0:
            self._unread.pop(line, None)
        elif unsent != before:
            self._unread[line] = (unsent, now_s)
        elif now_s - since_s >= self._limits.unread_within_s:
            log.warning("%s does not read its responses: closed a connection", self._visitor_of(line))
            self._break_off(line)

    def _visitor_of(self, line: asyncio.Transport) -> str:
        return next(iter(self._groups[line]), _THIS_MACHINE)

    def _make_room(self, waiting: Iterable[asyncio.Transport]) -> bool:
        longest = next(iter(waiting), None)
        if longest is None:
            return False
        self._break_off(longest)
        return True

    def _break_off(self, line: asyncio.Transport) -> None:
        line.abort()
        self.forget(line)


class SeldomFilter(logging.Filter):
    """Logs each kind of error at most once a minute, with the number of suppressed repetitions, to save disk space."""

    def __init__(self, clock: Clock) -> None:
        """Start without errors. *clock* is monotonic, in nanoseconds."""
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[object, ...], tuple[int, int]] = {}

    @property
    def known(self) -> int:
        """Number of kinds of errors that have been logged."""
        return len(self._last)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if a record is to be logged."""
        error = record.exc_info[0] if record.exc_info else None
        # Only the first line is compared, because asyncio names the socket or task on further lines.
        fault = (record.name, str(record.msg).partition("\n")[0], error)
        now_ns = self._clock()
        last_ns, left_out = self._last.get(fault, (now_ns - _SELDOM_NS, 0))
        if now_ns - last_ns < _SELDOM_NS:
            self._last[fault] = (last_ns, left_out + 1)
            return False
        if len(self._last) >= _MAX_FAULTS:
            self._last.clear()
        self._last[fault] = (now_ns, 0)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out} similar since the last one)", ()
        return True


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


USUAL_PORT = 8080
_ENDS_WITHIN_S = 5.0
ASKS_EVERY_S = ANSWERS_WITHIN_S = 20.0
"""Interval of WebSocket pings, and the timeout after which a viewer is disconnected."""
# Maximum number of connections accepted before any of them is counted. The kernel queues further ones.
_BACKLOG = 64
# Loggers of errors that visitors can cause.
_SAY_FAULTS = ("uvicorn.error", "asyncio", "tallybone.web.access.serving")


_BIND_FAULTS = {
    errno.EADDRINUSE: f"another program uses this port; stop it, or choose another port, such as {USUAL_PORT + 1}",
    errno.EACCES: f"this user may not use this port; choose one above 1023, such as {USUAL_PORT}",
    errno.EADDRNOTAVAIL: "this computer has no such address; omit it to serve all interfaces",
    socket.EAI_NONAME: "no such address; omit it to serve all interfaces",
}


def listen_on(where: str) -> socket.socket:
    """Return a listening TCP socket.

    Args:
        where: A port on all interfaces, or an address and a port, such as `127.0.0.1:8080` or `[::1]:8080`. "" for the
            default port on all interfaces.

    Raises:
        OSError: If the address is invalid (`OptionError`), is not one of this machine, or is in use.
    """
    host, port = parse_address(where)
    try:
        if host:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, port), family=family)
        if socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
        return socket.create_server(("", port))
    except OSError as error:
        why = _BIND_FAULTS.get(error.errno or 0, error.strerror or str(error))
        raise OSError(f"page at {where or port}: {why}") from error


def parse_address(where: str) -> tuple[str, int]:
    """Return the host and port of an address. The host is "" for all interfaces.

    >>> parse_address(""), parse_address("80"), parse_address("127.0.0.1:80"), parse_address("[::1]:80")
    (('', 8080), ('', 80), ('127.0.0.1', 80), ('::1', 80))

    Raises:
        OptionError: If the port is missing or invalid. The host is not checked.
    """
    host, _, port = where.rpartition(":")
    if not where:
        return "", USUAL_PORT
    if not (port.isascii() and port.isdecimal() and len(port) < 6 and int(port) < 65536):
        raise OptionError(f"page at {where}: expected a port or ADDRESS:PORT, such as 8080 or 127.0.0.1:8080")
    return host.strip("[]"), int(port)


@dataclass(frozen=True, slots=True)
class Address:
    """Address at which a page is served.

    The URL is computed on demand, because the machine's own address changes when the network comes up late.

    Attributes:
        host: Address of this machine, or "" for all its addresses.
        port: From 1 to 65535.
    """

    host: str
    port: int

    @classmethod
    def of(cls, listening: socket.socket) -> Address:
        """Return the address of a listening socket."""
        host, port = listening.getsockname()[:2]
        return cls("" if host in ("::", "0.0.0.0") else host, port)

    @property
    def url(self) -> str:
        """Current URL for a browser in the same network."""
        host = self.host or own_address() or "127.0.0.1"
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def is_closed(self) -> bool:
        """True if the page is served to this machine only."""
        return bool(self.host) and ip_address(self.host).is_loopback

    @property
    def is_alone(self) -> bool:
        """True if the page is served on all interfaces, but the machine currently has no network."""
        return not self.host and own_address() is None


Publish: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Function that publishes changes to viewers, in the page's thread, until cancelled."""


class Serving:
    """Serves an app in a thread until closed. Does not install signal handlers."""

    def __init__(self, app: ASGIApp, listening: socket.socket, publish: Publish, limits: Limits | None = None) -> None:
        """Serve *app* on *listening* while *publish* runs. By default, *limits* follow from the process's limits."""
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._crowd, self._seldom = Crowd(limits or limits_of(descriptors)), SeldomFilter(time.monotonic_ns)
        for name in _SAY_FAULTS:
            logging.getLogger(name).addFilter(self._seldom)
        config = uvicorn.Config(
            app,
            http=http_of(self._crowd),
            ws=websocket_of(self._crowd),
            ws_max_size=MAX_FRAME,
            ws_ping_interval=ASKS_EVERY_S,
            ws_ping_timeout=ANSWERS_WITHIN_S,
            # Compression would run once per viewer for the same snapshot.
            ws_per_message_deflate=False,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=1,
        )
        self._server, self._listening, self._publish = uvicorn.Server(config), listening, publish
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="page", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving, and wait up to 5 s for the thread to end."""
        self._server.should_exit = True
        self._thread.join(_ENDS_WITHIN_S)
        self._listening.close()
        for name in _SAY_FAULTS:
            logging.getLogger(name).removeFilter(self._seldom)

    async def _serve(self) -> None:
        beside = [asyncio.create_task(one) for one in (self._publish(), self._crowd.keep())]
        try:
            await self._server.serve(sockets=[self._listening])
        finally:
            for task in beside:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task


def own_address() -> str | None:
    """Return this machine's address in its network, or None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))  # nothing is sent: this only looks up the route
        except OSError:
            return None
        address: str = asking.getsockname()[0]
        return address
