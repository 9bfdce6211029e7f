"""How often a secret may be guessed: a few times at once, then slowly, from one address and from all together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], int]
_NS_PER_S = 1_000_000_000
# So many tries at once, and then one in so many seconds: from one address, and from all of them together. A million
# PINs at 8,640 a day: after a match of three hours the chance to have guessed it is one in a thousand.
_BURST_ONE, _EVERY_ONE_S = 5, 30
_BURST_ALL, _EVERY_ALL_S = 15, 10
_MOST_ADDRESSES = 500


@dataclass(slots=True)
class _Bucket:
    """Tries that are left, and when they were counted."""

    left: float
    at_ns: int

    def refill(self, now_ns: int, burst: int, every_s: int) -> None:
        self.left = min(float(burst), self.left + (now_ns - self.at_ns) / (every_s * _NS_PER_S))
        self.at_ns = now_ns


class Tries:
    """Counts wrong guesses. Not for several threads."""

    def __init__(self, clock: Clock) -> None:
        """Start with no guess; *clock* is monotonic, in nanoseconds."""
        self._clock = clock
        self._all = _Bucket(_BURST_ALL, clock())
        self._by_address: OrderedDict[str, _Bucket] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """Return how many seconds *address* has to wait before it may try again; 0 for none."""
        now_ns = self._clock()
        one = self._of(address, now_ns)
        self._all.refill(now_ns, _BURST_ALL, _EVERY_ALL_S)
        waits = ((1.0 - one.left) * _EVERY_ONE_S, (1.0 - self._all.left) * _EVERY_ALL_S)
        return max(0, *(-int(-wait // 1) for wait in waits))

    def failed(self, address: str) -> None:
        """Count a wrong guess. A right one costs nothing, so that nobody is kept out by his own logins."""
        self._of(address, self._clock()).left -= 1.0
        self._all.left -= 1.0

    def _of(self, address: str, now_ns: int) -> _Bucket:
        """Return the tries of an address; of those that have not tried for longest the tries are forgotten."""
        bucket = self._by_address.setdefault(address, _Bucket(_BURST_ONE, now_ns))
        self._by_address.move_to_end(address)
        while len(self._by_address) > _MOST_ADDRESSES:
            self._by_address.popitem(last=False)
        bucket.refill(now_ns, _BURST_ONE, _EVERY_ONE_S)
        return bucket
