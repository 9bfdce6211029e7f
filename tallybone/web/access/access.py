"""Control access to a page: PIN, limited attempts, signed cookies, and checks on every request."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

import asyncio
import hmac
import json
import re
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fastapi import HTTPException, Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.phrases import phrase
from hardware.part import Clock
from tallybone.plain_text import MAX_NAME, plain
from tallybone.web.access.visitors import KnownHosts, Tries

COOKIE = "tallybone"
LASTS_S = 12 * 3600
_NS_PER_S = 1_000_000_000
# Lifetime of pairing codes. It is short, because codes are scanned from a screen at once.
CODE_LASTS_S = 300
_MAX_CODES = 20

_MAX_LEFT = 1000
_MAX_COOKIE = 1500

MAX_BODY = 4096
"""Maximum size of a request body in bytes. The largest action takes a quarter of it."""
MAX_PHOTO = 16 << 20
"""Maximum size of a photo in bytes. Phones with 50 megapixels take up to 15 MB."""
_PHOTO = re.compile(r"/api/v1/hands/\d+/photo")
_JSON_KINDS = ("application/json",)
_PHOTO_KINDS = ("application/octet-stream", "image/jpeg", "image/png", "image/heic")
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
_TOO_LARGE = "too large"
_MAX_SHOWN = 80
_KNOWN_HTTP = ("1.0", "1.1")
_OWN_SITES = ("", "same-origin", "none")


def new_pin() -> str:
    """Return a random PIN of six digits."""
    return f"{secrets.randbelow(1_000_000):06d}"


@dataclass(frozen=True, slots=True)
class Author:
    """A person who has signed in, with a name of their choice."""

    name: str
    token: str


class Cookies:
    """Issues and checks signed cookies with a limited lifetime. Not thread-safe."""

    def __init__(self, key: bytes, clock: Clock, lasts_s: int) -> None:
        """Sign cookies with *key*, valid for *lasts_s* seconds. *clock* is monotonic, in nanoseconds."""
        self._key, self._clock, self._lasts_s = key, clock, lasts_s
        self._left: deque[str] = deque(maxlen=_MAX_LEFT)

    def issue(self, name: str) -> str:
        """Return a cookie for an author with this name, cleaned and limited to MAX_NAME characters."""
        content = {"n": plain(name, MAX_NAME), "t": secrets.token_urlsafe(12), "s": self._clock() // _NS_PER_S}
        body = json.dumps(content).encode().hex()
        return f"{body}.{self._sign(body)}"

    def author_of(self, cookie: str | None) -> Author | None:
        """Return the author of a cookie, or None if the cookie is missing, forged, expired or signed out."""
        if cookie is None or len(cookie) > _MAX_COOKIE:
            return None
        body, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._sign(body).encode()):
            return None
        content = json.loads(bytes.fromhex(body))  # The content can be trusted, because it is signed.
        is_old = self._clock() // _NS_PER_S - content["s"] > self._lasts_s
        return None if is_old or content["t"] in self._left else Author(content["n"], content["t"])

    def leave(self, author: Author) -> None:
        """Invalidate the cookie of an author. Only the last 1000 sign-outs are remembered."""
        self._left.append(author.token)

    def _sign(self, body: str) -> str:
        return hmac.new(self._key, body.encode("utf-8", "replace"), "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class _MatchAccess:
    """PIN of a match, its cookies, and the expiry time of each pairing code."""

    pin: str
    cookies: Cookies
    codes: dict[str, int] = field(default_factory=dict)


class Access:
    """Admits people who know the PIN. Only `renew` is thread-safe."""

    def __init__(self, pin: str, key: bytes, clock: Clock) -> None:
        """Require *pin*, and sign cookies with *key*. *clock* is monotonic, in nanoseconds."""
        self._clock, self._tries = clock, Tries(clock)
        self._lock = _MatchAccess(pin, Cookies(key, clock, LASTS_S))

    def renew(self, pin: str, key: bytes) -> None:
        """Change the PIN. All cookies and pairing codes become invalid."""
        self._lock = _MatchAccess(pin, Cookies(key, self._clock, LASTS_S))

    def wait_s(self, address: str) -> int:
        """Return the number of seconds that *address* must wait before the next try."""
        return self._tries.wait_s(address)

    def try_pin(self, pin: str, name: str, address: str) -> str | None:
        """Return a cookie if the PIN is correct, else count a failed try and return None. Check `wait_s` first."""
        if not hmac.compare_digest(pin.encode("utf-8", "replace"), self._lock.pin.encode()):
            self._tries.failed(address)
            return None
        self._tries.succeeded(address)
        return self.cookie_for(name)

    def new_code(self) -> str:
        """Return a pairing code, valid once within five minutes. At most 20 codes are kept: the oldest is dropped."""
        codes = self._lock.codes
        while len(codes) >= _MAX_CODES:
            del codes[next(iter(codes))]
        code = secrets.token_urlsafe(16)
        codes[code] = self._clock() + CODE_LASTS_S * _NS_PER_S
        return code

    def try_code(self, code: str, name: str, address: str) -> str | None:
        """Return a cookie for a valid pairing code, else count a failed try and return None.

        A valid code is accepted even during a waiting time, because codes cannot be guessed.
        """
        ends_ns = self._lock.codes.pop(code, None)
        if ends_ns is None or self._clock() > ends_ns:
            if not self.wait_s(address):
                self._tries.failed(address)
            return None
        self._tries.succeeded(address)
        return self.cookie_for(name)

    def cookie_for(self, name: str) -> str:
        """Return a cookie for an author with a name, without further checks."""
        return self._lock.cookies.issue(name)

    def author_of(self, cookie: str | None) -> Author | None:
        """Return the author of a cookie, or None if the cookie is missing, forged, expired or signed out."""
        return self._lock.cookies.author_of(cookie)

    def leave(self, author: Author) -> None:
        """Invalidate the cookie of an author."""
        self._lock.cookies.leave(author)


def author_by(access: Access) -> Callable[[Request], Awaitable[Author | None]]:
    """Return a FastAPI dependency that provides the author of a request, or None if not signed in."""

    async def author_of(request: Request) -> Author | None:
        return access.author_of(request.cookies.get(COOKIE))

    return author_of


def insider_by(access: Access) -> Callable[[Request], Awaitable[Author]]:
    """Return a FastAPI dependency that provides the author of a request, and rejects requests without one."""

    async def insider(request: Request) -> Author:
        author = access.author_of(request.cookies.get(COOKIE))
        if author is None:
            raise HTTPException(401, phrase("enter the PIN shown at the table"))
        return author

    return insider


def let_in(cookie: str, name: str = COOKIE, lasts_s: int = LASTS_S) -> Response:
    """Return a response that stores *cookie* under *name* in the browser for *lasts_s* seconds."""
    response = Response(status_code=204)
    response.set_cookie(name, cookie, max_age=lasts_s, httponly=True, samesite="strict", path="/")
    return response


def check_wait(wait_s: int) -> None:
    """Reject a request with status 429 unless *wait_s* is 0."""
    if wait_s:
        raise HTTPException(
            429, phrase("too many attempts: wait {seconds} s", seconds=wait_s), {"Retry-After": str(wait_s)}
        )


def come_in_by_pin(request: Request, access: Access, pin: str, name: str) -> Response:
    """Sign in with a PIN. Return a response that sets a cookie.

    Raises:
        HTTPException: 403 if the PIN is wrong, 429 after too many tries.
    """
    address = address_of(request)
    check_wait(access.wait_s(address))
    cookie = access.try_pin(pin, name, address)
    if cookie is None:
        raise HTTPException(403, phrase("wrong PIN"))
    return let_in(cookie)


def come_in_by_code(request: Request, access: Access, code: str, name: str) -> Response:
    """Sign in with a pairing code. Return a response that sets a cookie.

    Raises:
        HTTPException: If the code is wrong, used or expired: 403, or after too many tries 429.
    """
    address = address_of(request)
    wait_s = access.wait_s(address)
    cookie = access.try_code(code, name, address)
    if cookie is None:
        check_wait(wait_s)
        raise HTTPException(403, phrase("this code has already been used or has expired: show a new one"))
    return let_in(cookie)


def address_of(request: Request) -> str:
    """Return the client address of a request, or "" if unknown."""
    return "" if request.client is None else request.client.host


class Guard:
    """ASGI middleware that rejects cross-site and oversized requests, and adds security headers."""

    def __init__(self, app: ASGIApp, hosts: KnownHosts) -> None:
        """Protect *app*, which is reachable under *hosts*."""
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif self._problem_with(scope) is not None:
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            with suppress(asyncio.CancelledError):  # The page is shutting down.
                await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_begun = False

        async def guarded(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                own = {name.lower() for name, _ in message.get("headers", ())}
                more = [(name, value) for name, value in _HEADERS if name not in own]
                if b"cache-control" not in own:
                    more.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        refused = self._problem_with(scope)
        if refused is None:
            try:
                await self._app(scope, _bounded(receive, _most_of(scope)), guarded)
                return
            except asyncio.CancelledError:  # The page is shutting down.
                if is_begun:
                    return
                refused = 503, "the page ends"
        status, text = refused
        answer = Response(json.dumps({"error": text}), status, media_type="application/json")
        await answer(scope, receive, guarded)

    def _problem_with(self, scope: Scope) -> tuple[int, str] | None:
        """Return status and reason for rejecting a request, or None to accept it."""
        if scope["http_version"] not in _KNOWN_HTTP:
            return 400, "this page speaks HTTP 1.1"
        headers = _headers(scope)
        host = headers.get("host")
        # A missing host is accepted: browsers always send one, and only browsers are affected by DNS rebinding.
        if host is not None and not self._hosts.knows(host):
            known = f"open it by its address, such as http://192.168.1.7:8080, or add the name to {self._hosts.told_by}"
            return 421, f"this table does not go by the name {plain(host, _MAX_SHOWN)}: {known}"
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD", "OPTIONS")
        if changes and not _is_own_page(headers):
            return 403, "the request comes from another site"
        if scope["type"] == "websocket":
            return None
        kinds = () if not changes else _PHOTO_KINDS if _PHOTO.fullmatch(scope["path"]) else _JSON_KINDS
        # Status and reason for rejecting a request by its body's declared length and type, or None to accept it. The
        # type must be one of *kinds*, unless that is empty.
        most = _most_of(scope)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal() and len(length) < 10 and int(length) <= most):
            return 413, _TOO_LARGE
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kinds and kind not in kinds:
            return 415, f"use the content type {kinds[0]}"
        return None


def _most_of(scope: Scope) -> int:
    """Return the maximum size of a request's body in bytes."""
    return MAX_PHOTO if scope["method"] == "POST" and _PHOTO.fullmatch(scope["path"]) else MAX_BODY


def _bounded(receive: Receive, most: int) -> Receive:
    """Return a receiver that rejects a body, for example of unknown length, once it exceeds *most* bytes."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return bounded


def _is_own_page(headers: Mapping[str, str]) -> bool:
    """Return True if a request comes from a page of this table, or from a client other than a browser."""
    origin, host = headers.get("origin"), headers.get("host", "")
    if headers.get("sec-fetch-site", "") not in _OWN_SITES:
        return False
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == host.lower()


def _headers(scope: Scope) -> Mapping[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
