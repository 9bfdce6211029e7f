"""Read the hands shown at the end of a hand, detect when they are complete, and correct them later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from engine import Amend, Domino, Game, HandEnd, Must, Phase, Reveal, Seat, Seq, State, Tile, copies_left, entries, turn
from engine.phrases import either, phrase
from engine.state.problems import the_tile
from tallybone.session.referee.belief import SURE, log_chances, log_unseen, plausible, shares
from tallybone.session.referee.places import OpenHand, Places, is_near
from tallybone.session.referee.questions import Ambiguity, Question, Resolution
from tallybone.session.touching import halves_of
from vision.reading import PointPx, SeenTile

# Minimum share of an answer after the first two for it to be offered, and maximum number of answers that people read.
_MIN_SHARE, _MAX_CHOICES = 0.01, 4


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


def judge_reveals(places: Places, state: State) -> Iterator[Resolution | Question | None]:
    """Yield a verdict on each open hand after the end of a hand, or None if its verdict is not due yet."""
    game = state.game
    if game is None or game.hand is None or not places.around.hands:
        return
    for at, holding in enumerate(game.hand.holdings):
        seat, hand = Seat(at), places.around.hand(Seat(at))
        if seat == game.hand.out:
            if hand.tiles and game.phase is Phase.REVEAL:
                words = phrase(
                    "{name} should be out but still has tiles: was a play credited to the wrong player?",
                    name=game.players[seat],
                )
                yield Question(Ambiguity(None, words, holds_up=False))
            continue
        if hand.shown is not None:
            yield _corrected(places, state, game, seat, hand)
        elif game.phase is Phase.REVEAL and holding is None:
            yield _shown(places, state, game, seat, hand)


def judge_hands_in_play(places: Places, state: State) -> Resolution | Question | None:
    """Return a verdict on hands exposed before the rules end the hand, or None.

    A hand counts as exposed after two looks. One exposed hand is enough if the player to move can only draw or end the
    hand (`Must.DRAW_OR_END`). Otherwise at least all players but one must expose tiles. Then the players are asked if
    the hand is over, unless they have already answered no for the same numbers of tiles. While the table is being
    cleared, the likeliest answer is taken without asking.
    """
    game, around = state.game, places.around
    if game is None or game.hand is None or game.phase is not Phase.PLAY:
        return None
    is_open = _shows_tiles(places)
    current = turn(game)
    if any(is_open) and current is not None and current.must is Must.DRAW_OR_END:
        return Resolution((HandEnd(),), places)
    if not are_exposed(places, len(game.players)):
        return None
    out = [Seat(at) for at, shows in enumerate(is_open) if not shows]
    choices = (
        *(phrase("{name} is out", name=game.players[seat]) for seat in out),
        phrase("nobody can play"),
        phrase("no, it goes on"),
    )
    goes_on = replace(places, around=replace(around, goes_on=around.open_counts))
    ends = [*(Resolution((Domino(seat),), places) for seat in out), Resolution((HandEnd(),), places)]
    if places.is_being_cleared:  # too late to ask
        return replace(ends[0], is_inferred=True)
    ambiguity = Ambiguity(None, phrase("hands are open: is the hand over?"), holds_up=False, choices=choices)
    return Question(ambiguity, (*ends, Resolution((), goes_on)))


def are_exposed(places: Places, players: int) -> bool:
    """Check that all players but one or all show their tiles, and have not answered that the hand goes on."""
    is_open, around = _shows_tiles(places), places.around
    return any(is_open) and sum(is_open) >= players - 1 and around.open_counts != around.goes_on


def _shows_tiles(places: Places) -> list[bool]:
    """Return for each seat whether two looks have shown tiles before it."""
    return [bool(hand.tiles) and hand.looks > 1 for hand in places.around.hands]


def _shown(places: Places, state: State, game: Game, seat: Seat, hand: OpenHand) -> Resolution | Question | None:
    """Return the hand that a seat shows, once it is complete and every tile is certain, or a question.

    If the number of tiles is unexpected, returns None until two looks agree on the tiles, and always for no tiles.
    While the table is being cleared, the likeliest tiles are taken without a question.
    """
    assert game.hand is not None  # checked by the caller
    is_doubted = len(hand.tiles) != game.hand.sizes[seat] and not hand.is_whole
    if is_doubted and not (hand.tiles and hand.looks > 1):
        return None
    if is_doubted and not places.is_being_cleared:
        return _ask_whole(places, game, seat, hand)
    tiles = _read(game, seat, hand)
    while isinstance(tiles, HandTile):
        if not places.is_being_cleared:
            return _ask_which(places, seat, hand, tiles)
        hand, is_doubted = replace(hand, told=(*hand.told, (tiles.seen.center_px, tiles.tiles[0]))), True
        tiles = _read(game, seat, hand)
    reported = replace(hand, shown=Seq(state.next_seq), said=tiles)
    around = places.around.with_hand(seat, reported)
    return Resolution((Reveal(seat, tiles),), replace(places, around=around), is_inferred=is_doubted)


def _corrected(places: Places, state: State, game: Game, seat: Seat, hand: OpenHand) -> Resolution | Question | None:
    """Return a correction of a reported hand if tiles were added or are read differently, a question, or None.

    Two looks must agree. Nothing is corrected while tiles are missing or the table is being cleared.
    """
    entry = next((other for other in entries(state) if other.seq == hand.shown), None)
    if entry is None or places.is_being_cleared or len(hand.tiles) < len(hand.said) or hand.looks < 2:
        return None
    tiles = _read(game, seat, hand)
    if isinstance(tiles, HandTile):
        return _ask_which(places, seat, hand, tiles)
    if Counter(tiles) == Counter(hand.said):
        return None
    amend = Amend(entry.seq, Reveal(seat, tiles))
    return Resolution((amend,), replace(places, around=places.around.with_hand(seat, replace(hand, said=tiles))))


def _read(game: Game, seat: Seat, shown: OpenHand) -> tuple[Tile, ...] | HandTile:
    """Return the open tiles of a hand, or the reading of the least uncertain of the uncertain tiles."""
    accepted: dict[SeenTile, Tile] = {}
    for best in hand_tiles(game, seat, shown.tiles, shown.told):
        if not best.is_sure:
            return best
        accepted[best.seen] = best.tiles[0]
    return tuple(accepted[seen] for seen in shown.tiles)


def hand_tiles(
    game: Game, seat: Seat, tiles: Sequence[SeenTile], named: Sequence[tuple[PointPx, Tile]] = ()
) -> Iterator[HandTile]:
    """Yield the readings of the face-up tiles of a hand, the most certain first.

    Each uses up a copy of its likeliest tile, which narrows down the others.

    Args:
        game: The match.
        seat: Seat of the hand.
        tiles: The tiles as read.
        named: Tiles that the players have named, each after its centre in pixels.
    """
    others: Counter[Tile] = Counter()
    for at, holding in enumerate(() if game.hand is None else game.hand.holdings):
        if at != seat and holding is not None:
            others.update(holding.tiles or ())
    left = list(tiles)
    while left:
        readings = (_weighed(game, seen, others, named) for seen in left)
        best = max(readings, key=lambda reading: reading.by_share[0])
        yield best
        others[best.tiles[0]] += 1
        left.remove(best.seen)


def _weighed(game: Game, seen: SeenTile, gone: Counter[Tile], named: Sequence[tuple[PointPx, Tile]]) -> HandTile:
    """Return the possible tiles for an open tile, weighted by its pips and the copies left.

    A tile that the players have named is certain.

    Args:
        game: The match.
        seen: The tile as read.
        gone: Number of copies of each tile in other hands and among the tiles of this hand read so far.
        named: Tiles of this hand that the players have named, each after its centre in pixels.
    """
    name = next((tile for middle, tile in named if is_near(seen, middle)), None)
    if name is not None:
        return HandTile(seen, (name,), (1.0,))
    first, second = (log_chances(half, game.rules.max_pips) for half in halves_of(seen))
    weights: dict[Tile, float] = {}
    for pips, other_pips in product(sorted(plausible(first)), sorted(plausible(second))):
        tile = Tile.of(pips, other_pips)
        weight = first[pips] + second[other_pips] + log_unseen(copies_left(game, tile) - gone[tile])
        weights[tile] = max(weights.get(tile, weight), weight)
    by_share = sorted(zip(shares(weights.values()), weights, strict=True), key=lambda pair: -pair[0])
    return HandTile(seen, tuple(tile for _, tile in by_share), tuple(share for share, _ in by_share))


def _ask_which(places: Places, seat: Seat, hand: OpenHand, reading: HandTile) -> Question:
    """Return a question about the identity of an open tile. It offers 2 to _MAX_CHOICES of the likeliest tiles."""
    pairs = zip(reading.tiles, reading.by_share, strict=True)
    tiles = [tile for at, (tile, share) in enumerate(pairs) if at < 2 or share >= _MIN_SHARE][:_MAX_CHOICES]
    hands = (replace(hand, told=(*hand.told, (reading.seen.center_px, tile))) for tile in tiles)
    answers = tuple(Resolution((), replace(places, around=places.around.with_hand(seat, named))) for named in hands)
    choices = tuple(the_tile(tile) for tile in tiles)
    words = phrase("is this {tiles}?", tiles=either(choices))
    return Question(Ambiguity(reading.seen, words, holds_up=True, choices=choices), answers)


def _ask_whole(places: Places, game: Game, seat: Seat, hand: OpenHand) -> Question:
    """Return a question about a hand that shows another number of tiles than the rules expect."""
    assert game.hand is not None  # checked by the caller
    name, expected, shown = game.players[seat], game.hand.sizes[seat], len(hand.tiles)
    fields = {"name": name, "shown": shown, "due": expected}
    words = phrase("{name} shows {shown} of {due} tiles: is that all of them?", **fields)
    whole = replace(places, around=places.around.with_hand(seat, replace(hand, is_whole=True)))
    ambiguity = Ambiguity(None, words, holds_up=False, choices=(phrase("these are all of {name}'s tiles", name=name),))
    return Question(ambiguity, (Resolution((), whole),))
