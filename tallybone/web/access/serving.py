"""Run uvicorn in a thread, on a socket opened beforehand so that a port in use is reported immediately."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import resource
import socket
import threading
import time
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

import uvicorn
from starlette.types import ASGIApp

from tallybone.choices import OptionError
from tallybone.web.access.crowd import MAX_FRAME, Crowd, Limits, SeldomFilter, http_of, limits_of, websocket_of

USUAL_PORT = 8080
_ENDS_WITHIN_S = 5.0
ASKS_EVERY_S = ANSWERS_WITHIN_S = 20.0
"""Interval of WebSocket pings, and the timeout after which a viewer is disconnected."""
# Maximum number of connections accepted before any of them is counted. The kernel queues further ones.
_BACKLOG = 64
# Loggers of errors that visitors can cause.
_SAY_FAULTS = ("uvicorn.error", "asyncio", "tallybone.web.access.crowd")


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


class Publisher(Protocol):
    """Publishes changes to viewers, in the page's thread."""

    async def run(self) -> None:
        """Publish changes until cancelled."""


class Serving:
    """Serves an app in a thread until closed. Does not install signal handlers."""

    def __init__(self, app: ASGIApp, listening: socket.socket, feed: Publisher, limits: Limits | None = None) -> None:
        """Serve *app* on *listening* while *feed* publishes. By default, *limits* follow from the process's limits."""
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
        self._server, self._listening, self._feed = uvicorn.Server(config), listening, feed
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
        beside = [asyncio.create_task(one) for one in (self._feed.run(), self._crowd.keep())]
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
