"""Tests of tiles that were seen when drawn: what contradicts them is reported and counts nevertheless."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.state.match import Hand
from engine.tiles import bits_of
from tests.engine.table import tiles

A, B = engine.Seat(0), engine.Seat(1)


def problems(game: str, moves: str, options: str = "", seats: str = "A B") -> list[str | None]:
    """Return the problem of each move of a hand that A leads, which count even by the strict policy."""
    tags = f'[DGR "1"]\n[Rules "{game}"]\n[Options "{options}"]\n[Seats "{seats}"]\n'
    played = engine.play_record(engine.parse_record(f"{tags}#1 lead=A\n{moves}\n"), strict=True)
    assert not any("does not count" in (line.problem or "") for line in played.lines)
    return [line.problem for line in played.lines]


@pytest.mark.parametrize(
    ("game", "seats", "moves", "last"),
    [
        ("bones", "A B", "A: 6-6 B: d<6-1> d<2-1>", "B drew on 6, but held 6-1"),
        ("bones", "A B", "A: 6-6 B: d<2-1> d<6-1> 6-1@E A: 1-2@E", "B was seen to draw the 2-1"),
        (
            "bones",
            "A B",
            "A: 6-6 B: d<2-1> d<6-1> 6-1@E A: d<2-1>",
            "the 2-1 cannot have been drawn, it has been seen elsewhere",
        ),
        ("bones", "A B", "A: 6-6 B: d<2-1> d<2-1>", "the 2-1 cannot have been drawn, it has been seen elsewhere"),
        ("super", "A B C", "A: 8-8 B: d2<8-2 3-4> k", "B knocked on 8, but held 8-2"),
        ("super", "A B C", "A: 8-8 B: d2<8-2 3-4> C: 8-1@*", "B knocked on 8, but held 8-2"),
        ("super", "A B C", "A: 8-8 B: 8-13@* C: d2<13-1 5-6> k", "C knocked on 13, but held 13-1"),
        ("super", "A B C", "A: 8-8 B: 8-13@* C: d2<4-4 5-6> k", "C knocked on 13, but held 4-4"),
        ("super", "A B", "A: k B: k A: d<6-6> B: d<3-4>", "A had no double to lead, but held 6-6"),
    ],
)
def test_what_contradicts_a_known_tile_is_reported(game: str, seats: str, moves: str, last: str) -> None:
    *others, found = problems(game, moves, seats=seats)
    assert (others, found) == ([None] * len(others), last)


def test_a_known_tile_follows_its_player_until_it_is_played() -> None:
    moves = "A: 6-5 B: d<0-0> d<5-1> 5-1@E A: 1-2@E B: "
    shown = "H<3-3 4-3 4-2>"
    assert problems("draw", moves + shown, "hand=2")[-1] == "B was seen to draw the 0-0, but does not show it"
    assert problems("draw", moves + "H<0-0 4-3 4-2>", "hand=2")[-1] is None
    moves = "A: 6-6 B: d<2-1> d<6-1> 6-1@E A: 1-2@E B: "
    assert problems("bones", moves + "2-4@E", "copies=2")[-2:] == [None, None]
    assert problems("bones", moves + "2-1@E", "copies=2")[-1] is None, "the copy that was seen"
    assert problems("bones", "A: 6-6 B: d<6-1> 6-1@E A: 1-4@E B: d<2-2> d<4-0>")[-1] is None
    moves = "A: 6-5 B: d<0-0> d<5-1> 5-1@E A: 1-2@E B: h7"
    assert problems("draw", moves, "hand=2")[-1] is None
    tags = '[DGR "1"]\n[Rules "draw"]\n[Options "hand=2"]\n[Seats "A B"]\n#1 lead=A\n'
    log = engine.play_record(engine.parse_record(tags + "A: 6-5 B: d<0-0> d<5-1> 5-1@E A: 1-2@E")).log
    state = engine.replay(log)
    problem = engine.problem_with(state, engine.Reveal(B, tiles("4-3 4-2 3-3")))
    assert problem is not None
    assert problem.kind is engine.ProblemKind.KNOWN_TILE
    assert engine.problem_with(state, engine.RevealPips(B, 5)) is None
    table = before_a_draw()
    drawn = table.after(engine.Draw(B, faces=tiles("2-2")))
    assert hand_of(drawn.state).held == (0, bits_of(tiles("2-2")))
    restored = engine.parse_position(engine.format_position(drawn))
    assert hand_of(restored.state).held == (0, bits_of(tiles("2-2")))
    assert "known=" not in engine.format_position(table)
    super_tags = '[DGR "1"]\n[Rules "super"]\n[Seats "A B"]\n#1 lead=A\n'
    drew = engine.play_record(engine.parse_record(super_tags + "A: k B: k A: d<4-3>"))
    held = [line.game.hand.held for line in drew.lines if line.game.hand is not None]
    assert held == [(0, 0), (0, 0), (bits_of(tiles("4-3")), 0)]


@pytest.mark.parametrize("game", ["draw", "bones"])
def test_drawing_at_will_denies_nothing(game: str) -> None:
    assert problems(game, "A: 6-6 B: d<6-1> d<2-1>", "voluntary_draw=1")[-1] is None


def hand_of(state: engine.State) -> Hand:
    assert state.game is not None
    assert state.game.hand is not None
    return state.game.hand


def before_a_draw() -> engine.Table:
    """Return a table at which B cannot play and the boneyard has two tiles."""
    rules = replace(engine.BONES, hand=2, lead_first=engine.LeadRule.LOT_ANY, seats_max=2, hand_for=())
    hands = (tiles("5-5 0-0"), tiles("1-0 4-4"))
    table = engine.Table.start(rules, ("Ann", "Ben")).deal_these(hands, tiles("5-4 2-2"))
    return table.play_or_raise(engine.Play(A, hands[0][0]))
