"""Tests of the board that is changed in place: random moves against `apply`, and perft against a table.

`python -m tests.engine.test_board 2000000` compares that many moves of random rules.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

import engine
from engine import CUTTHROAT, DRAW, PROFILES, SUPER, Draw, EngineError, Phase, Rules, Seat, Table, perft, with_options
from engine.library.board import HandBoard
from engine.rules.options import allowed_words, matters
from engine.rules.rules import OPTIONS
from tests.engine.random_rules import random_rules
from tests.engine.table import tiles


def board_of(table: Table) -> HandBoard:
    return HandBoard(table.game, table.hands, table.boneyard)


def tiles_in(board: HandBoard) -> list[Counter[object]]:
    return [Counter(board.tiles(bits)) for bits in board.hands]


def check(board: HandBoard, table: Table) -> None:
    """Compare the position and its legal moves."""
    assert board.totals == table.game.totals
    assert board.is_over == (table.turn is None)
    if table.game.phase in (Phase.LEAD, Phase.PLAY):
        assert tiles_in(board) == [Counter(held) for held in table.hands]
        assert board.boneyard == len(table.boneyard)
    if table.turn is not None:
        assert board.turn == table.turn
        moves = board.moves()
        assert len(set(moves)) == len(moves)
        assert {board.event(move, table.game.layout) for move in moves} == set(table.moves)


def play_hand(table: Table, rng: random.Random) -> tuple[Table, int]:
    """Play a hand at random on a board and a table. Returns the table, and the number of moves."""
    board, made = board_of(table), 0
    start = snapshot(board)
    check(board, table)
    while not board.is_over:
        if made and rng.random() < 0.05:
            table = resumed(board, table)
        move = rng.choice(board.moves())
        if rng.random() < 0.1:  # A move that is taken back changes nothing.
            before = snapshot(board)
            board.push(move)
            board.pop()
            assert snapshot(board) == before
        event = board.event(move, table.game.layout)
        board.push(move)
        table = table.after(event)
        made += 1
        check(board, table)
    for _ in range(made):
        board.pop()
    assert snapshot(board) == start
    return table, made


def resumed(board: HandBoard, table: Table) -> Table:
    """Check that a board made from the middle of a hand is the same."""
    again = board_of(table)
    assert (again.turn, again.totals) == (board.turn, board.totals)
    if table.game.rules.effects is not None:
        assert again.course == board.course
    assert {again.event(move, table.game.layout) for move in again.moves()} == set(table.moves)
    return table


def snapshot(board: HandBoard) -> tuple[object, ...]:
    return tuple(repr(getattr(board, name)) for name in HandBoard.__slots__ if name != "_past")


def play_match(rules: Rules, seats: int, rng: random.Random, most: int) -> int:
    """Play up to *most* hands of a match. Returns the number of moves."""
    table, made = Table.start(rules, tuple("ABCDEF"[:seats])), 0
    for _ in range(most):
        if table.is_over:
            break
        try:
            table = table.deal(rng)
        except EngineError:  # Some rules can hardly ever be dealt.
            break
        table, moves = play_hand(table, rng)
        made += moves
    return made


GAMES = [rules for rules in PROFILES if rules.refereed]


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("seed", range(3))
def test_whole_matches_are_those_of_the_engine(rules: Rules, seed: int) -> None:
    assert play_match(rules, max(rules.seats_min, 2 + seed), random.Random(seed), 4) > 10


def play_random_rules(rng: random.Random) -> int:
    """Play three hands of random rules. Returns the number of moves."""
    while True:
        rules, seats = random_rules(rng)
        if rules.refereed and seats > 1 and not (rules.cutthroat and rules.effects):
            return play_match(rules, seats, rng, 3)


@pytest.mark.parametrize("seed", range(40))
def test_random_rules_are_those_of_the_engine(seed: int) -> None:
    play_random_rules(random.Random(seed))


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_perft_is_that_of_a_table(rules: Rules) -> None:
    table = Table.start(rules, tuple("ABCD")).deal(random.Random(4))
    assert [count(board_of(table), depth) for depth in range(5)] == [perft(table, depth) for depth in range(5)]


def count(board: HandBoard, depth: int) -> int:
    """Return the number of sequences of *depth* moves."""
    if depth == 0:
        return 1
    total = 0
    for move in board.moves():
        board.push(move)
        total += count(board, depth - 1)
        board.pop()
    return total


def test_what_a_board_does_not_play_is_refused() -> None:
    start = Table.start(CUTTHROAT, tuple("ABCD"))
    with pytest.raises(EngineError, match="somebody is to move"):
        board_of(start)
    odd = replace(CUTTHROAT, effects=engine.Effects(15, 14, 13, 12), match_end=engine.MatchEnd.IMMEDIATE)
    with pytest.raises(EngineError, match="stacking together with effects"):
        board_of(Table.start(odd, tuple("ABCD")).deal(random.Random(1)))
    board = board_of(start.deal(random.Random(1)))
    assert board.turn in map(Seat, range(4))
    with pytest.raises(IndexError):
        board.pop()


def other_values(rules: Rules) -> Iterator[Rules]:
    """Yield the game with each other value of each of its options that is a word."""
    for option in OPTIONS:
        values = allowed_words(option) if matters(rules, option) and option.key != "set" else ()
        for value in values:
            with suppress(engine.OptionsError):
                yield with_options(rules, {option.key: value, "hand": "4", "target": "30"})


@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_games_with_any_other_value_are_those_of_the_engine(rules: Rules) -> None:
    made = [
        play_match(other, max(other.seats_min, 4), random.Random(1), 1)
        for other in other_values(rules)
        if not (other.cutthroat and other.effects)
    ]
    assert len(made) > 40
    assert min(made) > 3


def test_a_stacker_may_gain_its_own_points_too() -> None:
    rules = with_options(CUTTHROAT, {"steal_gain": "score_plus_stolen", "hand": "7"})
    for seed in range(4):
        play_match(rules, 4, random.Random(seed), 3)


@pytest.mark.parametrize("reserve", [0, 2])
def test_a_player_draws_all_tiles_of_a_locked_layout_and_then_the_hand_ends(reserve: int) -> None:
    rules = with_options(DRAW, {"hand": "6", "boneyard_reserve": str(reserve)})
    hands = (tiles("6-1 6-2 6-3 6-4 5-0 0-0"), tiles("2-1 6-6 4-3 6-5 6-0 1-1"))
    table = Table.start(rules, ("A", "B")).deal_these(hands, tiles("5-1 5-2 5-3 5-4"))
    for tile in tiles("6-1 2-1 6-2 6-6 6-3 4-3 6-4 6-5 5-0 6-0"):
        plays = [move for move in table.moves if isinstance(move, engine.Play) and move.tile == tile]
        table = table.after(min(plays, key=lambda play: play.inner or 0))  # the 6 stays open
    assert table.game.hand is not None
    assert table.game.hand.locked
    board = board_of(table)
    while not board.is_over:
        check(board, table)
        (move,) = board.moves()
        table = table.after(board.event(move, table.game.layout))
        board.push(move)
    check(board, table)
    assert board.boneyard == reserve


def test_a_player_who_has_drawn_one_of_two_tiles_can_only_draw_the_other() -> None:
    hands = (tiles("7-7 1-0"), tiles("7-1 2-0"))
    table = Table.start(with_options(SUPER, "hand=2"), ("A", "B")).deal_these(hands, tiles("3-0 4-0 5-0"))
    table = table.after(table.moves[0]).after(Draw(Seat(1)))
    assert table.moves == (Draw(Seat(1)),)
    check(board_of(table), table)


@pytest.mark.parametrize(("last", "drawn"), [("5-5", 3), ("4-4", 0)])
def test_a_last_double_takes_effect_before_the_count_if_the_rules_say_so(last: str, drawn: int) -> None:
    options = "set=6 hand=1 draw_on=5 again_on=6 spell_on=3 reverse_on=2 effects_before_end=yes target=90"
    table = Table.start(with_options(SUPER, options), ("A", "B", "C", "D"))
    table = table.deal_these((tiles(last), tiles("1-0"), tiles("2-0"), tiles("3-0")), tiles("6-1 6-2 6-3 6-4"))
    board = board_of(table)
    (move,) = board.moves()
    after = table.after(board.event(move, table.game.layout))
    board.push(move)
    check(board, after)
    assert len(table.boneyard) - board.boneyard == len(table.boneyard) - len(after.boneyard) == drawn


if __name__ == "__main__":
    dice, compared = random.Random(2026), 0
    while compared < int(sys.argv[1]):
        compared += play_random_rules(dice)
    sys.stdout.write(f"{compared} moves, all equal\n")
