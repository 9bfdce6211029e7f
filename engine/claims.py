"""What players say about their hands by knocking, drawing and letting another lead; revokes. docs/rules.md 2.6."""

from collections.abc import Iterable, Iterator

from engine.hand import Claim, Hand
from engine.phrases import both, phrase
from engine.problems import Problem, ProblemKind, noted
from engine.questions import ends_now
from engine.rules import Rules
from engine.tiles import Tile, set_bits
from engine.value import changed


def cannot_play(hand: Hand, rules: Rules, verb: str) -> Claim:
    """Return what is said by drawing or knocking now: no tile for any place where one may go."""
    fits, numbers = 0, []
    for end in ends_now(hand):
        fits |= end.fits
        numbers.append(end.number)
    return Claim(fits & set_bits(rules.max_pips), 0, ProblemKind.REVOKE, verb, tuple(numbers))


def denies(denied: int, words: str) -> Claim:
    """Return what is said by letting another lead: none of these tiles, as bits."""
    return Claim(denied, 0, ProblemKind.HIGHER_DOUBLE_HELD, words)


def said(claims: tuple[tuple[Claim, ...], ...], seat: int, claim: Claim) -> tuple[tuple[Claim, ...], ...]:
    """Return *claims* with one more of *seat*, in the place of what it has said in the same words of the same tiles.

    The last one says most: it has drawn fewest tiles since. So they stay few, however often it knocks or draws.
    """
    content = (claim.denied, claim.broken, claim.words, claim.numbers)
    others = (old for old in claims[seat] if (old.denied, old.broken, old.words, old.numbers) != content)
    return tuple((*others, claim) if at == seat else old for at, old in enumerate(claims))


def drew(claims: tuple[tuple[Claim, ...], ...], seat: int, tiles: int) -> tuple[tuple[Claim, ...], ...]:
    """Return *claims* after *seat* drew: as many tiles may be others than it spoke of."""
    mine = tuple(changed(claim, drawn_since=claim.drawn_since + tiles) for claim in claims[seat])
    return tuple(mine if at == seat else old for at, old in enumerate(claims))


def shown(claims: tuple[tuple[Claim, ...], ...], seat: int, tile: Tile) -> tuple[tuple[Claim, ...], ...]:
    """Return *claims* after *seat* laid *tile*: if it had denied that, it is taken for one it drew since.

    What came after the last claim that denies it came after all earlier ones, too.
    """
    last = max((at for at, claim in enumerate(claims[seat]) if claim.denied & tile.bit), default=-1)
    if last < 0:
        return claims
    mine = tuple(
        changed(claim, drawn_since=max(0, claim.drawn_since - 1)) if at <= last else claim
        for at, claim in enumerate(claims[seat])
    )
    return tuple(mine if at == seat else old for at, old in enumerate(claims))


def broken_claims(claims: Iterable[Claim], name: str, tiles: Iterable[Tile]) -> Iterator[Problem]:
    """Yield what *tiles* of the player *name* prove about what he said before."""
    held = tuple(tiles)
    for claim in claims:
        denied = [tile for tile in held if tile.bit & claim.denied]
        if len(denied) > claim.drawn_since:
            said = {"name": name, "did": claim.words, "tiles": both(str(tile) for tile in denied)}
            words = phrase("{name} {did}, but held {tiles}", **said)
            if claim.numbers:
                on = both(str(number) for number in sorted(set(claim.numbers)))
                words = phrase("{name} {did} on {numbers}, but held {tiles}", numbers=on, **said)
            yield noted(claim.broken, words)
