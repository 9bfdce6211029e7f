"""Tests of the board with options and positions that the random matches of `test_board.py` hardly meet."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress

import pytest

from engine import DRAW, SUPER, OptionsError, Play, Rules, Table, with_options
from engine.rules.options import allowed_words, matters
from engine.rules.rules import OPTIONS
from tests.engine.table import tiles
from tests.engine.test_board import GAMES, board_of, check, play_match


def other_values(rules: Rules) -> Iterator[Rules]:
    """Yield the game with each other value of each of its options that is a word."""
    for option in OPTIONS:
        values = allowed_words(option) if matters(rules, option) and option.key != "set" else ()
        for value in values:
            with suppress(OptionsError):
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


@pytest.mark.parametrize("reserve", [0, 2])
def test_a_player_draws_all_tiles_of_a_locked_layout_and_then_the_hand_ends(reserve: int) -> None:
    rules = with_options(DRAW, {"hand": "6", "boneyard_reserve": str(reserve)})
    hands = (tiles("6-1 6-2 6-3 6-4 5-0 0-0"), tiles("2-1 6-6 4-3 6-5 6-0 1-1"))
    table = Table.start(rules, ("A", "B")).deal_these(hands, tiles("5-1 5-2 5-3 5-4"))
    for tile in tiles("6-1 2-1 6-2 6-6 6-3 4-3 6-4 6-5 5-0 6-0"):
        plays = [move for move in table.moves if isinstance(move, Play) and move.tile == tile]
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
