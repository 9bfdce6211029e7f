"""Tests of renaming players and of two players who change places."""

from __future__ import annotations

import random

import pytest

import engine
from engine import BONES, Event, Lead, MatchStart, NewHand, Play, Rename, Rules, Seat, Seq, Swap, Tile, history, replay
from engine.game.closing import name_key
from engine.record.conversion import record_of
from engine.record.play import play_record
from engine.record.text import format_record, parse_record
from engine.rules.options import with_options
from tests.engine.wild_match import wild_match

NAMES = ("Ann", "Ben", "Cleo")
PARTNERS = with_options(engine.BLOCK, {"partners": "yes", "players": "4"})
GAMES = ((BONES, 2), (BONES, 4), (engine.ALLFIVES, 2), (engine.SUPER, 3), (engine.TWOSET, 4), (PARTNERS, 4))


def played(*events: Event, rules: Rules = BONES, names: tuple[str, ...] = NAMES) -> engine.Game:
    game = replay([MatchStart(rules, names), *events]).game
    assert game is not None
    return game


def refusal(event: Event, *events: Event, rules: Rules = BONES, names: tuple[str, ...] = NAMES) -> engine.Problem:
    problem = engine.problem_with(replay([MatchStart(rules, names), *events]), event)
    assert problem is not None
    return problem


def a_hand(winner: int, seats: int = 3) -> tuple[Event, ...]:
    """Return the events of a hand of one play, ended by its player with all others showing 5 pips each."""
    others = (engine.RevealPips(Seat(seat), 5) for seat in range(seats) if seat != winner)
    seat = Seat(winner)
    return (NewHand((1,) * seats), Lead(seat), Play(seat, Tile(5, 5)), *others)


def test_a_rename_keeps_the_score_and_may_happen_at_any_time() -> None:
    begun = (NewHand(), Play(Seat(0), Tile(5, 5)))
    game = played(*begun, Rename(Seat(0), "  Anna "))
    assert game.players == ("Anna", "Ben", "Cleo")
    assert game.totals == played(*begun).totals
    assert game.phase is engine.Phase.PLAY
    assert played(Rename(Seat(2), "Ada")).players[2] == "Ada"
    assert played(Rename(Seat(0), "ANN")).players[0] == "ANN"


@pytest.mark.parametrize(
    ("name", "text"),
    [("", "each player needs a name"), ("  ", "each player needs a name"), ("ben ", "two players have the same name")],
)
def test_a_name_is_needed_and_unique(name: str, text: str) -> None:
    assert refusal(Rename(Seat(0), name)).text == text


def test_players_who_change_places_keep_their_scores_and_leads() -> None:
    rules = with_options(BONES, {"lead_next": "winner_any"})
    before = played(*a_hand(0), rules=rules)
    after = played(*a_hand(0), Swap(Seat(0), Seat(2)), rules=rules)
    assert before.totals[0] > 0
    assert dict(zip(after.players, after.totals, strict=True)) == dict(zip(before.players, before.totals, strict=True))
    assert after.players == ("Cleo", "Ben", "Ann")
    assert after.hand_winner == 2
    dealt = played(*a_hand(0), Swap(Seat(0), Seat(2)), NewHand(), rules=rules)
    assert dealt.hand is not None
    assert dealt.hand.turn == 2
    rules = with_options(BONES, {"lead_next": "left_of_winner"})
    for events in ((Swap(Seat(0), Seat(2)), NewHand()), (NewHand(), Swap(Seat(0), Seat(2)))):
        game = played(*a_hand(0), *events, rules=rules)
        assert game.hand is not None
        assert game.hand.turn == 0, "Ann sits at seat 3, so Cleo at seat 1 is to her left"
        assert game.players[0] == "Cleo"
    game = played(NewHand(), Lead(Seat(1)), Swap(Seat(0), Seat(1)))
    assert game.hand is not None
    assert (game.hand.turn, game.players[0]) == (0, "Ben")


@pytest.mark.parametrize(
    "events", [(NewHand(), Play(Seat(0), Tile(5, 5))), a_hand(0)[:-1]], ids=["in a hand", "before it is counted"]
)
def test_players_change_places_only_between_hands(events: tuple[Event, ...]) -> None:
    text = "players can change places between hands: finish this hand first"
    assert refusal(Swap(Seat(0), Seat(1)), *events).text == text


def test_only_partners_change_places_and_only_before_a_lead_is_passed() -> None:
    assert (
        refusal(Swap(Seat(0), Seat(1)), NewHand(), Lead(Seat(0)), engine.Knock(Seat(0)), rules=engine.SUPER).kind
        == "not_now"
    )
    names = ("Ann", "Ben", "Cleo", "Dan")
    found = refusal(Swap(Seat(0), Seat(1)), rules=PARTNERS, names=names)
    assert found.text == "Ann and Ben are in different teams: only partners can change places"
    assert played(Swap(Seat(0), Seat(2)), rules=PARTNERS, names=names).players == ("Cleo", "Ben", "Ann", "Dan")


@pytest.mark.parametrize("other", [-1, 0, 3])
def test_a_swap_needs_two_players(other: int) -> None:
    assert refusal(Swap(Seat(0), Seat(other))).kind == "no_such_seat"


def test_undo_returns_names_and_places() -> None:
    before = replay([MatchStart(BONES, NAMES), *a_hand(0)])
    for action in (Rename(Seat(0), "Ada"), Swap(Seat(0), Seat(1))):
        state, _ = engine.apply(before, action)
        assert state.game != before.game
        assert engine.apply(state, engine.Undo(Seq(len(before.log))))[0].game == before.game


def points_by_person(state: engine.State) -> dict[str, int] | None:
    """Return the points of each person, added up from the outcomes. None after a redeal, which removes some."""
    assert state.game is not None
    names = list(wild_names(state))
    points = dict.fromkeys(range(len(names)), 0)
    seats = list(range(len(names)))
    for result in history(state):
        for outcome in result.outcomes:
            match outcome:
                case engine.Redealt():
                    return None
                case engine.Scored():
                    points[seats[outcome.seat]] += outcome.points
                case engine.Renamed():
                    names[seats[outcome.seat]] = outcome.after
                case engine.Swapped(seat=one, other=other):
                    seats[one], seats[other] = seats[other], seats[one]
                case _:
                    pass
    return {names[person]: points[person] for person in seats}


def wild_names(state: engine.State) -> tuple[str, ...]:
    start = state.log[0]
    assert isinstance(start, MatchStart)
    return start.players


@pytest.mark.parametrize(("rules", "seats"), GAMES, ids=[f"{rules.name}-{seats}" for rules, seats in GAMES])
def test_points_stay_with_the_person_in_random_matches(rules: Rules, seats: int) -> None:
    swaps = renames = 0
    for seed in range(12):
        state = wild_match(rules, seats, random.Random(seed), events=150, wildness=0.25)
        game = state.game
        assert game is not None
        points = points_by_person(state)
        if points is None:
            continue
        assert list(points.items()) == list(zip(game.players, game.totals, strict=True))
        outcomes = [outcome for result in history(state) for outcome in result.outcomes]
        swaps += sum(isinstance(outcome, engine.Swapped) for outcome in outcomes)
        renames += sum(isinstance(outcome, engine.Renamed) for outcome in outcomes)
    assert swaps
    assert renames


def test_the_last_seats_of_players_follow_all_swaps() -> None:
    state = replay(
        [MatchStart(BONES, NAMES), Swap(Seat(0), Seat(1)), Swap(Seat(1), Seat(2)), engine.Adjust(Seat(0), 5, "")]
    )
    assert engine.last_seats(history(state), 3) == ((2, 0, 1), (0, 2, 1), (0, 1, 2), (0, 1, 2))
    assert state.game is not None
    assert state.game.players == ("Ben", "Cleo", "Ann")


def test_names_and_places_are_written_to_a_record() -> None:
    events = (Rename(Seat(1), "Bob (B)"), *a_hand(0), Swap(Seat(0), Seat(2)), *a_hand(1)[:3])
    state = replay(
        [MatchStart(BONES, NAMES), *events, engine.Reveal(Seat(0), (Tile(1, 2),)), engine.RevealPips(Seat(2), 3)]
    )
    assert not any(
        isinstance(outcome, engine.Irregular) and not outcome.stands
        for one in history(state)
        for outcome in one.outcomes
    )
    text = format_record(record_of(state))
    assert "(name=Bob  B)" in text
    assert "(swap=C)" in text
    again = play_record(parse_record(text)).lines[-1].game
    assert state.game is not None
    assert (again.players, again.totals) == (("Cleo", "Bob  B", "Ann"), state.game.totals)
    state = replay([MatchStart(BONES, NAMES), *a_hand(0), Swap(Seat(0), Seat(2))])
    (hand,) = record_of(state).hands
    assert hand.key("lead") == "A"
    lines = play_record(record_of(state)).lines
    assert [line.problem for line in lines[1:]] == [None] * 5  # the first says that seven tiles should be dealt
    assert lines[-1].game.players == ("Cleo", "Ben", "Ann")


def test_names_differ_by_more_than_case_blanks_and_invisible_characters() -> None:
    with pytest.raises(engine.EngineError, match="two players have the same name"):
        engine.Table.start(BONES, ("Ann Lee", "ann  LEE"))
    assert name_key("Ann") == name_key("A\u200bnn\u202e")
    assert name_key("Ann") != name_key("An\u00f1")
    names = ("\u202eAnn\u202c", "\u2066Bob\u2069")
    state = replay(
        [
            MatchStart(BONES, names),
            NewHand(),
            Rename(Seat(0), "\u200fAda\u202e"),
            engine.Adjust(Seat(0), 5, "\u202ewhy"),
        ]
    )
    text = format_record(record_of(state))
    assert not set(text) & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert '[Seats "A:Ann B:Bob"]' in text
    assert "(name=Ada) (points=5 why)" in text
