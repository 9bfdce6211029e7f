"""Draws that the boneyard tells: once each, by whom, and none where nobody drew."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    BLOCK,
    BONES,
    DRAW,
    SUPER,
    Abandon,
    Draw,
    Insert,
    Knock,
    Lead,
    NewHand,
    Play,
    Remove,
    Seat,
    Seq,
    SkipOn,
    Tile,
)
from tallybone.session.inputs import Answer, Button, KnockHeard, Press
from tallybone.session.zones import Zones
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.zone_views import Table, back
from vision.tracking.table_view import Change, ChangeKind

FIRST = seen((3, 5), (0, 0))
NEXT = seen((5, 4), (2, 0))


def playing(yard: int = 14, **rules: object) -> Table:
    """A hand in which Ann has led the 5-3 and Ben is in turn."""
    table = Table(replace(BONES, **rules), NewHand(), Lead(Seat(0)), yard=yard)  # type: ignore[arg-type]
    table.put(FIRST, came="bottom")
    return table


def draws(table: Table) -> list[Draw]:
    return [event for event in table.log if isinstance(event, Draw)]


def test_a_tile_taken_by_a_hand_was_drawn_by_the_player_in_turn() -> None:
    table = playing()
    table.take(*table.backs(1), came="top")
    assert table.log[-1] == Draw(Seat(1))
    table.take(*table.backs(2), came="top")
    assert table.log[-1] == Draw(Seat(1), 2)


def test_without_a_hand_a_tile_must_be_missed_twice() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone)
    assert draws(table) == []
    table.look()
    assert draws(table) == [Draw(Seat(1))]


def test_many_tiles_must_be_missed_twice_even_with_a_hand() -> None:
    table = playing()
    table.take(*table.backs(3), came="top")
    assert draws(table) == []
    table.look()
    assert draws(table) == [Draw(Seat(1), 3)]


def test_a_back_that_is_overlooked_once_is_no_draw() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone)
    table.put(*gone)
    table.look()
    assert draws(table) == []


def test_a_back_that_is_overlooked_while_a_tile_is_laid_is_no_draw_in_the_end() -> None:
    table = playing()
    (gone,) = table.backs(1)
    table.tiles = (*(tile for tile in table.tiles if tile != gone), NEXT)
    table.look("top", changes=(Change(ChangeKind.REMOVED, gone), Change(ChangeKind.PLACED, NEXT)))
    table.put(gone)
    assert isinstance(table.log[-1], Remove)
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    assert (game.hand.boneyard, game.hand.sizes) == (14, (6, 6))


@pytest.mark.parametrize("push_px", [15.0, -120.0], ids=["within its zone", "out of it"])
def test_a_tile_that_is_pushed_was_not_drawn(push_px: float) -> None:
    table = playing()
    old, pushed = back(6), back(6, push_px)
    for _ in range(2):
        table.tiles = tuple(pushed if tile == old else tile for tile in table.tiles)
        table.look("top", changes=(Change(ChangeKind.MOVED, pushed, old),))
        assert draws(table) == []
        old, pushed = pushed, old
    table.take(old, came="top")
    assert draws(table) == [Draw(Seat(1))]


def test_a_tile_that_is_put_back_at_once_undoes_the_draw() -> None:
    table = playing()
    gone = table.backs(2)
    table.take(*gone, came="top")
    table.look()
    table.put(gone[0], came="top")
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    assert (game.hand.boneyard, game.hand.sizes) == (13, (6, 8))
    assert not table.asked


def test_a_tile_that_is_put_back_after_others_have_played_is_asked_about() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone, came="top")
    table.put(NEXT, came="top")
    table.put(*gone, came="top")
    assert table.asked == ["the boneyard has 14 tiles again: did Ben put back the drawn tiles?"]
    undone, kept = table.session.questions[0].answers
    assert isinstance(undone.events[0], Remove)
    table.tell(Answer(1))
    assert (table.asked, draws(table)) == ([], [Draw(Seat(1))])
    assert kept.events == ()


def test_a_back_that_seems_to_be_there_again_once_takes_no_draw_back() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone, came="top")
    table.look()
    table.put(*gone)
    assert table.log[-1] == Draw(Seat(1))
    table.look()
    assert isinstance(table.log[-1], Remove)


def test_a_draw_that_was_corrected_by_hand_is_not_asked_about_when_the_tile_comes_back() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone, came="top")
    table.tell(Remove(Seq(len(table.log) - 1)))
    table.put(*gone, came="top")
    assert (table.asked, draws(table)) == ([], [Draw(Seat(1))])
    table.take(*gone, came="top")
    assert draws(table) == [Draw(Seat(1)), Draw(Seat(1))]


def test_a_tile_too_many_must_be_seen_twice_without_a_hand() -> None:
    table = playing()
    table.put(back(20))
    assert table.asked == []
    table.look()
    assert table.asked == ["the boneyard holds 15 tiles, but should hold 14"]


def test_more_tiles_than_there_can_be_are_told() -> None:
    table = playing()
    table.put(back(20), came="top")
    assert table.asked == ["the boneyard holds 15 tiles, but should hold 14"]
    table.take(back(20), came="top")
    assert (table.asked, draws(table)) == ([], [])


def test_a_boneyard_of_which_one_tile_is_not_seen_is_counted_from_there() -> None:
    table = playing(yard=13)
    assert draws(table) == []
    table.put(back(20))
    assert (table.asked, draws(table)) == ([], [])
    table.take(*table.backs(1), came="top")
    assert draws(table) == [Draw(Seat(1))]


def test_a_draw_that_brings_overlooked_tiles_to_light_is_told() -> None:
    table = playing(yard=12)
    taken, found = table.backs(1)[0], (back(22), back(23))
    table.tiles = (*(tile for tile in table.tiles if tile != taken), *found)
    placed = (Change(ChangeKind.PLACED, tile) for tile in found)
    table.look("top", changes=(Change(ChangeKind.REMOVED, taken), *placed))
    assert (table.asked, draws(table)) == ([], [Draw(Seat(1))])
    table.take(*table.backs(1), came="top")
    assert draws(table) == [Draw(Seat(1)), Draw(Seat(1))]


def test_a_draw_before_the_tile_of_the_same_look_comes_first() -> None:
    table = playing()
    (gone,) = table.backs(1)
    table.tiles = (*(tile for tile in table.tiles if tile != gone), NEXT)
    table.look("top", changes=(Change(ChangeKind.REMOVED, gone), Change(ChangeKind.PLACED, NEXT)))
    assert [type(event) for event in table.log[-2:]] == [Draw, Play]


def knocked(said: KnockHeard | Press) -> Table:
    """Ben has drawn both tiles that he may draw and knocked, before the eye is sure of what he drew."""
    table = Table(SUPER, NewHand(), Lead(Seat(0)), yard=20)
    table.put(seen((7, 7), (0, 0), 90), came="bottom")
    table.take(*table.backs(2))
    table.tell(said, after_s=2.0)
    table.look(after_s=3.0)
    return table


def test_a_knock_waits_for_the_draw_that_gets_sure_after_it() -> None:
    assert knocked(KnockHeard()).log[-2:] == (Draw(Seat(1), 2), Knock(Seat(1)))


def test_a_draw_that_gets_sure_after_the_button_for_the_knock_is_put_before_it() -> None:
    table = knocked(Press(Button.KNOCK))
    assert table.log[-1] == Insert(table.log.index(Knock(Seat(1))), Draw(Seat(1), 2))  # type: ignore[arg-type]


def test_a_button_and_the_eye_tell_one_draw() -> None:
    table = playing()
    table.tell(Press(Button.DRAW))
    table.take(*table.backs(1), came="top")
    assert draws(table) == [Draw(Seat(1))]
    table.take(*table.backs(1), came="top")
    table.tell(Press(Button.DRAW), after_s=1.0)
    assert len(draws(table)) == 2
    table.tell(Press(Button.DRAW))
    assert len(draws(table)) == 3


def test_a_forced_draw_is_confirmed_and_not_counted_twice() -> None:
    assert SUPER.effects is not None
    table = Table(
        replace(SUPER, effects=replace(SUPER.effects, skip_on=SkipOn.NONE)), NewHand(), Lead(Seat(0)), yard=20
    )
    table.put(seen((7, 7), (0, 0), 90), came="bottom")
    table.put(seen((7, 15), (2, 0)), came="top")
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    assert game.hand.course.owed == (1, 0)
    left = game.hand.boneyard
    table.take(*table.backs(1), came="bottom")
    assert table.log[-1] == Draw(Seat(0), 1, forced=True)
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    assert game.hand.boneyard == left


def test_where_nobody_draws_the_boneyard_tells_nothing() -> None:
    table = Table(BLOCK, NewHand(), Lead(Seat(0)))
    table.put(FIRST, came="bottom")
    table.take(*table.backs(2), came="top")
    table.look()
    assert draws(table) == []


def test_a_table_that_is_cleared_draws_nothing() -> None:
    table = playing()
    table.put(NEXT, came="top")
    table.take(*table.tiles, came="top")
    table.look()
    assert draws(table) == []


def test_without_zones_backs_are_no_boneyard() -> None:
    table = Table(DRAW, NewHand(), Lead(Seat(0)), zones=Zones())
    table.put(FIRST, came="bottom")
    table.take(*table.backs(1), came="top")
    table.look()
    assert draws(table) == []
    assert [event.tile for event in table.log if isinstance(event, Play)] == [Tile.parse("5-3")]


@pytest.mark.parametrize(
    ("pips", "is_taken", "is_of_next_hand"), [((4, 0), False, True), ((6, 3), False, False), ((6, 3), True, True)]
)
def test_a_tile_that_replaces_the_only_one_in_a_gap_is_of_the_next_hand(
    pips: tuple[int, int], *, is_taken: bool, is_of_next_hand: bool
) -> None:
    table = playing()
    other = seen(pips, (0, 0))
    table.tiles = (*table.backs(14), other)
    taken = (Change(ChangeKind.REMOVED, FIRST),) if is_taken else ()
    table.look(after_s=60.0, changes=(*taken, Change(ChangeKind.PLACED, other)))
    assert any(isinstance(event, Abandon) for event in table.log) is is_of_next_hand
    assert bool(table.asked) is is_of_next_hand
