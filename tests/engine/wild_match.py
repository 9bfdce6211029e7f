"""Random matches with all kinds of events: plays, calls, omissions, errors and revisions."""

from __future__ import annotations

import random
from collections.abc import Callable

from engine import (
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
    Rules,
    Seat,
    Seq,
    Spot,
    Stack,
    State,
    Swap,
    Tile,
    Undo,
    apply,
    entries,
    full_set,
    legal_plays,
    legal_stacks,
    replay,
    unseen,
)


def wild_match(rules: Rules, seats: int, rng: random.Random, *, events: int, wildness: float) -> State:
    """Return a match with *events* events, of which a share *wildness* is arbitrary."""
    names = ("Ann B", "Bob", "C: Cy", "Di (4)", "Eve", "Flo")[:seats]
    state = replay([MatchStart(rules, names)])
    for _ in range(events):
        assert state.game is not None
        event = _wild_event(state, rng) if rng.random() < wildness else _sensible_event(state, state.game, rng)
        state, _ = apply(state, event)
    return state


def _sensible_event(state: State, game: Game, rng: random.Random) -> Event:
    hand = game.hand
    if hand is None or game.phase in (Phase.DEAL, Phase.MATCH_OVER):
        return Swap(Seat(0), Seat(len(game.players) - 1)) if rng.random() < 0.3 else NewHand()
    held = rng.sample(unseen(game), min(4, len(unseen(game))))
    plays = legal_plays(state, held if game.layout.nodes else full_set(game.rules.max_pips))
    if game.phase is Phase.LEAD:
        lead = Lead(Seat(rng.randrange(len(hand.sizes))))
        return rng.choice(plays) if plays and rng.random() < 0.7 else lead
    if game.phase is Phase.REVEAL:
        return _reveal(game, hand, rng)
    turn = hand.turn
    if turn is None:  # the free profile has no turns
        return rng.choice(plays) if plays else NewHand()
    if hand.chance is not None and not hand.chance.called and rng.random() < 0.7:
        return Call(hand.chance.seat, rng.choice([None, hand.chance.points]))
    stacks = legal_stacks(state, unseen(game))
    if stacks and rng.random() < 0.5:
        return rng.choice(stacks)
    if plays and rng.random() < 0.9:
        return rng.choice(plays)
    if hand.locked:
        return HandEnd()
    return Draw(turn) if hand.boneyard and rng.random() < 0.6 else Knock(turn)


def _reveal(game: Game, hand: Hand, rng: random.Random) -> Event:
    hidden = [Seat(seat) for seat, holding in enumerate(hand.holdings) if holding is None]
    if not hidden:
        return HandEnd() if rng.random() < 0.5 else Reveal(Seat(0), ())
    seat = rng.choice(hidden)
    if rng.random() < 0.4:
        return RevealPips(seat, rng.randrange(40))
    tiles = unseen(game)
    return Reveal(seat, tuple(rng.sample(tiles, min(len(tiles), hand.sizes[seat]))))


def _wild_event(state: State, rng: random.Random) -> Event:
    if state.game is not None and state.game.hand is None:
        return NewHand()
    seqs = [entry.seq for entry in entries(state)[1:]][-8:]
    if seqs and rng.random() < 0.5:
        seq = rng.choice(seqs)
        revisions: list[Callable[[], Event]] = [
            lambda: Undo(seq),
            lambda: Remove(seq),
            lambda: ItStands(seq),
            lambda: ItStands(Seq(max(seqs))),
            lambda: Amend(seq, _wild_action(state, rng)),
            lambda: Insert(seq, _wild_action(state, rng)),
        ]
        return rng.choice(revisions)()
    return _wild_action(state, rng)


def _wild_action(state: State, rng: random.Random) -> Action:
    game = state.game
    assert game is not None
    seat = Seat(rng.randrange(len(game.players)))
    tile: Tile = rng.choice(full_set(game.rules.max_pips))
    nodes = [node.id for node in game.layout.nodes] or [NodeId(0)]
    spots = [end.spot for end in game.layout.ends]
    spot = rng.choice([*spots, Spot(rng.choice(nodes), rng.choice(list(Port)))])
    inner = rng.choice([tile.low, tile.high])
    actions: list[Callable[[], Action]] = [
        lambda: Play(seat, tile, spot, inner),
        lambda: Play(seat, tile, spot),
        lambda: Play(seat, tile),
        lambda: Stack(seat, rng.choice(game.layout.tiles or (tile,)), rng.choice(nodes)),
        lambda: Knock(seat),
        lambda: Draw(seat, rng.randint(1, 3), forced=rng.random() < 0.3),
        lambda: Draw(seat, 1, faces=(tile,)),
        lambda: Boneyard(rng.randrange(20)),
        lambda: Decline(seat),
        lambda: Call(seat, rng.choice([None, 5, 10])),
        lambda: Adjust(seat, rng.choice([-5, 5, 20]), "a (long)\nstory"),
        lambda: Rename(seat, rng.choice(["Gus (G)", "Hal", "hal", " "])),
        lambda: Swap(seat, Seat(rng.randrange(len(game.players)))),
        lambda: Domino(seat),
        HandEnd,
        lambda: Lead(seat),
        lambda: RevealPips(seat, rng.randrange(30)),
        lambda: Redeal(rng.choice(list(RedealReason))),
        MatchClose,
    ]
    return rng.choice(actions)()
