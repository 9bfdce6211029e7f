"""Tests of `Table`: random matches, legal moves, the view of a seat, and errors."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from engine import (
    ALLFIVES,
    BLOCK,
    BONES,
    FREE,
    SUPER,
    TWOSET,
    Decline,
    Draw,
    Ending,
    EngineError,
    HandEnd,
    HandOver,
    IllegalMove,
    Irregular,
    Knock,
    LeadRule,
    MatchOver,
    Must,
    NoDouble,
    Phase,
    Play,
    ProblemKind,
    RedealReason,
    Rules,
    Seat,
    SeatView,
    Spinner,
    Spot,
    State,
    Table,
    Tile,
    full_set,
    legal_moves,
    perft,
    record_of,
    replay,
    turn,
    with_options,
)
from tests.engine.random_rules import random_rules
from tests.engine.table import tiles

TWO = ("Ann", "Ben")
MAX_MOVES = 400


def random_table(rng: random.Random) -> Table:
    """Return a match before its deal, with random rules that have hands."""
    while True:
        rules, seats = random_rules(rng)
        if rules.refereed:
            return Table.start(rules, tuple("ABCDEFGH"[:seats]))


def stepped(table: Table, rng: random.Random) -> Table:
    """Return the table after a deal or a random legal move."""
    return table.deal(rng) if table.awaits_deal else table.play_or_raise(rng.choice(table.moves))


def dealt(rules: Rules, *hands: str, boneyard: str = "", leader: int = 0) -> Table:
    held = [tiles(hand) for hand in hands]
    start = Table.start(replace(rules, hand=len(held[0]), hand_for=()), tuple("ABCDEFGH"[: len(hands)]))
    return start.deal_these(held, tiles(boneyard), leader=leader)


@pytest.mark.parametrize("seed", range(40))
def test_a_random_match_is_regular_and_conserves_tiles(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    rules = table.game.rules
    whole_set = Counter(full_set(rules.max_pips) * rules.copies)
    for _ in range(MAX_MOVES):
        if table.is_over:
            break
        table = stepped(table, rng)
        assert not [outcome for outcome in table.outcomes if isinstance(outcome, Irregular)], table.state.log
        hand = table.game.hand
        assert hand is not None
        assert (
            Counter([*table.boneyard, *hand.layout.tiles, *(tile for held in table.hands for tile in held)])
            == whole_set
        )
        if table.game.phase in (Phase.LEAD, Phase.PLAY):
            assert list(hand.sizes) == [len(held) for held in table.hands]
            assert hand.boneyard == len(table.boneyard)
        assert bool(table.moves) == (not table.is_over and not table.awaits_deal)
    assert replay(table.state.log) == table.state
    assert record_of(table.state).hands


def test_a_match_ends_with_a_winner() -> None:
    rng = random.Random(1)
    table = Table.start(ALLFIVES, TWO)
    while not table.is_over:
        table = stepped(table, rng)
    assert isinstance(table.outcomes[-1], MatchOver)
    assert table.game.winner is not None
    assert max(table.game.totals) >= 100
    assert (table.turn, table.moves, table.awaits_deal) == (None, (), False)


def test_a_deal_depends_on_the_seed() -> None:
    start = Table.start(BONES, TWO)
    assert start.deal(random.Random(5)) == start.deal(random.Random(5))
    assert start.deal(random.Random(5)).hands != start.deal(random.Random(6)).hands


def test_every_legal_move_is_offered() -> None:
    # 5-4 matches both sides of 5-5. Branches are still closed, and a player who can play may not draw.
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    assert [str(move.tile) for move in table.moves if isinstance(move, Play)] == ["5-4", "5-4"]
    assert len(table.moves) == 2
    free = with_options(BONES, {"voluntary_draw": "yes"})
    table = dealt(free, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    assert table.moves[-1] == Draw(Seat(1))
    lax = with_options(BLOCK, {"must_play": "no"})
    table = dealt(lax, "5-5 6-1", "5-4 3-2").play_or_raise(Play(Seat(0), Tile(5, 5)))
    assert table.moves[-1] == Knock(Seat(1))


def test_two_tiles_are_drawn_at_once_and_an_extra_turn_can_be_declined() -> None:
    table = dealt(SUPER, "14-14 14-0 2-1", "3-2 4-2 5-2", boneyard="1-0 2-0 3-0").play_or_raise(
        Play(Seat(0), Tile(14, 14))
    )
    assert table.moves[-1] == Decline(Seat(0))
    table = table.play_or_raise(Decline(Seat(0)))
    assert table.moves == (Draw(Seat(1), 2),)
    table = table.play_or_raise(Draw(Seat(1), 2))
    assert table.hands[1] == tiles("3-2 4-2 5-2 3-0 2-0")
    assert table.boneyard == tiles("1-0")
    assert table.moves == (Knock(Seat(1)),)


def test_points_are_called_automatically() -> None:
    rules = with_options(TWOSET, {"players": "2-6"})
    table = dealt(rules, "5-5 6-1", "5-4 3-2").play_or_raise(Play(Seat(0), Tile(5, 5)))
    assert table.game.totals == (10, 0)


def test_hands_are_revealed_automatically() -> None:
    table = dealt(BLOCK, "5-5", "6-4").play_or_raise(Play(Seat(0), Tile(5, 5)))
    assert table.game.totals == (10, 0)
    assert table.awaits_deal


def test_a_player_without_a_double_to_lead_passes_automatically() -> None:
    table = dealt(SUPER, "14-1 2-1", "3-3 4-2", boneyard="1-0")
    assert (table.turn, [str(move.tile) for move in table.moves if isinstance(move, Play)]) == (1, ["3-3"])


def test_a_seat_sees_its_own_tiles_and_the_layout() -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    ann, ben = table.seen_by(0), table.seen_by(1)
    assert ben.tiles == tiles("5-4 3-2")
    assert (ann.moves, ben.moves) == ((), table.moves)
    assert set(ben.unseen) == set(full_set(6)) - set(tiles("5-5 5-4 3-2"))
    assert ben.state == table.state
    assert ben.game is table.game
    with pytest.raises(EngineError, match="no match has started"):
        _ = SeatView(Seat(0), (), State()).game
    # The view reveals nothing about other hands.
    other = dealt(BONES, "5-5 6-2", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    assert other.seen_by(1) == ben


@pytest.mark.parametrize(
    ("move", "text"),
    [
        (Play(Seat(1), Tile(3, 6)), "it must touch the layout"),
        (Play(Seat(0), Tile(1, 6)), "it must touch the layout"),
        (Draw(Seat(1)), "Draw is no legal move; these are: Play 5-4, Play 5-4"),
        (Knock(Seat(1)), "draw before knocking"),
        (HandEnd(), "somebody may still be able to play"),
    ],
)
def test_an_illegal_move_names_the_reason(move: Play | Draw | Knock | HandEnd, text: str) -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    with pytest.raises(IllegalMove, match=text):
        table.play_or_raise(move)


def test_an_illegal_move_has_its_problem() -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2").play_or_raise(Play(Seat(0), Tile(5, 5)))
    spot = next(move.at for move in table.moves if isinstance(move, Play))
    with pytest.raises(IllegalMove) as refused:
        table.play_or_raise(Play(Seat(1), Tile(2, 3), spot, 3))
    assert refused.value.problem is not None
    assert refused.value.problem.kind is ProblemKind.WRONG_NUMBER


def test_a_tile_that_is_not_held_is_no_legal_move() -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="5-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    spot = next(move.at for move in table.moves if isinstance(move, Play))
    with pytest.raises(IllegalMove, match="Play 5-0 is no legal move"):
        table.play_or_raise(Play(Seat(1), Tile(0, 5), spot))


def test_only_the_highest_double_may_lead() -> None:
    with pytest.raises(IllegalMove, match="Play 4-4 is no legal move; these are: Play 5-5"):
        dealt(BONES, "5-5 4-4", "5-4 3-2").play_or_raise(Play(Seat(0), Tile(4, 4)))


def test_any_free_arm_of_a_starter_is_accepted() -> None:
    table = dealt(SUPER, "7-7 2-1", "7-2 7-3").play_or_raise(Play(Seat(0), Tile(7, 7)))
    host = table.game.layout.nodes[0].id
    first, *_ = table.moves
    assert isinstance(first, Play)
    fourth = Play(Seat(1), first.tile, Spot(host, table.game.layout.ends[3].spot.port))
    assert fourth not in table.moves
    assert table.play_or_raise(fourth).hands[1] == table.play_or_raise(first).hands[1]


def test_a_blocked_hand_may_be_ended() -> None:
    rng = random.Random(1)
    table = Table.start(replace(BONES, spinner=Spinner.NONE, target=10_000), TWO)
    while not must_draw_or_end(table):
        table = stepped(table, rng)
    ended = table.play_or_raise(HandEnd())
    assert [outcome.ending for outcome in ended.outcomes if isinstance(outcome, HandOver)] == [Ending.BLOCKED_BY_PROOF]
    assert isinstance(table.moves[0], Draw)


def must_draw_or_end(table: Table) -> bool:
    current = turn(table.game)
    return current is not None and current.must is Must.DRAW_OR_END


def test_deals_with_too_many_or_no_doubles_are_repeated() -> None:
    seen = set()
    for seed in range(300):
        table = Table.start(replace(BONES, hand=3, redeal_if_doubles_over=1), TWO).deal(random.Random(seed))
        assert table.redeal is None
        seen |= {event.reason for event in table.state.log if hasattr(event, "reason")}
    assert seen == {RedealReason.TOO_MANY_DOUBLES, RedealReason.NO_DOUBLE}


def test_a_hand_is_dealt_again_if_nobody_draws_a_double() -> None:
    rules = replace(SUPER, hand=1)
    start = Table.start(rules, TWO)
    table = start.deal_these([tiles("2-1"), tiles("3-1")], tiles("4-1 5-1"))
    while not table.awaits_deal:
        assert table.moves == (Draw(Seat(0 if table.turn == 0 else 1)),)
        table = table.play_or_raise(table.moves[0])
    assert table.redeal is RedealReason.NO_DOUBLE
    assert (table.turn, table.moves) == (None, ())
    assert table.deal(random.Random(1)).redeal is None


def test_rules_without_playable_deals_are_rejected() -> None:
    with pytest.raises(EngineError, match="none of 10000 deals can be played: too_many_doubles"):
        Table.start(replace(BONES, hand=14, redeal_if_doubles_over=0), TWO).deal(random.Random(1))


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
    start = Table.start(replace(BONES, hand=1), TWO)
    with pytest.raises(EngineError, match=text):
        start.deal_these([[Tile.parse(tile) for tile in hand] for hand in hands])


def test_a_deal_is_rejected_during_a_hand() -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2")
    with pytest.raises(EngineError, match="the first tile has not been played"):
        table.deal(random.Random(1))
    with pytest.raises(EngineError, match="the first tile has not been played"):
        table.deal_these(table.hands)


def test_unplayable_games_are_rejected() -> None:
    with pytest.raises(EngineError, match="for 2 to 4 players, got 5"):
        Table.start(ALLFIVES, tuple("ABCDE"))
    with pytest.raises(EngineError, match="free has no hands to deal"):
        Table.start(FREE, TWO)


def test_the_winner_of_a_hand_leads_the_next() -> None:
    table = dealt(replace(BLOCK, lead_next=LeadRule.WINNER_ANY), "5-5", "6-4").play_or_raise(Play(Seat(0), Tile(5, 5)))
    assert table.deal(random.Random(3)).turn == 0


def test_without_a_double_the_highest_tile_leads() -> None:
    table = dealt(replace(BONES, no_double=NoDouble.HIGHEST_TILE), "5-4 6-1", "6-4 3-2")
    assert (table.turn, [str(move.tile) for move in table.moves if isinstance(move, Play)]) == (1, ["6-4"])


def test_nothing_is_legal_before_a_match_or_a_deal() -> None:
    assert legal_moves(replay([]), tiles("5-5")) == ()
    assert Table.start(BONES, TWO).moves == ()
    with pytest.raises(IllegalMove, match="the next hand has not been dealt"):
        Table.start(BONES, TWO).play_or_raise(Play(Seat(0), Tile(5, 5)))


A_DEAL = Table.start(BLOCK, TWO).deal(random.Random(1))
NOT_HELD = next(tile for tile in full_set(6) if tile not in A_DEAL.hands[A_DEAL.turn or 0])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Table.start(BLOCK, TWO).deal(5), r"rng must be a random\.Random, such as Random\(5\), but got 5"),  # type: ignore[arg-type]
        (lambda: A_DEAL.seen_by(9), "seat must be 0 to 1, but got 9"),
        (lambda: A_DEAL.seen_by(-1), "seat must be 0 to 1, but got -1"),
        (lambda: A_DEAL.deal_these(A_DEAL.hands, leader=2), "leader must be 0 to 1, but got 2"),
        (lambda: A_DEAL.play_or_raise("6-6"), "move must be a Play, .* or HandEnd, but got '6-6'"),  # type: ignore[arg-type]
        (lambda: A_DEAL.after("6-6"), "move must be a Play, .* or HandEnd, but got '6-6'"),  # type: ignore[arg-type]
        (lambda: A_DEAL.after(Knock(Seat(9))), "seat must be 0 to 1, but got 9"),
        (lambda: A_DEAL.after(Play(Seat(1), NOT_HELD)), f"{NOT_HELD} is not in the hand of seat 1: 6-6, 5-4, "),
        (lambda: Table.start(BLOCK, TWO).after(Knock(Seat(0))), "no tiles have been dealt: call deal"),
        (lambda: perft(A_DEAL, -1), "depth must be a whole number from 0 upwards, but got -1"),
        (lambda: perft(A_DEAL, 1.5), "depth must be a whole number from 0 upwards, but got 1.5"),  # type: ignore[arg-type]
    ],
)
def test_an_invalid_argument_is_named_in_the_error(call: Callable[[], object], text: str) -> None:
    assert A_DEAL.turn == 1
    with pytest.raises(EngineError, match=text):
        call()
