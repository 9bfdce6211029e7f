"""Whose hand it was: turn order first, the side that it came from as evidence, and doubt is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import BONES, SUPER, Amend, Irregular, ItStands, Lead, NewHand, Play, ProblemKind, Seat, Tile, Undo
from tallybone.session.inputs import Answer, Button, Press
from tallybone.session.referee.belief import log_side
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.zone_views import Table
from vision.reading import SeenTile

FIRST, NEXT, THIRD = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 1), (4, 0))
WHO = "it was Ben's turn, but the 5-4 came from Ann's side: who played it?"


def led() -> Table:
    """Ann has led the 5-3 and Ben is in turn."""
    table = Table(BONES, NewHand(), Lead(Seat(0)))
    table.put(FIRST, came="bottom")
    return table


def seats(table: Table) -> list[int]:
    """Whose the plays are that are in force."""
    game = table.session.state.game
    assert game is not None
    found: dict[int, Play] = {}
    for at, event in enumerate(table.log):
        if isinstance(event, Play):
            found[at] = event
        elif isinstance(event, Amend) and isinstance(event.action, Play):
            found[event.seq] = event.action
    return [found[at].seat for at in sorted(found)]


@pytest.mark.parametrize("came", ["", "top", "top bottom", "left", "bottom left"])
def test_the_player_in_turn_is_believed_unless_a_hand_came_clearly_from_another(came: str) -> None:
    table = led()
    table.put(NEXT, came=came)
    assert (seats(table), table.asked) == ([0, 1], [])


def test_a_hand_from_anothers_side_alone_is_asked_about_and_the_game_goes_on() -> None:
    table = led()
    table.put(NEXT, came="bottom")
    assert (seats(table), table.asked) == ([0, 1], [WHO])
    assert not table.session.questions[0].ambiguity.holds_up
    assert table.session.questions[0].ambiguity.choices == ("Ben played the 5-4", "Ann played the 5-4")


def test_a_play_in_turn_from_its_side_closes_the_question() -> None:
    table = led()
    table.put(NEXT, came="bottom")
    table.put(THIRD, came="bottom")
    assert (seats(table), table.asked) == ([0, 1, 0], [])


def out_of_turn() -> Table:
    table = led()
    table.put(NEXT, came="bottom")
    table.tell(Answer(1))
    return table


def test_a_play_out_of_turn_is_told_in_the_players_words() -> None:
    table = out_of_turn()
    assert seats(table) == [0, 0]
    assert [one.problem.kind for one in table.said if isinstance(one, Irregular)] == [ProblemKind.WRONG_SEAT]
    assert [one.problem.words for one in table.said if isinstance(one, Irregular)] == ["it is Ben's turn, not Ann's"]


def test_a_play_out_of_turn_can_stand() -> None:
    table = out_of_turn()
    table.tell(Press(Button.STANDS))
    assert isinstance(table.log[-1], ItStands)
    table.put(THIRD, came="top")
    assert (seats(table), table.asked) == ([0, 0, 1], [])
    assert not table.session.state.irregular


def test_a_play_out_of_turn_can_be_taken_back() -> None:
    table = out_of_turn()
    table.take(NEXT, came="bottom")
    assert isinstance(table.log[-1], Undo)
    table.put(seen((5, 6), (2, 0)), came="top")
    assert not table.session.state.irregular
    play = table.log[-1]
    assert isinstance(play, Play)
    assert (play.seat, play.tile) == (1, Tile.parse("6-5"))


def test_where_hands_have_always_come_from_their_sides_a_play_out_of_turn_is_said_at_once() -> None:
    table = led()
    places = table.session.places
    table.session = replace(table.session, places=replace(places, around=replace(places.around, came_from_own=200)))
    table.put(NEXT, came="bottom")
    assert seats(table) == [0, 0]
    assert [one.problem.kind for one in table.said if isinstance(one, Irregular)] == [ProblemKind.WRONG_SEAT]


def test_sides_weigh_more_the_more_often_they_were_right() -> None:
    gains = [
        log_side(right, wrong, is_own=True) - log_side(right, wrong, is_own=False)
        for right, wrong in ((0, 5), (0, 0), (50, 0))
    ]
    assert gains == sorted(gains)


def test_two_tiles_at_once_came_by_more_than_one_hand() -> None:
    table = led()
    table.put(NEXT, seen((1, 3), (-2, 0)), came="bottom")
    assert seats(table) == [0, 1, 0]
    assert not any("who laid" in words for words in table.asked)


def test_a_leader_told_by_a_wrong_side_is_asked_about_at_the_next_play() -> None:
    table = Table(BONES, NewHand())
    table.put(FIRST, came="bottom")
    assert seats(table) == [0]
    table.put(NEXT, came="bottom")
    assert table.asked == ["who led the 5-3?"]
    assert table.session.questions[0].ambiguity.holds_up
    table.tell(Answer(1))
    assert (seats(table), table.asked) == ([1, 0], [])
    assert not table.session.state.irregular
    table.put(THIRD, came="top")
    assert seats(table) == [1, 0, 1]


def test_a_leader_said_wrongly_is_asked_about_when_two_hands_say_so() -> None:
    table = Table(BONES, NewHand(), Lead(Seat(0)))
    table.put(FIRST, came="top")
    table.put(NEXT, came="bottom")
    assert table.asked == ["who led the 5-3?"]
    table.tell(Answer(1))
    assert (seats(table), table.asked) == ([1, 0], [])


def test_a_leader_that_the_next_play_bears_out_is_not_asked_about() -> None:
    table = Table(BONES, NewHand())
    table.put(FIRST, came="bottom")
    table.put(NEXT, came="top")
    table.put(THIRD, came="top")
    assert table.asked == ["it was Ann's turn, but the 4-1 came from Ben's side: who played it?"]


@pytest.mark.parametrize(("came", "who"), [("top", 1), ("bottom", 0)])
def test_who_may_play_again_and_who_comes_next_are_told_apart_by_their_sides(came: str, who: int) -> None:
    table = Table(SUPER, NewHand(), Lead(Seat(0)))
    table.put(seen((7, 7), (0, 0), 90), came="bottom")
    table.put(seen((7, 14), (2, 0)), came="top")
    again: SeenTile = seen((14, 3), (4, 0))
    table.put(again, came=came)
    assert seats(table)[-1] == who
    assert not table.session.state.irregular
