"""Tests of docs/reference/rules.md 2.7: profiles, limits and invalid rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.state.match import State


def test_an_unknown_game_is_rejected_with_a_list_of_games() -> None:
    with pytest.raises(engine.EngineError, match='"chess"; the games are bones'):
        engine.profile("chess")
    problem = engine.problem_with(State(), engine.MatchStart(engine.BONES, ("A", "B", "C", "D", "E")))
    assert problem is not None
    assert problem.weight is engine.Weight.IMPOSSIBLE


def test_the_tiles_bound_the_number_of_players() -> None:
    assert engine.deal_problems(engine.BONES, 5) == ("7 tiles x 5 players need 35 tiles, a double-six set has 28",)
    assert engine.deal_problems(engine.with_options(engine.BONES, "set=9"), 7) == ()
    assert engine.deal_problems(engine.with_options(engine.BONES, "set=9"), 8) == (
        "7 tiles x 8 players need 56 tiles, a double-nine set has 55",
    )
    assert [engine.deal_problems(engine.with_options(engine.BONES, "set=12"), seats) == () for seats in (13, 14)] == [
        True,
        False,
    ]
    two = replace(engine.BONES, copies=2)
    assert two.tiles == 56
    assert engine.deal_problems(two, 9) == ("7 tiles x 9 players need 63 tiles, 2 double-six sets have 56",)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_bones_is_for_two_to_four_players(seats: int) -> None:
    assert engine.deal_problems(engine.BONES, seats) == ()


@pytest.mark.parametrize("seats", [1, 17])
def test_the_number_of_players_is_bounded_by_the_tiles(seats: int) -> None:
    assert engine.deal_problems(engine.BONES, seats)[0] == f"bones is for 2 to 4 players, got {seats}"
    assert (
        engine.deal_problems(replace(engine.BONES, max_pips=9), seats)[0] == f"bones is for 2 to 7 players, got {seats}"
    )


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ("players=1-4", "players, fewest: expected 2 to 16, got 1"),
        ("unit=3 play_divisor=5", "play_divisor: 3 cannot be divided by 5"),
        ("unit=5 play_divisor=2", "play_divisor: 5 cannot be divided by 2"),
    ],
)
def test_rules_that_lose_points_or_lack_an_opponent_are_refused(options: str, fault: str) -> None:
    with pytest.raises(engine.OptionsError) as refused:
        engine.with_options(engine.ALLFIVES, options)
    assert refused.value.faults == (fault,)


def test_all_faults_of_rules_are_reported_at_once() -> None:
    with pytest.raises(engine.EngineError) as refused:
        engine.Rules(
            name="odd",
            max_pips=5,
            copies=0,
            seats_min=0,
            seats_max=-1,
            hand=0,
            unit=0,
            play_divisor=0,
            hand_points=engine.HandPoints(round_to=0, bonus_divisor=0),
            target=0,
        )
    for fault in (
        "rules odd: set: expected 6 to 18, got 5",
        "copies: expected 1 to 2, got 0",
        "players, fewest: expected 2 to 16, got 0",
        "players, most: expected 0 to 16, got -1",
        "hand: expected 1 or more, got 0",
        "unit: expected 1 or more, got 0",
        "play_divisor: expected 1 or more, got 0",
        "round_to: expected 1 or more, got 0",
        "bonus_divisor: expected 1 or more, got 0",
        "target: expected 1 or more, got 0",
    ):
        assert fault in str(refused.value)


@pytest.mark.parametrize(
    ("name", "game"),
    [
        ("bones", "bones"),
        ("Fives", "bones"),
        ("All Fives with the sides first", "bones"),
        ("Block with buying", "draw"),
        ("all-fives", "allfives"),
        ("SNIFF", "allfives"),
        ("Super Dominoes", "super"),
        ("4 man, 2 box", "twoset"),
        ("4 man, 2 box with stealing", "cutthroat"),
    ],
)
def test_a_game_is_found_by_the_names_of_the_rule_book(name: str, game: str) -> None:
    assert engine.profile(name).name == game


@pytest.mark.parametrize("name", ["Five-Up", "Muggins", "All Threes"])
def test_a_variation_is_not_an_alias_of_the_plain_game(name: str) -> None:
    with pytest.raises(engine.EngineError, match="is the game allfives with the option variation=") as refused:
        engine.profile(name)
    assert engine.with_options(engine.ALLFIVES, str(refused.value).rpartition(" ")[2]) != engine.ALLFIVES
