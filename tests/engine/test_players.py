"""Tests of computer players: legal moves in every game, the best move by exhaustive search, and strength."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import engine

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
    player, found, asked = engine.TreeSearch(rng, rounds=1000), 0, 0
    while asked < 8:
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
    assert found >= 7


def test_same_seed_makes_the_same_moves() -> None:
    table = engine.Table.start(engine.BONES, "AB").deal(random.Random(2))
    moves = {engine.TreeSearch(random.Random(5), rounds=30)(table.view) for _ in range(3)}
    assert len(moves) == 1


def test_a_move_without_choice_takes_no_search() -> None:
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
