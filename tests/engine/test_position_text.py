"""Tests of positions as a line of text: round trips of random matches, and rejection of invalid text."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.state.events import Seq
from tests.engine.test_perft import DEALS
from tests.engine.test_table import dealt, random_table, stepped

MAX_MOVES = 150
SEEDS = [*range(15), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(15, 60))]


def renamed(layout: engine.Layout) -> engine.Layout:
    """Return *layout* with the node ids of a position, which count up to -1."""
    names = {node.id: engine.NodeId(place - len(layout.nodes)) for place, node in enumerate(layout.nodes)}

    def spot(old: engine.Spot) -> engine.Spot:
        return engine.Spot(names[old.host], old.port)

    nodes = tuple(
        replace(node, id=names[node.id], joins=None if node.joins is None else spot(node.joins))
        for node in layout.nodes
    )
    ends = tuple(replace(end, spot=spot(end.spot)) for end in layout.ends)
    return replace(layout, nodes=nodes, ends=ends, stacked=tuple(names[below] for below in layout.stacked))


def without_log(table: engine.Table) -> engine.Table:
    game = table.game
    if game.hand is not None:
        layout, chance = renamed(game.hand.layout), game.hand.chance
        if chance is not None:
            chance = replace(chance, count=engine.count(layout, game.rules.spinner_count))
        game = replace(game, hand=replace(game.hand, layout=layout, chance=chance))
    return engine.Table(engine.State(game=game, start=game), table.hands, table.boneyard)


def check(table: engine.Table) -> None:
    text = engine.format_position(table)
    assert "\n" not in text
    parsed = engine.parse_position(text)
    assert parsed == without_log(table), text
    assert engine.format_position(parsed) == text


@pytest.mark.parametrize("seed", SEEDS)
def test_every_position_of_a_random_match_round_trips(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    for _ in range(MAX_MOVES):
        check(table)
        if table.is_over:
            break
        table = stepped(table, rng)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_match_continues_identically_from_its_position(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    for _ in range(rng.randrange(2, 60)):
        if not table.is_over:
            table = stepped(table, rng)
    other = engine.parse_position(engine.format_position(table))
    mine, theirs = random.Random(7), random.Random(7)
    for _ in range(40):
        if table.is_over:
            break
        table, other = stepped(table, mine), stepped(other, theirs)
        assert [type(outcome) for outcome in other.outcomes] == [type(outcome) for outcome in table.outcomes]
        assert engine.format_position(other) == engine.format_position(table)


@pytest.mark.parametrize("name", DEALS)
def test_a_position_has_the_perft_of_its_table(name: str) -> None:
    table = DEALS[name].engine()
    for _ in range(3):
        if table.moves:
            table = table.after(table.moves[-1])
    assert [engine.perft(engine.parse_position(engine.format_position(table)), depth) for depth in (1, 2, 3)] == [
        engine.perft(table, depth) for depth in (1, 2, 3)
    ]


def test_a_position_is_written_as_documented() -> None:
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(
        engine.Play(engine.Seat(0), engine.Tile(5, 5))
    )
    assert engine.format_position(table) == (
        '[DGR "1"] [Rules "bones"] [Options "hand=2"] [Seats "A:A B:B"] play A|+10 B #1 turn=B lead=highest_double '
        "A<6-1> B<5-4 3-2> yard<0-0 1-0> laid<5-5> "
        # The doubles are bits 0, 2, 5, 9, 14, 20 and 27. Ann has shown one of the three that she may hold.
        "said<A/o//2/8104225 A/l//0/8000000 B/o//3/8104225 B/l//0/8000000>"
    )
    table = dealt(engine.BONES, "5-5 6-1", "5-4 3-2", boneyard="0-0 1-0").play_or_raise(
        engine.Play(engine.Seat(0), engine.Tile(5, 5))
    )
    start = engine.parse_position(engine.format_position(table))
    after = start.after(start.moves[0])
    assert len(engine.history(after.state)) == 1
    back, _ = engine.apply(after.state, engine.Undo(Seq(0)))
    assert back.game == start.game
    with pytest.raises(engine.EngineError, match="goes on from a position"):
        engine.record_of(after.state)


TEXT = engine.format_position(dealt(engine.CUTTHROAT, "6-6 5-5", "5-6 4-1", "3-2 2-1", "1-0 2-0", boneyard="0-0"))


@pytest.mark.parametrize(
    ("before", "after", "fields"),
    [
        (TEXT, "", "begins with tags"),
        ('"cutthroat"', '"chess"', 'no game is called "chess"'),
        (" lead A", " play A", "tiles in laid"),
        (" lead A", " reveal A", "one of deal, lead, play, match_over"),
        (" A B", " A", "the points that B got"),
        (" A B", " A+x B", "docs/reference/positions.md"),
        (" A B", " A  B", "one blank"),
        ("#1 ", "", "the number of a hand"),
        ("turn=A ", "", "turn= while a hand is played"),
        ("turn=A", "turn=E", "one of the seats A, B, C, D"),
        ("turn=A", "turn=AB", "one of the seats A, B, C, D"),
        ("turn=A", "turn=A turn=B", "each once"),
        ("lead=race", "lead=me", "lead= with one of any"),
        ("lead=race", "lead=race hurry", "nothing more here, got hurry"),
        ("<6-6 5-5>", "<6-6 9-9>", "tiles up to 6-6, got 9-9"),
        ("<6-6 5-5>", "<6-6 6-6>", None),
        ("<6-6 5-5>", "<6-6 6-6 6-6>", "6-6 at most 2 times, got 3"),
        ("laid<>", "laid<5-5>", "no tile in laid"),
        ("laid<>", "laid<5-5@1:W>", '"5-5@1:W" with its place, of all but the first tile'),
        ("laid<>", "laid<5-4 4-3>", '"4-3" with its place, of all but the first tile'),
        ("said<>", "said<A/o//3/1>", "redeal_if_doubles_over"),
        ("said<>", "said<A/n//0/fffffffffff>", "tiles of the set"),
        ("lead=race", "lead=race chance=A5", "chance= only after a play"),
        ("lead=race", "lead=race spell=A1/0", "a spell only in a game with effects"),
        ("lead=race", "lead=race owed=1,2", "a number for each seat"),
        ("lead=race", "lead=race out=A", "end= if open or out= is given"),
    ],
)
def test_an_invalid_position_is_rejected_with_the_expected_value(before: str, after: str, fields: str | None) -> None:
    assert before in TEXT
    changed = TEXT.replace(before, after)
    if fields is None:
        engine.parse_position(changed)
        return
    with pytest.raises(engine.EngineError, match=fields):
        engine.parse_position(changed)


def test_rejects_a_text_that_is_too_long() -> None:
    with pytest.raises(engine.EngineError, match="at most 20000 characters"):
        engine.parse_position(TEXT + " " * 20_000)


@given(st.integers(0, 40), st.data())
def test_a_damaged_position_is_rejected_or_playable(seed: int, data: st.DataObject) -> None:
    rng = random.Random(seed)
    table = random_table(rng)
    for _ in range(rng.randrange(1, 30)):
        if not table.is_over:
            table = stepped(table, rng)
    text = engine.format_position(table)
    fields = text.split(" ")
    at = data.draw(st.integers(0, len(fields) - 1))
    other = data.draw(st.sampled_from(fields))
    fields[at : at + data.draw(st.integers(0, 2))] = [other]
    try:
        damaged = engine.parse_position(" ".join(fields))
    except engine.EngineError:
        return
    rng = random.Random(1)
    for _ in range(20):
        if not damaged.is_over and (damaged.awaits_deal or damaged.moves):
            try:
                damaged = stepped(damaged, rng)
            except engine.EngineError:
                return
            assert isinstance(damaged.game, engine.Game)


@pytest.mark.slow
def test_the_random_matches_cover_rare_cases() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        rng = random.Random(seed)
        table = random_table(rng)
        for _ in range(MAX_MOVES):
            text = engine.format_position(table)
            seen.update(word for word in RARE if word in text)
            if table.is_over:
                break
            table = stepped(table, rng)
    assert set(seen) == set(RARE), set(RARE) - set(seen)


RARE = (
    *(" ^", "spell=", " right", " again", " skip", "owed=", "chance="),
    *("out=", "won=", "wins=", "without=", "/k/", "/d/"),
)
