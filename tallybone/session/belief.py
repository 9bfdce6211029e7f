"""Log weights of readings, problems with the rules, and sides of hands.

The log weight of a play adds up the pips as read, the fit of its edge to the port, and its legality. The rules thus
resolve uncertain readings, but a confident reading of an illegal play is still accepted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from engine import Game, ProblemKind, Seat, Tile, Weight, copies_left
from tallybone.session.places import halves_of
from vision.reading import Half, SeenTile

# Minimum probability that a half is misread, shared by all other numbers. It keeps the rules relevant at any
# confidence.
_MIN_ERROR = 0.001
# Log odds of a number to the likeliest one below which the number is ignored, unless an open end needs it.
_PLAUSIBLE = math.log(0.0002)
# Log odds of irregular plays, compared with legal ones. ALREADY_USED and NOT_IN_SET are misreadings rather than fouls,
# so their weights reflect the reliability of readings.
_ILLEGAL = math.log(0.005)
_NOTED = math.log(0.2)
_BY_KIND = {
    ProblemKind.ALREADY_USED: math.log(0.0005),
    ProblemKind.NOT_IN_SET: math.log(0.0001),
    ProblemKind.WRONG_SEAT: math.log(0.0035),
}
NEVER = -math.inf
# Prior counts of hands that came from another player's side, and of all hands. People reach across and play for one
# another.
_WRONG_SIDES = 1.0
_SIDES = 20.0
# Number of other sides that share the probability of a hand from a wrong side.
_OTHER_SIDES = 3.0

# Minimum share of the total weight for an explanation to be accepted without a question.
SURE = 0.9


def log_chances(half: Half, max_pips: int) -> tuple[float, ...]:
    """Return the log probability of each number from 0 to *max_pips* for a half, regardless of the tiles next to it.

    >>> [round(math.exp(chance), 3) for chance in log_chances(Half(1, 0.8, (0.0, 0.0)), 2)]
    [0.1, 0.8, 0.1]
    """
    numbers = range(max_pips + 1)
    if half.chances:
        raw = [half.chances[number] if number < len(half.chances) else 0.0 for number in numbers]
    else:
        known = {half.pips: half.confidence}
        if half.second is not None:
            known.setdefault(half.second.pips, min(half.second.confidence, 1.0 - half.confidence))
        left = max(0.0, 1.0 - sum(known.values())) / max(1, max_pips + 1 - len(known))
        raw = [known.get(number, left) for number in numbers]
    least = _MIN_ERROR / max(1, max_pips)
    floored = [max(chance, least) for chance in raw]
    total = math.fsum(floored)
    return tuple(math.log(chance / total) for chance in floored)


def plausible(chances: Sequence[float]) -> frozenset[int]:
    """Return the numbers that are likely enough to consider, given their log probabilities."""
    least = max(chances) + _PLAUSIBLE
    return frozenset(number for number, chance in enumerate(chances) if chance >= least)


def log_side(own: int, other: int, *, is_own: bool) -> float:
    """Return the log probability of the side from which a hand came.

    *own* and *other* count earlier hands from their own player's side and from another.
    """
    share = (other + _WRONG_SIDES) / (own + other + _SIDES)
    return math.log(1.0 - share) if is_own else math.log(share / _OTHER_SIDES)


def log_unseen(copies: int) -> float:
    """Return the log weight of a tile with this many copies not seen elsewhere: 0 for at least one, else negative."""
    return 0.0 if copies > 0 else _BY_KIND[ProblemKind.ALREADY_USED]


def shares(log_weights: Iterable[float]) -> tuple[float, ...]:
    """Normalise log weights to shares that sum to 1. All shares are 0 if every log weight is `NEVER`.

    >>> shares([math.log(3.0), 0.0])
    (0.75, 0.25)
    """
    listed = tuple(log_weights)
    best = max(listed, default=NEVER)
    if best == NEVER:
        return (0.0,) * len(listed)
    weights = [math.exp(log_weight - best) for log_weight in listed]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)


def log_fault(kind: ProblemKind, weight: Weight) -> float:
    """Return the log weight of an action with a problem, `NEVER` if it is impossible."""
    if weight is Weight.IMPOSSIBLE:
        return NEVER
    return _BY_KIND.get(kind, _NOTED if weight is Weight.NOTED else _ILLEGAL)


@dataclass(frozen=True, slots=True)
class HandTile:
    """Possible tiles for an open tile, likeliest first, and the share of each."""

    seen: SeenTile
    tiles: tuple[Tile, ...]
    by_share: tuple[float, ...]

    @property
    def is_sure(self) -> bool:
        """True if the likeliest tile can be accepted without a question."""
        return self.by_share[0] >= SURE


def hand_tiles(game: Game, seat: Seat, tiles: Sequence[SeenTile]) -> Iterator[HandTile]:
    """Yield the readings of the face-up tiles of a hand, the most certain first.

    Each uses up a copy of its likeliest tile, which narrows down the others.
    """
    others: Counter[Tile] = Counter()
    for at, holding in enumerate(() if game.hand is None else game.hand.holdings):
        if at != seat and holding is not None:
            others.update(holding.tiles or ())
    left = list(tiles)
    while left:
        readings = (_weighed(game, seen, others) for seen in left)
        best = max(readings, key=lambda reading: reading.by_share[0])
        yield best
        others[best.tiles[0]] += 1
        left.remove(best.seen)


def _weighed(game: Game, seen: SeenTile, gone: Counter[Tile]) -> HandTile:
    """Return the possible tiles for an open tile, weighted by its pips and the copies left after those *gone*."""
    first, second = (log_chances(half, game.rules.max_pips) for half in halves_of(seen))
    weights: dict[Tile, float] = {}
    for pips, other_pips in product(sorted(plausible(first)), sorted(plausible(second))):
        tile = Tile.of(pips, other_pips)
        weight = first[pips] + second[other_pips] + log_unseen(copies_left(game, tile) - gone[tile])
        weights[tile] = max(weights.get(tile, weight), weight)
    by_share = sorted(zip(shares(weights.values()), weights, strict=True), key=lambda pair: -pair[0])
    return HandTile(seen, tuple(tile for _, tile in by_share), tuple(share for share, _ in by_share))
