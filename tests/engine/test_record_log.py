"""The way back: a match as a record, and what that record plays to."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import (
    ALLFIVES,
    BLOCK,
    BONES,
    CUTTHROAT,
    DRAW,
    FREE,
    SUPER,
    TWOSET,
    Domino,
    Event,
    Game,
    ItStands,
    Knock,
    Lead,
    MatchStart,
    NewHand,
    Phase,
    Play,
    Reveal,
    Rules,
    Seat,
    Seq,
    State,
    Tile,
    replay,
)
from engine.options import with_options
from engine.record_log import record_of
from engine.record_play import PlayedRecord, play_record
from engine.record_text import format_record, parse_record
from tests.engine import test_record_text as written
from tests.engine.wild_match import wild_match


def play(text: str) -> PlayedRecord:
    return play_record(parse_record(text))


GAMES = [
    (BONES, 2),
    (BONES, 3),
    (DRAW, 3),
    (ALLFIVES, 2),
    (BLOCK, 4),
    (SUPER, 3),
    (SUPER, 2),
    (TWOSET, 4),
    (CUTTHROAT, 5),
    (FREE, 1),
    (with_options(BONES, {"policy": "strict"}), 2),
    (with_options(CUTTHROAT, {"policy": "strict", "call_required": "no"}), 4),
    (with_options(ALLFIVES, {"variation": "five_up"}), 2),
    (with_options(BLOCK, {"partners": "yes", "players": "4"}), 4),
    (with_options(SUPER, {"policy": "strict", "mode": "advanced", "target": "200"}), 4),
]


def open_ends(game: Game) -> list[tuple[int, bool, int]]:
    """Where tiles can go; arms of a starter have other names where the record calls them new."""
    return sorted((end.number, end.playable, end.ways) for end in game.layout.ends)


def comes_back(state: State) -> None:
    """The record of a match plays to the same match, and so does the log of that."""
    game = state.game
    assert game is not None
    back = record_of(state)
    text = format_record(back)
    assert parse_record(text) == back
    played = play(text)
    again = replay(played.log).game
    assert again is not None
    assert played.result.totals == game.totals, text
    assert played.result.over == (game.phase is Phase.MATCH_OVER)
    assert (again.totals, again.phase, again.winner) == (game.totals, game.phase, game.winner), text
    assert again.layout.tiles == game.layout.tiles
    assert str(again.count) == str(game.count)
    assert open_ends(again) == open_ends(game), text
    if played.lines:
        assert played.lines[-1].game.totals == game.totals


@pytest.mark.parametrize(("rules", "seats"), GAMES, ids=[f"{rules.name}-{seats}" for rules, seats in GAMES])
@pytest.mark.parametrize("wildness", [0, 0.15, 0.4])
def test_a_match_comes_back_from_its_record(rules: Rules, seats: int, wildness: float) -> None:
    for seed in range(2):
        comes_back(wild_match(rules, seats, random.Random(seed), events=120, wildness=wildness))


def test_a_knock_before_it_is_said_who_leads_does_not_pass_the_lead_on() -> None:
    rules = with_options(SUPER, {"policy": "strict"})
    start = MatchStart(rules, ("Ann", "Ben", "Cleo"))
    comes_back(replay((start, NewHand(), Knock(Seat(2)), Lead(Seat(1)), Play(Seat(1), Tile(0, 0)))))


def test_a_lead_that_was_let_stand_is_let_stand_in_the_record() -> None:
    rules = with_options(SUPER, {"policy": "strict", "target": "200"})
    first: tuple[Event, ...] = (MatchStart(rules, ("Ann", "Ben", "Cleo")), NewHand(), Play(Seat(0), Tile(0, 0)))
    won: tuple[Event, ...] = (*first, Domino(Seat(0)), ItStands(Seq(3)))
    won = (*won, *(Reveal(Seat(at), (Tile(at, 9),) * 9) for at in (1, 2)), NewHand())
    led = (Lead(Seat(0)), ItStands(Seq(len(won))), Play(Seat(0), Tile(7, 7)))
    passed = (Knock(Seat(1)), Lead(Seat(2)), Play(Seat(2), Tile(7, 7)))
    for more, leader in ((led, 0), (passed, 2)):
        state = replay((*won, *more))
        assert state.game is not None
        assert (len(state.game.layout.nodes), state.game.hand_winner) == (1, 0)
        comes_back(state)
        back = format_record(record_of(state))
        assert f"lead={'ABC'[leader]}\n{'ABC'[leader]}: (stands) 7-7" in back


@pytest.mark.parametrize(("seed", "seats", "wildness"), [(140, 3, 0.5), (445, 3, 0.3), (508, 2, 0.3)])
def test_a_tile_on_a_place_of_the_starter_without_a_name_comes_back(seed: int, seats: int, wildness: float) -> None:
    comes_back(wild_match(SUPER, seats, random.Random(seed), events=120, wildness=wildness))


@pytest.mark.slow
@given(seed=st.integers(0, 1_000_000), game=st.sampled_from(GAMES), wildness=st.sampled_from([0.0, 0.1, 0.3]))
@settings(max_examples=150, deadline=None)
def test_any_match_comes_back_from_its_record(seed: int, game: tuple[Rules, int], wildness: float) -> None:
    comes_back(wild_match(*game, random.Random(seed), events=150, wildness=wildness))


def test_the_example_of_cutthroat_is_written_as_it_was_read() -> None:
    played = play(written.CUTTHROAT)
    assert format_record(record_of(replay(played.log))) == (
        '[DGR "1"]\n[Rules "twoset"]\n[Options "cutthroat=yes"]\n[Seats "A:A B:B C:C D:D"]\n'
        "#1 deal=7,7,7,7 yard=28 lead=D\n"
        "D: 2-2  A: 4-2@E  B: 2-0@W  C: 0-6@W =10  D: 4-2'^E =10 xC10\n".replace("A: 4-2@E", "A: 2-4@E")
    )
