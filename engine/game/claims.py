"""Claims that players make by knocking, drawing or not leading, and the tiles that disprove them.

See docs/reference/rules.md 2.6.
"""

from collections.abc import Iterable, Iterator

from engine.game.questions import ends_now
from engine.game.turns import is_exempt
from engine.phrases import Phrase, both, phrase, plural
from engine.rules.rules import Rules
from engine.state.events import Draw, Knock
from engine.state.hand import Claim, ClaimKind, Hand
from engine.state.match import Game, Phase
from engine.state.problems import Problem, ProblemKind, noted
from engine.tiles import Tile, bits_of, double_bits, set_bits, tiles_of
from engine.value import changed

_BROKEN = {
    ClaimKind.DREW: ProblemKind.REVOKE,
    ClaimKind.KNOCKED: ProblemKind.REVOKE,
    ClaimKind.KEPT_DEAL: ProblemKind.TOO_MANY_DOUBLES,
    ClaimKind.LET_ANOTHER_LEAD: ProblemKind.HIGHER_DOUBLE_HELD,
    ClaimKind.NO_DOUBLE: ProblemKind.HIGHER_DOUBLE_HELD,
}


def claim_of(game: Game, hand: Hand, action: Draw | Knock) -> Claim | None:
    """Return the claim that a player makes by drawing or knocking now, or None.

    A player who may draw or pass at will claims nothing. The second of two tiles is mandatory, so it is no claim that
    the first did not fit. Of several tiles drawn, only the last can be playable, but each draw renews the claim.
    """
    rules, is_draw = game.rules, isinstance(action, Draw)
    if is_draw and (hand.turn != action.seat or rules.voluntary_draw):
        return None
    if game.phase is Phase.LEAD:
        return no_double(rules)
    if hand.course.drawn if is_draw else (not rules.must_play or is_exempt(rules, hand)):
        return None
    fits, numbers = 0, []
    for end in ends_now(hand):
        fits |= end.fits
        numbers.append(end.number)
    return Claim(ClaimKind.DREW if is_draw else ClaimKind.KNOCKED, fits & set_bits(rules.max_pips), 0, tuple(numbers))


def kept_deal(rules: Rules) -> tuple[Claim, ...]:
    """Return the claim made by not asking for a redeal: the player does not hold too many doubles.

    Empty if the rules have no redeal for doubles.
    """
    most = rules.redeal_if_doubles_over
    return () if most is None else (Claim(ClaimKind.KEPT_DEAL, double_bits() & set_bits(rules.max_pips), most),)


def no_double(rules: Rules) -> Claim:
    """Return the claim made by not leading when any double may lead: the player has no double."""
    return Claim(ClaimKind.NO_DOUBLE, double_bits() & set_bits(rules.max_pips))


def add_claim(claims: tuple[tuple[Claim, ...], ...], seat: int, claim: Claim) -> tuple[tuple[Claim, ...], ...]:
    """Return *claims* with *claim* added for *seat*, replacing an older claim of the same content.

    The newer claim is stricter, because the player has drawn fewer tiles since. Replacing keeps the list short.
    """
    content = (claim.kind, claim.denied, claim.numbers)
    others = (old for old in claims[seat] if (old.kind, old.denied, old.numbers) != content)
    return tuple((*others, claim) if at == seat else old for at, old in enumerate(claims))


def after_draw(
    claims: tuple[tuple[Claim, ...], ...], seat: int, tiles: int, faces: tuple[Tile, ...] = ()
) -> tuple[tuple[Claim, ...], ...]:
    """Return *claims* after *seat* drew *tiles* tiles.

    Each unseen tile may be one that the player has denied holding. If *faces* were seen, the player's claims stop
    denying exactly those tiles.
    """
    unseen, seen = (0 if faces else tiles), bits_of(faces)
    mine = tuple(changed(claim, denied=claim.denied & ~seen, allowed=claim.allowed + unseen) for claim in claims[seat])
    return tuple(mine if at == seat else old for at, old in enumerate(claims))


def denies(hand: Hand, seat: int, tile: Tile) -> bool:
    """Return True if *seat* has claimed not to hold *tile*. Called at every play."""
    return any(claim.denied & tile.bit for claim in hand.claims[seat])


def after_play(claims: tuple[tuple[Claim, ...], ...], seat: int, tile: Tile) -> tuple[tuple[Claim, ...], ...]:
    """Return *claims* after *seat* laid *tile*.

    If the player had denied holding *tile*, it may have been drawn since. The draw then came after the last claim that
    denies *tile* and allows a drawn one. That claim and all earlier ones allow one tile less.
    """
    explained = (at for at, claim in enumerate(claims[seat]) if claim.denied & tile.bit and claim.allowed)
    last = max(explained, default=-1)
    if last < 0:
        return claims
    mine = tuple(
        changed(claim, allowed=max(0, claim.allowed - 1)) if at <= last else claim
        for at, claim in enumerate(claims[seat])
    )
    return tuple(mine if at == seat else old for at, old in enumerate(claims))


def broken_claims(game: Game, hand: Hand, seat: int, tiles: Iterable[Tile]) -> Iterator[Problem]:
    """Yield a problem for each claim of *seat* that *tiles* of its hand disprove."""
    held = tuple(tiles)
    for claim in hand.claims[seat]:
        denied = [tile for tile in held if tile.bit & claim.denied]
        if len(denied) > claim.allowed:
            yield _broken(game, hand, seat, claim, denied)


def false_claim(game: Game, hand: Hand, action: Draw | Knock) -> Iterator[Problem]:
    """Yield a problem if drawing or knocking now denies a tile that the player was seen to draw."""
    claim = claim_of(game, hand, action) if hand.held[action.seat] else None
    if claim is not None and hand.held[action.seat] & claim.denied:
        yield _broken(game, hand, action.seat, claim, tiles_of(hand.held[action.seat] & claim.denied))


def held_by_others(hand: Hand, seat: int, tile: Tile) -> list[int]:
    """Return the seats other than *seat* that were seen to draw *tile* and have not played it."""
    return [at for at, bits in enumerate(hand.held) if bits & tile.bit and at != seat]


def _broken(game: Game, hand: Hand, seat: int, claim: Claim, tiles: Iterable[Tile]) -> Problem:
    """Return the problem with *tiles* that disprove *claim*."""
    values = {"name": game.players[seat], "did": _words(game, hand, claim), "tiles": both(map(str, tiles))}
    words = phrase("{name} {did}, but held {tiles}", **values)
    if claim.numbers:
        on = both(str(number) for number in sorted(set(claim.numbers)))
        words = phrase("{name} {did} on {numbers}, but held {tiles}", numbers=on, **values)
    return noted(_BROKEN[claim.kind], words)


def _words(game: Game, hand: Hand, claim: Claim) -> Phrase:
    """Describe how a claim was made."""
    match claim.kind:
        case ClaimKind.DREW:
            return phrase("drew")
        case ClaimKind.KNOCKED:
            return phrase("knocked")
        case ClaimKind.KEPT_DEAL:
            most = game.rules.redeal_if_doubles_over or 0
            return plural(
                "did not declare more than 1 double", "did not declare more than {number} doubles", number=most
            )
        case ClaimKind.LET_ANOTHER_LEAD:
            return phrase("let the {tile} lead", tile=hand.layout.nodes[0].tile)
        case ClaimKind.NO_DOUBLE:
            return phrase("had no double to lead")
