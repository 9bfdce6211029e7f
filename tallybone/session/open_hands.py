"""Read the tiles that players show at the end of a hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from engine import Game, Seat, Tile, copies_left
from tallybone.session.belief import SURE, log_chances, log_unseen, plausible, shares
from tallybone.session.touching import halves_of
from vision.reading import SeenTile


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

    Args:
        game: The match.
        seat: Seat of the hand.
        tiles: The tiles as read.
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
    """Return the possible tiles for an open tile, weighted by its pips and the copies left.

    Args:
        game: The match.
        seen: The tile as read.
        gone: Number of copies of each tile in other hands and among the tiles of this hand read so far.
    """
    first, second = (log_chances(half, game.rules.max_pips) for half in halves_of(seen))
    weights: dict[Tile, float] = {}
    for pips, other_pips in product(sorted(plausible(first)), sorted(plausible(second))):
        tile = Tile.of(pips, other_pips)
        weight = first[pips] + second[other_pips] + log_unseen(copies_left(game, tile) - gone[tile])
        weights[tile] = max(weights.get(tile, weight), weight)
    by_share = sorted(zip(shares(weights.values()), weights, strict=True), key=lambda pair: -pair[0])
    return HandTile(seen, tuple(tile for _, tile in by_share), tuple(share for share, _ in by_share))
