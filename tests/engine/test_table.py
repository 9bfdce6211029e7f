"""Tests of `Table`: random matches, legal moves, the view of a seat, and errors."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

import engine
from tests.engine.random_rules import random_rules
from tests.engine.table import tiles

TWO = ("Ann", "Ben")
A, B = engine.Seat(0), engine.Seat(1)
LEAD = engine.Play(A, engine.Tile(5, 5))
MAX_MOVES = 400


def random_table(rng: random.Random) -> engine.Table:
    """Return a match before its deal, with random rules that have hands."""
    while True:
        rules, seats = random_rules(rng)
        if rules.refereed:
            return engine.Table.start(rules, tuple("ABCDEFGH"[:seats]))


def stepped(table: engine.Table, rng: random.Random) -> engine.Table:
    """Return the table after a deal or a random legal move."""
    return table.deal(rng) if table.awaits_deal else table.play_or_raise(rng.choice(table.moves))


def dealt(rules: engine.Rules, *hands: str, boneyard: str = "", leader: int = 0) -> engine.Table:
    held = [tiles(hand) for hand in hands]
    start = engine.Table.start(replace(rules, hand=len(held[0]), hand_for=()), tuple("ABCDEFGH"[: len(hands)]))
    return start.deal_these(held, tiles(boneyard), leader=leader)


@pytest.mark.parametrize("seed", range(40))
def test_a_random_match_is_regular_and_conserves_tiles(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    rules = table.game.rules
    whole_set = Counter(engine.full_set(rules.max_pips) * rules.copies)
    for _ in range(MAX_MOVES):
        if table.is_over:
            break
        table = stepped(table, rng)
        assert not [outcome for outcome in table.outcomes if isinstance(outcome, engine.Irregular)], table.state.log
        hand = table.game.hand
        assert hand is not None
        assert (
            Counter([*table.boneyard, *hand.layout.tiles, *(tile for held in table.hands for tile in held)])
            == whole_set
        )
        if table.game.phase in (engine.Phase.LEAD, engine.Phase.PLAY):
            assert list(hand.sizes) == [len(held) for held in table.hands]
            assert hand.boneyard == len(table.boneyard)
        assert bool(table.moves) == (not table.is_over and not table.awaits_deal)
    assert engine.replay(table.state.log) == table.state
    assert engine.record_of(table.state).hands


def test_a_match_ends_with_a_winner_and_depends_on_the_seed() -> None:
    rng = random.Random(1)
    table = engine.Table.start(engine.ALLFIVES, TWO)
    while not table.is_over:
        table = stepped(table, rng)
    assert isinstance(table.outcomes[-1], engine.MatchOver)
    assert table.game.winner is not None
    assert max(table.game.totals) >= 100
    assert (table.turn, table.moves, table.awaits_deal) == (None, (), False)
    start = engine.Table.start(engine.BONES, TWO)
    assert start.deal(random.Random(5)) == start.deal(random.Random(5))
    assert start.deal(random.Random(5)).hands != start.deal(random.Random(6)).hands


def test_every_legal_move_is_offered() -> None:
    # 5-4 matches both sides of 5-5. Branches are still closed, and a player who can play may not draw.
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(LEAD)
    assert [str(move.tile) for move in table.moves if isinstance(move, engine.Play)] == ["5-4", "5-4"]
    assert len(table.moves) == 2
    free = engine.with_options(engine.BONES, {"voluntary_draw": "yes"})
    table = dealt(free, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(LEAD)
    assert table.moves[-1] == engine.Draw(B)
    lax = engine.with_options(engine.BLOCK, {"must_play": "no"})
    table = dealt(lax, "5-5 6-1", "5-4 3-2").play_or_raise(LEAD)
    assert table.moves[-1] == engine.Knock(B)
    table = dealt(engine.SUPER, "14-14 14-0 2-1", "3-2 4-2 5-2", boneyard="1-0 2-0 3-0").play_or_raise(
        engine.Play(A, engine.Tile(14, 14))
    )
    assert table.moves[-1] == engine.Decline(A)
    table = table.play_or_raise(engine.Decline(A))
    assert table.moves == (engine.Draw(B, 2),)
    table = table.play_or_raise(engine.Draw(B, 2))
    assert table.hands[1] == tiles("3-2 4-2 5-2 3-0 2-0")
    assert table.boneyard == tiles("1-0")
    assert table.moves == (engine.Knock(B),)
    table = dealt(engine.SUPER, "7-7 2-1", "7-2 7-3").play_or_raise(engine.Play(A, engine.Tile(7, 7)))
    host = table.game.layout.nodes[0].id
    first, *_ = table.moves
    assert isinstance(first, engine.Play)
    fourth = engine.Play(B, first.tile, engine.Spot(host, table.game.layout.ends[3].spot.port))
    assert fourth not in table.moves
    assert table.play_or_raise(fourth).hands[1] == table.play_or_raise(first).hands[1]
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(LEAD)
    ann, ben = table.seen_by(0), table.seen_by(1)
    assert ben.tiles == tiles("5-4 3-2")
    assert (ann.moves, ben.moves) == ((), table.moves)
    assert set(ben.unseen) == set(engine.full_set(6)) - set(tiles("5-5 5-4 3-2"))
    assert ben.state == table.state
    assert ben.game is table.game
    with pytest.raises(engine.EngineError, match="no match has started"):
        _ = engine.SeatView(A, (), engine.State()).game
    # The view reveals nothing about other hands.
    other = dealt(engine.BONES, "5-5 6-2", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(LEAD)
    assert other.seen_by(1) == ben


def test_points_hands_and_passed_leads_follow_automatically() -> None:
    rules = engine.with_options(engine.TWOSET, {"players": "2-6"})
    table = dealt(rules, "5-5 6-1", "5-4 3-2").play_or_raise(LEAD)
    assert table.game.totals == (10, 0)
    table = dealt(engine.BLOCK, "5-5", "6-4").play_or_raise(LEAD)
    assert table.game.totals == (10, 0)
    assert table.awaits_deal
    table = dealt(engine.SUPER, "14-1 2-1", "3-3 4-2", boneyard="1-0")
    assert (table.turn, [str(move.tile) for move in table.moves if isinstance(move, engine.Play)]) == (1, ["3-3"])
    table = dealt(replace(engine.BLOCK, lead_next=engine.LeadRule.WINNER_ANY), "5-5", "6-4").play_or_raise(LEAD)
    assert table.deal(random.Random(3)).turn == 0
    table = dealt(replace(engine.BONES, no_double=engine.NoDouble.HIGHEST_TILE), "5-4 6-1", "6-4 3-2")
    assert (table.turn, [str(move.tile) for move in table.moves if isinstance(move, engine.Play)]) == (1, ["6-4"])


@pytest.mark.parametrize(
    ("move", "text"),
    [
        (engine.Play(B, engine.Tile(3, 6)), "it must touch the layout"),
        (engine.Play(A, engine.Tile(1, 6)), "it must touch the layout"),
        (engine.Draw(B), "Draw is no legal move; these are: Play 5-4, Play 5-4"),
        (engine.Knock(B), "draw before knocking"),
        (engine.HandEnd(), "somebody may still be able to play"),
    ],
)
def test_an_illegal_move_names_the_reason(
    move: engine.Play | engine.Draw | engine.Knock | engine.HandEnd, text: str
) -> None:
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(LEAD)
    with pytest.raises(engine.IllegalMove, match=text):
        table.play_or_raise(move)


def test_an_illegal_move_has_its_problem() -> None:
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2").play_or_raise(LEAD)
    spot = next(move.at for move in table.moves if isinstance(move, engine.Play))
    with pytest.raises(engine.IllegalMove) as refused:
        table.play_or_raise(engine.Play(B, engine.Tile(2, 3), spot, 3))
    assert refused.value.problem is not None
    assert refused.value.problem.kind is engine.ProblemKind.WRONG_NUMBER
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="5-0").play_or_raise(LEAD)
    spot = next(move.at for move in table.moves if isinstance(move, engine.Play))
    with pytest.raises(engine.IllegalMove, match="Play 5-0 is no legal move"):
        table.play_or_raise(engine.Play(B, engine.Tile(0, 5), spot))
    with pytest.raises(engine.IllegalMove, match="Play 4-4 is no legal move; these are: Play 5-5"):
        dealt(engine.BONES, "5-5 4-4", "5-4 3-2").play_or_raise(engine.Play(A, engine.Tile(4, 4)))


def test_a_blocked_hand_may_be_ended() -> None:
    rng = random.Random(1)
    table = engine.Table.start(replace(engine.BONES, spinner=engine.Spinner.NONE, target=10_000), TWO)
    while not must_draw_or_end(table):
        table = stepped(table, rng)
    ended = table.play_or_raise(engine.HandEnd())
    assert [outcome.ending for outcome in ended.outcomes if isinstance(outcome, engine.HandOver)] == [
        engine.Ending.BLOCKED_BY_PROOF
    ]
    assert isinstance(table.moves[0], engine.Draw)


def must_draw_or_end(table: engine.Table) -> bool:
    current = engine.turn(table.game)
    return current is not None and current.must is engine.Must.DRAW_OR_END


def test_deals_with_too_many_or_no_doubles_are_repeated() -> None:
    seen = set()
    for seed in range(100):
        table = engine.Table.start(replace(engine.BONES, hand=3, redeal_if_doubles_over=1), TWO).deal(
            random.Random(seed)
        )
        assert table.redeal is None
        seen |= {event.reason for event in table.state.log if hasattr(event, "reason")}
    assert seen == {engine.RedealReason.TOO_MANY_DOUBLES, engine.RedealReason.NO_DOUBLE}
    rules = replace(engine.SUPER, hand=1)
    start = engine.Table.start(rules, TWO)
    table = start.deal_these([tiles("2-1"), tiles("3-1")], tiles("4-1 5-1"))
    while not table.awaits_deal:
        assert table.moves == (engine.Draw(engine.Seat(0 if table.turn == 0 else 1)),)
        table = table.play_or_raise(table.moves[0])
    assert table.redeal is engine.RedealReason.NO_DOUBLE
    assert (table.turn, table.moves) == (None, ())
    assert table.deal(random.Random(1)).redeal is None
    with pytest.raises(engine.EngineError, match="none of 10000 deals can be played: too_many_doubles"):
        engine.Table.start(replace(engine.BONES, hand=14, redeal_if_doubles_over=0), TWO).deal(random.Random(1))


@pytest.mark.parametrize(
    ("hands", "text"),
    [
        ((("5-5",), ("6-1", "2-1")), "expected 2 hands of 1 tiles, got 1, 2"),
        ((("5-5",), ("5-5",)), "5-5: dealt 2 times"),
        ((("7-7",), ("5-5",)), "7-7: dealt 1 times, the game has 1 up to 6"),
        ((("6-5",), ("5-4",)), "nobody holds a tile that may be led"),
    ],
)
def test_an_impossible_deal_is_rejected(hands: tuple[tuple[str, ...], ...], text: str) -> None:
    start = engine.Table.start(replace(engine.BONES, hand=1), TWO)
    with pytest.raises(engine.EngineError, match=text):
        start.deal_these([[engine.Tile.parse(tile) for tile in hand] for hand in hands])


def test_a_deal_or_move_at_the_wrong_time_is_rejected() -> None:
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2")
    with pytest.raises(engine.EngineError, match="the first tile has not been played"):
        table.deal(random.Random(1))
    with pytest.raises(engine.EngineError, match="the first tile has not been played"):
        table.deal_these(table.hands)
    with pytest.raises(engine.EngineError, match="for 2 to 4 players, got 5"):
        engine.Table.start(engine.ALLFIVES, tuple("ABCDE"))
    with pytest.raises(engine.EngineError, match="free has no hands to deal"):
        engine.Table.start(engine.FREE, TWO)
    assert engine.legal_moves(engine.replay([]), tiles("5-5")) == ()
    assert engine.Table.start(engine.BONES, TWO).moves == ()
    with pytest.raises(engine.IllegalMove, match="the next hand has not been dealt"):
        engine.Table.start(engine.BONES, TWO).play_or_raise(LEAD)


A_DEAL = engine.Table.start(engine.BLOCK, TWO).deal(random.Random(1))
NOT_HELD = next(tile for tile in engine.full_set(6) if tile not in A_DEAL.hands[A_DEAL.turn or 0])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: A_DEAL.deal(5), r"rng must be a random\.Random, such as Random\(5\), but got 5"),  # type: ignore[arg-type]
        (lambda: A_DEAL.seen_by(9), "seat must be 0 to 1, but got 9"),
        (lambda: A_DEAL.seen_by(-1), "seat must be 0 to 1, but got -1"),
        (lambda: A_DEAL.deal_these(A_DEAL.hands, leader=2), "leader must be 0 to 1, but got 2"),
        (lambda: A_DEAL.play_or_raise("6-6"), "move must be a Play, .* or HandEnd, but got '6-6'"),  # type: ignore[arg-type]
        (lambda: A_DEAL.after("6-6"), "move must be a Play, .* or HandEnd, but got '6-6'"),  # type: ignore[arg-type]
        (lambda: A_DEAL.after(engine.Knock(engine.Seat(9))), "seat must be 0 to 1, but got 9"),
        (lambda: A_DEAL.after(engine.Play(B, NOT_HELD)), f"{NOT_HELD} is not in the hand of seat 1: 6-6, 5-4, "),
        (lambda: engine.Table.start(engine.BLOCK, TWO).after(engine.Knock(A)), "no tiles have been dealt: call deal"),
        (lambda: engine.perft(A_DEAL, -1), "depth must be a whole number from 0 upwards, but got -1"),
        (lambda: engine.perft(A_DEAL, 1.5), "depth must be a whole number from 0 upwards, but got 1.5"),  # type: ignore[arg-type]
    ],
)
def test_an_invalid_argument_is_named_in_the_error(call: Callable[[], object], text: str) -> None:
    assert A_DEAL.turn == 1
    with pytest.raises(engine.EngineError, match=text):
        call()
