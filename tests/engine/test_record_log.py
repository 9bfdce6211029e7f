"""Tests of writing a match as a record, and of playing that record again."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import engine
from engine import BLOCK, BONES, CUTTHROAT, SUPER, TWOSET, Knock, Lead, MatchStart, NewHand, Play, Seat, Tile, replay
from engine.record.conversion import record_of
from engine.record.play import PlayedRecord, play_record
from engine.record.text import format_record, parse_record
from engine.rules.options import with_options
from tests.engine import test_record_text as written
from tests.engine.wild_match import wild_match


def play(text: str) -> PlayedRecord:
    return play_record(parse_record(text))


GAMES = [
    (BONES, 2),
    (BONES, 3),
    (engine.DRAW, 3),
    (engine.ALLFIVES, 2),
    (BLOCK, 4),
    (SUPER, 3),
    (SUPER, 2),
    (TWOSET, 4),
    (CUTTHROAT, 5),
    (engine.FREE, 1),
    (with_options(BONES, {"policy": "strict"}), 2),
    (with_options(CUTTHROAT, {"policy": "strict", "call_required": "no"}), 4),
    (with_options(TWOSET, {"policy": "strict"}), 4),
    (with_options(CUTTHROAT, {"policy": "strict"}), 4),
    (with_options(engine.ALLFIVES, {"variation": "five_up"}), 2),
    (with_options(BLOCK, {"partners": "yes", "players": "4"}), 4),
    (with_options(SUPER, {"policy": "strict", "mode": "advanced", "target": "200"}), 4),
]


def open_ends(game: engine.Game) -> list[tuple[int, bool, int]]:
    """Return the ends without arm names, because a record may name the arms of a starter differently."""
    return sorted((end.number, end.playable, end.ways) for end in game.layout.ends)


def check_round_trip(state: engine.State) -> None:
    """Check that the record of a match, and the log of that record, replay to the same match."""
    game = state.game
    assert game is not None
    back = record_of(state)
    text = format_record(back)
    assert parse_record(text) == back
    played = play(text)
    again = replay(played.log).game
    assert again is not None
    assert played.result.totals == game.totals, text
    assert played.result.over == (game.phase is engine.Phase.MATCH_OVER)
    assert (again.totals, again.phase, again.winner) == (game.totals, game.phase, game.winner), text
    assert again.layout.tiles == game.layout.tiles
    assert str(again.count) == str(game.count)
    assert open_ends(again) == open_ends(game), text
    if played.lines:
        assert played.lines[-1].game.totals == game.totals


@pytest.mark.parametrize(("rules", "seats"), GAMES, ids=[f"{rules.name}-{seats}" for rules, seats in GAMES])
@pytest.mark.parametrize("wildness", [0, 0.15, pytest.param(0.4, marks=pytest.mark.slow)])
def test_a_match_round_trips_through_its_record(rules: engine.Rules, seats: int, wildness: float) -> None:
    for seed in range(2):
        check_round_trip(wild_match(rules, seats, random.Random(seed), events=120, wildness=wildness))


def test_a_knock_before_the_leader_is_named_does_not_pass_the_lead() -> None:
    rules = with_options(SUPER, {"policy": "strict"})
    start = MatchStart(rules, ("Ann", "Ben", "Cleo"))
    check_round_trip(replay((start, NewHand(), Knock(Seat(2)), Lead(Seat(1)), Play(Seat(1), Tile(0, 0)))))


def test_a_boneyard_count_before_the_leader_is_named_round_trips() -> None:
    start = MatchStart(with_options(TWOSET, {"policy": "strict"}), ("Ann", "Ben", "Cleo", "Dan"))
    begun = (start, NewHand(), engine.Boneyard(0), Lead(Seat(2)), Play(Seat(2), Tile(6, 6)))
    state = replay((*begun, Knock(Seat(3)), Play(Seat(0), Tile(4, 6), engine.Spot(engine.NodeId(4), engine.Port.E))))
    assert state.game is not None
    assert len(state.game.layout.nodes) == 2
    check_round_trip(state)
    assert "#1 deal=7,7,7,7 yard=0 lead=C\nC: 6-6  D: k  A: 6-4@E" in format_record(record_of(state))


def test_an_accepted_lead_is_accepted_in_the_record() -> None:
    rules = with_options(SUPER, {"policy": "strict", "target": "200"})
    first: tuple[engine.Event, ...] = (MatchStart(rules, ("Ann", "Ben", "Cleo")), NewHand(), Play(Seat(0), Tile(0, 0)))
    won: tuple[engine.Event, ...] = (*first, engine.Domino(Seat(0)), engine.ItStands(engine.Seq(3)))
    won = (*won, *(engine.Reveal(Seat(at), (Tile(at, 9),) * 9) for at in (1, 2)), NewHand())
    led = (Lead(Seat(0)), engine.ItStands(engine.Seq(len(won))), Play(Seat(0), Tile(7, 7)))
    passed = (Knock(Seat(1)), Lead(Seat(2)), Play(Seat(2), Tile(7, 7)))
    for more, leader in ((led, 0), (passed, 2)):
        state = replay((*won, *more))
        assert state.game is not None
        assert (len(state.game.layout.nodes), state.game.hand_winner) == (1, 0)
        check_round_trip(state)
        back = format_record(record_of(state))
        assert f"lead={'ABC'[leader]}\n{'ABC'[leader]}: (stands) 7-7" in back


@pytest.mark.parametrize(("seed", "seats", "wildness"), [(140, 3, 0.5), (445, 3, 0.3), (508, 2, 0.3)])
def test_a_tile_on_an_unnamed_port_of_the_starter_round_trips(seed: int, seats: int, wildness: float) -> None:
    check_round_trip(wild_match(SUPER, seats, random.Random(seed), events=120, wildness=wildness))


@pytest.mark.slow
@given(seed=st.integers(0, 1_000_000), game=st.sampled_from(GAMES), wildness=st.sampled_from([0.0, 0.1, 0.3]))
@settings(max_examples=150, deadline=None)
def test_any_match_round_trips_through_its_record(seed: int, game: tuple[engine.Rules, int], wildness: float) -> None:
    check_round_trip(wild_match(*game, random.Random(seed), events=150, wildness=wildness))


def test_forfeited_points_follow_the_acceptance_of_their_tile() -> None:
    moves = "D: 5-5  A: 5-0@E  B: 5-5'@N (stands)  C: 5-1@W  B: =10 (stands)"
    played = play(f'[DGR "1"] [Rules "twoset"] [Options "policy=strict"] [Seats "A B C D"] #1 lead=D {moves}')
    state = replay(played.log)
    assert played.result.totals == (0, 10, 0, 0)
    check_round_trip(state)
    assert format_record(record_of(state)).splitlines()[-1] == (
        "D: 5-5 ~10  A: 5-0@E ~10  B: 5-5'@N (stands) ~10  C: 5-1@W  B: =10 (stands)"
    )


# All kinds of moves and notes at any place. Most are invalid there, and are refused or reported.
_ANNOTATIONS = st.one_of(
    st.sampled_from(
        ["(stands)", "(stands) (stands)", "=10", "=15 (stands)", "~5", "~10", "xA10", "xD10", "k", "k (stands)", "n"]
    ),
    st.sampled_from(["(points=-5 he looked)", "(points=10)", "(t=3.1 c=.99)", "(s=vision) (stands)", "(yard=12)"]),
    st.sampled_from(["d", "d2 (stands)", "d<0-0>", "d!", "u", "u2", "redeal", "redeal (stands)", "(out)", "(end)"]),
)
_TILES = st.sampled_from(
    [
        *("5-5", "5-0@E", "5-5@W", "5-1@E", "0-0@E", "0-5@W", "5-3@W", "5-3@N", "1-4@E", "4-6@E", "3-2@W"),
        *("5-5'@N", "5-5'^E", "5-0'^E", "5-1^W", "6-6@S", "6-1@6-6':N"),
    ]
)
_MOVES = st.tuples(_TILES, st.lists(_ANNOTATIONS, max_size=3)).map(lambda move: " ".join([move[0], *move[1]]))


@given(
    rules=st.sampled_from(["bones", "twoset", "cutthroat", "super"]),
    policy=st.sampled_from(["warn", "strict"]),
    turns=st.lists(st.tuples(st.sampled_from("ABCD"), _MOVES | _ANNOTATIONS), min_size=1, max_size=12),
)
@example("twoset", "strict", [("A", "5-0@E"), ("B", "5-5'@N (stands)"), ("C", "5-1@W"), ("D", "4-6@E")])
@settings(max_examples=80, deadline=None)
def test_a_record_with_any_annotations_round_trips(rules: str, policy: str, turns: list[tuple[str, str]]) -> None:
    moves = " ".join(f"{seat}: {move}" for seat, move in turns)
    text = f'[DGR "1"] [Rules "{rules}"] [Options "policy={policy}"] [Seats "A B C D"] #1 lead=D D: 5-5 {moves}'
    check_round_trip(replay(play(text).log))


def test_the_cutthroat_example_round_trips() -> None:
    played = play(written.CUTTHROAT)
    assert format_record(record_of(replay(played.log))) == (
        '[DGR "1"]\n[Rules "twoset"]\n[Options "cutthroat=yes"]\n[Seats "A:A B:B C:C D:D"]\n'
        "#1 deal=7,7,7,7 yard=28 lead=D\n"
        "D: 2-2  A: 4-2@E  B: 2-0@W  C: 0-6@W =10  D: 4-2'^E =10 xC10\n".replace("A: 4-2@E", "A: 2-4@E")
    )
