"""Tests of moves and views as text: round trips in random matches, and rejection of other texts."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import engine
from tests.engine.table import tiles
from tests.engine.test_position_text import without_log
from tests.engine.test_table import dealt, random_table, stepped

SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_legal_move_round_trips(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    for _ in range(80):
        if table.is_over:
            break
        texts = [engine.format_move(table.state, move) for move in table.moves]
        assert len(set(texts)) == len(texts)
        assert tuple(engine.parse_move(table.state, text) for text in texts) == table.moves
        table = stepped(table, rng)


def test_a_move_is_written_as_in_the_record() -> None:
    rng = random.Random(4)
    table = engine.Table.start(engine.BONES, ("Ann", "Ben")).deal(rng)
    written = []
    while table.moves:
        move = rng.choice(table.moves)
        written.append(engine.format_move(table.state, move))
        table = table.play_or_raise(move)
    record = engine.format_record(engine.record_of(table.state))
    assert len(written) > 8
    moves = record.split("lead=")[1].split("#end")[0].split("H<")[0].split()[1:]
    assert [word for word in moves if word[0].isdigit() or word[0] in "dk"] == written


def test_moves_have_these_texts() -> None:
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0")
    assert engine.format_move(table.state, engine.Play(engine.Seat(0), engine.Tile(5, 5))) == "5-5"
    table = table.play_or_raise(engine.parse_move(table.state, "5-5"))
    assert [engine.format_move(table.state, move) for move in table.moves] == ["5-4@W", "5-4@E"]
    assert engine.parse_move(table.state, "5-4@E") == table.moves[1]
    assert engine.parse_move(table.state, " d2 ") == engine.Draw(engine.Seat(1), 2)
    assert engine.parse_move(table.state, "k", engine.Seat(0)) == engine.Knock(engine.Seat(0))
    assert engine.parse_move(table.state, "(end)") == engine.HandEnd()
    assert engine.format_move(table.state, engine.HandEnd()) == "(end)"
    assert engine.format_move(table.state, engine.Draw(engine.Seat(1), faces=(engine.Tile(3, 5),))) == "d<5-3>"
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0")
    table = table.play_or_raise(engine.Play(engine.Seat(0), engine.Tile(5, 5)))
    assert isinstance(first := table.moves[0], engine.Play)
    assert engine.format_move(table.state, replace(first, inner=None)) == "5-4@W"
    rules = replace(engine.TWOSET, name="cutthroat", cutthroat=True, seats_min=2)
    table = dealt(rules, "5-5 6-1", "5-5 3-2").play_or_raise(engine.Play(engine.Seat(0), engine.Tile(5, 5)))
    stack = next(move for move in table.moves if isinstance(move, engine.Stack))
    assert engine.format_move(table.state, stack) == "5-5'^W"
    assert [engine.format_move(table.state, move) for move in table.moves][:1] == ["5-5'@W"]
    table = dealt(engine.SUPER, "7-7 2-1", "7-2 7-3").play_or_raise(engine.Play(engine.Seat(0), engine.Tile(7, 7)))
    assert [engine.format_move(table.state, move) for move in table.moves][:2] == ["7-2@1", "7-3@1"]
    table = dealt(engine.BLOCK, "5-5 6-1", "5-4 3-2").play_or_raise(engine.Play(engine.Seat(0), engine.Tile(5, 5)))
    with pytest.raises(engine.EngineError, match='expected the place of the 5-4, such as "5-4@W"'):
        engine.parse_move(table.state, "5-4")
    table = table.play_or_raise(engine.parse_move(table.state, "5-4@W"))
    assert engine.parse_move(table.state, "4-2") == engine.parse_move(table.state, "4-2@W")
    for state in (engine.State(), engine.Table.start(engine.BONES, ("Ann", "Ben")).state):
        with pytest.raises(engine.EngineError, match="no tiles have been dealt"):
            engine.parse_move(state, "k")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5-4@Q", "expected a port"),
        ("5-5@W k", "expected the end of a single move"),
        ("hello", "expected a move"),
        ("=10", "expected a play, stack, draw, knock, decline"),
        ("(t=3)", "expected a play, stack, draw, knock, decline"),
        ("19-0", "expected a tile"),
    ],
)
def test_another_text_is_rejected(text: str, message: str) -> None:
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(
        engine.Play(engine.Seat(0), engine.Tile(5, 5))
    )
    with pytest.raises(engine.EngineError, match=message):
        engine.parse_move(table.state, text)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_view_round_trips_and_hides_the_other_hands(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    for _ in range(120):
        for seat in range(len(table.hands)):
            view = table.seen_by(seat)
            text = engine.format_view(view)
            parsed = engine.parse_view(text)
            assert engine.format_view(parsed) == text
            assert (parsed.seat, parsed.tiles) == (view.seat, view.tiles)
            assert parsed.state == without_log(table).state, text
            assert len(parsed.moves) == len(view.moves)
        if table.is_over:
            break
        table = stepped(table, rng)


def test_a_view_is_written_as_documented_and_continues() -> None:
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(
        engine.Play(engine.Seat(0), engine.Tile(5, 5))
    )
    text = engine.format_view(table.seen_by(0))
    assert "A<6-1> B<2> yard<2> laid<5-5>" in text
    assert text.endswith(" sees=A")
    for other in ("5-4", "3-2", "0-0"):
        assert other not in text
    with pytest.raises(engine.EngineError, match="a view of one seat"):
        engine.parse_position(text.removesuffix(" sees=A"))
    with pytest.raises(engine.EngineError, match="nothing more here, got sees="):
        engine.parse_position(engine.format_position(table) + " sees=A")
    with pytest.raises(engine.EngineError, match="expected sees= with the seat"):
        engine.parse_view(engine.format_position(table))
    with pytest.raises(engine.EngineError, match="expected the tiles of B, got 2"):
        engine.parse_view(text.replace("sees=A", "sees=B"))
    with pytest.raises(engine.EngineError, match="at most 28 tiles, got 29"):
        engine.parse_view(text.replace("B<2>", "B<25>"))
    with pytest.raises(engine.EngineError, match="6-1 at most 1 times"):
        engine.parse_view(text.replace("A<6-1>", "A<6-1 6-1>"))
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(
        engine.Play(engine.Seat(0), engine.Tile(5, 5))
    )
    view = engine.parse_view(engine.format_view(table.view))
    after = view.sample(random.Random(1)).play_or_raise(engine.parse_move(view.state, "5-4@W"))
    assert engine.describe(after.outcomes[0], after.game.players) == "B plays 5-4"
    assert after.hands[1] == tiles("3-2")
