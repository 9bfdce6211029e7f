"""Invariants of docs/reference/rules.md 4.2: cheap checks for every event, and others that replay the match."""

from __future__ import annotations

from dataclasses import replace

from engine import (
    Amend,
    Event,
    HandStarted,
    Insert,
    MatchStarted,
    NodeId,
    Outcome,
    Phase,
    Play,
    Port,
    Reason,
    Redealt,
    Scored,
    Seat,
    SpinnerCount,
    Spot,
    State,
    Swapped,
    TallyStyle,
    Undo,
    apply,
    count,
    entries,
    full_set,
    history,
    legal_plays,
    replay,
    unseen,
)
from engine.game.questions import tiles_to_draw
from tests.engine.random_errors import REVISIONS
from tests.engine.random_players import Players

MIRROR = {Port.W: Port.E, Port.E: Port.W, Port.N: Port.S, Port.S: Port.N}


def check_event(players: Players) -> None:
    """Check cheap invariants that hold after every event."""
    game = players.state.game
    if game is None or game.hand is None or not game.rules.refereed:
        return
    hand, rules = game.hand, game.rules
    if hand.locked and game.phase is Phase.PLAY:
        assert legal_plays(players.state, full_set(rules.max_pips), seat=hand.turn) == ()
    if players.errors == 0 and players.hands:
        assert list(hand.sizes) == [len(held) for held in players.hands], players.state.log
        assert hand.boneyard == len(players.boneyard)
        on_table = len(hand.layout.nodes) + len(hand.layout.stacked)
        assert sum(hand.sizes) + on_table + hand.boneyard == rules.tiles


def check_event_thoroughly(players: Players, before: State, event: Event) -> None:
    """Check expensive invariants: the individual tiles, both counts, and undoing the event."""
    state = players.state
    game = state.game
    if not isinstance(event, REVISIONS):
        undone, _ = apply(state, Undo(before.next_seq))
        assert undone.game == before.game
        assert entries(undone) == entries(before)
    if game is None or game.hand is None:
        return
    check_counts(state)
    if players.errors == 0 and game.rules.refereed:
        out = [*players.boneyard, *(tile for held in players.hands for tile in held)]
        assert list(unseen(game)) == sorted(out, key=lambda tile: (tile.high, tile.low))
        if game.phase is Phase.PLAY and not game.hand.locked and game.hand.course.spell is None:
            must_draw = tiles_to_draw(game.rules, game.hand) > 0
            assert (legal_plays(state, full_set(game.rules.max_pips)) == ()) is must_draw


def check_counts(state: State) -> None:
    """Check that the two spinner counts only differ by the open sides of a capped spinner."""
    assert state.game is not None
    layout = state.game.layout
    halves = count(layout, SpinnerCount.OPEN_HALVES).total
    capped = count(layout, SpinnerCount.UNTIL_CAPPED).total
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
    assert replay(state.log) == state
    if game is None:
        return
    paid = scores_paid([outcome for line in history(state) for outcome in line.outcomes])
    assert tuple(paid) == game.scores
    assert tuple(map(sum, paid)) == game.totals
    for seat, scores in enumerate(game.scores):
        tally = game.tally(Seat(seat))
        assert (tally is None) is (game.rules.tally is TallyStyle.NUMBERS)
        if tally is not None:
            assert tally.points == sum(scores)
    check_mirrored(state)


def scores_paid(outcomes: list[Outcome]) -> list[tuple[int, ...]]:
    """Return the payments of each seat. A redeal revokes those of its hand, except manual adjustments."""
    paid: list[tuple[int, ...]] = []
    dealt = paid
    redealt = False
    for outcome in outcomes:
        if isinstance(outcome, MatchStarted):
            paid = dealt = [()] * len(outcome.players)
        elif isinstance(outcome, Scored):
            paid = _with(paid, outcome)
            dealt = _with(dealt, outcome) if outcome.reason is Reason.ADJUST else dealt
        elif isinstance(outcome, Redealt):
            paid, redealt = list(dealt), True
        elif isinstance(outcome, HandStarted):
            dealt, redealt = dealt if redealt else list(paid), False
        elif isinstance(outcome, Swapped):
            for scores in {id(paid): paid, id(dealt): dealt}.values():
                one, other = outcome.seat, outcome.other
                scores[one], scores[other] = scores[other], scores[one]
    return paid


def _with(paid: list[tuple[int, ...]], scored: Scored) -> list[tuple[int, ...]]:
    return [(*old, scored.points) if at == scored.seat else old for at, old in enumerate(paid)]


def check_mirrored(state: State) -> None:
    """Check that swapping west with east and north with south gives the same game."""
    if any(isinstance(event, Amend | Insert) for event in state.log):
        return  # a former first tile may be joined to another one now
    firsts = {NodeId(at) for at, event in enumerate(state.log) if isinstance(event, Play) and event.at is None}
    other = replay(mirrored(event, firsts) for event in state.log)
    assert state.game is not None
    assert other.game is not None
    assert other.game.count.total == state.game.count.total
    assert other.game.scores == state.game.scores
    assert other.irregular == state.irregular


def mirrored(event: Event, firsts: set[NodeId]) -> Event:
    """Swap the sides of first tiles and all branch ports. Later tiles have no west and east."""
    if not isinstance(event, Play):
        return event
    if event.at is None:
        return replace(event, inner=event.tile.other(event.tile.low if event.inner is None else event.inner))
    port = event.at.port
    if event.at.host in firsts or port in (Port.N, Port.S):
        port = MIRROR.get(port, port)
    return replace(event, at=Spot(event.at.host, port))
