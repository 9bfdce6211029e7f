"""Who may put things right: a PIN that the table shows, few tries, and a signed cookie for whoever knew it."""

from __future__ import annotations

import hmac
import json
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

from tallybone.web.plain_text import MOST_NAME, plain

Clock = Callable[[], int]
COOKIE = "tallybone"
LASTS_S = 12 * 3600
_NS_PER_S = 1_000_000_000
# So many tries at once, and then one in so many seconds: from one address, and from all of them together. A million
# PINs at 8,640 a day: after a match of three hours the chance to have guessed it is one in a thousand.
_BURST_ONE, _EVERY_ONE_S = 5, 30
_BURST_ALL, _EVERY_ALL_S = 15, 10
_MOST_ADDRESSES = 500
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


@dataclass(slots=True)
class _Bucket:
    """Tries that are left, and when they were counted."""

    left: float
    at_ns: int

    def refill(self, now_ns: int, burst: int, every_s: int) -> None:
        self.left = min(float(burst), self.left + (now_ns - self.at_ns) / (every_s * _NS_PER_S))
        self.at_ns = now_ns


class Access:
    """Lets those in who know the PIN. Not for several threads."""

    def __init__(self, pin: str, key: bytes, clock: Clock) -> None:
        """Ask for *pin*; cookies are signed with *key*; *clock* is monotonic, in nanoseconds."""
        self._pin, self._key, self._clock = pin, key, clock
        self._all = _Bucket(_BURST_ALL, clock())
        self._by_address: OrderedDict[str, _Bucket] = OrderedDict()
        self._left: deque[str] = deque(maxlen=_MOST_LEFT)

    def wait_s(self, address: str) -> int:
        """Return how many seconds *address* has to wait before it may try again; 0 for none."""
        now_ns = self._clock()
        one = self._of(address, now_ns)
        self._all.refill(now_ns, _BURST_ALL, _EVERY_ALL_S)
        waits = ((1.0 - one.left) * _EVERY_ONE_S, (1.0 - self._all.left) * _EVERY_ALL_S)
        return max(0, *(-int(-wait // 1) for wait in waits))

    def try_pin(self, pin: str, name: str, address: str) -> str | None:
        """Return the cookie for whoever knows the PIN, None for a wrong one; ask `wait_s` before.

        A right one costs no try, so that nobody who knows it is kept out by his own logins.
        """
        if not hmac.compare_digest(pin.encode("utf-8", "replace"), self._pin.encode()):
            self._of(address, self._clock()).left -= 1.0
            self._all.left -= 1.0
            return None
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
        return hmac.new(self._key, body.encode("utf-8", "replace"), "sha256").hexdigest()

    def _of(self, address: str, now_ns: int) -> _Bucket:
        """Return the tries of an address; of those that have not tried for longest the tries are forgotten."""
        bucket = self._by_address.setdefault(address, _Bucket(_BURST_ONE, now_ns))
        self._by_address.move_to_end(address)
        while len(self._by_address) > _MOST_ADDRESSES:
            self._by_address.popitem(last=False)
        bucket.refill(now_ns, _BURST_ONE, _EVERY_ONE_S)
        return bucket
