"""Random events of all kinds, mostly wrong, as if players, reader and buttons made mistakes."""

from __future__ import annotations

import random
from collections.abc import Callable

from engine import (
    ARMS,
    BONES,
    Abandon,
    Action,
    Adjust,
    Amend,
    Boneyard,
    Call,
    Decline,
    Domino,
    Draw,
    Event,
    Game,
    Hand,
    HandEnd,
    Insert,
    ItStands,
    Knock,
    Lead,
    MatchClose,
    MatchStart,
    NewHand,
    NodeId,
    Phase,
    Play,
    Port,
    Redeal,
    RedealReason,
    Remove,
    Rename,
    Reveal,
    RevealPips,
    Seat,
    Seq,
    Spot,
    Stack,
    State,
    Swap,
    Tile,
    Undo,
    entries,
    full_set,
    legal_plays,
    unseen,
)

REVISIONS = (Undo, Amend, Insert, Remove, ItStands)


def random_error(state: State, rng: random.Random) -> Event:
    """Return an event that is unlikely to be legal now."""
    game = state.game
    if game is None or rng.random() < 0.15:
        return _revision(state, rng)
    return _action(state, game, rng)


def _revision(state: State, rng: random.Random) -> Event:
    known = [entry.seq for entry in entries(state)] or [Seq(0)]
    seq = rng.choice(known[-5:]) if rng.random() < 0.9 else Seq(rng.randint(-1, len(state.log) + 1))
    game = state.game
    action: Action = NewHand() if game is None else _action(state, game, rng)
    if rng.random() < 0.6:
        seq = state.irregular[-1] if state.irregular else seq
        return ItStands(seq)
    return rng.choice((Undo(seq), Remove(seq), Amend(seq, action), Insert(seq, action)))


def _action(state: State, game: Game, rng: random.Random) -> Action:
    if game.hand is None or rng.random() < 0.1:
        return _match_action(game, rng)
    make = {Phase.REVEAL: _reveal_action, Phase.LEAD: _lead_action}.get(game.phase, _play_action)
    if rng.random() < 0.15:
        make = rng.choice((_reveal_action, _lead_action, _play_action))
    return make(state, game, game.hand, rng)


def _match_action(game: Game, rng: random.Random) -> Action:
    seats = len(game.players)
    return rng.choice(
        (
            NewHand(),
            NewHand(tuple(rng.randint(0, 9) for _ in range(rng.choice((seats, seats, 3)))), rng.choice((None, 5))),
            NewHand((60,) * seats),
            Adjust(_seat(game, rng), rng.choice((-10, 0, 5, 20)), "a word"),
            Adjust(_seat(game, rng), 5, "a word"),
            MatchStart(game.rules, game.players),
            MatchStart(BONES, ("A",) * rng.choice((1, 5, 17))),
            Rename(_seat(game, rng), rng.choice((*game.players, "Z", ""))),
            Swap(_seat(game, rng), _seat(game, rng)),
            MatchClose(),
            Abandon(),
        )
    )


def _lead_action(state: State, game: Game, hand: Hand, rng: random.Random) -> Action:
    seat = _seat(game, rng)
    return rng.choice(
        (
            Play(seat, rng.choice(full_set(game.rules.max_pips))),
            Play(seat, _any_tile(rng), Spot(NodeId(1), Port.E)),
            Lead(seat),
            Knock(seat),
            Draw(seat),
            Redeal(rng.choice(list(RedealReason))),
        )
    )


def _reveal_action(state: State, game: Game, hand: Hand, rng: random.Random) -> Action:
    seat = hand.out if hand.out is not None and rng.random() < 0.2 else _seat(game, rng)
    left = [*unseen(game), *(node.tile for node in hand.layout.nodes), Tile(18, 18)]
    size = rng.choice((hand.sizes[seat % len(hand.sizes)], rng.randint(0, 4)))
    tiles = tuple(rng.choice(left) for _ in range(size))
    return rng.choice((Reveal(seat, tiles), Reveal(seat, tiles), RevealPips(seat, rng.randint(0, 40)), HandEnd()))


def _play_action(state: State, game: Game, hand: Hand, rng: random.Random) -> Action:
    make: Callable[[], Action] = rng.choice(
        (
            lambda: _play(state, game, hand, rng),
            lambda: _play(state, game, hand, rng),
            lambda: _play(state, game, hand, rng),
            lambda: _stack(game, hand, rng),
            lambda: _draw(game, hand, rng),
            lambda: _call(game, hand, rng),
            lambda: _declaration(game, hand, rng),
        )
    )
    return make()


def _play(state: State, game: Game, hand: Hand, rng: random.Random) -> Action:
    """Return an unexpected play: wrong turn, wrong number, closed branch port, or a tile already played."""
    seat = _seat(game, rng)
    turn = hand.turn if hand.turn is not None else seat
    plays = legal_plays(state, full_set(game.rules.max_pips), seat=hand.turn)
    if plays and rng.random() < 0.2:
        play = rng.choice(plays)
        return Play(seat, play.tile, play.at, play.inner)
    ends = hand.layout.ends
    if ends and rng.random() < 0.5:
        end, tile = rng.choice(ends), _any_tile(rng)
        gone = [node.tile for node in hand.layout.nodes if node.tile.has(end.number)]
        tile = rng.choice(gone) if gone and rng.random() < 0.4 else tile
        return Play(turn, tile, end.spot, rng.choice((None, tile.low, tile.high)))
    at = None
    if hand.layout.nodes and rng.random() < 0.9:
        node = rng.choice((hand.layout.nodes[0], rng.choice(hand.layout.nodes)))
        at = Spot(node.id, rng.choice(node.ports if rng.random() < 0.8 else tuple(Port)))
        starter = hand.layout.nodes[0]
        if set(ARMS) <= set(hand.layout.covered(starter)):  # rarely, all six arms exist, so try a seventh
            at = Spot(starter.id, Port.ARM_7)
    tile = _any_tile(rng)
    return Play(turn, tile, at, rng.choice((None, tile.low, tile.high)))


def _stack(game: Game, hand: Hand, rng: random.Random) -> Action:
    if not hand.layout.nodes:
        return Stack(_seat(game, rng), _any_tile(rng), NodeId(2))
    node = rng.choice(hand.layout.nodes)
    tile = node.tile if rng.random() < 0.7 else _any_tile(rng)
    seat = hand.turn if hand.turn is not None and rng.random() < 0.6 else _seat(game, rng)
    return Stack(seat, tile, node.id if rng.random() < 0.9 else NodeId(999))


def _draw(game: Game, hand: Hand, rng: random.Random) -> Action:
    seat = hand.turn if hand.turn is not None and rng.random() < 0.6 else _seat(game, rng)
    tiles = rng.choice((1, 1, 2, 3, hand.boneyard + 1))
    faces = tuple(_any_tile(rng) for _ in range(tiles)) if rng.random() < 0.2 else ()
    if rng.random() < 0.3:
        return Boneyard(max(0, hand.boneyard + rng.choice((-3, -2, -1, 0, 1))))
    return Draw(seat, tiles, forced=rng.random() < 0.2, faces=faces)


def _call(game: Game, hand: Hand, rng: random.Random) -> Action:
    owing = hand.chance or hand.lapsed
    if owing is None or rng.random() < 0.2:
        return Call(_seat(game, rng), rng.choice((None, 10)))
    return Call(owing.seat, rng.choice((None, owing.points, owing.points + 5)))


def _declaration(game: Game, hand: Hand, rng: random.Random) -> Action:
    seat = hand.turn if hand.turn is not None and rng.random() < 0.5 else _seat(game, rng)
    declarations = (Knock(seat), Knock(seat), Decline(seat), Domino(seat), HandEnd(), Lead(seat), MatchClose())
    return rng.choice((*declarations, Redeal(rng.choice(list(RedealReason)))))


def _seat(game: Game, rng: random.Random) -> Seat:
    """Return a seat, occasionally one without a player."""
    return Seat(rng.randrange(len(game.players)) if rng.random() < 0.97 else rng.choice((-1, len(game.players))))


def _any_tile(rng: random.Random) -> Tile:
    return rng.choice(full_set(rng.choice((6, 6, 6, 9))))
