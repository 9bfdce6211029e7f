"""Signed cookies: who got one, and when; nobody can make one or change it."""

from __future__ import annotations

import hmac
import json
import secrets
from collections import deque
from dataclasses import dataclass

from tallybone.plain_text import MOST_NAME, plain
from tallybone.web.tries import Clock

_NS_PER_S = 1_000_000_000
_MOST_LEFT = 1000
_MOST_COOKIE = 1500


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who was let in; *name* is what he calls himself."""

    name: str
    token: str


class Cookies:
    """What opens a door for some time. Not for several threads."""

    def __init__(self, key: bytes, clock: Clock, lasts_s: int) -> None:
        """Sign with *key*; *clock* is monotonic, in nanoseconds."""
        self._key, self._clock, self._lasts_s = key, clock, lasts_s
        self._left: deque[str] = deque(maxlen=_MOST_LEFT)

    def issue(self, name: str) -> str:
        """Return a cookie for somebody who calls himself *name*."""
        said = {"n": plain(name, MOST_NAME), "t": secrets.token_urlsafe(12), "s": self._clock() // _NS_PER_S}
        body = json.dumps(said).encode().hex()
        return f"{body}.{self._sign(body)}"

    def author_of(self, cookie: str | None) -> Author | None:
        """Return who sent a cookie; None for none, a forged, an old one, or one that has logged out."""
        if cookie is None or len(cookie) > _MOST_COOKIE:
            return None
        body, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._sign(body).encode()):
            return None
        said = json.loads(bytes.fromhex(body))  # it is signed, so it is ours
        is_old = self._clock() // _NS_PER_S - said["s"] > self._lasts_s
        return None if is_old or said["t"] in self._left else Author(said["n"], said["t"])

    def leave(self, author: Author) -> None:
        """Let the cookie of somebody open nothing any more."""
        self._left.append(author.token)

    def _sign(self, body: str) -> str:
        return hmac.new(self._key, body.encode("utf-8", "replace"), "sha256").hexdigest()
