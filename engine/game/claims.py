"""Claims that players make by knocking, drawing or not leading, and the tiles that disprove them.

See docs/reference/rules.md 2.6.
"""

from collections.abc import Iterable, Iterator
from functools import cache

from engine.game.questions import ends_now, roll_call_rank
from engine.game.turns import is_exempt
from engine.phrases import both, phrase, plural
from engine.rules.rules import Rules
from engine.state.events import Draw, Knock
from engine.state.match import ROLL_CALLS, Claim, ClaimKind, Claims, Game, Hand, LeadTile, Phase
from engine.state.problems import Problem, ProblemKind, noted
from engine.tiles import Tile, bits_of, double_bits, full_set, set_bits, tiles_of
from engine.value import changed, replaced_at

_BROKEN = {
    ClaimKind.DREW: ProblemKind.REVOKE,
    ClaimKind.KNOCKED: ProblemKind.REVOKE,
    ClaimKind.KEPT_DEAL: ProblemKind.TOO_MANY_DOUBLES,
    ClaimKind.LET_ANOTHER_LEAD: ProblemKind.HIGHER_DOUBLE_HELD,
    ClaimKind.NO_DOUBLE: ProblemKind.HIGHER_DOUBLE_HELD,
}

_DID = {
    ClaimKind.DREW: phrase("drew"),
    ClaimKind.KNOCKED: phrase("knocked"),
    ClaimKind.NO_DOUBLE: phrase("had no double to lead"),
}


def claim_of(game: Game, hand: Hand, action: Draw | Knock) -> Claim | None:
    """Return the claim that a player makes by drawing or knocking now, or None. Before the lead: to have no double.

    A player who may draw or pass at will claims nothing. The second of two tiles is mandatory, so it is no claim that
    the first did not fit. Of several tiles drawn, only the last can be playable, but each draw renews the claim.
    """
    rules, is_draw = game.rules, isinstance(action, Draw)
    if is_draw and (hand.turn != action.seat or rules.voluntary_draw):
        return None
    if game.phase is Phase.LEAD:
        return Claim(ClaimKind.NO_DOUBLE, double_bits() & set_bits(rules.max_pips))
    if hand.course.drawn if is_draw else (not rules.must_play or is_exempt(rules, hand)):
        return None
    ends, kind, fits = ends_now(hand), ClaimKind.DREW if is_draw else ClaimKind.KNOCKED, 0
    for end in ends:
        fits |= end.fits
    return Claim(kind, fits & set_bits(rules.max_pips), 0, tuple(end.number for end in ends))


def kept_deal(rules: Rules) -> tuple[Claim, ...]:
    """Return the claim made by not asking for a redeal: the player does not hold too many doubles.

    Empty if the rules have no redeal for doubles.
    """
    most = rules.redeal_if_doubles_over
    return () if most is None else (Claim(ClaimKind.KEPT_DEAL, double_bits() & set_bits(rules.max_pips), most),)


def after_lead(claims: Claims, lead: LeadTile, led: Tile, rules: Rules) -> Claims:
    """Return the claims after the lead. If a roll call ended with *led*, nobody holds a tile that is called earlier."""
    if lead not in ROLL_CALLS:
        return claims
    claim = Claim(ClaimKind.LET_ANOTHER_LEAD, _called_before(led, rules.max_pips))
    return tuple((*old, claim) for old in claims)


@cache
def _called_before(led: Tile, max_pips: int) -> int:
    """Return the bit mask of the tiles that a roll call reaches before *led*."""
    return bits_of(tile for tile in full_set(max_pips) if roll_call_rank(tile) > roll_call_rank(led))


def add_claim(claims: Claims, seat: int, claim: Claim) -> Claims:
    """Return *claims* with *claim* added for *seat*, replacing an older claim of the same content.

    The newer claim is stricter, because the player has drawn fewer tiles since. Replacing keeps the list short.
    """
    content = (claim.kind, claim.denied, claim.numbers)
    others = (old for old in claims[seat] if (old.kind, old.denied, old.numbers) != content)
    return replaced_at(claims, seat, (*others, claim))


def after_draw(claims: Claims, seat: int, tiles: int, faces: tuple[Tile, ...] = ()) -> Claims:
    """Return *claims* after *seat* drew *tiles* tiles.

    Each unseen tile may be one that the player has denied holding. If *faces* were seen, the player's claims stop
    denying exactly those tiles.
    """
    unseen, seen = (0 if faces else tiles), bits_of(faces)
    mine = (changed(claim, denied=claim.denied & ~seen, allowed=claim.allowed + unseen) for claim in claims[seat])
    return replaced_at(claims, seat, tuple(mine))


def after_play(claims: Claims, seat: int, tile: Tile) -> Claims:
    """Return *claims* after *seat* laid *tile*.

    If the player had denied holding *tile*, it may have been drawn since. The draw then came after the last claim that
    denies *tile* and allows a drawn one. That claim and all earlier ones allow one tile less.
    """
    mine, bit = claims[seat], tile.bit
    explained = [at for at, claim in enumerate(mine, 1) if claim.denied & bit and claim.allowed]
    if not explained:
        return claims
    earlier = (changed(claim, allowed=max(0, claim.allowed - 1)) for claim in mine[: explained[-1]])
    return replaced_at(claims, seat, (*earlier, *mine[explained[-1] :]))


def broken_claims(game: Game, hand: Hand, seat: int, tiles: tuple[Tile, ...]) -> Iterator[Problem]:
    """Yield a problem for each claim of *seat* that *tiles* of its hand disprove."""
    for claim in hand.claims[seat]:
        denied = [tile for tile in tiles if tile.bit & claim.denied]
        if len(denied) > claim.allowed:
            yield _broken(game, hand, seat, claim, denied)


def false_claim(game: Game, hand: Hand, action: Draw | Knock) -> Iterator[Problem]:
    """Yield a problem if drawing or knocking now denies a tile that the player was seen to draw."""
    held = hand.held[action.seat]
    claim = claim_of(game, hand, action) if held else None
    if claim is not None and held & claim.denied:
        yield _broken(game, hand, action.seat, claim, tiles_of(held & claim.denied))


def held_by_others(hand: Hand, seat: int, tile: Tile) -> list[int]:
    """Return the seats other than *seat* that were seen to draw *tile* and have not played it."""
    return [at for at, bits in enumerate(hand.held) if bits & tile.bit and at != seat]


def _broken(game: Game, hand: Hand, seat: int, claim: Claim, tiles: Iterable[Tile]) -> Problem:
    """Return the problem with *tiles* that disprove *claim*."""
    if claim.kind is ClaimKind.KEPT_DEAL:
        most = game.rules.redeal_if_doubles_over or 0
        did = plural("did not declare more than 1 double", "did not declare more than {number} doubles", number=most)
    elif claim.kind is ClaimKind.LET_ANOTHER_LEAD:
        did = phrase("let the {tile} lead", tile=hand.layout.nodes[0].tile)
    else:
        did = _DID[claim.kind]
    values = {"name": game.players[seat], "did": did, "tiles": both(map(str, tiles))}
    text = phrase("{name} {did}, but held {tiles}", **values)
    if claim.numbers:
        on = both(str(number) for number in sorted(set(claim.numbers)))
        text = phrase("{name} {did} on {numbers}, but held {tiles}", numbers=on, **values)
    return noted(_BROKEN[claim.kind], text)
