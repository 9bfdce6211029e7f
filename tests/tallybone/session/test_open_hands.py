"""Hands laid open, deals and leaders, told by the table itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    BLOCK,
    BONES,
    DRAW,
    Abandon,
    Amend,
    Domino,
    Draw,
    Event,
    HandEnd,
    Inferred,
    Insert,
    Irregular,
    Lead,
    MatchOver,
    NewHand,
    NodeId,
    Phase,
    Play,
    Port,
    Remove,
    Reveal,
    Seat,
    Seq,
    Spot,
    Tile,
    Undo,
    replay,
)
from tallybone.session.inputs import Answer
from tallybone.session.zones import Zones
from tallybone.simulate.players import answer_of
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.zone_views import SECOND_NS, Table, back, before
from vision.reading import Face
from vision.tracking.table_view import Change, ChangeKind

FIRST, NEXT = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
LEFT = (before(0, 0, (6, 6)), before(0, 1, (1, 0)), before(0, 2, (2, 2)))


def hands(*sizes: int) -> NewHand:
    return NewHand(sizes, 28 - sum(sizes))


def over() -> Table:
    """Ben has played his last tile, Ann has three left."""
    table = Table(BONES, hands(4, 1), Lead(Seat(0)), yard=23)
    table.look()
    table.put(FIRST, came="bottom")
    table.put(NEXT, came="top")
    assert table.session.state.game is not None
    assert table.session.state.game.phase is Phase.REVEAL
    return table


def reveals(table: Table) -> list[Reveal]:
    return [event for event in table.log if isinstance(event, Reveal)]


def totals(table: Table) -> tuple[int, ...]:
    assert table.session.state.game is not None
    return table.session.state.game.totals


def cleared(table: Table) -> Table:
    table.take(*table.tiles, came="bottom top")
    return table


def test_a_hand_is_shown_once_all_of_it_lies_open() -> None:
    table = over()
    table.put(*LEFT[:2], came="bottom")
    assert reveals(table) == []
    table.put(LEFT[2], came="bottom")
    assert reveals(table) == [Reveal(Seat(0), (Tile.parse("6-6"), Tile.parse("1-0"), Tile.parse("2-2")))]
    assert totals(table) == (0, 15)


def test_a_tile_that_is_not_sure_is_asked_about() -> None:
    table = over()
    table.put(*LEFT[:2], before(0, 2, (2, 2), sure=(0.999, 0.6)), came="bottom")
    assert reveals(table) == []
    assert table.asked[0].startswith("is this the 2-2, the ")
    table.tell(Answer(0))
    assert [len(one.tiles) for one in reveals(table)] == [3]
    table.look()
    assert len(reveals(table)) == 1


def test_a_tile_of_the_layout_does_not_lie_open_in_a_hand_as_well() -> None:
    table = over()
    table.put(*LEFT[:2], before(0, 2, (5, 3), sure=(0.999, 0.75)), came="bottom")
    assert "5-3" not in table.asked[0].split(" or ")[0]


def test_another_number_of_tiles_than_the_rules_expect_is_asked_about() -> None:
    table = over()
    table.put(*LEFT[:2], came="bottom")
    assert table.asked == []
    table.look()
    assert table.asked == ["Ann shows 2 of 3 tiles: are these all?"]
    table.tell(Answer(0))
    assert [len(one.tiles) for one in reveals(table)] == [2]


def test_the_players_say_that_these_are_all_where_they_are() -> None:
    table = over()
    table.put(*LEFT[:2], came="bottom")
    table.look()
    held = [
        replay((*table.log, Reveal(Seat(0), tuple(Tile.parse(one) for one in tiles.split()))))
        for tiles in ("6-6 1-0", "6-6 1-0 2-2")
    ]
    assert [answer_of(table.session, truth) for truth in held] == [Answer(0, "these are all of Ann's tiles"), None]


def test_what_lies_there_for_long_is_as_sure_as_seen_twice() -> None:
    table = over()
    table.put(*LEFT[:2], came="bottom")
    assert table.session.seen is not None
    view = replace(table.session.seen, changes=())
    table.tell(view, after_s=1.0)
    assert table.asked == []
    table.tell(view, after_s=1.5)
    assert table.asked == ["Ann shows 2 of 3 tiles: are these all?"]


def test_tiles_before_who_should_be_out_are_told() -> None:
    table = over()
    table.put(before(1, 0, (6, 6)), came="top")
    assert any(words.startswith("Ben should be out") for words in table.asked)


def test_a_tile_that_is_added_later_puts_the_hand_right() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    assert totals(table) == (0, 15)
    table.put(before(0, 3, (6, 4)), came="bottom")
    table.look()
    assert isinstance(table.log[-1], Amend)
    assert totals(table) == (0, 25)


def test_a_tile_that_is_reread_puts_the_hand_right() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    better = before(0, 1, (4, 0))
    table.tiles = tuple(better if tile == LEFT[1] else tile for tile in table.tiles)
    table.look()
    assert isinstance(table.log[-1], Amend)
    assert totals(table) == (0, 20)


def test_what_is_seen_while_the_table_is_cleared_changes_no_hand() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    log = table.log
    table.take(FIRST, NEXT, came="top")
    table.put(before(0, 3, (6, 4)), came="bottom")
    table.take(LEFT[0], came="bottom")
    table.look()
    assert table.log == log


def test_a_hand_that_was_said_by_hand_is_not_said_again() -> None:
    table = over()
    table.tell(Reveal(Seat(0), (Tile.parse("6-6"),)))
    table.put(*LEFT, came="bottom")
    assert len(reveals(table)) == 1


def test_open_hands_where_nobody_can_play_end_the_hand() -> None:
    table = Table(DRAW, NewHand(), Lead(Seat(0)))
    for at, pips in enumerate(("6-0", "0-1", "1-6", "6-2", "2-3", "3-6", "6-6", "6-4", "4-5", "5-6")):
        port = None if at == 0 else Spot(NodeId(at + 2), Port.E)
        table.tell(Play(Seat(at % 2), Tile.parse(pips), port, int(pips[0])))
    table.put(before(1, 0, (2, 0)), before(1, 1, (3, 0)), came="top")
    assert HandEnd() not in table.log
    table.look()
    assert HandEnd() in table.log
    assert reveals(table) == [Reveal(Seat(1), (Tile.parse("2-0"), Tile.parse("3-0")))]


def test_open_hands_in_play_are_asked_about() -> None:
    table = Table(BONES, hands(4, 2), Lead(Seat(0)), yard=22)
    table.put(FIRST, came="bottom")
    table.put(NEXT, came="top")
    table.put(*LEFT, came="bottom")
    table.look()
    assert table.asked == ["hands are open: is the hand over?"]
    table.tell(Answer(0))
    assert Domino(Seat(1)) in table.log
    assert reveals(table)


def test_a_hand_that_goes_on_is_not_asked_about_again() -> None:
    table = Table(BONES, hands(4, 2), Lead(Seat(0)), yard=22)
    table.put(FIRST, came="bottom")
    table.put(*LEFT, came="bottom")
    table.look()
    choices = table.session.questions[0].ambiguity.choices
    assert choices == ("Ben is out", "nobody can play", "no, it goes on")
    table.tell(Answer(2))
    table.look()
    assert table.asked == []
    assert HandEnd() not in table.log


def test_the_first_tile_of_a_match_deals_and_leads_by_its_side() -> None:
    table = Table(BONES)
    table.put(FIRST, came="top")
    assert table.log[1:] == (NewHand(), Lead(Seat(1)), Play(Seat(1), Tile.parse("5-3"), None, 3))


@pytest.mark.parametrize("came", ["", "top bottom", "left"])
def test_who_leads_is_asked_where_no_side_tells(came: str) -> None:
    table = Table(BONES)
    table.put(FIRST, came=came)
    assert table.asked == ["who leads the 5-3?"]
    table.tell(Answer(1))
    assert table.log[-2:] == (Lead(Seat(1)), Play(Seat(1), Tile.parse("5-3"), None, 3))


def test_without_zones_the_first_tile_deals_nothing() -> None:
    table = Table(BONES, zones=Zones())
    table.put(FIRST, came="top")
    assert len(table.log) == 1


def next_hand(table: Table) -> list[Event]:
    return [event for event in table.log if isinstance(event, NewHand)]


def test_the_first_tile_on_a_cleared_table_is_of_the_next_hand() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    cleared(table)
    assert len(next_hand(table)) == 1
    table.put(seen((6, 4), (1, 1)), came="top")
    assert len(next_hand(table)) == 2
    assert table.log[-1] == Play(Seat(1), Tile.parse("6-4"), None, 6)


def test_a_tile_on_a_table_that_was_not_cleared_deals_nothing() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    table.put(seen((6, 5), (8, 8)), came="top")
    table.take(FIRST, came="top")
    assert len(next_hand(table)) == 1


def test_a_tile_among_shuffled_ones_deals_nothing() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    cleared(table)
    shuffled = [back(at, push_px=-1000.0) for at in range(12, 21)]
    table.put(*shuffled, seen((6, 4), (1, 1)), came="top bottom")
    assert len(next_hand(table)) == 1
    table.take(*table.tiles, came="top")
    table.put(seen((6, 4), (1, 1)), came="top")
    assert len(next_hand(table)) == 2


def test_a_boneyard_laid_out_again_deals_the_next_hand() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    cleared(table)
    table.put(*(back(at) for at in range(5)), came="bottom")
    table.look()
    assert len(next_hand(table)) == 1
    table.put(*(back(at) for at in range(5, 12)), came="bottom")
    assert len(next_hand(table)) == 2
    assert [event for event in table.said if isinstance(event, Irregular | MatchOver)] == []


def test_a_boneyard_that_nobody_touched_deals_nothing() -> None:
    table = Table(BONES, hands(2, 1), Lead(Seat(0)))
    table.put(FIRST, came="bottom")
    table.put(NEXT, came="top")
    table.put(LEFT[0], came="bottom")
    table.take(FIRST, NEXT, LEFT[0], came="top")
    table.look()
    assert len(next_hand(table)) == 1


def test_a_deal_that_was_taken_back_is_not_told_again() -> None:
    table = Table(BONES)
    table.put(FIRST, came="")
    assert table.log[-1] == NewHand()
    table.tell(Undo(Seq(1)))
    table.look()
    assert (next_hand(table), table.asked) == ([NewHand()], [])


def test_a_tile_that_joins_the_layout_in_a_zone_is_played() -> None:
    table = Table(BONES, NewHand(), Lead(Seat(0)))
    table.put(seen((3, 5), (10, 22.5), 90), came="bottom")
    table.put(seen((5, 4), (10, 24.6), 90), came="top")
    play = table.log[-1]
    assert isinstance(play, Play)
    assert (play.seat, play.tile) == (1, Tile.parse("5-4"))


def test_a_view_without_its_size_cannot_be_split() -> None:
    table = Table(BONES, NewHand())
    with pytest.raises(ValueError, match="how large"):
        table.tell(replace(table.view(), size_px=None, changes=(Change(ChangeKind.PLACED, FIRST),)))


def test_the_first_tile_of_a_hand_without_a_boneyard_may_lie_where_one_lay_before() -> None:
    table = Table(BLOCK, NewHand((1, 1), 26), Lead(Seat(0)), yard=0)
    table.put(FIRST, came="bottom")
    table.put(before(1, 0, (6, 6)), came="top")
    assert totals(table) == (12, 0)
    cleared(table)
    table.put(seen((6, 2), (0, 0)), came="bottom")
    assert table.log[-3:] == (NewHand(), Lead(Seat(0)), Play(Seat(0), Tile.parse("6-2"), None, 6))


def test_a_tile_that_is_missed_late_on_a_cleared_table_is_not_of_the_next_hand() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    bare = tuple(tile for tile in table.tiles if tile.face is Face.DOWN)
    table.tiles = bare
    table.look(changes=tuple(Change(ChangeKind.REMOVED, tile) for tile in (FIRST, *LEFT)))
    assert table.log.count(NewHand()) == 0
    table.look(changes=(Change(ChangeKind.REMOVED, NEXT),))
    table.put(seen((6, 5), (0, 0)), came="top")
    assert table.log.count(NewHand()) == 1
    assert [event.tile for event in table.log if isinstance(event, Play)][2:] == [Tile.parse("6-5")]


def test_a_hand_that_nobody_has_answered_for_counts_as_it_was_shown() -> None:
    table = over()
    table.put(*LEFT[:2], came="bottom")
    table.look()
    assert table.asked == ["Ann shows 2 of 3 tiles: are these all?"]
    table.take(FIRST, NEXT, came="bottom")
    assert reveals(table) == [Reveal(Seat(0), (Tile.parse("6-6"), Tile.parse("1-0")))]
    assert table.session.state.is_provisional


def test_tiles_that_were_laid_open_before_the_table_was_cleared_end_the_hand() -> None:
    table = Table(BONES, hands(4, 3), Lead(Seat(0)), yard=21)
    table.look()
    table.put(FIRST, came="bottom")
    table.put(NEXT, came="top")
    table.put(*LEFT, came="bottom")
    table.look()
    assert table.asked == ["hands are open: is the hand over?"]
    table.take(FIRST, NEXT, came="bottom")
    assert Domino(Seat(1)) in table.log
    assert totals(table) == (0, 15)
    assert table.session.state.is_provisional


def test_a_tile_where_another_lay_before_the_table_was_swept_unseen_is_of_the_next_hand() -> None:
    table = Table(BLOCK, NewHand((7, 7), 14), Lead(Seat(0)), yard=0)
    row = [seen(pips, (2.0 * at, 0)) for at, pips in enumerate(((3, 5), (5, 4), (4, 2), (2, 6), (6, 1)))]
    for at, tile in enumerate(row):
        table.put(tile, came=("bottom", "top")[at % 2])
    table.tell(Abandon(), 0.5)
    table.take(*row[1:], came="bottom")
    table.put(seen((6, 2), (4.0, 0)), came="bottom")
    assert table.log.count(NewHand()) == 1


def test_a_hand_that_is_ended_by_hand_while_nobody_sees_the_table_is_marked() -> None:
    for wait_s, is_marked in ((1.0, False), (4.5, True)):
        table = Table(BONES, hands(4, 3), Lead(Seat(0)), yard=21)
        table.look()
        table.put(FIRST, came="bottom")
        table.tell(Abandon(), wait_s)
        assert table.session.state.is_provisional is is_marked


def test_other_tiles_that_lie_open_later_do_not_amend_a_hand_that_was_counted() -> None:
    table = over()
    table.put(*LEFT, came="bottom")
    before_it = totals(table)
    table.take(*LEFT, came="bottom")
    for _ in range(2):
        table.put(*(before(0, at, pips) for at, pips in enumerate(((6, 6), (4, 4), (5, 5)))), came="bottom")
        table.look()
    assert totals(table) == before_it


def test_the_same_double_may_lead_two_hands_of_which_nobody_saw_the_end() -> None:
    table = Table(BLOCK, NewHand((7, 7), 14), Lead(Seat(0)), yard=0)
    table.put(seen((6, 6), (0, 0), 90), came="bottom")
    table.tell(table.view(), 1.0)
    table.tiles = ()
    table.t_ns += 30 * SECOND_NS
    table.look(changes=(Change(ChangeKind.REMOVED, seen((6, 6), (0, 0), 90)),))
    table.put(seen((6, 6), (6, 6), 90), came="top")
    assert table.log.count(NewHand()) == 1


def test_a_draw_that_was_entered_by_hand_stays_with_its_player() -> None:
    table = Table(BONES, hands(2, 1), Lead(Seat(0)), yard=23)
    table.look()
    table.put(FIRST, came="bottom")
    first = Seq(len(table.log) - 1)
    table.tell(Inferred((first,)))
    table.tell(Draw(Seat(1), 2))
    table.take(*table.backs(2), came="top")
    table.put(NEXT, came="top")
    table.put(seen((4, 4), (3.5, 0), 90), came="bottom")
    table.put(LEFT[0], came="bottom")
    table.look()
    assert [event for event in table.log if isinstance(event, Draw)] == [Draw(Seat(1), 2)]
    assert not any(isinstance(event, Insert | Remove) for event in table.log)
