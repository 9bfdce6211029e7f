"""Tests of the state for LEDs and displays: turn, questions, problems, points, direction and spell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    BONES,
    Event,
    Inferred,
    Knock,
    Lead,
    MatchStart,
    NewHand,
    Play,
    Port,
    Rules,
    Seat,
    Seq,
    Spot,
    Tile,
    replay,
)
from engine import NodeId as Id
from engine.rules.options import SUPER
from engine.state.match import Course, Spell
from hardware.display.page import DisplayPage, ScoreLine, screens_of
from hardware.leds.lamps import Gain, Mood, TableState
from tallybone.play.game import LiveState
from tallybone.play.parts import gain_of, page_of, table_state
from tallybone.session.feeding import feed
from tallybone.session.session import Session
from tallybone.show.scoreboard import describe_pending
from tests.tallybone.in_question import asked

START = (MatchStart(BONES, ("Ann", "Ben")), NewHand())
LED = (*START, Play(Seat(0), Tile.parse("5-5")))


def session(*events: Event) -> Session:
    return Session(replay(events))


def now(at: Session, *, is_healthy: bool = True) -> LiveState:
    return LiveState(at, (1280, 720), "settled", "recorded", is_healthy)


def state(*events: Event) -> TableState:
    found = table_state(now(session(*events)), None)
    assert found is not None
    return found


def test_without_a_match_there_is_no_state() -> None:
    assert table_state(now(Session()), None) is None
    assert page_of(Session(), "hello") == DisplayPage((), "hello")


def test_the_turn_is_shown_during_a_hand() -> None:
    assert state(*LED) == TableState(2, turn=1, mood=Mood.PLAYING)
    assert state(*LED, Knock(Seat(1))).turn == 0


def test_between_hands_the_mood_is_waiting() -> None:
    assert state(START[0]) == TableState(2, mood=Mood.WAITING)


def test_the_last_mistake_is_shown_at_its_seat_until_the_next_action() -> None:
    wrong = (*LED, Knock(Seat(0)))
    shown = state(*wrong)
    assert (shown.mood, shown.concerns) == (Mood.PROBLEM, 0)
    assert state(*wrong, Play(Seat(1), Tile.parse("5-0"), Spot(Id(2), Port.E))).mood is Mood.PLAYING


def test_a_mistake_without_a_seat_concerns_all() -> None:
    shown = state(START[0], Lead(Seat(1)))
    assert (shown.mood, shown.concerns) == (Mood.PROBLEM, None)


def test_a_camera_without_pictures_concerns_all() -> None:
    shown = table_state(now(session(*LED), is_healthy=False), None)
    assert shown == TableState(2, turn=1, mood=Mood.PROBLEM)


def test_a_question_takes_precedence_over_a_problem() -> None:
    shown = table_state(now(asked(), is_healthy=False), None)
    assert shown is not None
    assert (shown.mood, shown.concerns) == (Mood.ASKING, None)
    assert page_of(asked(), "Ann plays 3-5").message == "What is the score?"


def test_a_small_display_shows_a_question_once() -> None:
    page = page_of(asked(), "Ann plays 5-3")
    screens = screens_of(page, 20, 2, frozenset(map(chr, range(32, 126))))
    assert [row.strip() for screen in screens for row in screen].count("What is the score?") == 1


def test_points_are_a_gain_of_their_player() -> None:
    _, announcements = feed(session(*START), Play(Seat(0), Tile.parse("5-5")))
    assert gain_of(announcements, 7) == Gain(0, 10, 7)
    _, nothing = feed(session(*LED), Knock(Seat(1)))
    assert gain_of(nothing, 7) is None


@pytest.mark.parametrize(("rules", "is_clockwise"), [(BONES, None), (SUPER, True)])
def test_a_direction_is_only_shown_if_it_can_reverse(rules: Rules, is_clockwise: bool | None) -> None:
    shown = state(MatchStart(rules, ("Ann", "Ben", "Cleo")), NewHand(), Lead(Seat(0)))
    assert (shown.is_clockwise, shown.is_spell) == (is_clockwise, False)


def test_a_reversed_direction_and_a_spell_are_shown() -> None:
    at = session(MatchStart(SUPER, ("Ann", "Ben", "Cleo")), NewHand(), Lead(Seat(0)))
    game = at.state.game
    assert game is not None
    assert game.hand is not None
    course = Course(direction=-1, spell=Spell(Seat(0), None))
    cast = replace(game, hand=replace(game.hand, course=course))
    shown = table_state(now(replace(at, state=replace(at.state, game=cast))), None)
    assert shown is not None
    assert (shown.is_clockwise, shown.is_spell) == (False, True)


def test_a_page_has_names_totals_the_turn_and_the_last_event() -> None:
    scores = (ScoreLine("Ann", 10), ScoreLine("Ben", 0, is_turn=True))
    assert page_of(session(*LED), "Ann plays 5-5") == DisplayPage(scores, "Ann plays 5-5")


def test_a_page_marks_provisional_totals() -> None:
    marked = session(*LED, Inferred((Seq(len(LED) - 1),)))
    assert [score.is_provisional for score in page_of(marked, "").scores] == [True, True]


def test_between_hands_a_page_shows_the_pending_action() -> None:
    assert page_of(session(START[0]), "Ann plays 5-5").message == "deal the next hand"
    assert page_of(session(*START), "").message == waits_for_a_lead()


def waits_for_a_lead() -> str:
    game = session(*START).state.game
    assert game is not None
    return describe_pending(game)
