"""Random matches with all kinds of events: plays, calls, omissions, errors and revisions."""

from __future__ import annotations

import random
from collections.abc import Callable

import engine


def wild_match(rules: engine.Rules, seats: int, rng: random.Random, *, events: int, wildness: float) -> engine.State:
    """Return a match with *events* events, of which a share *wildness* is arbitrary."""
    names = ("Ann B", "Bob", "C: Cy", "Di (4)", "Eve", "Flo")[:seats]
    state = engine.replay([engine.MatchStart(rules, names)])
    for _ in range(events):
        assert state.game is not None
        event = _wild_event(state, rng) if rng.random() < wildness else _sensible_event(state, state.game, rng)
        state, _ = engine.apply(state, event)
    return state


def _sensible_event(state: engine.State, game: engine.Game, rng: random.Random) -> engine.Event:
    hand = game.hand
    if hand is None or game.phase in (engine.Phase.DEAL, engine.Phase.MATCH_OVER):
        return (
            engine.Swap(engine.Seat(0), engine.Seat(len(game.players) - 1)) if rng.random() < 0.3 else engine.NewHand()
        )
    held = rng.sample(engine.unseen(game), min(4, len(engine.unseen(game))))
    plays = engine.legal_plays(state, held if game.layout.nodes else engine.full_set(game.rules.max_pips))
    if game.phase is engine.Phase.LEAD:
        lead = engine.Lead(engine.Seat(rng.randrange(len(hand.sizes))))
        return rng.choice(plays) if plays and rng.random() < 0.7 else lead
    if game.phase is engine.Phase.REVEAL:
        return _reveal(game, hand, rng)
    turn = hand.turn
    if turn is None:  # the free profile has no turns
        return rng.choice(plays) if plays else engine.NewHand()
    if hand.chance is not None and not hand.chance.called and rng.random() < 0.7:
        return engine.Call(hand.chance.seat, rng.choice([None, hand.chance.points]))
    stacks = engine.legal_stacks(state, engine.unseen(game))
    if stacks and rng.random() < 0.5:
        return rng.choice(stacks)
    if plays and rng.random() < 0.9:
        return rng.choice(plays)
    if hand.locked:
        return engine.HandEnd()
    return engine.Draw(turn) if hand.boneyard and rng.random() < 0.6 else engine.Knock(turn)


def _reveal(game: engine.Game, hand: engine.Hand, rng: random.Random) -> engine.Event:
    hidden = [engine.Seat(seat) for seat, holding in enumerate(hand.holdings) if holding is None]
    if not hidden:
        return engine.HandEnd() if rng.random() < 0.5 else engine.Reveal(engine.Seat(0), ())
    seat = rng.choice(hidden)
    if rng.random() < 0.4:
        return engine.RevealPips(seat, rng.randrange(40))
    tiles = engine.unseen(game)
    return engine.Reveal(seat, tuple(rng.sample(tiles, min(len(tiles), hand.sizes[seat]))))


def _wild_event(state: engine.State, rng: random.Random) -> engine.Event:
    if state.game is not None and state.game.hand is None:
        return engine.NewHand()
    seqs = [entry.seq for entry in engine.entries(state)[1:]][-8:]
    if seqs and rng.random() < 0.5:
        seq = rng.choice(seqs)
        revisions: list[Callable[[], engine.Event]] = [
            lambda: engine.Undo(seq),
            lambda: engine.Remove(seq),
            lambda: engine.ItStands(seq),
            lambda: engine.ItStands(engine.Seq(max(seqs))),
            lambda: engine.Amend(seq, _wild_action(state, rng)),
            lambda: engine.Insert(seq, _wild_action(state, rng)),
        ]
        return rng.choice(revisions)()
    return _wild_action(state, rng)


def _wild_action(state: engine.State, rng: random.Random) -> engine.Action:
    game = state.game
    assert game is not None
    seat = engine.Seat(rng.randrange(len(game.players)))
    tile: engine.Tile = rng.choice(engine.full_set(game.rules.max_pips))
    nodes = [node.id for node in game.layout.nodes] or [engine.NodeId(0)]
    spots = [end.spot for end in game.layout.ends]
    spot = rng.choice([*spots, engine.Spot(rng.choice(nodes), rng.choice(list(engine.Port)))])
    inner = rng.choice([tile.low, tile.high])
    actions: list[Callable[[], engine.Action]] = [
        lambda: engine.Play(seat, tile, spot, inner),
        lambda: engine.Play(seat, tile, spot),
        lambda: engine.Play(seat, tile),
        lambda: engine.Stack(seat, rng.choice(game.layout.tiles or (tile,)), rng.choice(nodes)),
        lambda: engine.Knock(seat),
        lambda: engine.Draw(seat, rng.randint(1, 3), forced=rng.random() < 0.3),
        lambda: engine.Draw(seat, 1, faces=(tile,)),
        lambda: engine.Boneyard(rng.randrange(20)),
        lambda: engine.Decline(seat),
        lambda: engine.Call(seat, rng.choice([None, 5, 10])),
        lambda: engine.Adjust(seat, rng.choice([-5, 5, 20]), "a (long)\nstory"),
        lambda: engine.Rename(seat, rng.choice(["Gus (G)", "Hal", "hal", " "])),
        lambda: engine.Swap(seat, engine.Seat(rng.randrange(len(game.players)))),
        lambda: engine.Domino(seat),
        engine.HandEnd,
        lambda: engine.Lead(seat),
        lambda: engine.RevealPips(seat, rng.randrange(30)),
        lambda: engine.Redeal(rng.choice(list(engine.RedealReason))),
        engine.MatchClose,
    ]
    return rng.choice(actions)()
