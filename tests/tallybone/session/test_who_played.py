"""Tests of finding the player of a tile by turn order and by the side of the hand."""

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
    """Return a table where Ann has led the 5-3 and it is Ben's turn."""
    table = Table(BONES, NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    return table


def seats_of_plays(table: Table) -> list[int]:
    """Return the seats of the effective plays."""
    game = table.session.state.game
    assert game is not None
    found: dict[int, Play] = {}
    for at, event in enumerate(table.log):
        if isinstance(event, Play):
            found[at] = event
        elif isinstance(event, Amend) and isinstance(event.action, Play):
            found[event.seq] = event.action
    return [found[at].seat for at in sorted(found)]


@pytest.mark.parametrize("side", ["", "top", "top bottom", "left", "bottom left"])
def test_the_turn_decides_unless_the_side_clearly_contradicts(side: str) -> None:
    table = led()
    table.put(NEXT, side=side)
    assert (seats_of_plays(table), table.asked) == ([0, 1], [])


def test_a_hand_from_another_side_raises_a_question() -> None:
    table = led()
    table.put(NEXT, side="bottom")
    assert (seats_of_plays(table), table.asked) == ([0, 1], [WHO])
    assert not table.session.questions[0].ambiguity.holds_up
    assert table.session.questions[0].ambiguity.choices == ("Ben played the 5-4", "Ann played the 5-4")


def test_a_consistent_play_closes_the_question() -> None:
    table = led()
    table.put(NEXT, side="bottom")
    table.put(THIRD, side="bottom")
    assert (seats_of_plays(table), table.asked) == ([0, 1, 0], [])


def out_of_turn() -> Table:
    table = led()
    table.put(NEXT, side="bottom")
    table.feed(Answer(1))
    return table


def test_a_play_out_of_turn_is_reported() -> None:
    table = out_of_turn()
    assert seats_of_plays(table) == [0, 0]
    assert [
        announcement.problem.kind for announcement in table.announcements if isinstance(announcement, Irregular)
    ] == [ProblemKind.WRONG_SEAT]
    assert [
        announcement.problem.words for announcement in table.announcements if isinstance(announcement, Irregular)
    ] == ["it is Ben's turn, not Ann's"]


def test_a_play_out_of_turn_can_stand() -> None:
    table = out_of_turn()
    table.feed(Press(Button.STANDS))
    assert isinstance(table.log[-1], ItStands)
    table.put(THIRD, side="top")
    assert (seats_of_plays(table), table.asked) == ([0, 0, 1], [])
    assert not table.session.state.irregular


def test_a_play_out_of_turn_can_be_taken_back() -> None:
    table = out_of_turn()
    table.take(NEXT, side="bottom")
    assert isinstance(table.log[-1], Undo)
    table.put(seen((5, 6), (2, 0)), side="top")
    assert not table.session.state.irregular
    play = table.log[-1]
    assert isinstance(play, Play)
    assert (play.seat, play.tile) == (1, Tile.parse("6-5"))


def test_reliable_sides_report_a_play_out_of_turn_immediately() -> None:
    table = led()
    places = table.session.places
    table.session = replace(table.session, places=replace(places, around=replace(places.around, came_from_own=200)))
    table.put(NEXT, side="bottom")
    assert seats_of_plays(table) == [0, 0]
    assert [
        announcement.problem.kind for announcement in table.announcements if isinstance(announcement, Irregular)
    ] == [ProblemKind.WRONG_SEAT]


def test_the_weight_of_sides_increases_with_their_reliability() -> None:
    gains = [
        log_side(right, wrong, is_own=True) - log_side(right, wrong, is_own=False)
        for right, wrong in ((0, 5), (0, 0), (50, 0))
    ]
    assert gains == sorted(gains)


def test_two_simultaneous_tiles_raise_no_question_about_players() -> None:
    table = led()
    table.put(NEXT, seen((1, 3), (-2, 0)), side="bottom")
    assert seats_of_plays(table) == [0, 1, 0]
    assert not any("who played" in words for words in table.asked)


def test_a_leader_from_a_wrong_side_raises_a_question_at_the_next_play() -> None:
    table = Table(BONES, NewHand())
    table.put(FIRST, side="bottom")
    assert seats_of_plays(table) == [0]
    table.put(NEXT, side="bottom")
    assert table.asked == ["who led the 5-3?"]
    assert table.session.questions[0].ambiguity.holds_up
    table.feed(Answer(1))
    assert (seats_of_plays(table), table.asked) == ([1, 0], [])
    assert not table.session.state.irregular
    table.put(THIRD, side="top")
    assert seats_of_plays(table) == [1, 0, 1]


def test_two_contradicting_sides_question_an_entered_leader() -> None:
    table = Table(BONES, NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="top")
    table.put(NEXT, side="bottom")
    assert table.asked == ["who led the 5-3?"]
    table.feed(Answer(1))
    assert (seats_of_plays(table), table.asked) == ([1, 0], [])


def test_a_leader_confirmed_by_the_next_play_raises_no_question() -> None:
    table = Table(BONES, NewHand())
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(THIRD, side="top")
    assert table.asked == ["it was Ann's turn, but the 4-1 came from Ben's side: who played it?"]


@pytest.mark.parametrize(("side", "seat"), [("top", 1), ("bottom", 0)])
def test_sides_distinguish_a_second_play_from_the_next_turn(side: str, seat: int) -> None:
    table = Table(SUPER, NewHand(), Lead(Seat(0)))
    table.put(seen((7, 7), (0, 0), 90), side="bottom")
    table.put(seen((7, 14), (2, 0)), side="top")
    again: SeenTile = seen((14, 3), (4, 0))
    table.put(again, side=side)
    assert seats_of_plays(table)[-1] == seat
    assert not table.session.state.irregular
