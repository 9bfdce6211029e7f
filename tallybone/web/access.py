"""Control access to a page: PIN, limited attempts, signed cookies, and checks on every request."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
import hmac
import json
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fastapi import HTTPException, Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.phrases import phrase
from hardware.clock import Clock
from tallybone.plain_text import MOST_NAME, plain
from tallybone.web.hosts import KnownHosts
from tallybone.web.tries import Tries

COOKIE = "tallybone"
LASTS_S = 12 * 3600
_NS_PER_S = 1_000_000_000
# A code on a screen is used soon or never.
CODE_LASTS_S = 300
_MOST_CODES = 20

_MOST_LEFT = 1000
_MOST_COOKIE = 1500

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
_MOST_SHOWN = 80
_KNOWN_HTTP = ("1.0", "1.1")
_OWN_SITES = ("", "same-origin", "none")


def new_pin() -> str:
    """Return six digits that nobody can foresee."""
    return f"{secrets.randbelow(1_000_000):06d}"


@dataclass(frozen=True, slots=True)
class Author:
    """A person who was let in; *name* is their own choice."""

    name: str
    token: str


class Cookies:
    """Issues signed cookies that let a browser in for some time. Not for several threads."""

    def __init__(self, key: bytes, clock: Clock, lasts_s: int) -> None:
        """Sign with *key*; *clock* is monotonic, in nanoseconds."""
        self._key, self._clock, self._lasts_s = key, clock, lasts_s
        self._left: deque[str] = deque(maxlen=_MOST_LEFT)

    def issue(self, name: str) -> str:
        """Return a cookie for an author of this name."""
        said = {"n": plain(name, MOST_NAME), "t": secrets.token_urlsafe(12), "s": self._clock() // _NS_PER_S}
        body = json.dumps(said).encode().hex()
        return f"{body}.{self._sign(body)}"

    def author_of(self, cookie: str | None) -> Author | None:
        """Return the sender of a cookie; None for none, a forged, an old one, or one that has logged out."""
        if cookie is None or len(cookie) > _MOST_COOKIE:
            return None
        body, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._sign(body).encode()):
            return None
        said = json.loads(bytes.fromhex(body))  # it is signed, so it is ours
        is_old = self._clock() // _NS_PER_S - said["s"] > self._lasts_s
        return None if is_old or said["t"] in self._left else Author(said["n"], said["t"])

    def leave(self, author: Author) -> None:
        """Reject the cookie of this author from now on."""
        self._left.append(author.token)

    def _sign(self, body: str) -> str:
        return hmac.new(self._key, body.encode("utf-8", "replace"), "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class _Lock:
    """The PIN of a match, the cookies of those who knew it, and when each code ends."""

    pin: str
    cookies: Cookies
    codes: dict[str, int] = field(default_factory=dict)


class Access:
    """Lets people in who know the PIN. For one thread; another one may only `renew`."""

    def __init__(self, pin: str, key: bytes, clock: Clock) -> None:
        """Ask for *pin*; cookies are signed with *key*; *clock* is monotonic, in nanoseconds."""
        self._clock, self._tries = clock, Tries(clock)
        self._lock = _Lock(pin, Cookies(key, clock, LASTS_S))

    def renew(self, pin: str, key: bytes) -> None:
        """Ask for another PIN from now on: all cookies and codes end."""
        self._lock = _Lock(pin, Cookies(key, self._clock, LASTS_S))

    def wait_s(self, address: str) -> int:
        """Return how many seconds *address* has to wait before it may try again; 0 for none."""
        return self._tries.wait_s(address)

    def try_pin(self, pin: str, name: str, address: str) -> str | None:
        """Return a cookie for the right PIN, None for a wrong one; ask `wait_s` before."""
        if not hmac.compare_digest(pin.encode("utf-8", "replace"), self._lock.pin.encode()):
            self._tries.failed(address)
            return None
        self._tries.succeeded(address)
        return self.cookie_for(name)

    def new_code(self) -> str:
        """Return a code that lets one in, once, for some minutes; of too many the oldest ends."""
        codes = self._lock.codes
        while len(codes) >= _MOST_CODES:
            del codes[next(iter(codes))]
        code = secrets.token_urlsafe(16)
        codes[code] = self._clock() + CODE_LASTS_S * _NS_PER_S
        return code

    def try_code(self, code: str, name: str, address: str) -> str | None:
        """Return a cookie for a code, None for a wrong or an old one.

        A code cannot be guessed, so that a right one is good for those who have to wait, too.
        """
        ends_ns = self._lock.codes.pop(code, None)
        if ends_ns is None or self._clock() > ends_ns:
            if not self.wait_s(address):
                self._tries.failed(address)
            return None
        self._tries.succeeded(address)
        return self.cookie_for(name)

    def cookie_for(self, name: str) -> str:
        """Return a cookie for an author of this name, who is in."""
        return self._lock.cookies.issue(name)

    def author_of(self, cookie: str | None) -> Author | None:
        """Return the sender of a cookie; None for none, a forged, an old one, or one that has logged out."""
        return self._lock.cookies.author_of(cookie)

    def leave(self, author: Author) -> None:
        """Reject the cookie of this author from now on."""
        self._lock.cookies.leave(author)


def author_by(access: Access) -> Callable[[Request], Awaitable[Author | None]]:
    """Return a dependency that gives the author of a request; None for one who does not know the PIN."""

    async def author_of(request: Request) -> Author | None:
        return access.author_of(request.cookies.get(COOKIE))

    return author_of


def insider_by(access: Access) -> Callable[[Request], Awaitable[Author]]:
    """Return a dependency that gives the author of a request, and rejects requests without one."""

    async def insider(request: Request) -> Author:
        author = access.author_of(request.cookies.get(COOKIE))
        if author is None:
            raise HTTPException(401, phrase("type the PIN that the table shows"))
        return author

    return insider


def let_in(cookie: str, name: str = COOKIE, lasts_s: int = LASTS_S) -> Response:
    """Return the answer that lets a browser in: it keeps the *cookie* under a *name*, for so many seconds."""
    response = Response(status_code=204)
    response.set_cookie(name, cookie, max_age=lasts_s, httponly=True, samesite="strict", path="/")
    return response


def check_wait(wait_s: int) -> None:
    """Reject a request of somebody who has to wait so many seconds; 0 for none."""
    if wait_s:
        raise HTTPException(
            429, phrase("too many tries: wait {seconds} s", seconds=wait_s), {"Retry-After": str(wait_s)}
        )


def come_in_by_pin(request: Request, access: Access, pin: str, name: str) -> Response:
    """Return the answer to a PIN, with a cookie for an author of this name.

    Raises:
        HTTPException: 403 if it was wrong, 429 after too many tries.
    """
    address = address_of(request)
    check_wait(access.wait_s(address))
    cookie = access.try_pin(pin, name, address)
    if cookie is None:
        raise HTTPException(403, phrase("that is not the PIN of this table"))
    return let_in(cookie)


def come_in_by_code(request: Request, access: Access, code: str, name: str) -> Response:
    """Return the answer to a code, with a cookie for an author of this name.

    Raises:
        HTTPException: 403 if it was wrong or is too old, 429 if it was and too many were before.
    """
    address = address_of(request)
    wait_s = access.wait_s(address)
    cookie = access.try_code(code, name, address)
    if cookie is None:
        check_wait(wait_s)
        raise HTTPException(403, phrase("this code was used, or is too old: have another one shown"))
    return let_in(cookie)


def address_of(request: Request) -> str:
    """Return where a request comes from."""
    return "" if request.client is None else request.client.host


class Guard:
    """Rejects requests that come from other sites or are too large, and adds headers to answers."""

    def __init__(self, app: ASGIApp, hosts: KnownHosts) -> None:
        """Stand before *app*, which answers to *hosts*."""
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif self._problem_with(scope) is not None:
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            with suppress(asyncio.CancelledError):  # the page ends, which is no fault
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
                await self._app(scope, _bounded(receive), guarded)
                return
            except asyncio.CancelledError:  # the page ends, which is no fault
                if is_begun:
                    return
                refused = 503, "the page ends"
        status, words = refused
        answer = Response(json.dumps({"error": words}), status, media_type="application/json")
        await answer(scope, receive, guarded)

    def _problem_with(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the reason with which a request is refused; None where it may pass."""
        if scope["http_version"] not in _KNOWN_HTTP:
            return 400, "this page speaks HTTP 1.1"
        headers = _headers(scope)
        host = headers.get("host")
        # No browser leaves it out, and only browsers are led here by a stranger's name.
        if host is not None and not self._hosts.knows(host):
            known = f"open it by its address, as http://192.168.1.7:8080, or add the name to {self._hosts.told_by}"
            return 421, f"this table does not go by the name {plain(host, _MOST_SHOWN)}: {known}"
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD", "OPTIONS")
        if changes and not _is_own_page(headers):
            return 403, "this page is not of this table"
        return None if scope["type"] == "websocket" else _problem_with_body(headers, changes=changes)


def _bounded(receive: Receive) -> Receive:
    """Return a receiver that gives up on a body of unknown length once it is too long."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MOST_BODY:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return bounded


def _is_own_page(headers: Mapping[str, str]) -> bool:
    """Return whether a page of this table sends a request, or none at all does."""
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


def _problem_with_body(headers: Mapping[str, str], *, changes: bool) -> tuple[int, str] | None:
    """Return the status and the reason with which the body of a request is refused; None where it may pass."""
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdecimal() and len(length) < 10 and int(length) <= MOST_BODY):
        return 413, _TOO_LARGE
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if changes and kind != "application/json":
        return 415, "say it as application/json"
    return None


def _headers(scope: Scope) -> Mapping[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
