"""Tests of finding the player of a tile by turn order and by the side of the hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from tallybone.session.belief import log_side
from tallybone.session.inputs import Button, Press
from tallybone.session.session import Session
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.zone_views import Table
from vision.reading import SeenTile

FIRST, NEXT, THIRD = seen((3, 5), (0, 0)), seen((5, 4), (2, 0)), seen((4, 1), (4, 0))


def led() -> Table:
    """Return a table where Ann has led the 5-3 and it is Ben's turn."""
    table = Table(engine.BONES, engine.NewHand(), engine.Lead(engine.Seat(0)))
    table.put(FIRST, side="bottom")
    return table


def seats_of_plays(table: Table) -> list[int]:
    """Return the seats of the plays in force."""
    return [entry.action.seat for entry in engine.entries(table.session.state) if isinstance(entry.action, engine.Play)]


def put_in_line(table: Table, sides: str) -> None:
    """Lay one tile after another in a line, from the bottom or the top: "b" or "t"."""
    for at, side in enumerate(sides):
        pips = ((3, 5), (5, 4), (4, 1), (1, 6), (6, 2), (2, 0), (0, 4), (4, 6), (6, 3), (3, 1))[at]
        table.put(seen(pips, (2.0 * at - 6, 0)), side={"b": "bottom", "t": "top"}[side])


@pytest.mark.parametrize("side", ["", "top", "top bottom", "left", "bottom left"])
def test_the_turn_decides_unless_the_side_clearly_contradicts(side: str) -> None:
    table = led()
    table.put(NEXT, side=side)
    assert (seats_of_plays(table), table.asked) == ([0, 1], [])


def test_a_single_hand_from_another_side_changes_nothing() -> None:
    table = led()
    at_once = led()
    at_once.put(NEXT, seen((1, 3), (-2, 0)), side="bottom")
    assert seats_of_plays(at_once) == [0, 1, 0]
    for tile, seats in ((NEXT, [0, 1]), (THIRD, [0, 1, 0])):
        table.put(tile, side="bottom")
        table.look()
        assert (seats_of_plays(table), table.asked) == (seats, [])
        assert not table.session.is_provisional


def test_sides_of_later_hands_show_an_unheard_pass_or_a_play_out_of_turn_or_another_leader() -> None:
    for rules in (engine.BLOCK, engine.BONES):  # in Bones, Ben may not pass, because he can draw
        table = Table(rules, engine.NewHand(), engine.Lead(engine.Seat(0)))
        put_in_line(table, "bbtbtbtb")  # Ben passed after the lead, and nobody heard it
        assert seats_of_plays(table) == [0, 0, 1, 0, 1, 0, 1, 0]
        knocks = [
            entry.action for entry in engine.entries(table.session.state) if isinstance(entry.action, engine.Knock)
        ]
        assert knocks == ([engine.Knock(engine.Seat(1))] if rules is engine.BLOCK else [])
        assert bool(table.session.state.irregular) is (rules is engine.BONES)
    table = Table(engine.BONES, engine.NewHand())
    put_in_line(table, "bbtbtbtb")
    assert seats_of_plays(table) == [1, 0] * 4
    assert (table.asked, table.session.state.irregular) == ([], ())


def out_of_turn() -> Table:
    """Return a table where the players have said that Ann played twice."""
    table = led()
    table.put(NEXT, side="bottom")
    entry = engine.entries(table.session.state)[-1]
    assert isinstance(entry.action, engine.Play)
    table.feed(engine.Amend(entry.seq, replace(entry.action, seat=engine.Seat(0))))
    return table


def test_a_play_out_of_turn_is_reported_and_can_stand() -> None:
    table = out_of_turn()
    assert seats_of_plays(table) == [0, 0]
    assert [
        (announcement.problem.kind, announcement.problem.text)
        for announcement in table.announcements
        if isinstance(announcement, engine.Irregular)
    ] == [(engine.ProblemKind.WRONG_SEAT, "it is Ben's turn, not Ann's")]
    table.feed(Press(Button.STANDS))
    assert isinstance(table.log[-1], engine.ItStands)
    table.put(THIRD, side="top")
    assert (seats_of_plays(table), table.asked) == ([0, 0, 1], [])
    assert not table.session.state.irregular


def test_a_play_out_of_turn_can_be_taken_back() -> None:
    table = out_of_turn()
    table.take(NEXT, side="bottom")
    table.put(seen((5, 6), (2, 0)), side="top")
    assert not table.session.state.irregular
    game = table.session.state.game
    assert game is not None
    assert [str(tile) for tile in game.layout.tiles] == ["5-3", "6-5"]
    assert seats_of_plays(table) == [0, 1]


def test_reliable_sides_report_a_play_out_of_turn() -> None:
    table = led()
    places = replace(table.session.places, own=200)
    table.session = Session.resumed(table.session.state, places, t_ns=table.t_ns, zones=table.session.zones)
    table.look()
    table.put(NEXT, side="bottom")
    assert seats_of_plays(table) == [0, 0]
    assert len(table.session.state.irregular) == 1
    gains = [
        log_side(right, wrong, is_own=True) - log_side(right, wrong, is_own=False)
        for right, wrong in ((0, 5), (0, 0), (50, 0))
    ]
    assert gains == sorted(gains)


@pytest.mark.parametrize(("side", "seat"), [("top", 1), ("bottom", 0)])
def test_sides_distinguish_a_second_play_from_the_next_turn(side: str, seat: int) -> None:
    table = Table(engine.SUPER, engine.NewHand(), engine.Lead(engine.Seat(0)))
    table.put(seen((7, 7), (0, 0), 90), side="bottom")
    table.put(seen((7, 14), (2, 0)), side="top")
    again: SeenTile = seen((14, 3), (4, 0))
    table.put(again, side=side)
    assert seats_of_plays(table)[-1] == seat
    assert not table.session.state.irregular
