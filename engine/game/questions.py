"""Queries about a match: open ends, legal plays and stacks, unseen tiles."""

from collections.abc import Iterable

from engine.game.turns import tiles_to_draw
from engine.rules.rules import NoDouble, Rules
from engine.state.events import Play, Seat, Stack
from engine.state.layout import ARMS, Node, OpenEnd
from engine.state.match import ROLL_CALLS, Game, Hand, LeadTile, Phase, State
from engine.tiles import Tile, double_bits, full_set, set_bits


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
