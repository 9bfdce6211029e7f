"""Tests of computer players and suggested plays: legal moves, the best move, strength, and their points and order."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

import engine
from engine import BONES, CUTTHROAT, DRAW, TWOSET, Call, MatchStart, Outcome, Play, Scored, Stack, State, apply, replay
from engine.library.players import Suggestion, best_plays
from tests.engine.table import Table, tiles

GAMES = [rules for rules in engine.PROFILES if rules.refereed]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_players_finish_a_hand_of_every_game_with_legal_moves(rules: engine.Rules) -> None:
    rng = random.Random(3)
    table = engine.Table.start(rules, "ABCD"[: max(3, rules.seats_min)]).deal(rng)
    players: list[Callable[[engine.SeatView], engine.LegalMove]] = [engine.TreeSearch(rng, rounds=2), engine.greedy]
    players += [engine.TreeSearch(rng, rounds=2, depth=1), engine.greedy]
    while table.turn is not None:
        table = table.play_or_raise(players[table.turn](table.view))
    assert table.is_over or table.awaits_deal


def value(board: engine.HandBoard, seat: int) -> int:
    """Return the final lead of *seat* over the other if both play perfectly with open hands."""
    moves = board.moves()
    if not moves:
        return board.totals[seat] - board.totals[1 - seat]
    found = []
    best = max if board.turn == seat else min
    for move in moves:
        board.push(move)
        found.append(value(board, seat))
        board.pop()
    return best(found)


def test_search_finds_the_best_move_where_nothing_is_hidden() -> None:
    rng = random.Random(11)
    rules = engine.with_options(engine.BLOCK, "hand=14")
    player, found, asked = engine.TreeSearch(rng, rounds=1500), 0, 0
    while asked < 20:
        table = engine.Table.start(rules, "AB").deal(rng)
        while table.turn is not None and sum(map(len, table.hands)) > 9:
            table = table.after(rng.choice(table.moves))
        if table.turn is None or len(table.moves) < 2:
            continue
        values = {}
        for move in table.moves:
            after = table.after(move)
            if after.turn is None:
                values[move] = after.game.totals[table.turn] - after.game.totals[1 - table.turn]
            else:
                values[move] = value(engine.HandBoard(after.game, after.hands, after.boneyard), table.turn)
        if len(set(values.values())) > 1:
            found, asked = found + (values[player(table.view)] == max(values.values())), asked + 1
    assert found >= 19


def test_the_same_seed_makes_the_same_moves_and_no_choice_takes_no_search() -> None:
    table = engine.Table.start(engine.BONES, "AB").deal(random.Random(2))
    moves = {engine.TreeSearch(random.Random(5), rounds=30)(table.view) for _ in range(3)}
    assert len(moves) == 1
    rng = random.Random(1)
    table = engine.Table.start(engine.BLOCK, "ABCD").deal(rng)
    while table.moves and not isinstance(table.moves[0], engine.Knock):
        table = table.after(rng.choice(table.moves))
    assert isinstance(engine.TreeSearch(rng, seconds=1e9)(table.view), engine.Knock)


@pytest.mark.parametrize("player", [engine.greedy, engine.TreeSearch(random.Random(1), rounds=1)])
def test_asking_a_player_out_of_turn_is_an_error(player: engine.TreeSearch) -> None:
    table = engine.Table.start(engine.BONES, "AB").deal(random.Random(2))
    assert table.turn is not None
    with pytest.raises(engine.EngineError, match=f"not the turn of seat {1 - table.turn}"):
        player(table.seen_by(1 - table.turn))


@pytest.mark.slow
def test_search_beats_the_greedy_player_in_duplicate_deals() -> None:
    rng, lead = random.Random(0), 0
    search = engine.TreeSearch(rng, rounds=60)

    def played(table: engine.Table, mine: int) -> int:
        while table.turn is not None:
            choose = search if table.turn == mine else engine.greedy
            table = table.after(choose(table.view))
        return table.game.totals[mine] - table.game.totals[1 - mine]

    for _ in range(40):
        table = engine.Table.start(engine.BONES, "AB").deal(rng)
        margin = played(table, 0) + played(table, 1)
        lead += (margin > 0) - (margin < 0)
    assert lead >= 4


A, B, C, D = (engine.Seat(at) for at in range(4))
FOUR = ("A", "B", "C", "D")


def best(table: Table, hand: str, seat: engine.Seat | None = None) -> tuple[Suggestion, ...]:
    return best_plays(table.state, tiles(hand), seat=seat)


def in_order(suggestions: tuple[Suggestion, ...]) -> list[str]:
    """Return each play as "5-4", or "5-4^" for a stack, with its points."""
    return [
        f"{suggestion.play.tile}{'^' if isinstance(suggestion.play, Stack) else ''} {suggestion.points}"
        for suggestion in suggestions
    ]


def outcomes_of(suggestion: Suggestion, kind: type[Outcome]) -> list[Outcome]:
    return [outcome for outcome in suggestion.outcomes if isinstance(outcome, kind)]


def test_each_play_has_its_points_and_their_sum() -> None:
    table = Table().play("1-1", "1-6@W", "6-3@W", "1-5@E", "1-2@N")
    found = best(table, "5-4 5-5 2-2")
    assert [(str(suggestion.play.tile), suggestion.points, str(suggestion.count)) for suggestion in found] == [
        ("5-5", 15, "3 + 2 + 5 + 5 = 15"),
        ("5-4", 0, "3 + 2 + 4 = 9"),
        ("2-2", 0, "3 + 2 + 2 + 5 = 12"),
    ]
    found = best(Table().play("1-3", "3-5@E"), "5-1")
    assert [(str(suggestion.count), suggestion.points) for suggestion in found] == [
        ("5 + 5 = 10", 10),
        ("1 + 1 = 2", 0),
    ]
    (only,) = best(Table(DRAW).play("6-2"), "2-5")
    assert (only.points, only.count) == (0, None)


def test_points_to_call_count_as_called() -> None:
    table = Table(TWOSET, FOUR).play("5-5", "5-1@W")
    (only,) = best(table, "1-0")
    assert (only.points, str(only.count)) == (10, "0 + 5 + 5 = 10")
    assert outcomes_of(only, engine.Claimable) == [engine.Claimable(C, 10, "0 + 5 + 5 = 10")]
    assert outcomes_of(only, Scored) == [Scored(C, 10, engine.Reason.PLAY, "0 + 5 + 5 = 10")]
    assert outcomes_of(only, engine.Turn) == [engine.Turn(D, engine.Must.PLAY_OR_DRAW)]
    dealt = engine.NewHand(dealt=(2, 1, 1, 1))
    state = replay([MatchStart(TWOSET, FOUR), dealt, Play(A, engine.Tile(5, 5))])
    only = best_plays(state, tiles("5-0"))[0]
    assert only.points == 10
    assert [outcome.out for outcome in only.outcomes if isinstance(outcome, engine.ShowHands)] == [B]
    (only,) = best(Table(TWOSET, FOUR).play("5-5", "5-0@W"), "6-0")
    assert only.points == 0
    assert outcomes_of(only, engine.Forfeited) == [engine.Forfeited(B, 10)]
    assert not outcomes_of(only, Scored)


def test_a_play_that_ends_the_match_or_has_effects_has_those_outcomes() -> None:
    table = Table(replace(BONES, lead_first=engine.LeadRule.LOT_ANY, target=20)).play("6-6", "6-3@E", "3-0@E", "0-0@E")
    found = best(table, "6-5 6-4")
    assert in_order(found) == ["6-5 5", "6-4 0"]
    assert not outcomes_of(found[0], engine.MatchOver)
    assert outcomes_of(best(Table(replace(table.rules, target=10)), "5-5", seat=A)[0], engine.MatchOver)
    table = Table(engine.SUPER, ("A", "B", "C")).play("7-7")
    found = best(table, "7-13 7-15 7-9")
    assert in_order(found) == ["15-7 0", "13-7 0", "9-7 0"]
    assert [
        outcome.seat for outcome in outcomes_of(found[0], engine.ForcedDraw) if isinstance(outcome, engine.ForcedDraw)
    ] == [C, A]
    assert outcomes_of(found[1], engine.Spelled)
    for suggestion in found:
        assert all(engine.describe(outcome, table.players) for outcome in suggestion.outcomes)


def stackable(rules: engine.Rules = CUTTHROAT) -> Table:
    """Return a table where seat 0 has called 10 for 6 + 4, the 6 from the 3-3, and seat 1 may stack."""
    return Table(rules, FOUR).play("6-6", "6-3@W", "6-0@E", "3-3@W", "0-4@E").feed(Call(A))


def test_a_stack_is_suggested_with_the_stolen_points() -> None:
    found = best(stackable(), "4-0")
    assert in_order(found) == ["4-0^ 10", "4-0 0"]
    assert {(outcome.seat, outcome.points) for outcome in found[0].outcomes if isinstance(outcome, Scored)} == {
        (B, 10),
        (A, -10),
    }
    assert str(found[0].count) == "3 + 3 + 4 = 10"
    assert in_order(best(stackable(), "4-0 3-3")) == ["3-3^ 20", "4-0^ 10", "3-3 10", "4-0 0"]
    rules = replace(CUTTHROAT, steal_gain=engine.StealGain.SCORE_PLUS_STOLEN)
    assert in_order(best(stackable(rules), "4-0"))[0] == "4-0^ 20"
    table = Table(CUTTHROAT, FOUR).play("6-6", "6-3@W", "6-0@E", "3-3@W", "0-4@E")
    assert in_order(best(table, "4-0")) == ["4-0 0"]


def test_points_then_weight_then_distinct_numbers_decide_the_order() -> None:
    assert in_order(best(Table().play("5-5"), "6-5 5-0")) == ["5-0 10", "5-0 10", "6-5 0", "6-5 0"]
    assert in_order(best(stackable(), "6-3 4-0"))[:2] == ["4-0^ 10", "6-3 10"]
    assert in_order(best(Table(DRAW).play("6-2"), "2-1 6-5")) == ["6-5 0", "2-1 0"]
    assert in_order(best(Table(DRAW).play("6-2"), "2-5 6-1 1-4")) == ["6-1 0", "5-2 0"]
    assert in_order(best(Table(DRAW).play("3-2"), "2-4 3-3 4-0")) == ["3-3 0", "4-2 0"]
    # 6-1 leaves 5, 2, 6 and 1 because its copy stays; 5-2 leaves only 6 and 1.
    table = Table(replace(DRAW, copies=2)).play("6-2")
    assert in_order(best(table, "5-2 6-1 6-1")) == ["6-1 0", "5-2 0"]


def test_suggests_for_the_seats_that_may_play() -> None:
    table = Table()
    assert [suggestion.play.seat for suggestion in best(table, "5-5")] == [A, B]
    assert [(suggestion.play.seat, suggestion.points) for suggestion in best(table, "5-5", seat=B)] == [(B, 10)]
    table = Table().play("5-5")
    assert best(table, "5-1", seat=A) == ()
    assert best(table, "6-1") == ()


@pytest.mark.parametrize("state", [State(), replay([MatchStart(BONES, ("A", "B"))])], ids=["no match", "not dealt"])
def test_suggests_nothing_before_the_deal(state: State) -> None:
    assert best_plays(state, tiles("5-5")) == ()


@pytest.mark.parametrize(
    "rules", [BONES, engine.ALLFIVES, TWOSET, CUTTHROAT, engine.SUPER, DRAW], ids=lambda rules: str(rules.name)
)
def test_suggested_points_equal_the_paid_points_in_random_positions(rules: engine.Rules) -> None:
    rng = random.Random(5)
    # Large hands without a target reach most kinds of ends and stacks.
    rules = replace(rules, hand=14, hand_for=(), target=None, policy=engine.Policy.STRICT)
    rules = replace(rules, lead_first=engine.LeadRule.LOT_ANY, redeal_if_doubles_over=None)
    for _ in range(3):
        state = replay([MatchStart(rules, FOUR[: 4 if rules.copies == 2 else 2]), engine.NewHand()])
        for _ in range(20):
            hand = rng.sample(engine.full_set(rules.max_pips), 7)
            found = best_plays(state, hand)
            legal = {*engine.legal_plays(state, hand), *engine.legal_stacks(state, hand)}
            assert {suggestion.play for suggestion in found} == legal
            assert len(found) == len(legal)
            assert [suggestion.points for suggestion in found] == sorted(
                (suggestion.points for suggestion in found), reverse=True
            )
            for suggestion in found:
                assert suggestion.points == paid(state, suggestion.play)
            if found:
                state = followed(state, rng.choice(found).play, rng)


def paid(state: State, play: Play | Stack) -> int:
    """Return the points that the seat gains by *play* once it is called."""
    after, outcomes = apply(state, play)
    assert not any(isinstance(outcome, engine.Irregular) for outcome in outcomes)
    after, _ = apply(after, Call(play.seat))
    assert state.game is not None
    assert after.game is not None
    return after.game.totals[play.seat] - state.game.totals[play.seat]


def followed(state: State, play: Play | Stack, rng: random.Random) -> State:
    """Return the state after *play*, usually called. If it ends the hand, return the state before it."""
    after, _ = apply(state, play)
    if rng.random() < 0.8:
        after, _ = apply(after, Call(play.seat))
    assert after.game is not None
    return after if after.game.phase is engine.Phase.PLAY else state
