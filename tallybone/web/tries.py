"""Count wrong guesses of a PIN or password, so that guessing is slow and a guesser keeps nobody else out."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from math import ceil

from hardware.clock import Clock
from tallybone.web.hosts import is_console, network_of

_NS_PER_S = 1_000_000_000
_MOST_NETWORKS = 500


@dataclass(frozen=True, slots=True)
class _Allowance:
    """So many tries at once, and then one in so many seconds."""

    burst: int
    every_s: int


# A million PINs at 7,200 a day from all: within a match of three hours one is guessed with a chance of 1 in 1,000.
_ONE = _Allowance(5, 30)
_ALL = _Allowance(15, 15)
# For those who have not been wrong, once the others have used up what all may: sixty guessers have to come for that.
_NEWCOMERS = _Allowance(60, 60)


class _Bucket:
    """The tries that are left of an allowance."""

    def __init__(self, allowance: _Allowance, now_ns: int) -> None:
        self._allowance, self._left, self._at_ns = allowance, float(allowance.burst), now_ns

    def wait_s(self, now_ns: int) -> int:
        """Return how many seconds it takes until there is one; 0 for none."""
        refill = (now_ns - self._at_ns) / (self._allowance.every_s * _NS_PER_S)
        self._left, self._at_ns = min(float(self._allowance.burst), self._left + refill), now_ns
        return max(0, ceil((1.0 - self._left) * self._allowance.every_s))

    def take(self) -> None:
        """Use one up."""
        self._left -= 1.0


@dataclass(slots=True)
class _Network:
    """The tries of those in a network, and whether they were wrong since they last knew the PIN."""

    own: _Bucket
    was_wrong: bool = False


class Tries:
    """Counts wrong guesses. Not for several threads.

    A network has tries of its own, and shares those of all. Where guessers have used these up, one that has not been
    wrong has the newcomers' tries besides, and the console needs neither.
    """

    def __init__(self, clock: Clock) -> None:
        """Start with no guess; *clock* is monotonic, in nanoseconds."""
        self._clock = clock
        self._all, self._newcomers = _Bucket(_ALL, clock()), _Bucket(_NEWCOMERS, clock())
        self._networks: OrderedDict[str, _Network] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """Return how many seconds *address* has to wait before it may try again; 0 for none."""
        own_s = self._of(address).own.wait_s(self._clock())
        shared = self._shared(address)
        return own_s if shared is None else max(own_s, shared.wait_s(self._clock()))

    def failed(self, address: str) -> None:
        """Count a wrong guess; ask `wait_s` before. A right one costs nothing, so that logins keep nobody out."""
        shared, network = self._shared(address), self._of(address)
        network.own.take()
        network.was_wrong = True
        if shared is not None:
            shared.take()

    def succeeded(self, address: str) -> None:
        """Forget the wrong guesses of an address: it belongs to somebody who knows."""
        self._networks.pop(network_of(address), None)

    def _shared(self, address: str) -> _Bucket | None:
        """Return the tries that an address shares with others; None where it needs none of them."""
        if is_console(address):
            return None
        is_used_up = self._all.wait_s(self._clock()) > 0
        return self._newcomers if is_used_up and not self._of(address).was_wrong else self._all

    def _of(self, address: str) -> _Network:
        """Return what is known of an address; those that have not tried for longest are forgotten."""
        name = network_of(address)
        network = self._networks.setdefault(name, _Network(_Bucket(_ONE, self._clock())))
        self._networks.move_to_end(name)
        while len(self._networks) > _MOST_NETWORKS:
            self._networks.popitem(last=False)
        return network
