"""Invariants of docs/reference/rules.md 4.2: cheap checks for every event, and others that replay the match."""

from __future__ import annotations

from dataclasses import replace

import engine
from engine.game.questions import tiles_to_draw
from tests.engine.random_errors import REVISIONS
from tests.engine.random_players import Players

MIRROR = {
    engine.Port.W: engine.Port.E,
    engine.Port.E: engine.Port.W,
    engine.Port.N: engine.Port.S,
    engine.Port.S: engine.Port.N,
}


def check_event(players: Players) -> None:
    """Check cheap invariants that hold after every event."""
    game = players.state.game
    if game is None or game.hand is None or not game.rules.refereed:
        return
    hand, rules = game.hand, game.rules
    if hand.locked and game.phase is engine.Phase.PLAY:
        assert engine.legal_plays(players.state, engine.full_set(rules.max_pips), seat=hand.turn) == ()
    if players.errors == 0 and players.hands:
        assert list(hand.sizes) == [len(held) for held in players.hands], players.state.log
        assert hand.boneyard == len(players.boneyard)
        on_table = len(hand.layout.nodes) + len(hand.layout.stacked)
        assert sum(hand.sizes) + on_table + hand.boneyard == rules.tiles


def check_event_thoroughly(players: Players, before: engine.State, event: engine.Event) -> None:
    """Check expensive invariants: the individual tiles, both counts, and undoing the event."""
    state = players.state
    game = state.game
    if not isinstance(event, REVISIONS):
        undone, _ = engine.apply(state, engine.Undo(before.next_seq))
        assert undone.game == before.game
        assert engine.entries(undone) == engine.entries(before)
    if game is None or game.hand is None:
        return
    check_counts(state)
    if players.errors == 0 and game.rules.refereed:
        out = [*players.boneyard, *(tile for held in players.hands for tile in held)]
        assert list(engine.unseen(game)) == sorted(out, key=lambda tile: (tile.high, tile.low))
        if game.phase is engine.Phase.PLAY and not game.hand.locked and game.hand.course.spell is None:
            must_draw = tiles_to_draw(game.rules, game.hand) > 0
            assert (engine.legal_plays(state, engine.full_set(game.rules.max_pips)) == ()) is must_draw


def check_counts(state: engine.State) -> None:
    """Check that the two spinner counts only differ by the open sides of a capped spinner."""
    assert state.game is not None
    layout = state.game.layout
    halves = engine.count(layout, engine.SpinnerCount.OPEN_HALVES).total
    capped = engine.count(layout, engine.SpinnerCount.UNTIL_CAPPED).total
    difference = 0
    for node in layout.nodes:
        covered = len(layout.covered(node))
        if node.branches and not node.is_starter and covered >= 2:
            difference += node.outer * (4 - covered)
    assert halves - capped == difference, state.log


def check_match(players: Players) -> None:
    """Check expensive invariants: totals equal the payments, and the log alone determines the state."""
    state = players.state
    game = state.game
    assert engine.replay(state.log) == state
    if game is None:
        return
    paid = scores_paid([outcome for line in engine.history(state) for outcome in line.outcomes])
    assert tuple(paid) == game.scores
    assert tuple(map(sum, paid)) == game.totals
    for seat, scores in enumerate(game.scores):
        tally = game.tally(engine.Seat(seat))
        assert (tally is None) is (game.rules.tally is engine.TallyStyle.NUMBERS)
        if tally is not None:
            assert tally.points == sum(scores)
    check_mirrored(state)


def scores_paid(outcomes: list[engine.Outcome]) -> list[tuple[int, ...]]:
    """Return the payments of each seat. A redeal revokes those of its hand, except manual adjustments."""
    paid: list[tuple[int, ...]] = []
    dealt = paid
    redealt = False
    for outcome in outcomes:
        if isinstance(outcome, engine.MatchStarted):
            paid = dealt = [()] * len(outcome.players)
        elif isinstance(outcome, engine.Scored):
            paid = _with(paid, outcome)
            dealt = _with(dealt, outcome) if outcome.reason is engine.Reason.ADJUST else dealt
        elif isinstance(outcome, engine.Redealt):
            paid, redealt = list(dealt), True
        elif isinstance(outcome, engine.HandStarted):
            dealt, redealt = dealt if redealt else list(paid), False
        elif isinstance(outcome, engine.Swapped):
            for scores in {id(paid): paid, id(dealt): dealt}.values():
                one, other = outcome.seat, outcome.other
                scores[one], scores[other] = scores[other], scores[one]
    return paid


def _with(paid: list[tuple[int, ...]], scored: engine.Scored) -> list[tuple[int, ...]]:
    return [(*old, scored.points) if at == scored.seat else old for at, old in enumerate(paid)]


def check_mirrored(state: engine.State) -> None:
    """Check that swapping west with east and north with south gives the same game."""
    if any(isinstance(event, engine.Amend | engine.Insert) for event in state.log):
        return  # a former first tile may be joined to another one now
    firsts = {
        engine.NodeId(at) for at, event in enumerate(state.log) if isinstance(event, engine.Play) and event.at is None
    }
    other = engine.replay(mirrored(event, firsts) for event in state.log)
    assert state.game is not None
    assert other.game is not None
    assert other.game.count.total == state.game.count.total
    assert other.game.scores == state.game.scores
    assert other.irregular == state.irregular


def mirrored(event: engine.Event, firsts: set[engine.NodeId]) -> engine.Event:
    """Swap the sides of first tiles and all branch ports. Later tiles have no west and east."""
    if not isinstance(event, engine.Play):
        return event
    if event.at is None:
        return replace(event, inner=event.tile.other(event.tile.low if event.inner is None else event.inner))
    port = event.at.port
    if event.at.host in firsts or port in (engine.Port.N, engine.Port.S):
        port = MIRROR.get(port, port)
    return replace(event, at=engine.Spot(event.at.host, port))
