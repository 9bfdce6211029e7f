"""Tests of revealed hands, deals and leaders recognised from the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import engine
from tallybone.session.belief import hand_tiles
from tallybone.session.course import unseen_end
from tallybone.session.inputs import Answer
from tallybone.session.observations import Zones
from tests.tallybone.session.test_referee import between, seen
from tests.tallybone.session.zone_views import ROW_OF, SECOND_NS, Table, back, before
from tests.tallybone.truth_eye import game_of
from vision.reading import Face
from vision.tracking.table_view import Change, ChangeKind

FIRST, NEXT = seen((3, 5), (0, 0)), seen((5, 4), (2, 0))
LEFT = (before(0, 0, (6, 6)), before(0, 1, (1, 0)), before(0, 2, (2, 2)))


def hands(*sizes: int) -> engine.NewHand:
    return engine.NewHand(sizes, 28 - sum(sizes))


def over() -> Table:
    """Return a table where Ben has played his last tile and Ann has three left."""
    table = Table(engine.BONES, hands(4, 1), engine.Lead(engine.Seat(0)), yard=23)
    table.look()
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    assert game_of(table.session).phase is engine.Phase.REVEAL
    return table


def in_force(table: Table, *kinds: type) -> list[Any]:
    """Return the actions of these kinds in force."""
    return [entry.action for entry in engine.entries(table.session.state) if isinstance(entry.action, kinds)]


def reveals(table: Table) -> list[engine.Reveal]:
    return in_force(table, engine.Reveal)


def totals(table: Table) -> tuple[int, ...]:
    return game_of(table.session).totals


def cleared(table: Table) -> Table:
    table.take(*table.tiles, side="bottom top")
    return table


def test_a_hand_is_revealed_once_all_its_tiles_are_open() -> None:
    table = over()
    table.put(*LEFT[:2], before(0, 2, (5, 3), sure=(0.999, 0.75)), side="bottom")
    assert engine.Tile.parse("5-3") not in reveals(table)[-1].tiles  # it is in the layout
    table = over()
    table.put(*LEFT[:2], side="bottom")
    assert reveals(table) == []
    table.put(LEFT[2], side="bottom")
    assert reveals(table) == [
        engine.Reveal(engine.Seat(0), (engine.Tile.parse("6-6"), engine.Tile.parse("1-0"), engine.Tile.parse("2-2")))
    ]
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
    first, second, last = hand_tiles(table.session.state.game, engine.Seat(0), tiles)
    assert [(read.seen, read.tiles[0], read.is_sure) for read in (first, second)] == [
        (LEFT[0], engine.Tile.parse("6-6"), True),
        (LEFT[1], engine.Tile.parse("1-0"), True),
    ]
    assert (last.seen, last.tiles[:2], last.is_sure) == (
        uncertain,
        (engine.Tile.parse("2-2"), engine.Tile.parse("6-2")),
        False,
    )
    assert last.by_share[:2] == pytest.approx((0.6 / 0.98, 0.38 / 0.98), abs=0.03)
    twice = (
        *hand_tiles(table.session.state.game, engine.Seat(0), (LEFT[0], between((6, 6), (5.0, ROW_OF[0]), 4, 90, 0.9))),
    )
    assert twice[1].tiles[0] == engine.Tile.parse("6-4")  # there is one 6-6


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


def test_a_tile_added_later_counts_unless_the_table_is_cleared_or_the_hand_was_entered() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    assert totals(table) == (0, 15)
    log = table.log
    table.take(FIRST, NEXT, side="top")  # clearing the table amends nothing
    table.put(before(0, 3, (6, 4)), side="bottom")
    table.take(LEFT[0], side="bottom")
    table.look()
    assert table.log == log
    table = over()
    table.put(*LEFT, side="bottom")
    table.put(before(0, 3, (6, 4)), side="bottom")
    table.look()
    assert totals(table) == (0, 25)
    assert table.session.state.irregular  # four tiles, where three were expected
    table = over()
    table.feed(engine.Reveal(engine.Seat(0), (engine.Tile.parse("6-6"),)))
    table.put(*LEFT, side="bottom")
    assert len(reveals(table)) == 1  # it was entered by hand
    table = over()
    table.put(before(1, 0, (6, 6)), side="top")  # by the player who should be out
    for _ in range(2):
        table.look()
    assert table.session.is_provisional


def test_a_reread_tile_amends_the_hand_or_is_asked() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    better = before(0, 1, (4, 0))
    table.tiles = tuple(better if tile == LEFT[1] else tile for tile in table.tiles)
    table.wait()
    assert totals(table) == (0, 20) or table.asked == ["what is the score?"]


def test_open_tiles_end_a_blocked_hand() -> None:
    table = Table(engine.DRAW, engine.NewHand(), engine.Lead(engine.Seat(0)))
    for at, pips in enumerate(("6-0", "0-1", "1-6", "6-2", "2-3", "3-6", "6-6", "6-4", "4-5", "5-6")):
        port = None if at == 0 else engine.Spot(engine.NodeId(at + 2), engine.Port.E)
        table.feed(engine.Play(engine.Seat(at % 2), engine.Tile.parse(pips), port, int(pips[0])))
    table.put(before(1, 0, (2, 0)), before(1, 1, (3, 0)), side="top")
    assert engine.HandEnd() not in table.log
    table.look()
    assert engine.HandEnd() in table.log
    assert reveals(table) == [engine.Reveal(engine.Seat(1), (engine.Tile.parse("2-0"), engine.Tile.parse("3-0")))]


def test_open_tiles_during_play_end_the_hand() -> None:
    table = Table(engine.BONES, hands(4, 2), engine.Lead(engine.Seat(0)), yard=22)
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(*LEFT, side="bottom")
    table.look()
    assert reveals(table) == [
        engine.Reveal(engine.Seat(0), (engine.Tile.parse("6-6"), engine.Tile.parse("1-0"), engine.Tile.parse("2-2")))
    ]
    cleared(table)  # Ben never showed his tile
    table.put(seen((6, 4), (1, 1)), side="top")
    table.look()
    assert len(in_force(table, engine.NewHand)) == 2
    assert table.session.is_provisional


def test_play_goes_on_after_tiles_were_shown_by_mistake() -> None:
    table = Table(engine.BONES, hands(4, 2), engine.Lead(engine.Seat(0)), yard=22)
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(*LEFT, side="bottom")
    table.look()
    table.take(*LEFT, side="bottom")
    table.put(seen((4, 1), (4, 0)), side="bottom")
    table.put(seen((1, 6), (6, 0)), side="top")
    assert [str(play.tile) for play in in_force(table, engine.Play)] == ["5-3", "5-4", "4-1", "6-1"]
    assert in_force(table, engine.HandEnd) == []
    assert reveals(table) == []


def test_the_first_tile_of_a_match_implies_the_deal_and_the_leader() -> None:
    table = Table(engine.BONES)
    table.put(FIRST, side="top")
    assert table.log[1:] == (
        engine.NewHand(),
        engine.Lead(engine.Seat(1)),
        engine.Play(engine.Seat(1), engine.Tile.parse("5-3"), None, 3),
    )
    table = Table(engine.BONES, zones=Zones())
    table.put(FIRST, side="top")
    assert [str(play.tile) for play in in_force(table, engine.Play)] == ["5-3"]


@pytest.mark.parametrize("side", ["", "top bottom", "left"])
def test_later_sides_show_who_led_from_an_unclear_side(side: str) -> None:
    for leader in (0, 1):
        table = Table(engine.BONES)
        sides = [side, *(("bottom", "top", "bottom", "top")[1 - leader :][:3])]
        for at, pips in enumerate(((3, 5), (5, 4), (4, 1), (1, 6))):
            table.put(seen(pips, (2.0 * at, 0)), side=sides[at])
        assert [play.seat for play in in_force(table, engine.Play)] == [leader, 1 - leader, leader, 1 - leader]
        assert in_force(table, engine.NewHand, engine.Lead) == [engine.NewHand(), engine.Lead(engine.Seat(leader))]


def test_the_first_tile_on_a_cleared_table_starts_the_next_hand() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    table.put(away := seen((6, 5), (8, 8)), side="top")
    table.take(FIRST, away, side="top")
    assert len(in_force(table, engine.NewHand)) == 1
    cleared(table)
    assert len(in_force(table, engine.NewHand)) == 1
    table.put(seen((6, 4), (1, 1)), side="top")
    assert len(in_force(table, engine.NewHand)) == 2
    assert table.log[-1] == engine.Play(engine.Seat(1), engine.Tile.parse("6-4"), None, 6)


def test_a_tile_during_the_shuffle_implies_no_deal() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    cleared(table)
    shuffled = [back(at, push_px=-1000.0) for at in range(12, 21)]
    table.put(*shuffled, seen((6, 4), (1, 1)), side="top bottom")
    assert len(in_force(table, engine.NewHand)) == 1
    table.take(*table.tiles, side="top")
    table.put(seen((6, 4), (1, 1)), side="top")
    assert len(in_force(table, engine.NewHand)) == 2


def test_a_new_boneyard_implies_the_next_deal() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    cleared(table)
    table.put(*(back(at) for at in range(5)), side="bottom")
    table.look()
    assert len(in_force(table, engine.NewHand)) == 1
    table.put(*(back(at) for at in range(5, 12)), side="bottom")
    assert len(in_force(table, engine.NewHand)) == 2
    assert [event for event in table.announcements if isinstance(event, engine.Irregular | engine.MatchOver)] == []
    table = Table(engine.BONES, hands(2, 1), engine.Lead(engine.Seat(0)))  # its boneyard stays untouched
    table.put(FIRST, side="bottom")
    table.put(NEXT, side="top")
    table.put(LEFT[0], side="bottom")
    table.take(FIRST, NEXT, LEFT[0], side="top")
    table.look()
    assert len(in_force(table, engine.NewHand)) == 1


def test_an_undone_deal_is_not_inferred_again() -> None:
    table = Table(engine.BONES)
    table.put(FIRST, side="")
    assert in_force(table, engine.NewHand) == [engine.NewHand()]
    table.feed(engine.Undo(engine.Seq(1)))
    for _ in range(2):
        table.look()
    assert in_force(table, engine.NewHand) == []
    assert table.asked == ["still on the table: the 5-3. Count it again, or take it off the table?"]
    table.feed(Answer(0))
    assert [str(play.tile) for play in in_force(table, engine.Play)] == ["5-3"]


def test_a_tile_joined_to_the_layout_inside_a_zone_is_a_play() -> None:
    table = Table(engine.BONES, engine.NewHand(), engine.Lead(engine.Seat(0)))
    table.put(seen((3, 5), (10, 22.5), 90), side="bottom")
    table.put(seen((5, 4), (10, 24.6), 90), side="top")
    play = table.log[-1]
    assert isinstance(play, engine.Play)
    assert (play.seat, play.tile) == (1, engine.Tile.parse("5-4"))


def test_a_view_without_its_size_is_an_error() -> None:
    table = Table(engine.BONES, engine.NewHand())
    with pytest.raises(ValueError, match="the view has none"):
        table.feed(replace(table.view(), size_px=None, changes=(Change(ChangeKind.PLACED, FIRST),)))


def test_a_lead_may_be_at_the_place_of_an_earlier_tile() -> None:
    table = Table(engine.BLOCK, engine.NewHand((1, 1), 26), engine.Lead(engine.Seat(0)), yard=0)
    table.put(FIRST, side="bottom")
    table.put(before(1, 0, (6, 6)), side="top")
    assert totals(table) == (12, 0)
    cleared(table)
    table.put(seen((6, 2), (0, 0)), side="bottom")
    assert table.log[-3:] == (
        engine.NewHand(),
        engine.Lead(engine.Seat(0)),
        engine.Play(engine.Seat(0), engine.Tile.parse("6-2"), None, 6),
    )


def test_a_late_removal_on_a_cleared_table_does_not_start_the_next_hand() -> None:
    table = over()
    table.put(*LEFT, side="bottom")
    bare = tuple(tile for tile in table.tiles if tile.face is Face.DOWN)
    table.tiles = bare
    table.look(changes=tuple(Change(ChangeKind.REMOVED, tile) for tile in (FIRST, *LEFT)))
    assert table.log.count(engine.NewHand()) == 0
    table.look(changes=(Change(ChangeKind.REMOVED, NEXT),))
    table.put(seen((6, 5), (0, 0)), side="top")
    assert table.log.count(engine.NewHand()) == 1
    assert [event.tile for event in table.log if isinstance(event, engine.Play)][2:] == [engine.Tile.parse("6-5")]


def test_a_tile_at_an_old_place_after_an_unseen_clearing_starts_the_next_hand() -> None:
    table = Table(engine.BLOCK, engine.NewHand((7, 7), 14), engine.Lead(engine.Seat(0)), yard=0)
    row = [seen(pips, (2.0 * at, 0)) for at, pips in enumerate(((3, 5), (5, 4), (4, 2), (2, 6), (6, 1)))]
    for at, tile in enumerate(row):
        table.put(tile, side=("bottom", "top")[at % 2])
    table.feed(engine.Abandon(), 0.5)
    table.take(*row[1:], side="bottom")
    table.put(seen((6, 2), (4.0, 0)), side="bottom")
    assert table.log.count(engine.NewHand()) == 1


def test_a_hand_ended_by_hand_is_no_guess() -> None:
    for wait_s in (1.0, 4.5):
        table = Table(engine.BONES, hands(4, 3), engine.Lead(engine.Seat(0)), yard=21)
        table.put(FIRST, side="bottom")
        table.feed(engine.Abandon(), wait_s)
        table.look()
        assert in_force(table, engine.Abandon) == [engine.Abandon()]
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


def test_a_draw_entered_by_hand_is_not_counted_twice() -> None:
    table = Table(engine.BONES, hands(2, 1), engine.Lead(engine.Seat(0)), yard=23)
    table.put(FIRST, side="bottom")
    table.feed(engine.Draw(engine.Seat(1), 2))
    table.take(*table.backs(2), side="top")
    assert in_force(table, engine.Draw) == [engine.Draw(engine.Seat(1), 2)]
    table.put(NEXT, side="top")
    table.put(seen((4, 4), (3.5, 0), 90), side="bottom")
    table.put(LEFT[0], side="bottom")
    table.look()
    assert in_force(table, engine.Draw) == [engine.Draw(engine.Seat(1), 2)]
    assert not any(isinstance(event, engine.Insert | engine.Remove) for event in table.log)


def test_estimates_of_unseen_hands_are_never_a_tie() -> None:
    begun = (
        engine.MatchStart(engine.BLOCK, ("Ann", "Ben", "Cleo")),
        engine.NewHand(),
        engine.Lead(engine.Seat(0)),
        engine.Play(engine.Seat(0), engine.Tile.of(6, 6)),
    )
    state = engine.replay([*begun, *(engine.Knock(engine.Seat(at)) for at in (1, 2, 0))])
    assert state.game is not None
    ends = unseen_end(state.game)
    # The 27 unseen tiles have 156 pips, so four tiles have 23 and five have 29. A tie is avoided.
    assert ends == tuple(engine.RevealPips(engine.Seat(at), pips) for at, pips in enumerate((23, 29, 30)))
    after = engine.replay(ends, state).game
    assert after is not None
    assert after.phase is engine.Phase.DEAL


def test_the_same_double_may_lead_two_hands_with_an_unseen_end() -> None:
    table = Table(engine.BLOCK, engine.NewHand((7, 7), 14), engine.Lead(engine.Seat(0)), yard=0)
    table.put(seen((6, 6), (0, 0), 90), side="bottom")
    table.feed(table.view(), 1.0)
    table.tiles = ()
    table.t_ns += 30 * SECOND_NS
    table.look(changes=(Change(ChangeKind.REMOVED, seen((6, 6), (0, 0), 90)),))
    table.put(seen((6, 6), (6, 6), 90), side="top")
    assert table.log.count(engine.NewHand()) == 1
