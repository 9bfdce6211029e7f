"""Read the hands that are laid open at the end; notice when they are complete, and correct them later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from engine import (
    Amend,
    Domino,
    Game,
    Hand,
    HandEnd,
    Must,
    Phase,
    Reveal,
    Seat,
    Seq,
    State,
    Tile,
    copies_left,
    entries,
    turn,
)
from engine.phrases import either, phrase
from engine.state.problems import the_tile
from tallybone.session.referee.belief import SURE, log_chances, log_unseen, plausible, shares
from tallybone.session.referee.places import OpenHand, Places, is_near
from tallybone.session.referee.questions import Decided, Question, Unclear
from tallybone.session.touching import halves_of
from vision.reading import PointPx, SeenTile

# An answer is offered where it has this share; more than these would not be read.
_WORTH_ASKING, _MOST_CHOICES = 0.01, 4


@dataclass(frozen=True, slots=True)
class _Reading:
    """One open tile: what it may be, the likeliest first, and the share of each."""

    seen: SeenTile
    tiles: tuple[Tile, ...]
    by_share: tuple[float, ...]


def judge_reveals(places: Places, state: State) -> Iterator[Decided | Question | None]:
    """Yield the verdict on each hand that lies open after the end of a hand; None for none yet."""
    game = state.game
    if game is None or game.hand is None or not places.around.hands:
        return
    for at, holding in enumerate(game.hand.holdings):
        seat, hand = Seat(at), places.around.hand(Seat(at))
        if seat == game.hand.out:
            if hand.tiles and game.phase is Phase.REVEAL:
                words = phrase(
                    "{name} should be out, but still has tiles: was somebody else's turn counted?",
                    name=game.players[seat],
                )
                yield Question(Unclear(None, words, holds_up=False))
            continue
        if hand.shown is not None:
            yield _corrected(places, state, game, seat, hand)
        elif game.phase is Phase.REVEAL and holding is None:
            yield _shown(places, state, game, seat, hand)


def judge_hands_in_play(places: Places, state: State) -> Decided | Question | None:
    """Return the verdict on hands that lie open while the rules think that the hand goes on."""
    game, around = state.game, places.around
    if game is None or game.hand is None or game.phase is not Phase.PLAY:
        return None
    is_open = [bool(hand.tiles) and hand.looks > 1 for hand in around.hands]
    whose = turn(game)
    if any(is_open) and whose is not None and whose.must is Must.DRAW_OR_END:
        return Decided((HandEnd(),), places)
    if not any(is_open) or sum(is_open) < len(game.players) - 1 or around.open_counts == around.goes_on:
        return None
    out = [Seat(at) for at, one in enumerate(is_open) if not one]
    choices = (
        *(phrase("{name} is out", name=game.players[seat]) for seat in out),
        phrase("nobody can play"),
        phrase("no, it goes on"),
    )
    goes_on = replace(places, around=replace(around, goes_on=around.open_counts))
    ends = [*(Decided((Domino(seat),), places) for seat in out), Decided((HandEnd(),), places)]
    if places.is_being_cleared:  # and nobody has answered
        return replace(ends[0], is_inferred=True)
    unclear = Unclear(None, phrase("tiles are laid open: is the hand over?"), holds_up=False, choices=choices)
    return Question(unclear, (*ends, Decided((), goes_on)))


def _shown(places: Places, state: State, game: Game, seat: Seat, hand: OpenHand) -> Decided | Question | None:
    """Return the hand that a seat shows, once as many tiles as it should have lie open and each is sure."""
    assert game.hand is not None  # the caller has looked
    is_doubted = len(hand.tiles) != game.hand.sizes[seat] and not hand.is_whole
    if is_doubted and not (hand.tiles and hand.looks > 1):
        return None
    if is_doubted and not places.is_being_cleared:
        return _ask_whole(places, game, seat, hand)
    found = _read(game, game.hand, seat, hand)
    while isinstance(found, _Reading):
        if not places.is_being_cleared:
            return _ask_which(places, seat, hand, found)
        # Nobody has answered.
        hand, is_doubted = replace(hand, told=(*hand.told, (found.seen.center_px, found.tiles[0]))), True
        found = _read(game, game.hand, seat, hand)
    now = replace(hand, shown=Seq(state.next_seq), said=found)
    around = places.around.with_hand(seat, now)
    return Decided((Reveal(seat, found),), replace(places, around=around), is_inferred=is_doubted)


def _corrected(places: Places, state: State, game: Game, seat: Seat, hand: OpenHand) -> Decided | Question | None:
    """Return the correction of a hand that was shown: a tile was added, or is read otherwise now."""
    assert game.hand is not None  # the caller has looked
    entry = next((one for one in entries(state) if one.seq == hand.shown), None)
    if entry is None or places.is_being_cleared or len(hand.tiles) < len(hand.said) or hand.looks < 2:
        return None
    found = _read(game, game.hand, seat, hand)
    if isinstance(found, _Reading):
        return _ask_which(places, seat, hand, found)
    if Counter(found) == Counter(hand.said):
        return None
    amend = Amend(entry.seq, Reveal(seat, found))
    return Decided((amend,), replace(places, around=places.around.with_hand(seat, replace(hand, said=found))))


def _read(game: Game, hand: Hand, seat: Seat, shown: OpenHand) -> tuple[Tile, ...] | _Reading:
    """Return the tiles that lie open, or the first that is not sure; each tile of the set is there once per copy.

    The surest are taken first, so that they help to tell the others.
    """
    others: Counter[Tile] = Counter()
    for at, holding in enumerate(hand.holdings):
        if at != seat and holding is not None:
            others.update(holding.tiles or ())
    left = list(shown.tiles)
    found: dict[SeenTile, Tile] = {}
    while left:
        best = max((_weighed(game, one, others, shown.told) for one in left), key=lambda one: one.by_share[0])
        if best.by_share[0] < SURE:
            return best
        found[best.seen] = best.tiles[0]
        others[best.tiles[0]] += 1
        left.remove(best.seen)
    return tuple(found[one] for one in shown.tiles)


def _weighed(game: Game, seen: SeenTile, gone: Counter[Tile], told: Sequence[tuple[PointPx, Tile]]) -> _Reading:
    """Return the readings of an open tile: by the eye, by the tiles left of the set, and by the table's own words."""
    said = next((tile for middle, tile in told if is_near(seen, middle)), None)
    if said is not None:
        return _Reading(seen, (said,), (1.0,))
    first, second = (log_chances(half, game.rules.max_pips) for half in halves_of(seen))
    weights: dict[Tile, float] = {}
    for one, other in product(sorted(plausible(first)), sorted(plausible(second))):
        tile = Tile.of(one, other)
        weight = first[one] + second[other] + log_unseen(copies_left(game, tile) - gone[tile])
        weights[tile] = max(weights.get(tile, weight), weight)
    by_share = sorted(zip(shares(weights.values()), weights, strict=True), key=lambda pair: -pair[0])
    return _Reading(seen, tuple(tile for _, tile in by_share), tuple(share for share, _ in by_share))


def _ask_which(places: Places, seat: Seat, hand: OpenHand, reading: _Reading) -> Question:
    """Return the question which tile it is that lies open."""
    pairs = zip(reading.tiles, reading.by_share, strict=True)
    tiles = [tile for at, (tile, share) in enumerate(pairs) if at < 2 or share >= _WORTH_ASKING][:_MOST_CHOICES]
    hands = (replace(hand, told=(*hand.told, (reading.seen.center_px, tile))) for tile in tiles)
    answers = tuple(Decided((), replace(places, around=places.around.with_hand(seat, one))) for one in hands)
    choices = tuple(the_tile(tile) for tile in tiles)
    words = phrase("is this {tiles}?", tiles=either(choices))
    return Question(Unclear(reading.seen, words, holds_up=True, choices=choices), answers)


def _ask_whole(places: Places, game: Game, seat: Seat, hand: OpenHand) -> Question:
    """Return the question whether a hand is all there, although the rules expect another number of tiles."""
    assert game.hand is not None  # the caller has looked
    name, expected, shown = game.players[seat], game.hand.sizes[seat], len(hand.tiles)
    said = {"name": name, "shown": shown, "due": expected}
    words = phrase("{name} shows {shown} of {due} tiles: are these all?", **said)
    whole = replace(places, around=places.around.with_hand(seat, replace(hand, is_whole=True)))
    unclear = Unclear(None, words, holds_up=False, choices=(phrase("these are all of {name}'s tiles", name=name),))
    return Question(unclear, (Decided((), whole),))
