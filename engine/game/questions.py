"""Queries about a match: open ends, legal plays and stacks, unseen tiles, whose turn it is, and claims.

Turns follow docs/reference/rules.md 2.3 and, in the six-arm game, 3.5. Players make claims by knocking, drawing or not
leading, and tiles disprove them. See docs/reference/rules.md 2.6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Protocol

from engine.phrases import both, phrase, plural
from engine.rules.rules import Drawing, NoDouble, ProvableBlock, Rules, SpellLap
from engine.state.events import Draw, Knock, Play, Seat, Stack
from engine.state.layout import ARMS, Node, OpenEnd
from engine.state.match import ROLL_CALLS, Claim, ClaimKind, Claims, Course, Game, Hand, LeadTile, Phase, Spell, State
from engine.state.outcomes import Must, Problem, ProblemKind, Skipped, Turn, noted
from engine.tiles import Tile, bits_of, double_bits, full_set, set_bits, tiles_of
from engine.value import changed, replaced_at

TILES_PER_DRAW = 2
"""Number of tiles in a draw under `Drawing.TWO`."""

_MUST_LEAD = {
    LeadTile.ANY: Must.LEAD_ANY,
    LeadTile.ANY_DOUBLE: Must.LEAD_DOUBLE,
    LeadTile.HIGHEST_DOUBLE: Must.LEAD_HIGHEST_DOUBLE,
    LeadTile.RACE: Must.RACE,
    LeadTile.SET_DOUBLE: Must.LEAD_SET_DOUBLE,
}


class TurnState(Protocol):
    """Part of a `Hand` on which the options to draw and pass depend."""

    @property
    def boneyard(self) -> int: ...  # noqa: D102
    @property
    def turn(self) -> Seat | None: ...  # noqa: D102
    @property
    def course(self) -> Course: ...  # noqa: D102


def turn(game: Game) -> Turn | None:
    """Return the current turn and its task, or None if nobody is to move."""
    hand, rules = game.hand, game.rules
    if hand is None or not rules.refereed:
        return None
    course = hand.course
    if game.phase is not Phase.PLAY:
        must = Must.DRAW_A_DOUBLE if draws_for_lead(game, hand) else _MUST_LEAD[hand.lead]
        return Turn(hand.turn, must, course.drawn > 0) if game.phase is Phase.LEAD else None
    if course.extra:
        return Turn(hand.turn, Must.PLAY_AGAIN, extra=True)
    draws = can_draw(rules, hand)
    if course.spell is None:
        must = Must.PLAY_OR_DRAW if draws else Must.PLAY_OR_KNOCK
        if draws and hand.locked and rules.on_provable_block is ProvableBlock.ANNOUNCE:
            must = Must.DRAW_OR_END
    elif course.spell.arm is None:
        must = Must.START_ARM_OR_DRAW if draws else Must.START_ARM_OR_KNOCK
    else:
        must = Must.BREAK_OR_DRAW if draws else Must.BREAK_OR_KNOCK
    return Turn(hand.turn, must, course.drawn > 0 and not draws)


def drawable(rules: Rules, hand: TurnState) -> int:
    """Return the number of boneyard tiles that may be drawn."""
    return 0 if rules.draw is Drawing.NONE else max(0, hand.boneyard - rules.boneyard_reserve)


def can_draw(rules: Rules, hand: TurnState) -> bool:
    """Return True if the player to move must draw when they cannot play."""
    if drawable(rules, hand) == 0:
        return False
    if rules.draw is Drawing.UNTIL_PLAYABLE:
        return True
    return hand.course.drawn < TILES_PER_DRAW and not hand.course.extra and not is_exempt(rules, hand)


def tiles_to_draw(rules: Rules, hand: TurnState) -> int:
    """Return 1 if the player has drawn one of two tiles and must draw the other before playing, else 0."""
    return int(rules.draw is Drawing.TWO and hand.course.drawn > 0 and can_draw(rules, hand))


def is_exempt(rules: Rules, hand: TurnState) -> bool:
    """Return True if the player to move cast the spell and may pass without drawing. See docs/reference/rules.md A2-5.

    False if there is nothing to draw.
    """
    spell, effects = hand.course.spell, rules.effects
    if spell is None or spell.arm is None or effects is None or hand.turn != spell.caster or not drawable(rules, hand):
        return False
    return effects.spell_lap is SpellLap.CASTER_EXEMPT or spell.returns > 1


def draws_for_lead(game: Game, hand: Hand) -> bool:
    """Return True if all players have declared that they have no double, so each draws one tile in turn."""
    one_in_turn = game.rules.no_double is NoDouble.DRAW_ONE_IN_TURN and hand.lead is LeadTile.ANY_DOUBLE
    return one_in_turn and hand.course.without_double >= len(game.players)


def owes(hand: Hand, action: Draw) -> bool:
    """Return True if another player's tile forced this draw, so the engine has already counted it."""
    owed = hand.course.owed
    return bool(owed) and owed[action.seat] >= action.tiles and (action.forced or hand.turn != action.seat)


def pass_turn(hand: Hand, seat: Seat) -> tuple[Hand, tuple[Skipped, ...]]:
    """Return the hand after the turn of *seat* ends, with a `Skipped` outcome if a player loses a turn."""
    seats = len(hand.sizes)
    skipped = (Skipped(Seat((seat + hand.course.direction) % seats)),) if hand.course.skip else ()
    course, after = passed(hand.course, seat, seats)
    return changed(hand, turn=after, course=course), skipped


def passed(course: Course, seat: Seat, seats: int) -> tuple[Course, Seat]:
    """Return the turn state after the turn of *seat* ends, and the seat that moves next."""
    after = Seat((seat + course.direction * (1 + course.skip)) % seats)
    spell = course.spell
    if spell is not None and after == spell.caster:
        spell = Spell(spell.caster, spell.arm, spell.returns + 1)
    return Course(course.direction, spell, without_double=course.without_double, owed=course.owed), after


def ends(state: State) -> tuple[OpenEnd, ...]:
    """Return the open ends, including closed tips of the spinner. Empty before the first tile."""
    return () if state.game is None else state.game.layout.ends


def ends_now(hand: Hand) -> tuple[OpenEnd, ...]:
    """Return the ends where the next tile can be played: no closed tips, and under a spell only ends that break it."""
    spell = hand.course.spell
    ends = tuple([end for end in hand.layout.ends if end.playable])  # A list is faster than a generator here.
    if spell is None:
        return ends
    starter = hand.layout.nodes[0].id
    if spell.arm is None:
        return tuple(end for end in ends if end.spot.host == starter)
    return tuple(end for end in ends if end.arm is spell.arm and end.spot.host != starter)


def playable(game: Game, hand: Hand) -> tuple[int, tuple[OpenEnd, ...]]:
    """Return the tiles that the seat to move may lay, as a bit mask, and the ends where one can be laid.

    This decides which plays are legal: `legal_plays` lists them, and the judge says what a refused play lacks. There
    are no ends before the lead, and no tiles while a draw must be completed. In a roll call, a hand decides further.
    """
    rules = game.rules
    available = set_bits(rules.max_pips) & ~hand.layout.gone(rules)
    if game.phase is not Phase.LEAD:
        is_due = game.phase is Phase.PLAY and not (hand.course.drawn and tiles_to_draw(rules, hand))
        return (available, ends_now(hand)) if is_due else (0, ())
    if hand.lead is LeadTile.SET_DOUBLE:
        return available & Tile(rules.max_pips, rules.max_pips).bit, ()
    may_be_single = hand.lead in ROLL_CALLS and rules.no_double is NoDouble.HIGHEST_TILE
    return available if may_be_single or hand.lead is LeadTile.ANY else available & double_bits(), ()


def legal_plays(state: State, tiles: Iterable[Tile], *, seat: Seat | None = None) -> tuple[Play, ...]:
    """Return every legal play of *tiles*, by tile and then by open end.

    The free arms of a starter are equivalent, so only the first is returned. In a roll call only the highest double of
    *tiles* may lead. The result is empty if *seat* is not to move, and while a draw must be completed.

    Args:
        state: State of the match.
        tiles: A player's hand, or the tile that the camera sees. Duplicates are ignored.
        seat: Seat that plays. None for the seat to move, or for every seat while the leader is unknown.
    """
    game = state.game
    if game is None or game.hand is None:
        return ()
    hand = game.hand
    if seat is None:
        seat = hand.turn
    elif hand.turn is not None and seat != hand.turn:
        return ()
    seats = tuple(Seat(at) for at in range(len(game.players))) if seat is None else (seat,)
    available, ends = playable(game, hand)
    if game.phase is Phase.LEAD:
        held = _distinct(available, tiles)
        if hand.lead in ROLL_CALLS:
            best = highest_leader(game.rules, held)
            held = () if best is None else (best,)
        return tuple(Play(who, tile, None, tile.low) for tile in held for who in seats)
    if game.rules.effects is not None:  # The free arms of a starter are equivalent.
        free = [end for end in ends if end.ways == len(ARMS)]
        ends = (*free[:1], *(end for end in ends if end.ways != len(ARMS)))
    plays = []
    for tile in tiles:
        bit = tile.bit
        if bit & available:
            available ^= bit
            for end in ends:
                if bit & end.fits:
                    inner = tile.high if tile.high == end.number else tile.low
                    for who in seats:
                        plays.append(Play(who, tile, end.spot, inner))
    return tuple(plays)


def legal_stacks(state: State, tiles: Iterable[Tile], *, seat: Seat | None = None) -> tuple[Stack, ...]:
    """Return every legal stack of *tiles*. Takes the arguments of `legal_plays`.

    Empty unless the last play scored, its points were called, and another seat made it.
    """
    game = state.game
    if game is None or game.hand is None or game.phase is not Phase.PLAY or not game.rules.cutthroat:
        return ()
    hand = game.hand
    who = hand.turn if seat is None else seat
    if who is None or who != hand.turn or hand.chance is None or not hand.chance.called or hand.chance.seat == who:
        return ()
    available, _ = playable(game, hand)
    open_nodes = tuple(node for node in hand.layout.nodes if is_stackable(hand, node))
    distinct = _distinct(available, tiles)
    return tuple(Stack(who, tile, node.id) for tile in distinct for node in open_nodes if node.tile == tile)


def is_stackable(hand: Hand, node: Node) -> bool:
    """Return True if a copy can be stacked on *node*, which needs an open end and no stacked copy yet.

    See docs/reference/rules.md A3-8.
    """
    layout = hand.layout
    return node.id not in layout.stacked and any(end.spot.host == node.id for end in layout.ends)


def copies_left(game: Game, tile: Tile) -> int:
    """Return the number of copies of *tile* that are not on the table. 0 or less if it is used up or not in the set."""
    if tile.high > game.rules.max_pips:
        return 0
    return game.rules.copies - game.layout.used(tile)


def unseen(game: Game) -> tuple[Tile, ...]:
    """Return all tiles that are not on the table, from 0-0 upwards. A tile appears once for each copy."""
    return tuple(tile for tile in full_set(game.rules.max_pips) for _ in range(max(0, copies_left(game, tile))))


def highest_leader(rules: Rules, tiles: Iterable[Tile]) -> Tile | None:
    """Return the first of *tiles* that a roll call would reach.

    It is the highest double. Without a double it is the highest tile if the rules allow that, otherwise None.
    """
    best = max(tiles, key=roll_call_rank, default=None)
    return best if best is None or best.is_double or rules.no_double is NoDouble.HIGHEST_TILE else None


def roll_call_rank(tile: Tile) -> tuple[bool, int, int]:
    """Return the rank of *tile* in a roll call: any double is before any other tile."""
    return tile.is_double, tile.pips, tile.high


def _distinct(available: int, tiles: Iterable[Tile]) -> tuple[Tile, ...]:
    """Return *tiles* in the bit mask *available*, without duplicates."""
    found = []
    for tile in tiles:
        if tile.bit & available:
            available ^= tile.bit
            found.append(tile)
    return tuple(found)


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
