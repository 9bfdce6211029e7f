"""Estimate each seat's chance to play from the unseen tiles and its knocks and draws.

The model. Each seat is looked at by itself: its n tiles are some of the m tiles that are out and not known to sit
elsewhere, copies told apart, and every way in which it can have got them is equally likely as long as it agrees with
what the seat has said. It speaks by knocking, drawing and letting another lead; each time it denies a set of tiles
(`engine.state.hand.Claim`), D1 the first time and Dk the last. Of its tiles g1, g2 ... gk were drawn since then, fewer
each time. So its hand came in layers: n - g1 tiles that deny D1, D2 ... Dk, then g1 - g2 that deny only D2 ... Dk, and
so on, and last gk tiles of which it has said nothing. With a0, a1 ... ak for how many tiles are allowed in each layer,
and since what one layer allows the next one allows too, the layers are filled one after the other in

    C(a0, n-g1) * C(a1 - (n-g1), g1-g2) * C(a2 - (n-g2), g2-g3) * ... * C(ak - (n-gk), gk)

ways. Without any tile that fits, there are as many as the same product gives with those tiles left out of every a. The
second number by the first is the probability that the seat cannot play.

The model leaves out that two seats cannot hold the same tile, and which tile a player chose among several that fit. A
claim does not know when a tile was got that was played after it: one that it denied was drawn since, any other is
taken for an older one, as long as the hand is large enough for that.

Between players who choose at random, what is said from 0.5 to 0.9 came out too high on average by 0.03 in bones for two
(400 hands) and by 0.05 in twoset for four (100 hands); which of these is to blame was not measured. In block for four,
where nobody draws, it came out within 0.02. tests/engine/test_chances.py holds it to 0.08 from 0.2 to 0.8.
"""

from collections.abc import Iterable, Sequence
from math import comb

from engine.game.claims import broken_claims
from engine.game.questions import ends_now
from engine.state.events import Seat
from engine.state.hand import Claim, Hand
from engine.state.match import Game, Phase, State
from engine.state.problems import ProblemKind
from engine.tiles import Tile, set_bits
from engine.value import value


@value
class NumberChance:
    """One number that a tile can be played on now.

    Attributes:
        number: The number of one open end or more.
        out: How many tiles that fit it are still out: neither played nor known.
        held: For each seat the probability that it holds one of those that fit it, 0 to 1.
    """

    number: int
    out: int
    held: tuple[float, ...]


@value
class SeatChance:
    """Chance that one seat can play.

    Attributes:
        can_play: Probability that it holds a tile for any of the open ends, 0 to 1; 0 or 1 for a hand that is known.
        consistent: Whether all that it has said can be true; if not, the older half of a contradiction was left out.
    """

    can_play: float
    consistent: bool


@value
class Outlook:
    """Unseen tiles by number, and the chance of each seat to play.

    Attributes:
        numbers: The numbers of the open ends, in the order of the ends, each once.
        seats: The chance of each seat, by seat.
    """

    numbers: tuple[NumberChance, ...] = ()
    seats: tuple[SeatChance, ...] = ()


@value
class _Pool:
    """Tiles that are out, as bits: those of which one copy is out, or more, and those of which two are."""

    once: int
    twice: int

    def without(self, bits: int) -> int:
        """Return the number of tiles in the pool but not in *bits*, all copies counted."""
        return (self.once & ~bits).bit_count() + (self.twice & ~bits).bit_count()


@value
class _Layer:
    """Tiles of a hand that came between two claims: how many, and which they cannot be, as bits."""

    tiles: int
    denied: int


def chances(state: State, *, known: Iterable[Tile] = (), seat: Seat | None = None) -> Outlook:
    """Return the unseen tiles by number and each seat's chance to play, whoever has the turn.

    Args:
        state: Where the match stands; there is nothing to see but between the first tile and the count of a hand.
        known: Tiles that are known and not on the table, each as often as it is. Hands laid open are known anyway.
        seat: Who holds them; None when they are known to be in no hand that is asked about.
    """
    game = state.game
    if game is None or game.hand is None or game.phase not in (Phase.PLAY, Phase.REVEAL) or not game.rules.refereed:
        return Outlook()
    hand = game.hand
    shown = {at: holding.tiles for at, holding in enumerate(hand.holdings) if holding and holding.tiles is not None}
    elsewhere = tuple(known)
    if seat is not None:
        shown[seat], elsewhere = elsewhere, ()
    pool = _pool(game, (*elsewhere, *(tile for tiles in shown.values() for tile in tiles)))
    ends = {end.number: end.fits for end in ends_now(hand)}
    everywhere = 0
    for fits in ends.values():
        everywhere |= fits
    wanted = (everywhere, *ends.values())
    found = [_seat_odds(pool, hand, at, shown.get(at), wanted) for at in range(len(hand.sizes))]
    total = pool.without(0)
    numbers = tuple(
        NumberChance(number, total - pool.without(fits), tuple(odds[place] for odds, _ in found))
        for place, (number, fits) in enumerate(ends.items(), start=1)
    )
    return Outlook(numbers, tuple(SeatChance(odds[0], consistent) for odds, consistent in found))


def _pool(game: Game, known: Iterable[Tile]) -> _Pool:
    """Return the tiles that are neither on the table nor *known*."""
    every, layout = set_bits(game.rules.max_pips), game.layout
    once = every & ~layout.gone(game.rules)
    twice = every & ~layout.once if game.rules.copies > 1 else 0
    for tile in known:
        if twice & tile.bit:
            twice &= ~tile.bit
        else:
            once &= ~tile.bit
    return _Pool(once, twice)


def _seat_odds(
    pool: _Pool, hand: Hand, at: int, shown: tuple[Tile, ...] | None, wanted: Sequence[int]
) -> tuple[tuple[float, ...], bool]:
    """Return a seat's probability of holding a tile of each set in *wanted*, and True if its claims agree."""
    if shown is not None:
        held = tuple(float(any(tile.bit & fits for tile in shown)) for fits in wanted)
        return held, not any(broken_claims(hand.claims[at], "", shown))
    # Who keeps a deal denies no tile: any three doubles may be in it.
    claims = [claim for claim in hand.claims[at] if claim.broken is not ProblemKind.TOO_MANY_DOUBLES]
    size = min(hand.sizes[at], pool.without(0))
    layers, consistent = _layers(claims, size), size == hand.sizes[at]
    ways = _ways(pool, layers, 0)
    if ways == 0:
        layers, consistent = _layers(_credible(pool, claims, size), size), False
        ways = _ways(pool, layers, 0)
    return tuple((ways - _ways(pool, layers, fits)) / ways for fits in wanted), consistent


def _layers(claims: Sequence[Claim], size: int) -> tuple[_Layer, ...]:
    """Return the layers of a hand of *size* tiles, the oldest first."""
    since = [size]
    for claim in claims:
        since.append(min(since[-1], claim.allowed))
    layers, denied = [_Layer(since[-1], 0)], 0
    for place in range(len(claims) - 1, -1, -1):
        denied |= claims[place].denied
        if since[place] > since[place + 1]:
            layers.append(_Layer(since[place] - since[place + 1], denied))
    return tuple(reversed(layers))


def _ways(pool: _Pool, layers: Sequence[_Layer], barred: int) -> int:
    """Return the number of ways to fill *layers* from *pool* without the tiles *barred*."""
    ways, taken = 1, 0
    for layer in layers:
        ways *= comb(max(0, pool.without(layer.denied | barred) - taken), layer.tiles)
        taken += layer.tiles
    return ways


def _credible(pool: _Pool, claims: Sequence[Claim], size: int) -> tuple[Claim, ...]:
    """Return the *claims* that can all be true: from the last one back, each that agrees with those after it."""
    kept: tuple[Claim, ...] = ()
    for claim in reversed(claims):
        more = (claim, *kept)
        if _ways(pool, _layers(more, size), 0):
            kept = more
    return kept
