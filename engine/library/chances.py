"""Estimate the probability that each seat can play, from the unseen tiles and the seat's claims.

Each seat is modelled independently. Its n tiles come from the pool of unseen tiles, with copies distinguished, and
every combination that agrees with its claims is equally likely. Each knock, draw or passed lead is a claim
(`engine.state.hand.Claim`) that denies a set of tiles, D1 for the first to Dk for the last. After these claims the seat
drew g1 >= g2 >= ... >= gk tiles. Its hand therefore has layers: n - g1 tiles outside all of D1 ... Dk, then g1 - g2
tiles outside D2 ... Dk, and so on, and finally gk tiles that no claim restricts. Let ai be the number of pool tiles
that layer i allows. Each layer allows all tiles of the previous one, so the layers can be filled in turn in

    C(a0, n-g1) * C(a1 - (n-g1), g1-g2) * C(a2 - (n-g2), g2-g3) * ... * C(ak - (n-gk), gk)

ways. Leaving the tiles that fit out of every ai gives the number of ways in which the seat cannot play. The ratio of
the two is the probability that it cannot.

The model ignores that two seats cannot hold the same tile, and which tile a player chose among several that fit. If a
tile was played after a claim, it is unknown when it was drawn. A denied tile was drawn after the claim. Any other is
assumed to be older, as long as the hand was large enough.

For players who choose at random, estimates between 0.5 and 0.9 were too high by 0.03 on average in Bones for two (400
hands) and by 0.05 in Twoset for four (100 hands). tests/engine/test_chances.py requires 0.08 between 0.2 and 0.8.
"""

from collections.abc import Iterable, Sequence
from math import comb

from engine.game.questions import ends_now
from engine.state.events import Seat
from engine.state.hand import Claim, ClaimKind, Hand
from engine.state.match import Game, Phase, State
from engine.tiles import Tile, set_bits
from engine.value import value


@value
class NumberChance:
    """Unseen tiles that fit a number at the open ends.

    Attributes:
        number: Number at one or more open ends.
        out: Number of unseen tiles that have *number*.
        held: For each seat, probability from 0 to 1 that it holds a tile with *number*.
    """

    number: int
    out: int
    held: tuple[float, ...]


@value
class SeatChance:
    """Probability that a seat can play.

    Attributes:
        can_play: Probability from 0 to 1 that the seat holds a tile for any open end. 0 or 1 for a known hand.
        consistent: Whether the seat's claims and number of tiles are possible. Of contradictory claims, the older was
            ignored.
    """

    can_play: float
    consistent: bool


@value
class Outlook:
    """Unseen tiles by number, and the probability that each seat can play.

    Attributes:
        numbers: Numbers at the open ends, each once, in the order of the ends.
        seats: Probability for each seat, by seat.
    """

    numbers: tuple[NumberChance, ...] = ()
    seats: tuple[SeatChance, ...] = ()


@value
class _Pool:
    """Bit masks of the unseen tiles: those with at least one unseen copy, and those with two."""

    once: int
    twice: int

    def without(self, bits: int) -> int:
        """Return the number of tiles in the pool but not in the bit mask *bits*, counting copies."""
        return (self.once & ~bits).bit_count() + (self.twice & ~bits).bit_count()


@value
class _Layer:
    """Part of a hand drawn between two claims: number of tiles, and bit mask of the tiles that are not among them."""

    tiles: int
    denied: int


def chances(state: State, *, known: Iterable[Tile] = (), seat: Seat | None = None) -> Outlook:
    """Return the unseen tiles by number, and the probability that each seat can play, regardless of turn.

    Empty before the lead, after the hand is counted, and in free play.

    Args:
        state: State of the match.
        known: Known tiles that are not on the table, once for each copy. Hands already shown need not be included.
        seat: Seat that holds the known tiles. None if they are in no player's hand.
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
    """Return the probability that a seat holds a tile of each set in *wanted*, and whether its claims are consistent.

    *shown* are its tiles, if known.
    """
    if shown is not None:
        held = tuple(float(any(tile.bit & fits for tile in shown)) for fits in wanted)
        return held, not any(
            len([tile for tile in shown if tile.bit & claim.denied]) > claim.allowed for claim in hand.claims[at]
        )
    # Keeping a deal limits the number of doubles but denies no particular tile.
    claims = [claim for claim in hand.claims[at] if claim.kind is not ClaimKind.KEPT_DEAL]
    size = min(hand.sizes[at], pool.without(0))
    layers, consistent = _layers(claims, size), size == hand.sizes[at]
    ways = _ways(pool, layers, 0)
    if ways == 0:
        layers, consistent = _layers(_credible(pool, claims, size), size), False
        ways = _ways(pool, layers, 0)
    return tuple((ways - _ways(pool, layers, fits)) / ways for fits in wanted), consistent


def _layers(claims: Sequence[Claim], size: int) -> tuple[_Layer, ...]:
    """Return the layers of a hand of *size* tiles, oldest first."""
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
    """Return the number of ways to fill *layers* from *pool* without the tiles in the bit mask *barred*."""
    ways, taken = 1, 0
    for layer in layers:
        ways *= comb(max(0, pool.without(layer.denied | barred) - taken), layer.tiles)
        taken += layer.tiles
    return ways


def _credible(pool: _Pool, claims: Sequence[Claim], size: int) -> tuple[Claim, ...]:
    """Return consistent *claims*: starting from the last, each that can be true together with those kept so far."""
    kept: tuple[Claim, ...] = ()
    for claim in reversed(claims):
        more = (claim, *kept)
        if _ways(pool, _layers(more, size), 0):
            kept = more
    return kept
