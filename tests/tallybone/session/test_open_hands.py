"""Tests of revealed hands, deals and leaders recognised from the table."""

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
    """Return a table where Ben has played his last tile and Ann has three left."""
    table = Table(BONES, hands(4, 1), Lead(Seat(0)), yard=23)
    table.look()
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    assert table.session.state.game is not None
    assert table.session.state.game.phase is Phase.REVEAL
    return table


def reveals(table: Table) -> list[Reveal]:
    return [event for event in table.log if isinstance(event, Reveal)]


def totals(table: Table) -> tuple[int, ...]:
    assert table.session.state.game is not None
    return table.session.state.game.totals


def cleared(table: Table) -> Table:
    table.take(*table.tiles, side="bottom top")
    return table


def test_a_hand_is_revealed_once_all_its_tiles_are_open() -> None:
    table = over()
    table.put(*LEFT[:2], side="bottom")
    assert reveals(table) == []
    table.put(LEFT[2], side="bottom")
    assert reveals(table) == [Reveal(Seat(0), (Tile.parse("6-6"), Tile.parse("1-0"), Tile.parse("2-2")))]
    assert totals(table) == (0, 15)


def test_an_uncertain_tile_raises_a_question() -> None:
    table = over()
    table.put(*LEFT[:2], before(0, 2, (2, 2), sure=(0.999, 0.6)), side="bottom")
    assert reveals(table) == []
    assert table.asked[0].startswith("is this the 2-2, the ")
    table.feed(Answer(0))
    assert [len(reveal.tiles) for reveal in reveals(table)] == [3]
    table.look()
    assert len(reveals(table)) == 1


def test_a_tile_of_the_layout_is_not_offered_for_a_hand() -> None:
    table = over()
    table.put(*LEFT[:2], before(0, 2, (5, 3), sure=(0.999, 0.75)), side="bottom")
    assert "5-3" not in table.asked[0].split(" or ")[0]


def test_an_unexpected_number_of_tiles_raises_a_question() -> None:
    table = over()
    table.put(*LEFT[:2], side="bottom")
    assert table.asked == []
    table.look()
    assert table.asked == ["Ann shows 2 of 3 tiles: is that all of them?"]
    table.feed(Answer(0))
    assert [len(reveal.tiles) for reveal in reveals(table)] == [2]


def test_the_true_answer_confirms_a_complete_hand_only() -> None:
    table = over()
    table.put(*LEFT[:2], side="bottom")
    table.look()
    held = [
        replay((*table.log, Reveal(Seat(0), tuple(Tile.parse(word) for word in tiles.split()))))
        for tiles in ("6-6 1-0", "6-6 1-0 2-2")
    ]
    assert [answer_of(table.session, truth) for truth in held] == [Answer(0, "these are all of Ann's tiles"), None]


def test_a_long_view_counts_as_two_views() -> None:
    table = over()
    table.put(*LEFT[:2], side="bottom")
    assert table.session.seen is not None
    view = replace(table.session.seen, changes=())
    table.feed(view, after_s=1.0)
    assert table.asked == []
    table.feed(view, after_s=1.5)
    assert table.asked == ["Ann shows 2 of 3 tiles: is that all of them?"]


def test_tiles_of_a_player_who_should_be_out_are_reported() -> None:
    table = over()
    table.put(before(1, 0, (6, 6)), side="top")
    assert any(words.startswith("Ben should be out") for words in table.asked)


def test_a_tile_added_later_amends_the_hand() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    assert totals(table) == (0, 15)
    table.put(before(0, 3, (6, 4)), side="bottom")
    table.look()
    assert isinstance(table.log[-1], Amend)
    assert totals(table) == (0, 25)


def test_a_reread_tile_amends_the_hand() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    better = before(0, 1, (4, 0))
    table.tiles = tuple(better if tile == LEFT[1] else tile for tile in table.tiles)
    table.look()
    assert isinstance(table.log[-1], Amend)
    assert totals(table) == (0, 20)


def test_clearing_the_table_does_not_amend_a_hand() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    log = table.log
    table.take(FIRST, NEXT, side="top")
    table.put(before(0, 3, (6, 4)), side="bottom")
    table.take(LEFT[0], side="bottom")
    table.look()
    assert table.log == log


def test_a_hand_entered_by_hand_is_not_revealed_again() -> None:
    table = over()
    table.feed(Reveal(Seat(0), (Tile.parse("6-6"),)))
    table.put(*LEFT, side="bottom")
    assert len(reveals(table)) == 1


def test_open_tiles_end_a_blocked_hand() -> None:
    table = Table(DRAW, NewHand(), Lead(Seat(0)))
    for at, pips in enumerate(("6-0", "0-1", "1-6", "6-2", "2-3", "3-6", "6-6", "6-4", "4-5", "5-6")):
        port = None if at == 0 else Spot(NodeId(at + 2), Port.E)
        table.feed(Play(Seat(at % 2), Tile.parse(pips), port, int(pips[0])))
    table.put(before(1, 0, (2, 0)), before(1, 1, (3, 0)), side="top")
    assert HandEnd() not in table.log
    table.look()
    assert HandEnd() in table.log
    assert reveals(table) == [Reveal(Seat(1), (Tile.parse("2-0"), Tile.parse("3-0")))]


def test_open_tiles_during_play_raise_a_question() -> None:
    table = Table(BONES, hands(4, 2), Lead(Seat(0)), yard=22)
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(*LEFT, side="bottom")
    table.look()
    assert table.asked == ["hands are open: is the hand over?"]
    table.feed(Answer(0))
    assert Domino(Seat(1)) in table.log
    assert reveals(table)


def test_the_question_about_the_end_is_not_repeated() -> None:
    table = Table(BONES, hands(4, 2), Lead(Seat(0)), yard=22)
    table.put(FIRST, side="bottom")
    table.put(*LEFT, side="bottom")
    table.look()
    choices = table.session.questions[0].ambiguity.choices
    assert choices == ("Ben is out", "nobody can play", "no, it goes on")
    table.feed(Answer(2))
    table.look()
    assert table.asked == []
    assert HandEnd() not in table.log


def test_the_first_tile_of_a_match_implies_the_deal_and_the_leader() -> None:
    table = Table(BONES)
    table.put(FIRST, side="top")
    assert table.log[1:] == (NewHand(), Lead(Seat(1)), Play(Seat(1), Tile.parse("5-3"), None, 3))


@pytest.mark.parametrize("side", ["", "top bottom", "left"])
def test_an_unclear_side_raises_a_question_about_the_leader(side: str) -> None:
    table = Table(BONES)
    table.put(FIRST, side=side)
    assert table.asked == ["who leads the 5-3?"]
    table.feed(Answer(1))
    assert table.log[-2:] == (Lead(Seat(1)), Play(Seat(1), Tile.parse("5-3"), None, 3))


def test_without_zones_the_first_tile_implies_no_deal() -> None:
    table = Table(BONES, zones=Zones())
    table.put(FIRST, side="top")
    assert len(table.log) == 1


def next_hand(table: Table) -> list[Event]:
    return [event for event in table.log if isinstance(event, NewHand)]


def test_the_first_tile_on_a_cleared_table_starts_the_next_hand() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    cleared(table)
    assert len(next_hand(table)) == 1
    table.put(seen((6, 4), (1, 1)), side="top")
    assert len(next_hand(table)) == 2
    assert table.log[-1] == Play(Seat(1), Tile.parse("6-4"), None, 6)


def test_a_tile_on_an_uncleared_table_implies_no_deal() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    table.put(seen((6, 5), (8, 8)), side="top")
    table.take(FIRST, side="top")
    assert len(next_hand(table)) == 1


def test_a_tile_during_the_shuffle_implies_no_deal() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    cleared(table)
    shuffled = [back(at, push_px=-1000.0) for at in range(12, 21)]
    table.put(*shuffled, seen((6, 4), (1, 1)), side="top bottom")
    assert len(next_hand(table)) == 1
    table.take(*table.tiles, side="top")
    table.put(seen((6, 4), (1, 1)), side="top")
    assert len(next_hand(table)) == 2


def test_a_new_boneyard_implies_the_next_deal() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    cleared(table)
    table.put(*(back(at) for at in range(5)), side="bottom")
    table.look()
    assert len(next_hand(table)) == 1
    table.put(*(back(at) for at in range(5, 12)), side="bottom")
    assert len(next_hand(table)) == 2
    assert [event for event in table.announcements if isinstance(event, Irregular | MatchOver)] == []


def test_an_untouched_boneyard_implies_no_deal() -> None:
    table = Table(BONES, hands(2, 1), Lead(Seat(0)))
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(LEFT[0], side="bottom")
    table.take(FIRST, NEXT, LEFT[0], side="top")
    table.look()
    assert len(next_hand(table)) == 1


def test_an_undone_deal_is_not_inferred_again() -> None:
    table = Table(BONES)
    table.put(FIRST, side="")
    assert table.log[-1] == NewHand()
    table.feed(Undo(Seq(1)))
    table.look()
    assert (next_hand(table), table.asked) == ([NewHand()], [])


def test_a_tile_joined_to_the_layout_inside_a_zone_is_a_play() -> None:
    table = Table(BONES, NewHand(), Lead(Seat(0)))
    table.put(seen((3, 5), (10, 22.5), 90), side="bottom")
    table.put(seen((5, 4), (10, 24.6), 90), side="top")
    play = table.log[-1]
    assert isinstance(play, Play)
    assert (play.seat, play.tile) == (1, Tile.parse("5-4"))


def test_a_view_without_its_size_is_an_error() -> None:
    table = Table(BONES, NewHand())
    with pytest.raises(ValueError, match="how large"):
        table.feed(replace(table.view(), size_px=None, changes=(Change(ChangeKind.PLACED, FIRST),)))


def test_a_lead_may_be_at_the_place_of_an_earlier_tile() -> None:
    table = Table(BLOCK, NewHand((1, 1), 26), Lead(Seat(0)), yard=0)
    table.put(FIRST, side="bottom")
    table.put(before(1, 0, (6, 6)), side="top")
    assert totals(table) == (12, 0)
    cleared(table)
    table.put(seen((6, 2), (0, 0)), side="bottom")
    assert table.log[-3:] == (NewHand(), Lead(Seat(0)), Play(Seat(0), Tile.parse("6-2"), None, 6))


def test_a_late_removal_on_a_cleared_table_does_not_start_the_next_hand() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    bare = tuple(tile for tile in table.tiles if tile.face is Face.DOWN)
    table.tiles = bare
    table.look(changes=tuple(Change(ChangeKind.REMOVED, tile) for tile in (FIRST, *LEFT)))
    assert table.log.count(NewHand()) == 0
    table.look(changes=(Change(ChangeKind.REMOVED, NEXT),))
    table.put(seen((6, 5), (0, 0)), side="top")
    assert table.log.count(NewHand()) == 1
    assert [event.tile for event in table.log if isinstance(event, Play)][2:] == [Tile.parse("6-5")]


def test_an_unanswered_hand_counts_as_shown() -> None:
    table = over()
    table.put(*LEFT[:2], side="bottom")
    table.look()
    assert table.asked == ["Ann shows 2 of 3 tiles: is that all of them?"]
    table.take(FIRST, NEXT, side="bottom")
    assert reveals(table) == [Reveal(Seat(0), (Tile.parse("6-6"), Tile.parse("1-0")))]
    assert table.session.state.is_provisional


def test_open_tiles_before_clearing_the_table_end_the_hand() -> None:
    table = Table(BONES, hands(4, 3), Lead(Seat(0)), yard=21)
    table.look()
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(*LEFT, side="bottom")
    table.look()
    assert table.asked == ["hands are open: is the hand over?"]
    table.take(FIRST, NEXT, side="bottom")
    assert Domino(Seat(1)) in table.log
    assert totals(table) == (0, 15)
    assert table.session.state.is_provisional


def test_a_tile_at_an_old_place_after_an_unseen_clearing_starts_the_next_hand() -> None:
    table = Table(BLOCK, NewHand((7, 7), 14), Lead(Seat(0)), yard=0)
    row = [seen(pips, (2.0 * at, 0)) for at, pips in enumerate(((3, 5), (5, 4), (4, 2), (2, 6), (6, 1)))]
    for at, tile in enumerate(row):
        table.put(tile, side=("bottom", "top")[at % 2])
    table.feed(Abandon(), 0.5)
    table.take(*row[1:], side="bottom")
    table.put(seen((6, 2), (4.0, 0)), side="bottom")
    assert table.log.count(NewHand()) == 1


def test_a_hand_ended_manually_in_a_gap_is_marked() -> None:
    for wait_s, is_marked in ((1.0, False), (4.5, True)):
        table = Table(BONES, hands(4, 3), Lead(Seat(0)), yard=21)
        table.look()
        table.put(FIRST, side="bottom")
        table.feed(Abandon(), wait_s)
        assert table.session.state.is_provisional is is_marked


def test_later_open_tiles_do_not_amend_a_counted_hand() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    before_it = totals(table)
    table.take(*LEFT, side="bottom")
    for _ in range(2):
        table.put(*(before(0, at, pips) for at, pips in enumerate(((6, 6), (4, 4), (5, 5)))), side="bottom")
        table.look()
    assert totals(table) == before_it


def test_the_same_double_may_lead_two_hands_with_an_unseen_end() -> None:
    table = Table(BLOCK, NewHand((7, 7), 14), Lead(Seat(0)), yard=0)
    table.put(seen((6, 6), (0, 0), 90), side="bottom")
    table.feed(table.view(), 1.0)
    table.tiles = ()
    table.t_ns += 30 * SECOND_NS
    table.look(changes=(Change(ChangeKind.REMOVED, seen((6, 6), (0, 0), 90)),))
    table.put(seen((6, 6), (6, 6), 90), side="top")
    assert table.log.count(NewHand()) == 1


def test_a_draw_entered_by_hand_keeps_its_player() -> None:
    table = Table(BONES, hands(2, 1), Lead(Seat(0)), yard=23)
    table.look()
    table.put(FIRST, side="bottom")
    first = Seq(len(table.log) - 1)
    table.feed(Inferred((first,)))
    table.feed(Draw(Seat(1), 2))
    table.take(*table.backs(2), side="top")
    table.put(NEXT, side="top")
    table.put(seen((4, 4), (3.5, 0), 90), side="bottom")
    table.put(LEFT[0], side="bottom")
    table.look()
    assert [event for event in table.log if isinstance(event, Draw)] == [Draw(Seat(1), 2)]
    assert not any(isinstance(event, Insert | Remove) for event in table.log)
