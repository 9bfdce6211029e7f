"""Tests of moves and views as text: round trips in random matches, and rejection of other texts."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from engine import (
    BLOCK,
    BONES,
    SUPER,
    TWOSET,
    Draw,
    EngineError,
    HandEnd,
    Knock,
    Play,
    Seat,
    Stack,
    State,
    Table,
    Tile,
    describe,
    format_move,
    format_position,
    format_record,
    format_view,
    parse_move,
    parse_position,
    parse_view,
    record_of,
)
from tests.engine.table import tiles
from tests.engine.test_position_text import without_log
from tests.engine.test_table import dealt, random_table, stepped


@pytest.mark.parametrize("seed", range(40))
def test_every_legal_move_round_trips(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    for _ in range(80):
        if table.is_over:
            break
        texts = [format_move(table.state, move) for move in table.moves]
        assert len(set(texts)) == len(texts)
        assert tuple(parse_move(table.state, text) for text in texts) == table.moves
        table = stepped(table, rng)


def test_a_move_is_written_as_in_the_record() -> None:
    rng = random.Random(4)
    table = Table.start(BONES, ("Ann", "Ben")).deal(rng)
    written = []
    while table.moves:
        move = rng.choice(table.moves)
        written.append(format_move(table.state, move))
        table = table.play_or_raise(move)
    record = format_record(record_of(table.state))
    assert len(written) > 8
    moves = record.split("lead=")[1].split("#end")[0].split("H<")[0].split()[1:]
    assert [word for word in moves if word[0].isdigit() or word[0] in "dk"] == written


def test_moves_have_these_texts() -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0")
    assert format_move(table.state, Play(Seat(0), Tile(5, 5))) == "5-5"
    table = table.play_or_raise(parse_move(table.state, "5-5"))
    assert [format_move(table.state, move) for move in table.moves] == ["5-4@W", "5-4@E"]
    assert parse_move(table.state, "5-4@E") == table.moves[1]
    assert parse_move(table.state, " d2 ") == Draw(Seat(1), 2)
    assert parse_move(table.state, "k", Seat(0)) == Knock(Seat(0))
    assert parse_move(table.state, "(end)") == HandEnd()
    assert format_move(table.state, HandEnd()) == "(end)"
    assert format_move(table.state, Draw(Seat(1), faces=(Tile(3, 5),))) == "d<5-3>"


def test_a_play_without_its_inner_number_is_written_in_full() -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0")
    table = table.play_or_raise(Play(Seat(0), Tile(5, 5)))
    assert isinstance(first := table.moves[0], Play)
    assert format_move(table.state, replace(first, inner=None)) == "5-4@W"


def test_the_place_may_be_missing_if_only_one_fits() -> None:
    table = dealt(BLOCK, "5-5 6-1", "5-4 3-2").play_or_raise(Play(Seat(0), Tile(5, 5)))
    with pytest.raises(EngineError, match='expected the place of the 5-4, such as "5-4@W"'):
        parse_move(table.state, "5-4")
    table = table.play_or_raise(parse_move(table.state, "5-4@W"))
    assert parse_move(table.state, "4-2") == parse_move(table.state, "4-2@W")


def test_a_stack_and_the_arms_of_a_starter_are_written() -> None:
    rules = replace(TWOSET, name="cutthroat", cutthroat=True, seats_min=2)
    table = dealt(rules, "5-5 6-1", "5-5 3-2").play_or_raise(Play(Seat(0), Tile(5, 5)))
    stack = next(move for move in table.moves if isinstance(move, Stack))
    assert format_move(table.state, stack) == "5-5'^W"
    assert [format_move(table.state, move) for move in table.moves][:1] == ["5-5'@W"]
    table = dealt(SUPER, "7-7 2-1", "7-2 7-3").play_or_raise(Play(Seat(0), Tile(7, 7)))
    assert [format_move(table.state, move) for move in table.moves][:2] == ["7-2@1", "7-3@1"]


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
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    with pytest.raises(EngineError, match=message):
        parse_move(table.state, text)


def test_a_move_needs_a_hand() -> None:
    for state in (State(), Table.start(BONES, ("Ann", "Ben")).state):
        with pytest.raises(EngineError, match="no tiles have been dealt"):
            parse_move(state, "k")


@pytest.mark.parametrize("seed", range(40))
def test_a_view_round_trips_and_hides_the_other_hands(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    for _ in range(120):
        for seat in range(len(table.hands)):
            view = table.seen_by(seat)
            text = format_view(view)
            parsed = parse_view(text)
            assert format_view(parsed) == text
            assert (parsed.seat, parsed.tiles) == (view.seat, view.tiles)
            assert parsed.state == without_log(table).state, text
            assert len(parsed.moves) == len(view.moves)
        if table.is_over:
            break
        table = stepped(table, rng)


def test_a_view_is_written_as_documented() -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    text = format_view(table.seen_by(0))
    assert "A<6-1> B<2> yard<2> laid<5-5>" in text
    assert text.endswith(" sees=A")
    for other in ("5-4", "3-2", "0-0"):
        assert other not in text
    with pytest.raises(EngineError, match="a view of one seat"):
        parse_position(text.removesuffix(" sees=A"))
    with pytest.raises(EngineError, match="nothing more here, got sees="):
        parse_position(format_position(table) + " sees=A")
    with pytest.raises(EngineError, match="expected sees= with the seat"):
        parse_view(format_position(table))
    with pytest.raises(EngineError, match="expected the tiles of B, got 2"):
        parse_view(text.replace("sees=A", "sees=B"))
    with pytest.raises(EngineError, match="at most 28 tiles, got 29"):
        parse_view(text.replace("B<2>", "B<25>"))
    with pytest.raises(EngineError, match="6-1 at most 1 times"):
        parse_view(text.replace("A<6-1>", "A<6-1 6-1>"))


def test_a_parsed_view_continues() -> None:
    table = dealt(BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(Play(Seat(0), Tile(5, 5)))
    view = parse_view(format_view(table.view))
    after = view.sample(random.Random(1)).play_or_raise(parse_move(view.state, "5-4@W"))
    assert describe(after.outcomes[0], after.game.players) == "B plays 5-4"
    assert after.hands[1] == tiles("3-2")
