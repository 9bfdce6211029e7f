"""Claims that players make by knocking, drawing or not leading, and revokes. See docs/reference/rules.md 2.6."""

from collections.abc import Iterable, Iterator

from engine.game.questions import ends_now
from engine.phrases import both, phrase, plural
from engine.rules.rules import Rules
from engine.state.hand import Claim, Hand
from engine.state.problems import Problem, ProblemKind, noted
from engine.tiles import Tile, double_bits, set_bits
from engine.value import changed

DREW = phrase("drew")
KNOCKED = phrase("knocked")


def no_playable_tile(hand: Hand, rules: Rules, verb: str) -> Claim:
    """Return the claim made by drawing or knocking now: the player has no tile that fits an open end."""
    fits, numbers = 0, []
    for end in ends_now(hand):
        fits |= end.fits
        numbers.append(end.number)
    return Claim(fits & set_bits(rules.max_pips), 0, ProblemKind.REVOKE, verb, tuple(numbers))


def kept_deal(rules: Rules) -> tuple[Claim, ...]:
    """Return the claim made by not asking for a redeal: the player does not hold too many doubles.

    Empty if the rules have no redeal for doubles.
    """
    most = rules.redeal_if_doubles_over
    if most is None:
        return ()
    verb = plural("did not declare more than 1 double", "did not declare more than {number} doubles", number=most)
    return (Claim(double_bits() & set_bits(rules.max_pips), most, ProblemKind.TOO_MANY_DOUBLES, verb),)


def let_another_lead(denied: int, led: Tile) -> Claim:
    """Return the claim made by letting *led* open the hand: none of the tiles in the bit mask *denied*."""
    return Claim(denied, 0, ProblemKind.HIGHER_DOUBLE_HELD, phrase("let the {tile} lead", tile=led))


def no_double(rules: Rules) -> Claim:
    """Return the claim made by not leading when any double may lead: the player has no double."""
    denied = double_bits() & set_bits(rules.max_pips)
    return Claim(denied, 0, ProblemKind.HIGHER_DOUBLE_HELD, phrase("had no double to lead"))


def add_claim(claims: tuple[tuple[Claim, ...], ...], seat: int, claim: Claim) -> tuple[tuple[Claim, ...], ...]:
    """Return *claims* with *claim* added for *seat*, replacing an older claim of the same content.

    The newer claim is stricter, because the player has drawn fewer tiles since. Replacing keeps the list short.
    """
    content = (claim.denied, claim.broken, claim.words, claim.numbers)
    others = (old for old in claims[seat] if (old.denied, old.broken, old.words, old.numbers) != content)
    return tuple((*others, claim) if at == seat else old for at, old in enumerate(claims))


def after_draw(
    claims: tuple[tuple[Claim, ...], ...], seat: int, tiles: int, faces: tuple[Tile, ...] = ()
) -> tuple[tuple[Claim, ...], ...]:
    """Return *claims* after *seat* drew *tiles* tiles.

    Each unseen tile may be one that the player has denied holding. If *faces* were seen, the player's claims stop
    denying exactly those tiles.
    """
    unseen, seen = (0 if faces else tiles), 0
    for tile in faces:
        seen |= tile.bit
    mine = tuple(changed(claim, denied=claim.denied & ~seen, allowed=claim.allowed + unseen) for claim in claims[seat])
    return tuple(mine if at == seat else old for at, old in enumerate(claims))


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


def broken_claims(claims: Iterable[Claim], name: str, tiles: Iterable[Tile]) -> Iterator[Problem]:
    """Yield a problem for each claim of the player *name* that *tiles* disprove."""
    held = tuple(tiles)
    for claim in claims:
        denied = [tile for tile in held if tile.bit & claim.denied]
        if len(denied) > claim.allowed:
            values = {"name": name, "did": claim.words, "tiles": both(str(tile) for tile in denied)}
            words = phrase("{name} {did}, but held {tiles}", **values)
            if claim.numbers:
                on = both(str(number) for number in sorted(set(claim.numbers)))
                words = phrase("{name} {did} on {numbers}, but held {tiles}", numbers=on, **values)
            yield noted(claim.broken, words)
