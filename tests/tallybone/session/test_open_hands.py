"""Tests of revealed hands, deals and leaders recognised from the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine import (
    BLOCK,
    BONES,
    DRAW,
    Abandon,
    Draw,
    HandEnd,
    Insert,
    Irregular,
    Knock,
    Lead,
    MatchOver,
    MatchStart,
    NewHand,
    NodeId,
    Phase,
    Play,
    Port,
    Remove,
    Reveal,
    RevealPips,
    Seat,
    Seq,
    Spot,
    Tile,
    Undo,
    entries,
    replay,
)
from tallybone.session.belief import hand_tiles
from tallybone.session.course import unseen_end
from tallybone.session.inputs import Answer
from tallybone.session.observations import Zones
from tests.tallybone.session.test_referee import between, seen
from tests.tallybone.session.zone_views import ROW_OF, SECOND_NS, Table, back, before
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


def in_force(table: Table, *kinds: type) -> list[Any]:
    """Return the actions of these kinds in force."""
    return [entry.action for entry in entries(table.session.state) if isinstance(entry.action, kinds)]


def reveals(table: Table) -> list[Reveal]:
    return in_force(table, Reveal)


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


def test_totals_are_provisional_if_they_depend_on_an_uncertain_tile() -> None:
    table = over()
    uncertain = between((2, 2), (5.0, ROW_OF[0]), 6, 90, 0.6)
    table.put(*LEFT[:2], uncertain, side="bottom")  # 15 points, or 20 with a 6-2
    table.wait()
    assert [len(reveal.tiles) for reveal in reveals(table)] == [3]
    assert totals(table) == (0, 15)
    assert table.session.is_provisional
    assert table.asked == ["what is the score?"]
    assert table.session.open_question is not None
    twenty = next(at for at, text in enumerate(table.session.open_question.choices) if text.startswith("Ben 20"))
    table.feed(Answer(twenty))
    assert (totals(table), table.session.is_provisional) == ((0, 20), False)


def test_the_most_certain_tile_of_a_hand_is_read_first() -> None:
    table, uncertain = over(), between((2, 2), (5.0, ROW_OF[0]), 6, 90, 0.6)
    assert table.session.state.game is not None
    tiles = (uncertain, LEFT[0], LEFT[1])
    first, second, last = hand_tiles(table.session.state.game, Seat(0), tiles)
    assert [(read.seen, read.tiles[0], read.is_sure) for read in (first, second)] == [
        (LEFT[0], Tile.parse("6-6"), True),
        (LEFT[1], Tile.parse("1-0"), True),
    ]
    assert (last.seen, last.tiles[:2], last.is_sure) == (uncertain, (Tile.parse("2-2"), Tile.parse("6-2")), False)
    assert last.by_share[:2] == pytest.approx((0.6 / 0.98, 0.38 / 0.98), abs=0.03)
    twice = (*hand_tiles(table.session.state.game, Seat(0), (LEFT[0], between((6, 6), (5.0, ROW_OF[0]), 4, 90, 0.9))),)
    assert twice[1].tiles[0] == Tile.parse("6-4")  # there is one 6-6


def test_a_tile_of_the_layout_is_in_no_hand() -> None:
    table = over()
    table.put(*LEFT[:2], before(0, 2, (5, 3), sure=(0.999, 0.75)), side="bottom")
    assert Tile.parse("5-3") not in reveals(table)[-1].tiles


def test_a_hand_with_a_missing_tile_counts_as_shown_after_a_while_and_is_reported() -> None:
    table = over()
    table.put(*LEFT[:2], side="bottom")
    table.look()
    assert reveals(table) == []
    table.wait()
    assert [len(reveal.tiles) for reveal in reveals(table)] == [2]
    assert table.session.state.irregular
    assert totals(table) == (0, 15)
    cleared(table)
    table.put(*(back(at) for at in range(14)), side="bottom top")
    table.put(seen((6, 4), (1, 1)), side="top")
    assert totals(table) == (0, 25)


def test_tiles_of_a_player_who_should_be_out_mark_the_totals() -> None:
    table = over()
    table.put(before(1, 0, (6, 6)), side="top")
    for _ in range(2):
        table.look()
    assert table.session.is_provisional


def test_a_tile_added_later_counts() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    assert totals(table) == (0, 15)
    table.put(before(0, 3, (6, 4)), side="bottom")
    table.look()
    assert totals(table) == (0, 25)
    assert table.session.state.irregular  # four tiles, where three were expected


def test_a_reread_tile_amends_the_hand_or_is_asked() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    better = before(0, 1, (4, 0))
    table.tiles = tuple(better if tile == LEFT[1] else tile for tile in table.tiles)
    table.wait()
    assert totals(table) == (0, 20) or table.asked == ["what is the score?"]


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


def test_open_tiles_during_play_end_the_hand() -> None:
    table = Table(BONES, hands(4, 2), Lead(Seat(0)), yard=22)
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(*LEFT, side="bottom")
    table.look()
    assert reveals(table) == [Reveal(Seat(0), (Tile.parse("6-6"), Tile.parse("1-0"), Tile.parse("2-2")))]
    cleared(table)  # Ben never showed his tile
    table.put(seen((6, 4), (1, 1)), side="top")
    table.look()
    assert len(next_hand(table)) == 2
    assert table.session.is_provisional


def test_play_goes_on_after_tiles_were_shown_by_mistake() -> None:
    table = Table(BONES, hands(4, 2), Lead(Seat(0)), yard=22)
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(*LEFT, side="bottom")
    table.look()
    table.take(*LEFT, side="bottom")
    table.put(seen((4, 1), (4, 0)), side="bottom")
    table.put(seen((1, 6), (6, 0)), side="top")
    assert [str(play.tile) for play in in_force(table, Play)] == ["5-3", "5-4", "4-1", "6-1"]
    assert in_force(table, HandEnd) == []
    assert reveals(table) == []


def test_the_first_tile_of_a_match_implies_the_deal_and_the_leader() -> None:
    table = Table(BONES)
    table.put(FIRST, side="top")
    assert table.log[1:] == (NewHand(), Lead(Seat(1)), Play(Seat(1), Tile.parse("5-3"), None, 3))


@pytest.mark.parametrize("side", ["", "top bottom", "left"])
def test_later_sides_show_who_led_from_an_unclear_side(side: str) -> None:
    for leader in (0, 1):
        table = Table(BONES)
        sides = [side, *(("bottom", "top", "bottom", "top")[1 - leader :][:3])]
        for at, pips in enumerate(((3, 5), (5, 4), (4, 1), (1, 6))):
            table.put(seen(pips, (2.0 * at, 0)), side=sides[at])
        assert [play.seat for play in in_force(table, Play)] == [leader, 1 - leader, leader, 1 - leader]
        assert in_force(table, NewHand, Lead) == [NewHand(), Lead(Seat(leader))]


def test_without_zones_the_first_tile_implies_the_deal() -> None:
    table = Table(BONES, zones=Zones())
    table.put(FIRST, side="top")
    assert [str(play.tile) for play in in_force(table, Play)] == ["5-3"]


def next_hand(table: Table) -> list[NewHand]:
    return in_force(table, NewHand)


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
    assert next_hand(table) == [NewHand()]
    table.feed(Undo(Seq(1)))
    for _ in range(2):
        table.look()
    assert next_hand(table) == []
    assert table.asked == ["still on the table: the 5-3. Count it again, or take it off the table?"]
    table.feed(Answer(0))
    assert [str(play.tile) for play in in_force(table, Play)] == ["5-3"]


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


def test_a_tile_at_an_old_place_after_an_unseen_clearing_starts_the_next_hand() -> None:
    table = Table(BLOCK, NewHand((7, 7), 14), Lead(Seat(0)), yard=0)
    row = [seen(pips, (2.0 * at, 0)) for at, pips in enumerate(((3, 5), (5, 4), (4, 2), (2, 6), (6, 1)))]
    for at, tile in enumerate(row):
        table.put(tile, side=("bottom", "top")[at % 2])
    table.feed(Abandon(), 0.5)
    table.take(*row[1:], side="bottom")
    table.put(seen((6, 2), (4.0, 0)), side="bottom")
    assert table.log.count(NewHand()) == 1


def test_a_hand_ended_by_hand_is_no_guess() -> None:
    for wait_s in (1.0, 4.5):
        table = Table(BONES, hands(4, 3), Lead(Seat(0)), yard=21)
        table.put(FIRST, side="bottom")
        table.feed(Abandon(), wait_s)
        table.look()
        assert in_force(table, Abandon) == [Abandon()]
        assert not table.session.is_provisional


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


def test_a_draw_entered_by_hand_is_not_counted_twice() -> None:
    table = Table(BONES, hands(2, 1), Lead(Seat(0)), yard=23)
    table.put(FIRST, side="bottom")
    table.feed(Draw(Seat(1), 2))
    table.take(*table.backs(2), side="top")
    assert in_force(table, Draw) == [Draw(Seat(1), 2)]
    table.put(NEXT, side="top")
    table.put(seen((4, 4), (3.5, 0), 90), side="bottom")
    table.put(LEFT[0], side="bottom")
    table.look()
    assert in_force(table, Draw) == [Draw(Seat(1), 2)]
    assert not any(isinstance(event, Insert | Remove) for event in table.log)


def test_estimates_of_unseen_hands_are_never_a_tie() -> None:
    begun = (MatchStart(BLOCK, ("Ann", "Ben", "Cleo")), NewHand(), Lead(Seat(0)), Play(Seat(0), Tile.of(6, 6)))
    state = replay([*begun, *(Knock(Seat(at)) for at in (1, 2, 0))])
    assert state.game is not None
    ends = unseen_end(state.game)
    # The 27 unseen tiles have 156 pips, so four tiles have 23 and five have 29. A tie is avoided.
    assert ends == tuple(RevealPips(Seat(at), pips) for at, pips in enumerate((23, 29, 30)))
    after = replay(ends, state).game
    assert after is not None
    assert after.phase is Phase.DEAL
