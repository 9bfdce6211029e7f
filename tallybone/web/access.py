"""Who may put things right: a PIN that the table shows, few tries, and a signed cookie for whoever knew it."""

from __future__ import annotations

import hmac
import json
import secrets
from collections import deque
from dataclasses import dataclass

from tallybone.web.plain_text import MOST_NAME, plain
from tallybone.web.tries import Clock, Tries

COOKIE = "tallybone"
LASTS_S = 12 * 3600
_NS_PER_S = 1_000_000_000
_MOST_LEFT = 1000
_MOST_COOKIE = 1500


def new_pin() -> str:
    """Return six digits that nobody can foresee."""
    return f"{secrets.randbelow(1_000_000):06d}"


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who knew the PIN; *name* is what he calls himself."""

    name: str
    token: str


@dataclass(frozen=True, slots=True)
class _Lock:
    """The PIN, and the key that cookies are signed with."""

    pin: str
    key: bytes


class Access:
    """Lets those in who know the PIN. For one thread; another one may only `renew`."""

    def __init__(self, pin: str, key: bytes, clock: Clock) -> None:
        """Ask for *pin*; cookies are signed with *key*; *clock* is monotonic, in nanoseconds."""
        self._lock, self._clock = _Lock(pin, key), clock
        self._tries = Tries(clock)
        self._left: deque[str] = deque(maxlen=_MOST_LEFT)

    def renew(self, pin: str, key: bytes) -> None:
        """Ask for another PIN from now on: whoever was in is out."""
        self._lock = _Lock(pin, key)

    def wait_s(self, address: str) -> int:
        """Return how many seconds *address* has to wait before it may try again; 0 for none."""
        return self._tries.wait_s(address)

    def try_pin(self, pin: str, name: str, address: str) -> str | None:
        """Return the cookie for whoever knows the PIN, None for a wrong one; ask `wait_s` before."""
        if not hmac.compare_digest(pin.encode("utf-8", "replace"), self._lock.pin.encode()):
            self._tries.failed(address)
            return None
        return self.cookie_for(name)

    def cookie_for(self, name: str) -> str:
        """Return the cookie of somebody who is in; *name* is what he calls himself."""
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
        is_old = self._clock() // _NS_PER_S - said["s"] > LASTS_S
        return None if is_old or said["t"] in self._left else Author(said["n"], said["t"])

    def leave(self, author: Author) -> None:
        """Let the cookie of somebody open nothing any more."""
        self._left.append(author.token)

    def _sign(self, body: str) -> str:
        return hmac.new(self._lock.key, body.encode("utf-8", "replace"), "sha256").hexdigest()
