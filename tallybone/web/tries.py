"""Limit wrong guesses of a PIN or password, without locking out others."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from math import ceil

from hardware.clock import Clock
from tallybone.web.hosts import is_console, visitor_of

_NS_PER_S = 1_000_000_000
_MAX_VISITORS = 500
_MAX_KNOWN = 100


@dataclass(frozen=True, slots=True)
class _Allowance:
    """Token bucket parameters: *burst* tries at once, then one every *every_s* seconds."""

    burst: int
    every_s: int


# Allowances of each visitor and of all together. Visitors together have 7,200 tries a day for a million PINs, so the
# probability of a correct guess in three hours is 1 in 1,000.
_ONE = _Allowance(5, 30)
_ALL = _Allowance(15, 15)
# Allowance of an IPv6 network of this machine, in which a device can use any number of addresses. It leaves half of the
# newcomers' tries to other networks.
_NETWORK = _Allowance(30, 30)
# Allowance of visitors without a wrong guess, once the shared one is used up. It takes sixty visitors to use that one
# up.
_NEWCOMERS = _Allowance(60, 60)


class _Bucket:
    """Token bucket with the remaining tries of an allowance."""

    def __init__(self, allowance: _Allowance, now_ns: int) -> None:
        self._allowance, self._left, self._at_ns = allowance, float(allowance.burst), now_ns

    def wait_s(self, now_ns: int) -> int:
        """Return the number of seconds until the next try is allowed."""
        refill = (now_ns - self._at_ns) / (self._allowance.every_s * _NS_PER_S)
        self._left, self._at_ns = min(float(self._allowance.burst), self._left + refill), now_ns
        return max(0, ceil((1.0 - self._left) * self._allowance.every_s))

    def take(self) -> None:
        """Use up one try."""
        self._left -= 1.0


@dataclass(slots=True)
class _Visitor:
    """Allowance of a visitor, and whether they guessed wrong since they last entered."""

    own: _Bucket
    was_wrong: bool = False


class Tries:
    """Limits wrong guesses. Not thread-safe.

    Each visitor has an allowance. A wrong guess also counts against one that all visitors share, and against one of the
    visitor's IPv6 network. Once the shared allowance is used up, visitors without a wrong guess use the newcomers'
    allowance. For the machine itself and visitors who have entered before, only their own allowance counts.
    """

    def __init__(self, clock: Clock) -> None:
        """Start without guesses. *clock* is monotonic, in nanoseconds."""
        self._clock = clock
        self._all, self._newcomers = _Bucket(_ALL, clock()), _Bucket(_NEWCOMERS, clock())
        self._networks: dict[str, _Bucket] = {}
        self._visitors: OrderedDict[str, _Visitor] = OrderedDict()
        self._known: OrderedDict[str, _Bucket] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """Return the number of seconds that *address* must wait before the next try."""
        return max(bucket.wait_s(self._clock()) for bucket in self._buckets(address))

    def failed(self, address: str) -> None:
        """Count a wrong guess. Check `wait_s` first. Correct guesses do not count, so they never lock anybody out."""
        for bucket in self._buckets(address):
            bucket.take()
        name = visitor_of(address).name
        known = self._known.get(name)
        if known is None:
            self._of(name).was_wrong = True
        elif known.wait_s(self._clock()):
            del self._known[name]

    def succeeded(self, address: str) -> None:
        """Forget the wrong guesses of an address, and remember it as one of the last _MAX_KNOWN that have entered."""
        name = visitor_of(address).name
        self._visitors.pop(name, None)
        self._known.pop(name, None)
        self._known[name] = _Bucket(_ONE, self._clock())
        if len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)

    def _buckets(self, address: str) -> tuple[_Bucket, ...]:
        """Return the allowances against which a wrong guess of an address counts."""
        visitor = visitor_of(address)
        if visitor.name in self._known:
            return (self._known[visitor.name],)
        attempts = self._of(visitor.name)
        if is_console(address):
            return (attempts.own,)
        is_used_up = self._all.wait_s(self._clock()) > 0
        shared = self._newcomers if is_used_up and not attempts.was_wrong else self._all
        if visitor.network is None:
            return attempts.own, shared
        network = self._networks.setdefault(visitor.network, _Bucket(_NETWORK, self._clock()))
        return attempts.own, shared, network

    def _of(self, name: str) -> _Visitor:
        """Return the state of a visitor. Only the _MAX_VISITORS most recent visitors are kept."""
        visitor = self._visitors.setdefault(name, _Visitor(_Bucket(_ONE, self._clock())))
        self._visitors.move_to_end(name)
        while len(self._visitors) > _MAX_VISITORS:
            self._visitors.popitem(last=False)
        return visitor
