"""Tests of draws inferred from the boneyard."""

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
    """Return a table where Ann has led the 5-3 and Ben is to move."""
    table = Table(replace(BONES, **rules), NewHand(), Lead(Seat(0)), yard=yard)  # type: ignore[arg-type]
    table.put(FIRST, side="bottom")
    return table


def draws(table: Table) -> list[Draw]:
    return [event for event in table.log if isinstance(event, Draw)]


def test_a_tile_taken_by_a_hand_is_a_draw_of_the_player_to_move() -> None:
    table = playing()
    table.take(*table.backs(1), side="top")
    assert table.log[-1] == Draw(Seat(1))
    table.take(*table.backs(2), side="top")
    assert table.log[-1] == Draw(Seat(1), 2)


def test_without_a_hand_a_tile_must_be_missing_twice() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone)
    assert draws(table) == []
    table.look()
    assert draws(table) == [Draw(Seat(1))]


def test_many_tiles_must_be_missing_twice_even_with_a_hand() -> None:
    table = playing()
    table.take(*table.backs(3), side="top")
    assert draws(table) == []
    table.look()
    assert draws(table) == [Draw(Seat(1), 3)]


def test_a_tile_overlooked_once_is_no_draw() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone)
    table.put(*gone)
    table.look()
    assert draws(table) == []


def test_a_tile_overlooked_during_a_play_is_no_draw_in_the_end() -> None:
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
def test_a_pushed_tile_is_no_draw(push_px: float) -> None:
    table = playing()
    old, pushed = back(6), back(6, push_px)
    for _ in range(2):
        table.tiles = tuple(pushed if tile == old else tile for tile in table.tiles)
        table.look("top", changes=(Change(ChangeKind.MOVED, pushed, old),))
        assert draws(table) == []
        old, pushed = pushed, old
    table.take(old, side="top")
    assert draws(table) == [Draw(Seat(1))]


def test_a_tile_put_back_at_once_undoes_the_draw() -> None:
    table = playing()
    gone = table.backs(2)
    table.take(*gone, side="top")
    table.look()
    table.put(gone[0], side="top")
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    assert (game.hand.boneyard, game.hand.sizes) == (13, (6, 8))
    assert not table.asked


def test_a_tile_put_back_after_a_later_play_raises_a_question() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone, side="top")
    table.put(NEXT, side="top")
    table.put(*gone, side="top")
    assert table.asked == ["the boneyard has 14 tiles again: did Ben put back the drawn tiles?"]
    undone, kept = table.session.questions[0].answers
    assert isinstance(undone.events[0], Remove)
    table.feed(Answer(1))
    assert (table.asked, draws(table)) == ([], [Draw(Seat(1))])
    assert kept.events == ()


def test_a_tile_must_reappear_twice_to_undo_a_draw() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone, side="top")
    table.look()
    table.put(*gone)
    assert table.log[-1] == Draw(Seat(1))
    table.look()
    assert isinstance(table.log[-1], Remove)


def test_a_returned_tile_raises_no_question_after_a_manual_correction() -> None:
    table = playing()
    gone = table.backs(1)
    table.take(*gone, side="top")
    table.feed(Remove(Seq(len(table.log) - 1)))
    table.put(*gone, side="top")
    assert (table.asked, draws(table)) == ([], [Draw(Seat(1))])
    table.take(*gone, side="top")
    assert draws(table) == [Draw(Seat(1)), Draw(Seat(1))]


def test_without_a_hand_an_extra_tile_must_be_seen_twice() -> None:
    table = playing()
    table.put(back(20))
    assert table.asked == []
    table.look()
    assert table.asked == ["the boneyard holds 15 tiles, but should hold 14"]


def test_an_extra_tile_is_reported() -> None:
    table = playing()
    table.put(back(20), side="top")
    assert table.asked == ["the boneyard holds 15 tiles, but should hold 14"]
    table.take(back(20), side="top")
    assert (table.asked, draws(table)) == ([], [])


def test_an_initially_hidden_tile_is_accounted_for() -> None:
    table = playing(yard=13)
    assert draws(table) == []
    table.put(back(20))
    assert (table.asked, draws(table)) == ([], [])
    table.take(*table.backs(1), side="top")
    assert draws(table) == [Draw(Seat(1))]


def test_a_draw_that_uncovers_hidden_tiles_is_recognised() -> None:
    table = playing(yard=12)
    taken, found = table.backs(1)[0], (back(22), back(23))
    table.tiles = (*(tile for tile in table.tiles if tile != taken), *found)
    placed = (Change(ChangeKind.PLACED, tile) for tile in found)
    table.look("top", changes=(Change(ChangeKind.REMOVED, taken), *placed))
    assert (table.asked, draws(table)) == ([], [Draw(Seat(1))])
    table.take(*table.backs(1), side="top")
    assert draws(table) == [Draw(Seat(1)), Draw(Seat(1))]


def test_a_draw_precedes_the_play_seen_at_the_same_time() -> None:
    table = playing()
    (gone,) = table.backs(1)
    table.tiles = (*(tile for tile in table.tiles if tile != gone), NEXT)
    table.look("top", changes=(Change(ChangeKind.REMOVED, gone), Change(ChangeKind.PLACED, NEXT)))
    assert [type(event) for event in table.log[-2:]] == [Draw, Play]


def after_drawing_two(knock: KnockHeard | Press) -> Table:
    """Return a table where Ben has drawn two tiles and knocked, before the reader confirms his draw."""
    table = Table(SUPER, NewHand(), Lead(Seat(0)), yard=20)
    table.put(seen((7, 7), (0, 0), 90), side="bottom")
    table.take(*table.backs(2))
    table.feed(knock, after_s=2.0)
    table.look(after_s=3.0)
    return table


def test_a_knock_waits_for_the_confirmation_of_a_draw() -> None:
    assert after_drawing_two(KnockHeard()).log[-2:] == (Draw(Seat(1), 2), Knock(Seat(1)))


def test_a_draw_confirmed_after_a_pressed_knock_is_inserted_before_it() -> None:
    table = after_drawing_two(Press(Button.KNOCK))
    assert table.log[-1] == Insert(table.log.index(Knock(Seat(1))), Draw(Seat(1), 2))  # type: ignore[arg-type]


def test_a_button_and_the_reader_report_the_same_draw() -> None:
    table = playing()
    table.feed(Press(Button.DRAW))
    table.take(*table.backs(1), side="top")
    assert draws(table) == [Draw(Seat(1))]
    table.take(*table.backs(1), side="top")
    table.feed(Press(Button.DRAW), after_s=1.0)
    assert len(draws(table)) == 2
    table.feed(Press(Button.DRAW))
    assert len(draws(table)) == 3


def test_a_forced_draw_is_confirmed_and_not_counted_twice() -> None:
    assert SUPER.effects is not None
    table = Table(
        replace(SUPER, effects=replace(SUPER.effects, skip_on=SkipOn.NONE)), NewHand(), Lead(Seat(0)), yard=20
    )
    table.put(seen((7, 7), (0, 0), 90), side="bottom")
    table.put(seen((7, 15), (2, 0)), side="top")
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    assert game.hand.course.owed == (1, 0)
    left = game.hand.boneyard
    table.take(*table.backs(1), side="bottom")
    assert table.log[-1] == Draw(Seat(0), 1, forced=True)
    game = table.session.state.game
    assert game is not None
    assert game.hand is not None
    assert game.hand.boneyard == left


def test_in_a_game_without_draws_the_boneyard_is_ignored() -> None:
    table = Table(BLOCK, NewHand(), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.take(*table.backs(2), side="top")
    table.look()
    assert draws(table) == []


def test_clearing_the_table_is_no_draw() -> None:
    table = playing()
    table.put(NEXT, side="top")
    table.take(*table.tiles, side="top")
    table.look()
    assert draws(table) == []


def test_without_zones_face_down_tiles_are_no_boneyard() -> None:
    table = Table(DRAW, NewHand(), Lead(Seat(0)), zones=Zones())
    table.put(FIRST, side="bottom")
    table.take(*table.backs(1), side="top")
    table.look()
    assert draws(table) == []
    assert [event.tile for event in table.log if isinstance(event, Play)] == [Tile.parse("5-3")]


@pytest.mark.parametrize(
    ("pips", "is_taken", "is_of_next_hand"), [((4, 0), False, True), ((6, 3), False, False), ((6, 3), True, True)]
)
def test_a_tile_that_replaces_the_only_one_in_a_gap_starts_the_next_hand(
    pips: tuple[int, int], *, is_taken: bool, is_of_next_hand: bool
) -> None:
    table = playing()
    other = seen(pips, (0, 0))
    table.tiles = (*table.backs(14), other)
    taken = (Change(ChangeKind.REMOVED, FIRST),) if is_taken else ()
    table.look(after_s=60.0, changes=(*taken, Change(ChangeKind.PLACED, other)))
    assert any(isinstance(event, Abandon) for event in table.log) is is_of_next_hand
    assert bool(table.asked) is is_of_next_hand
