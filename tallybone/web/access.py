"""Who may put things right: a PIN that the table shows, few tries, and a signed cookie for whoever knew it."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field

from tallybone.web.cookies import Author, Cookies
from tallybone.web.tries import Clock, Tries

__all__ = ["COOKIE", "LASTS_S", "Access", "Author", "new_pin"]

COOKIE = "tallybone"
LASTS_S = 12 * 3600
_NS_PER_S = 1_000_000_000
# A code that is shown on a screen lets one in, soon or never.
CODE_LASTS_S = 300
_MOST_CODES = 20


def new_pin() -> str:
    """Return six digits that nobody can foresee."""
    return f"{secrets.randbelow(1_000_000):06d}"


@dataclass(frozen=True, slots=True)
class _Lock:
    """The PIN of a match, the cookies of those who knew it, and when each code that is shown ends."""

    pin: str
    cookies: Cookies
    codes: dict[str, int] = field(default_factory=dict)


class Access:
    """Lets those in who know the PIN. For one thread; another one may only `renew`."""

    def __init__(self, pin: str, key: bytes, clock: Clock) -> None:
        """Ask for *pin*; cookies are signed with *key*; *clock* is monotonic, in nanoseconds."""
        self._clock, self._tries = clock, Tries(clock)
        self._lock = _Lock(pin, Cookies(key, clock, LASTS_S))

    def renew(self, pin: str, key: bytes) -> None:
        """Ask for another PIN from now on: whoever was in is out."""
        self._lock = _Lock(pin, Cookies(key, self._clock, LASTS_S))

    def wait_s(self, address: str) -> int:
        """Return how many seconds *address* has to wait before it may try again; 0 for none."""
        return self._tries.wait_s(address)

    def try_pin(self, pin: str, name: str, address: str) -> str | None:
        """Return the cookie for whoever knows the PIN, None for a wrong one; ask `wait_s` before."""
        if not hmac.compare_digest(pin.encode("utf-8", "replace"), self._lock.pin.encode()):
            self._tries.failed(address)
            return None
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
        """Return the cookie for whoever has a code, None for a wrong or an old one; ask `wait_s` before."""
        ends_ns = self._lock.codes.pop(code, None)
        if ends_ns is None or self._clock() > ends_ns:
            self._tries.failed(address)
            return None
        return self.cookie_for(name)

    def cookie_for(self, name: str) -> str:
        """Return the cookie of somebody who is in; *name* is what he calls himself."""
        return self._lock.cookies.issue(name)

    def author_of(self, cookie: str | None) -> Author | None:
        """Return who sent a cookie; None for none, a forged, an old one, or one that has logged out."""
        return self._lock.cookies.author_of(cookie)

    def leave(self, author: Author) -> None:
        """Let the cookie of somebody open nothing any more."""
        self._lock.cookies.leave(author)
