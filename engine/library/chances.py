"""Estimate the probability that each seat can play, from the unseen tiles and from what each seat did.

A seat reveals something about its tiles in two ways. Each knock, draw or passed lead denies a set of tiles. And each
tile laid was one of several: a player who chooses at random among k legal plays makes each with probability 1/k, so a
hand with few alternatives is likelier than the tiles alone suggest.

Joint hands are sampled by a particle filter, one seat after the other, starting with those that denied most. Each tile
that a seat ever had arrived at some time. The tiles that it laid are assigned to arrivals first. Its other tiles are
drawn from those that nobody else has, the longest-held first, excluding every tile denied since the arrival. Younger
arrivals exclude fewer tiles, so each hand is drawn with probability 1 / (product of the numbers of alternatives). Its
weight is this product times the probability of the plays. The particles are resampled by weight after each seat.

lab/bench/odds.py compares the estimates with what players held.
"""

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from random import Random

from engine.errors import EngineError
from engine.game.questions import ends_now, unseen
from engine.state.events import NewHand, Play, Redeal, Seat, Stack
from engine.state.match import ClaimKind, Hand, LeadTile, Phase, State
from engine.tiles import Tile, double_bits
from engine.value import value

_NEVER = 1 << 60  # later than everything that a seat does


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


def chances(state: State, *, known: Iterable[Tile] = (), seat: Seat | None = None, samples: int = 400) -> Outlook:
    """Return the unseen tiles by number, and the probability that each seat can play, regardless of turn.

    Empty before the lead, after the hand is counted, and in free play. The same for the same arguments.

    Args:
        state: State of the match.
        known: Known tiles that are not on the table, once for each copy. Hands already shown need not be included.
        seat: Seat that holds the known tiles. None if they are in no player's hand.
        samples: Number of joint hands to sample, at least 1. The standard error is about 0.5 / sqrt(*samples*); 400
            take 30 ms (bones for three) to 180 ms (super for four) on a server core.

    Raises:
        EngineError: If *samples* is not positive.
    """
    game = state.game
    if game is None or game.hand is None or game.phase not in (Phase.PLAY, Phase.REVEAL) or not game.rules.refereed:
        return Outlook()
    hand, seats = game.hand, range(len(game.players))
    shown, elsewhere = shown_hands(hand), tuple(known)
    if seat is not None:
        shown[seat], elsewhere = elsewhere, ()
    left = [tile.bit for tile in without(unseen(game), (*elsewhere, *(tile for own in shown.values() for tile in own)))]
    hidden = [at for at in seats if at not in shown]
    particles, is_consistent = sampled_hands(state, left, hidden, Random(samples), samples)
    found = {at: [hands[at] for _, hands in particles] for at in hidden}
    ends = {end.number: end.fits for end in ends_now(hand)}
    everywhere = 0
    for fits in ends.values():
        everywhere |= fits

    def share(at: int, fits: int) -> float:
        hands = found.get(at) or [tuple(tile.bit for tile in shown.get(at, ()))]
        return sum(any(bit & fits for bit in held) for held in hands) / len(hands)

    for at, tiles in shown.items():
        denied = ((claim, sum(tile.bit & claim.denied != 0 for tile in tiles)) for claim in hand.claims[at])
        is_consistent[at] = all(number <= claim.allowed for claim, number in denied)
    numbers = tuple(
        NumberChance(number, sum(bit & fits != 0 for bit in left), tuple(share(at, fits) for at in seats))
        for number, fits in ends.items()
    )
    return Outlook(numbers, tuple(SeatChance(share(at, everywhere), is_consistent[at]) for at in seats))


def shown_hands(hand: Hand) -> dict[int, tuple[Tile, ...]]:
    """Return the tiles of each seat that has shown them."""
    return {at: holding.tiles for at, holding in enumerate(hand.holdings) if holding and holding.tiles is not None}


def without(tiles: Iterable[Tile], gone: Iterable[Tile]) -> list[Tile]:
    """Return *tiles* without one copy of each tile in *gone*."""
    left = list(tiles)
    for tile in gone:
        if tile in left:
            left.remove(tile)
    return left


Particle = tuple[list[int], dict[int, tuple[int, ...]]]
"""Bits of the tiles in nobody's hand, and of the tiles of each seat."""


def sampled_hands(
    state: State, left: Sequence[int], hidden: Sequence[int], rng: Random, samples: int
) -> tuple[list[Particle], dict[int, bool]]:
    """Return joint hands of the seats *hidden*, and whether what each of them did is possible.

    Args:
        state: State of the match, in a hand.
        left: Bits of all tiles that are neither on the table nor in another known hand, once for each copy.
        hidden: Seats of which the tiles are unknown, except those that were seen when drawn.
        rng: Random generator.
        samples: Number of joint hands. With few, many of them are equal.
    """
    assert state.game is not None
    assert state.game.hand is not None
    if samples < 1:
        raise EngineError(f"expected 1 sample or more, got {samples}")
    held, pool, pasts = state.game.hand.held, list(left), {at: _Past.of(state, at) for at in hidden}
    for at in hidden:
        for bit in [bit for bit in left if bit & held[at]]:
            if bit in pool:
                pool.remove(bit)
    particles: list[Particle] = [(pool, {})] * samples
    is_possible = dict.fromkeys(hidden, True)
    for at in sorted(hidden, key=lambda at: -len(pasts[at].denies)):
        known = tuple(bit for bit in dict.fromkeys(left) if bit & held[at])
        if not any(pasts[at].sample(list(tiles), rng)[0] for tiles, _ in particles):
            is_possible[at], pasts[at] = False, pasts[at].relaxed(particles[0][0], rng)
        weights, grown = [], []
        for tiles, hands in particles:
            rest = list(tiles)
            weight, hand = pasts[at].sample(rest, rng)
            weights.append(weight)
            grown.append((rest, {**hands, at: (*known, *hand)}))
        # Systematic resampling adds the least noise.
        sums = list(accumulate(weights))
        step, first = sums[-1] / samples, rng.random()
        particles = [grown[min(bisect(sums, step * (first + at)), samples - 1)] for at in range(samples)]
    return particles, is_possible


@dataclass(slots=True)
class _Past:
    """Actions of a seat that reveal something about its tiles. Times are counted from the deal.

    Attributes:
        gets: Times at which unseen tiles arrived, once for each tile.
        denies: Times at which the seat denied tiles, and their bit masks.
        plays: Times, bits of the tiles played that were not seen before, and the tiles that fit each open end then.
        known: Times and bits of the tiles that were seen when drawn.
    """

    gets: list[int] = field(default_factory=list)
    denies: list[tuple[int, int]] = field(default_factory=list)
    plays: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    known: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, state: State, seat: int) -> "_Past":
        """Return the past of *seat* in the current hand. Before a position, only its claims are known."""
        past, steps, deals = cls(), state.steps, (NewHand, Redeal)
        first = next((at for at in range(len(steps) - 1, -1, -1) if isinstance(steps[at].entry.action, deals)), -1)
        hands = [each.before.hand for each in steps[first + 1 :] if each.before is not None]
        hands.append(None if state.game is None else state.game.hand)
        for time, (before, after) in enumerate(pairwise((None, *hands))):
            if after is None:
                continue
            if before is None:
                past._begin(after, seat)
                continue
            action = steps[first + time].entry.action
            has_played = isinstance(action, Play | Stack) and action.seat == seat and before.layout is not after.layout
            seen = after.held[seat] & ~before.held[seat]
            arrived = after.sizes[seat] - before.sizes[seat] + has_played - seen.bit_count()
            past.denies += ((time, bits) for bits in _denied(before, after, seat, None if has_played else arrived))
            if isinstance(action, Play | Stack) and has_played and not before.held[seat] & action.tile.bit:
                past.plays.append((time, action.tile.bit, _options(before) if isinstance(action, Play) else ()))
            past.gets += [time] * arrived
            past.known += [(time, seen)] if seen else []
        return past

    def _begin(self, hand: Hand, seat: int) -> None:
        """Start with the tiles and claims of a moment: those allowed by a claim arrived after it."""
        claims = [claim for claim in hand.claims[seat] if claim.kind is not ClaimKind.KEPT_DEAL]
        size = hand.sizes[seat] - hand.held[seat].bit_count()
        since = [size, *(min(size, claim.allowed) for claim in claims), 0]
        for at, (older, younger) in enumerate(pairwise(since)):
            time = at - len(since)
            self.gets += [time] * (older - younger)
            if at < len(claims):
                self.denies.append((time + 1, claims[at].denied))

    def relaxed(self, left: Sequence[int], rng: Random) -> "_Past":
        """Return the past without what the seat played, and with those denials that can be true, the youngest first."""
        gets, kept = self.gets[: min(len(left), len(self.gets) - len(self.plays))], list[tuple[int, int]]()
        for denial in reversed(self.denies):
            if _Past(gets, [denial, *kept]).sample(list(left), rng)[0]:
                kept.insert(0, denial)
        return _Past(gets, kept)

    def sample(self, left: list[int], rng: Random) -> tuple[float, list[int]]:
        """Take tiles out of *left* for a hand that agrees with the past. Returns its weight, 0 if there is none.

        The weight is the number of ways to choose it times the probability of what the seat played.
        """
        free, weight, held = list(self.gets), 1.0, list[tuple[int, int, int]]()  # bit, arrival, and end
        for time, bit, _ in self.plays:
            places = [at for at, start in enumerate(free) if start < time and not self._bars(start, time) & bit]
            if not places:
                return 0.0, []
            weight *= len(places)
            held.append((bit, free.pop(rng.choice(places)), time))
        hand = []
        for start in free:
            bars = self._bars(start, _NEVER)
            allowed = [at for at, bit in enumerate(left) if not bit & bars]
            if not allowed:
                return 0.0, []
            weight *= len(allowed)
            hand.append(left.pop(rng.choice(allowed)))
            held.append((hand[-1], start, _NEVER))
        for time, own, options in self.plays:
            bits = own
            for seen, known in self.known:
                bits |= known if seen < time else 0
            for bit, start, end in held:
                bits |= bit if start < time <= end else 0
            weight /= max(1, sum((bits & fits).bit_count() for fits in options))
        return weight, hand

    def _bars(self, start: int, end: int) -> int:
        """Return the tiles that the seat denied between two times."""
        bars = 0
        for time, bits in self.denies:
            if start < time < end:
                bars |= bits
        return bars


def _options(hand: Hand) -> tuple[int, ...]:
    """Return the tiles that can be laid at each end. Empty for a lead that is no choice."""
    if hand.layout.nodes:
        return tuple(end.fits for end in ends_now(hand))
    return (double_bits(),) if hand.lead is LeadTile.ANY_DOUBLE else ()


def _denied(before: Hand, after: Hand, seat: int, arrived: int | None) -> list[int]:
    """Return the tiles that *seat* newly denied between two moments. Keeping a deal denies none."""
    # A claim is renewed if it allows fewer tiles than before with those that *arrived*. None if the seat played.
    old = {(claim.kind, claim.numbers): claim for claim in before.claims[seat]}
    found = []
    for claim in after.claims[seat]:
        known = old.get((claim.kind, claim.numbers))
        is_renewed = known is None or (arrived is not None and claim.allowed < known.allowed + arrived)
        if is_renewed and claim.kind is not ClaimKind.KEPT_DEAL:
            found.append(claim.denied)
    return found
