"""Tests of draws inferred from the boneyard."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from tallybone.session.inputs import Button, KnockHeard, Press
from tallybone.session.observations import Zones
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.zone_views import ZONES, Table, back
from vision.tracking.table_view import Change, ChangeKind

FIRST = seen((3, 5), (0, 0))
NEXT = seen((5, 4), (2, 0))


def playing(yard: int = 14, **rules: object) -> Table:
    """Return a table where Ann has led the 5-3 and Ben is to move."""
    table = Table(replace(engine.BONES, **rules), engine.NewHand(), engine.Lead(engine.Seat(0)), yard=yard)  # type: ignore[arg-type]
    table.put(FIRST, side="bottom")
    return table


def draws(table: Table) -> list[engine.Draw]:
    """Return the draws in force."""
    return [entry.action for entry in engine.entries(table.session.state) if isinstance(entry.action, engine.Draw)]


def hand_of(table: Table) -> tuple[int, tuple[int, ...]]:
    """Return the size of the boneyard and of the hands."""
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    return game.hand.boneyard, game.hand.sizes


def test_tiles_taken_by_a_hand_are_draws_of_the_player_to_move() -> None:
    table = playing()
    for count, boneyard in ((1, 13), (2, 11), (3, 8)):
        table.take(*table.backs(count), side="top")
        assert draws(table)[-1].seat == 1
        assert hand_of(table) == (boneyard, (6, 21 - boneyard))
    assert not table.session.is_provisional


@pytest.mark.parametrize(("after_s", "is_second"), [(1.9, False), (2.0, True)])
def test_without_a_hand_a_tile_must_be_missing_twice(after_s: float, *, is_second: bool) -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone)
    assert draws(table) == []
    table.look(after_s=after_s)  # an unchanged view counts as a second look after two seconds
    assert draws(table) == [engine.Draw(engine.Seat(1))] * is_second
    table.put(*gone)
    table.look()
    assert draws(table) == []


def test_a_tile_overlooked_during_a_play_is_no_draw_in_the_end() -> None:
    table = playing()
    (gone,) = table.backs(1)
    table.tiles = (*(tile for tile in table.tiles if tile != gone), NEXT)
    table.look("top", changes=(Change(ChangeKind.REMOVED, gone), Change(ChangeKind.PLACED, NEXT)))
    table.put(gone)
    assert hand_of(table) == (14, (6, 6))
    assert not table.session.is_provisional


@pytest.mark.parametrize("push_px", [15.0, -120.0], ids=["within its zone", "out of it"])
def test_a_pushed_tile_is_no_draw(push_px: float) -> None:
    table = playing()
    old, pushed = back(6), back(6, push_px)
    for _ in range(2):
        table.tiles = tuple(pushed if tile == old else tile for tile in table.tiles)
        table.look("top", changes=(Change(ChangeKind.MOVED, pushed, old),))
        assert draws(table) == []
        old, pushed = pushed, old
    table.take(old, side="top")
    assert draws(table) == [engine.Draw(engine.Seat(1))]


@pytest.mark.parametrize("drawn", [1, 2])
@pytest.mark.parametrize("side", ["top", ""])
def test_a_tile_put_back_undoes_the_draw(drawn: int, side: str) -> None:
    table = playing()
    gone = table.backs(drawn)
    table.take(*gone, side="top")
    table.look()
    table.put(gone[0], side=side)
    table.look()
    assert hand_of(table) == (15 - drawn, (6, 6 + drawn))
    assert not table.asked


def test_a_tile_put_back_after_a_later_play_undoes_the_draw() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone, side="top")
    table.put(NEXT, side="top")
    assert hand_of(table) == (13, (6, 7))
    table.put(*gone, side="top")
    assert hand_of(table) == (14, (6, 6))
    assert [type(entry.action) for entry in engine.entries(table.session.state)][-2:] == [engine.Play, engine.Play]


def test_a_returned_tile_changes_nothing_after_a_manual_correction() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone, side="top")
    table.feed(engine.Remove(engine.Seq(len(table.log) - 1)))
    table.put(*gone, side="top")
    assert (table.asked, draws(table)) == ([], [])
    table.take(*gone, side="top")
    assert draws(table) == [engine.Draw(engine.Seat(1))]


def test_totals_are_provisional_while_the_boneyard_has_too_many_tiles() -> None:
    table = playing()
    table.put(back(20), side="top")
    table.look()
    assert table.session.is_provisional
    table.take(back(20), side="top")
    assert (table.session.is_provisional, draws(table)) == (False, [])


def test_an_initially_hidden_tile_is_accounted_for() -> None:
    table = playing(yard=13)
    assert draws(table) == []
    table.put(back(20))
    assert (table.asked, draws(table)) == ([], [])
    table.take(*table.backs(1), side="top")
    assert draws(table) == [engine.Draw(engine.Seat(1))]


def test_a_draw_that_uncovers_hidden_tiles_is_not_determined() -> None:
    table = playing(yard=12)
    taken, found = table.backs(1)[0], (back(22), back(23))
    table.tiles = (*(tile for tile in table.tiles if tile != taken), *found)
    placed = (Change(ChangeKind.PLACED, tile) for tile in found)
    table.look("top", changes=(Change(ChangeKind.REMOVED, taken), *placed))
    table.look()
    assert draws(table) == [engine.Draw(engine.Seat(1))] or table.session.is_provisional
    table.take(*table.backs(1), side="top")
    assert draws(table)[-1:] == [engine.Draw(engine.Seat(1))]


def test_tiles_of_the_boneyard_that_are_detected_late_are_no_doubt() -> None:
    table = playing(yard=12)
    table.put(back(22), back(23), side="top")
    table.wait()
    assert not table.session.is_provisional
    table.take(*table.backs(1), side="top")
    assert draws(table) == [engine.Draw(engine.Seat(1))]
    assert not table.session.is_provisional


def test_a_draw_precedes_the_play_seen_at_the_same_time() -> None:
    table = playing()
    (gone,) = table.backs(1)
    table.tiles = (*(tile for tile in table.tiles if tile != gone), NEXT)
    table.look("top", changes=(Change(ChangeKind.REMOVED, gone), Change(ChangeKind.PLACED, NEXT)))
    assert [type(event) for event in table.log[-2:]] == [engine.Draw, engine.Play]
    assert hand_of(table) == (13, (6, 7))


@pytest.mark.parametrize("knock", [KnockHeard(), Press(Button.KNOCK)])
def test_a_draw_without_a_hand_precedes_the_knock(knock: KnockHeard | Press) -> None:
    table = Table(engine.SUPER, engine.NewHand(), engine.Lead(engine.Seat(0)), yard=20)
    table.put(seen((7, 7), (0, 0), 90), side="bottom")
    table.take(*table.backs(2))
    table.feed(knock, after_s=2.0)
    table.look(after_s=3.0)
    assert [entry.action for entry in engine.entries(table.session.state)][-2:] == [
        engine.Draw(engine.Seat(1), 2),
        engine.Knock(engine.Seat(1)),
    ]


def test_a_button_and_the_reader_report_the_same_draw() -> None:
    table = playing()
    table.feed(Press(Button.DRAW))
    table.take(*table.backs(1), side="top")
    assert draws(table) == [engine.Draw(engine.Seat(1))]
    table.take(*table.backs(1), side="top")
    table.feed(Press(Button.DRAW), after_s=1.0)
    assert len(draws(table)) == 2
    table.feed(Press(Button.DRAW))
    assert len(draws(table)) == 3


def test_a_forced_draw_is_not_counted_twice() -> None:
    assert engine.SUPER.effects is not None
    rules = replace(engine.SUPER, effects=replace(engine.SUPER.effects, skip_on=engine.SkipOn.NONE))
    table = Table(rules, engine.NewHand(), engine.Lead(engine.Seat(0)), yard=20)
    table.put(seen((7, 7), (0, 0), 90), side="bottom")
    table.put(seen((7, 15), (2, 0)), side="top")
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    assert game.hand.course.owed == (1, 0)
    before = hand_of(table)
    table.take(*table.backs(1), side="bottom")
    assert hand_of(table) == before
    table.look()
    assert not table.session.is_provisional
    table.put(seen((15, 3), (4, 0)), side="bottom")
    assert not table.session.state.irregular


@pytest.mark.parametrize(
    ("rules", "zones", "is_cleared"),
    [(engine.BONES, ZONES, True), (engine.BLOCK, ZONES, False), (engine.DRAW, Zones(), False)],
)
def test_clearing_is_no_draw_nor_are_games_without_draws_or_zones(
    rules: engine.Rules, zones: Zones, *, is_cleared: bool
) -> None:
    table = Table(rules, engine.NewHand(), engine.Lead(engine.Seat(0)), zones=zones)
    table.put(FIRST, side="bottom")
    table.take(*(table.tiles if is_cleared else table.backs(2)), side="top")
    table.look()
    assert draws(table) == []
    assert [event.tile for event in table.log if isinstance(event, engine.Play)] == [engine.Tile.parse("5-3")]
