"""What every request has to pass before the page sees it, and what every answer carries: sizes, origins, headers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 4096
"""Bytes of a request: the largest action is a tenth of it."""
_POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_TOO_LARGE = "that is too large"
_KNOWN_HTTP = ("1.0", "1.1")
_OWN_SITES = ("", "same-origin", "none")


class Guard:
    """Refuses what comes from other sites or is too large, and adds headers to what goes out."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before *app*."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = _problem_with(scope)
        if scope["type"] == "websocket":
            if refused is None:
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
            return
        await self._http(scope, receive, send, refused)

    async def _http(self, scope: Scope, receive: Receive, send: Send, refused: tuple[int, str] | None) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name, value) for name, value in _HEADERS if name not in own]
                if b"cache-control" not in own:
                    more.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        if refused is None:
            await self._app(scope, _bounded(receive), guarded)
        else:
            await _answer(guarded, *refused)


def _bounded(receive: Receive) -> Receive:
    """Return what gives a body, and gives up where one whose length was not said goes on and on."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MOST_BODY:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return bounded


def _problem_with(scope: Scope) -> tuple[int, str] | None:
    """Return the status and the reason with which a request is refused; None where it may pass."""
    if scope["http_version"] not in _KNOWN_HTTP:
        return 400, "this page speaks HTTP 1.1"
    headers = _headers(scope)
    origin, host = headers.get("origin"), headers.get("host", "")
    changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD", "OPTIONS")
    if changes and origin is not None and not _is_own(origin, host):
        return 403, "this page is not of this table"
    if changes and headers.get("sec-fetch-site", "") not in _OWN_SITES:
        return 403, "this page is not of this table"
    if scope["type"] == "websocket":
        return None
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdecimal() and len(length) < 10 and int(length) <= MOST_BODY):
        return 413, _TOO_LARGE
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if changes and kind != "application/json":
        return 415, "say it as application/json"
    return None


def _is_own(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == host.lower()


def _headers(scope: Scope) -> Mapping[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


async def _answer(send: Send, status: int, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
