"""Random events of all kinds, mostly wrong, as if players, reader and buttons made mistakes."""

from __future__ import annotations

import random
from collections.abc import Callable

import engine

REVISIONS = (engine.Undo, engine.Amend, engine.Insert, engine.Remove, engine.ItStands)


def random_error(state: engine.State, rng: random.Random) -> engine.Event:
    """Return an event that is unlikely to be legal now."""
    game = state.game
    if game is None or rng.random() < 0.15:
        return _revision(state, rng)
    return _action(state, game, rng)


def _revision(state: engine.State, rng: random.Random) -> engine.Event:
    known = [entry.seq for entry in engine.entries(state)] or [engine.Seq(0)]
    seq = rng.choice(known[-5:]) if rng.random() < 0.9 else engine.Seq(rng.randint(-1, len(state.log) + 1))
    game = state.game
    action: engine.Action = engine.NewHand() if game is None else _action(state, game, rng)
    if rng.random() < 0.6:
        seq = state.irregular[-1] if state.irregular else seq
        return engine.ItStands(seq)
    return rng.choice((engine.Undo(seq), engine.Remove(seq), engine.Amend(seq, action), engine.Insert(seq, action)))


def _action(state: engine.State, game: engine.Game, rng: random.Random) -> engine.Action:
    if game.hand is None or rng.random() < 0.1:
        return _match_action(game, rng)
    make = {engine.Phase.REVEAL: _reveal_action, engine.Phase.LEAD: _lead_action}.get(game.phase, _play_action)
    if rng.random() < 0.15:
        make = rng.choice((_reveal_action, _lead_action, _play_action))
    return make(state, game, game.hand, rng)


def _match_action(game: engine.Game, rng: random.Random) -> engine.Action:
    seats = len(game.players)
    return rng.choice(
        (
            engine.NewHand(),
            engine.NewHand(
                tuple(rng.randint(0, 9) for _ in range(rng.choice((seats, seats, 3)))), rng.choice((None, 5))
            ),
            engine.NewHand((60,) * seats),
            engine.Adjust(_seat(game, rng), rng.choice((-10, 0, 5, 20)), "a word"),
            engine.Adjust(_seat(game, rng), 5, "a word"),
            engine.MatchStart(game.rules, game.players),
            engine.MatchStart(engine.BONES, ("A",) * rng.choice((1, 5, 17))),
            engine.Rename(_seat(game, rng), rng.choice((*game.players, "Z", ""))),
            engine.Swap(_seat(game, rng), _seat(game, rng)),
            engine.MatchClose(),
            engine.Abandon(),
        )
    )


def _lead_action(state: engine.State, game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Action:
    seat = _seat(game, rng)
    return rng.choice(
        (
            engine.Play(seat, rng.choice(engine.full_set(game.rules.max_pips))),
            engine.Play(seat, _any_tile(rng), engine.Spot(engine.NodeId(1), engine.Port.E)),
            engine.Lead(seat),
            engine.Knock(seat),
            engine.Draw(seat),
            engine.Redeal(rng.choice(list(engine.RedealReason))),
        )
    )


def _reveal_action(state: engine.State, game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Action:
    seat = hand.out if hand.out is not None and rng.random() < 0.2 else _seat(game, rng)
    left = [*engine.unseen(game), *(node.tile for node in hand.layout.nodes), engine.Tile(18, 18)]
    size = rng.choice((hand.sizes[seat % len(hand.sizes)], rng.randint(0, 4)))
    tiles = tuple(rng.choice(left) for _ in range(size))
    return rng.choice(
        (
            engine.Reveal(seat, tiles),
            engine.Reveal(seat, tiles),
            engine.RevealPips(seat, rng.randint(0, 40)),
            engine.HandEnd(),
        )
    )


def _play_action(state: engine.State, game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Action:
    make: Callable[[], engine.Action] = rng.choice(
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


def _play(state: engine.State, game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Action:
    """Return an unexpected play: wrong turn, wrong number, closed branch port, or a tile already played."""
    seat = _seat(game, rng)
    turn = hand.turn if hand.turn is not None else seat
    plays = engine.legal_plays(state, engine.full_set(game.rules.max_pips), seat=hand.turn)
    if plays and rng.random() < 0.2:
        play = rng.choice(plays)
        return engine.Play(seat, play.tile, play.at, play.inner)
    ends = hand.layout.ends
    if ends and rng.random() < 0.5:
        end, tile = rng.choice(ends), _any_tile(rng)
        gone = [node.tile for node in hand.layout.nodes if node.tile.has(end.number)]
        tile = rng.choice(gone) if gone and rng.random() < 0.4 else tile
        return engine.Play(turn, tile, end.spot, rng.choice((None, tile.low, tile.high)))
    at = None
    if hand.layout.nodes and rng.random() < 0.9:
        node = rng.choice((hand.layout.nodes[0], rng.choice(hand.layout.nodes)))
        at = engine.Spot(node.id, rng.choice(node.ports if rng.random() < 0.8 else tuple(engine.Port)))
        starter = hand.layout.nodes[0]
        if set(engine.ARMS) <= set(hand.layout.covered(starter)):  # rarely, all six arms exist, so try a seventh
            at = engine.Spot(starter.id, engine.Port.ARM_7)
    tile = _any_tile(rng)
    return engine.Play(turn, tile, at, rng.choice((None, tile.low, tile.high)))


def _stack(game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Action:
    if not hand.layout.nodes:
        return engine.Stack(_seat(game, rng), _any_tile(rng), engine.NodeId(2))
    node = rng.choice(hand.layout.nodes)
    tile = node.tile if rng.random() < 0.7 else _any_tile(rng)
    seat = hand.turn if hand.turn is not None and rng.random() < 0.6 else _seat(game, rng)
    return engine.Stack(seat, tile, node.id if rng.random() < 0.9 else engine.NodeId(999))


def _draw(game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Action:
    seat = hand.turn if hand.turn is not None and rng.random() < 0.6 else _seat(game, rng)
    tiles = rng.choice((1, 1, 2, 3, hand.boneyard + 1))
    faces = tuple(_any_tile(rng) for _ in range(tiles)) if rng.random() < 0.2 else ()
    if rng.random() < 0.3:
        return engine.Boneyard(max(0, hand.boneyard + rng.choice((-3, -2, -1, 0, 1))))
    return engine.Draw(seat, tiles, forced=rng.random() < 0.2, faces=faces)


def _call(game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Action:
    owing = hand.chance or hand.lapsed
    if owing is None or rng.random() < 0.2:
        return engine.Call(_seat(game, rng), rng.choice((None, 10)))
    return engine.Call(owing.seat, rng.choice((None, owing.points, owing.points + 5)))


def _declaration(game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Action:
    seat = hand.turn if hand.turn is not None and rng.random() < 0.5 else _seat(game, rng)
    declarations = (
        engine.Knock(seat),
        engine.Knock(seat),
        engine.Decline(seat),
        engine.Domino(seat),
        engine.HandEnd(),
        engine.Lead(seat),
        engine.MatchClose(),
    )
    return rng.choice((*declarations, engine.Redeal(rng.choice(list(engine.RedealReason)))))


def _seat(game: engine.Game, rng: random.Random) -> engine.Seat:
    """Return a seat, occasionally one without a player."""
    return engine.Seat(rng.randrange(len(game.players)) if rng.random() < 0.97 else rng.choice((-1, len(game.players))))


def _any_tile(rng: random.Random) -> engine.Tile:
    return rng.choice(engine.full_set(rng.choice((6, 6, 6, 9))))
