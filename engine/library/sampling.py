"""Draw random deals of the unseen tiles that agree with the claims of all seats at once.

As in `engine.library.chances`, the hand of each seat has layers, each with a number of tiles and the tiles that are not
among them. A deal assigns every unseen tile to a layer of some seat, or to the boneyard. All assignments are equally
likely, because the tiles were shuffled. Layers that deny no unseen tile are filled together with the boneyard, from
what the other layers leave. Layers that deny the same tiles are filled together. For these few groups, let W(t, r) be
the number of ways to assign the tiles from the t-th on, if group i still needs r_i tiles:

    W(t, r) = W(t + 1, r) + sum of W(t + 1, r with one tile less in group i), over the groups i that may hold tile t

Drawing the group of each tile in proportion to these terms draws every assignment with the same probability. If there
are too many r to count, groups are filled one by one, the strictest first. This still agrees with every claim, but some
deals are then more likely than others.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from math import prod
from random import Random

from engine.errors import EngineError
from engine.game.questions import unseen
from engine.library.chances import _Layer as HandLayer
from engine.library.chances import _layers as layers_of
from engine.state.events import Seat
from engine.state.hand import ClaimKind, Hand
from engine.state.match import Game
from engine.tiles import Tile, tiles_of

_MOST_STATES = 100_000  # Pairs t, r. Each takes about 2 us for the first deal of a position.
_MOST_TRIES = 200  # Attempts to fill the groups one by one.


def sample_deal(
    game: Game, hand: Hand, seat: Seat, tiles: tuple[Tile, ...], rng: Random
) -> tuple[tuple[tuple[Tile, ...], ...], tuple[Tile, ...]]:
    """Return random hands by seat, and a boneyard, that agree with the tiles of *seat* and with what all others did.

    Contradictory claims are ignored, the oldest first.

    Raises:
        EngineError: If there are more tiles in the hands and the boneyard than unseen tiles.
    """
    known = [list(tiles_of(bits)) for bits in hand.held]
    for at, holding in enumerate(hand.holdings):
        known[at] = list(holding.tiles) if holding is not None and holding.tiles is not None else known[at]
    known[seat] = list(tiles)
    left = Counter(unseen(game))
    left.subtract(tile for held in known for tile in held)
    pool = list(left.elements())
    rng.shuffle(pool)
    sizes = [0 if at == seat else max(0, size - len(known[at])) for at, size in enumerate(hand.sizes)]
    if min(left.values(), default=0) < 0 or sum(sizes) + hand.boneyard > len(pool):
        raise EngineError(f"a deal needs {sum(sizes) + hand.boneyard} unseen tiles, and {len(pool)} are left")
    claims = [[claim for claim in made if claim.kind is not ClaimKind.KEPT_DEAL] for made in hand.claims]
    while True:
        layers = [layers_of(made, size) if size else () for made, size in zip(claims, sizes, strict=True)]
        groups = _assign(pool, [layer for each in layers for layer in each], rng)
        if groups is not None:
            break
        claims = [made[1:] for made in claims]
    for at, each in enumerate(layers):
        for layer in each:
            known[at] += [groups[layer.denied].pop() for _ in range(layer.tiles)]
    return tuple(map(tuple, known)), tuple(groups[0][: hand.boneyard])


def _assign(pool: list[Tile], layers: list[HandLayer], rng: Random) -> dict[int, list[Tile]] | None:
    """Return the tiles of *pool* by the bit mask that their layer denies, in random order. None if it is impossible.

    The tiles under 0 are those of layers that deny nothing, and all that are left.
    """
    unseen_bits = 0
    for tile in pool:
        unseen_bits |= tile.bit
    room: Counter[int] = Counter()
    for layer in layers:
        room[layer.denied] += layer.tiles
    strict = sorted((denied for denied in room if denied & unseen_bits), key=lambda denied: -denied.bit_count())
    options = tuple(tuple(at for at, denied in enumerate(strict) if not tile.bit & denied) for tile in pool)
    needs = tuple(room[denied] for denied in strict)
    is_countable = len(pool) * prod(need + 1 for need in needs) <= _MOST_STATES
    places = _exact(options, needs, rng) if is_countable else _greedy(options, needs, rng)
    if places is None:
        return None
    groups: dict[int, list[Tile]] = {denied: [] for denied in (0, *room)}
    for tile, place in zip(pool, places, strict=True):
        groups[0 if place is None else strict[place]].append(tile)
    for denied in room:
        if denied and denied not in strict:
            groups[denied] = [groups[0].pop() for _ in range(room[denied])]
    for tiles in groups.values():
        rng.shuffle(tiles)
    return groups


Holders = tuple[tuple[int, ...], ...]
"""For each tile, the groups that may hold it."""


def _exact(options: Holders, needs: tuple[int, ...], rng: Random) -> list[int | None] | None:
    """Return the group of each tile, or None for a tile that is left. All assignments are equally likely."""
    order = sorted(range(len(options)), key=options.__getitem__)  # The same order, and count, for every deal.
    ways = _counter(tuple(options[at] for at in order), needs)
    if not ways(0, needs):
        return None
    places: list[int | None] = [None] * len(options)
    for number, at in enumerate(order):
        ticket = rng.randrange(ways(number, needs)) - ways(number + 1, needs)
        for group in options[at] if ticket >= 0 else ():
            fewer = _fewer(needs, group)
            ticket -= ways(number + 1, fewer) if needs[group] else 0
            if ticket < 0:
                places[at], needs = group, fewer
                break
    return places


@lru_cache(maxsize=64)
def _counter(options: Holders, needs: tuple[int, ...]) -> Callable[[int, tuple[int, ...]], int]:
    """Return the function W of the module's description. It is kept, as programs draw many deals in one position."""

    @cache
    def ways(at: int, needs: tuple[int, ...]) -> int:
        if sum(needs) > len(options) - at:
            return 0
        if at == len(options):
            return 1
        fewer = (_fewer(needs, group) for group in options[at] if needs[group])
        return ways(at + 1, needs) + sum(ways(at + 1, less) for less in fewer)

    return ways


def _fewer(needs: tuple[int, ...], group: int) -> tuple[int, ...]:
    return (*needs[:group], needs[group] - 1, *needs[group + 1 :])


def _greedy(options: Holders, needs: tuple[int, ...], rng: Random) -> list[int | None] | None:
    """Return the group of each tile as `_exact`, filling the groups in order. None if no attempt succeeds."""
    for _ in range(_MOST_TRIES):
        places: list[int | None] = [None] * len(options)
        for group, need in enumerate(needs):
            free = [at for at, groups in enumerate(options) if places[at] is None and group in groups]
            if len(free) < need:
                break
            for at in rng.sample(free, need):
                places[at] = group
        else:
            return places
    return None
