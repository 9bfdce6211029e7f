"""Tests of stacking in the two-set game: the cutthroat rules of docs/reference/rules.md 3.6."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from tests.engine.table import Table, kinds, out_of, text, tiles

A, B, C, D = engine.Seat(0), engine.Seat(1), engine.Seat(2), engine.Seat(3)
FOUR = ("Ann", "Bob", "Cay", "Dot")
STRICT = replace(engine.CUTTHROAT, lead_first=engine.LeadRule.LOT_ANY, policy=engine.Policy.STRICT)
TEXT = ("2-2", "2-4@E", "2-0@W", "0-6@W")


def scored(*plays: str, rules: engine.Rules = STRICT) -> Table:
    """Return the table after *plays*, with the points of the last one called."""
    return Table(rules, FOUR).play(*plays).call()


@pytest.mark.parametrize(("tile", "points"), [("2-4", 10), ("0-6", 10), ("2-2", 20)])
def test_the_example_of_the_rules(tile: str, points: int) -> None:
    # 3.6 Cutthroat: 6 + 4 = 10; then 2-4 on 2-4, or 0-6 on 0-6, or a matching double, which counts double
    # A3-6: stacker +S, previous -S; double: +2S, -2S
    table = scored(*TEXT)
    assert table.totals == (0, 0, 0, 10)
    twice = ", doubled for a double" if points == 20 else ""
    table.stack(tile)
    assert out_of(table, engine.Claimable) == [engine.Claimable(A, points, "6 + 4 = 10" + twice, D)]
    assert table.call().totals == (points, 0, 0, 10 - points)


@pytest.mark.parametrize(("tile", "gain", "loss"), [("2-4", 20, 10), ("0-6", 20, 10)])
def test_the_stacker_may_score_and_steal(tile: str, gain: int, loss: int) -> None:
    # A3-6: option gain=score_plus_stolen: +2S / -S
    table = scored(*TEXT, rules=with_options(STRICT, {"steal_gain": "score_plus_stolen"})).stack(tile).call()
    assert table.totals == (gain, 0, 0, 10 - loss)


def test_a_stack_is_a_play_of_one_tile_that_keeps_layout_and_count() -> None:
    # 3.6 Cutthroat: layout and count stay, then play goes on as usual
    table = scored(*TEXT)
    ends = table.can_play("6-1 4-1 2-1")
    table.stack("2-4")
    assert [str(counted.count) for counted in out_of(table, engine.Counted) if isinstance(counted, engine.Counted)] == [
        "6 + 4 = 10"
    ]
    assert table.can_play("6-1 4-1 2-1") == ends == ["6-1@W", "4-1@E", "2-1@N", "2-1@S"]
    assert table.due == engine.Turn(B, engine.Must.PLAY_OR_DRAW)
    # 3.6 Cutthroat: the stacker has a tile less, both copies are used
    table = scored(*TEXT).stack("2-4")
    assert table.hand.sizes == (5, 6, 6, 6)
    assert engine.Tile(2, 4) not in engine.unseen(table.game)
    assert table.can_play("4-2") == []
    # 3.6 Cutthroat: a stack is a play; who stacks his last bone goes domino
    table = scored("5-5", rules=replace(STRICT, hand=2)).play("5-0@E", "5-1@W", "0-4@E")
    assert table.call().totals == (10, 0, 0, 5)
    assert out_of(table.stack("0-4"), engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B, C, D))]
    assert table.call(seat=0).totals == (15, 0, 0, 0)


def test_stacked_points_must_be_called_if_calls_are() -> None:
    # A3-7: called or, if no call is required, credited
    table = Table(with_options(STRICT, {"call_required": "no"}), FOUR).play(*TEXT).stack("2-4")
    assert table.totals == (10, 0, 0, 0)
    # 3.6 Count: points must be called before the next player lays down; nothing is taken if they are not
    table = scored(*TEXT).stack("2-4").play("6-6@W")
    assert out_of(table, engine.Forfeited) == [engine.Forfeited(A, 10)]
    assert table.totals == (0, 0, 0, 10)


def test_stolen_points_are_reported_and_crossed_out() -> None:
    # 3.6 Cutthroat: points that are stolen are generally lined out
    table = scored(*TEXT).stack("2-4").call()
    assert table.game.tally(D) == engine.RowsTally.of([10, -10])
    assert engine.RowsTally.of([10, -10]).lines() == ("O-",)
    # A3-6: scores the 10, but steals the 10
    assert out_of(scored(*TEXT).stack("2-4").call(), engine.Scored) == [
        engine.Scored(D, -10, engine.Reason.STEAL, "stolen by Ann"),
        engine.Scored(A, 10, engine.Reason.STEAL, "stolen from Dot, 6 + 4 = 10"),
    ]
    # A3-13: totals below zero: allowed
    table = scored("5-5").stack("5-5").call()
    assert table.totals == (10 - 20, 20, 0, 0)
    assert table.game.tally(A) == engine.RowsTally.of([10, -20])


def test_only_the_next_player_steals_called_points_of_the_previous_play() -> None:
    # A3-7: stacking when nothing was scored: not allowed
    table = Table(STRICT, FOUR).play("2-2", "2-4@E")
    assert table.can_stack("2-4") == []
    assert text(table.stack("2-4")) == ["the last play scored nothing, so there is nothing to steal"]
    # A3-7: the previous play's points must have been called
    table = Table(STRICT, FOUR).play(*TEXT)
    assert table.can_stack("2-4") == []
    assert text(table.stack("2-4")) == ["Dot has not called the points, so there is nothing to steal"]
    # A3-7: only the immediately preceding play; 3.6 Cutthroat: on the following play
    table = scored(*TEXT).play("6-1@W")
    assert kinds(table.stack("2-4")) == [engine.ProblemKind.NOTHING_TO_STEAL]
    # 3.6 Cutthroat: the next player may stack
    table = scored(*TEXT)
    assert engine.ProblemKind.WRONG_SEAT in kinds(table.stack("2-4", seat=1))
    assert table.can_stack("2-4") == ["4-2"]
    assert engine.legal_stacks(table.state, tiles("2-4"), seat=B) == ()
    # A3-10: stack instead of drawing: optional
    table = scored(*TEXT).draw().stack("2-4").call()
    assert table.totals == (10, 0, 0, 0)
    assert kinds(scored(*TEXT).play("6-1@W")) == []
    kept = scored(*TEXT, rules=replace(STRICT, policy=engine.Policy.WARN)).draw().play("6-6@W")
    assert kinds(kept) == []


def test_stacking_needs_the_cutthroat_option() -> None:
    # 3.6 Cutthroat: a variation
    table = scored(*TEXT, rules=replace(STRICT, cutthroat=False))
    assert table.can_stack("2-4") == []
    assert kinds(table.stack("2-4")) == [engine.ProblemKind.NO_STACKING]
    assert (engine.TWOSET.cutthroat, engine.CUTTHROAT.cutthroat) == (False, True)


def test_any_identical_tile_with_a_free_side_can_be_stacked() -> None:
    # A3-8: any tile with an open end, the last played or not; spinner or other double while a port is free
    assert scored(*TEXT).can_stack("2-4 0-6 2-2 2-0") == ["4-2", "6-0", "2-2"]
    # A3-8: 2-0 is covered on both sides
    assert text(scored(*TEXT).stack("2-0")) == ["the 2-0 has no open end, so nothing can be stacked on it"]
    # A3-8: other double while a port is free; 3.6 Cutthroat: double: +2S, -2S
    open_end = scored("6-5", "5-5@E", "5-0@E", "6-6@W", "0-3@E")  # 12 + 3 = 15
    assert open_end.score == 15
    assert open_end.can_stack("6-6 5-5 0-3") == ["6-6", "5-5", "3-0"]
    assert open_end.stack("6-6").call().totals == (-15, 30, 0, 0)
    inside = scored("6-6", "6-4@E", "4-4@E", "4-3@E")  # 12 + 3 = 15, 4-4 has both sides covered
    assert inside.score == 15
    assert inside.can_stack("4-4 4-3 6-6") == ["4-3", "6-6"]
    # A3-8: spinner while a port is free
    table = scored("5-5", "5-1@W", "5-2@E", "5-3@N", "5-4@S")
    assert (table.score, table.can_stack("5-5 5-4")) == (10, ["5-4"])
    # 3.6 Cutthroat: identical tile
    table = scored(*TEXT)
    table.feed(engine.Stack(A, engine.Tile(1, 4), table.node("2-4")))
    assert text(table) == ["only a second 4-2 can be stacked on the 4-2"]
    assert kinds(table.feed(engine.Stack(A, engine.Tile(2, 4), engine.NodeId(99)))) == [
        engine.ProblemKind.CANNOT_LIE_THERE
    ]


def test_a_stack_can_be_stolen_from_with_another_tile() -> None:
    # A3-9: allowed against the new scorer with another tile; S stays the layout's count
    table = scored(*TEXT).stack("2-4").call()
    assert table.can_stack("2-4 0-6") == ["6-0"]
    assert table.stack("0-6").call().totals == (0, 10, 0, 0)
    # A3-9: S stays the layout's count, regardless of the earlier stack's points
    assert scored(*TEXT).stack("2-2").call().stack("0-6").call().totals == (10, 10, 0, -10)
    # A3-9: no third copy
    table = scored(*TEXT).stack("2-4").call()
    assert text(table.stack("2-4"))[0] == "the 4-2 is already on the table, all 2 of them"


def test_reaching_the_target_ends_the_match_before_a_steal() -> None:
    # A3-12: steal versus "first to reach 150": immediate end, no steal possible
    table = scored(*TEXT, rules=replace(STRICT, target=10))
    assert table.outcomes[-1] == engine.MatchOver(D, (0, 0, 0, 10))
    assert kinds(table.feed(engine.Stack(A, engine.Tile(2, 4), table.node("2-4")))) == [engine.ProblemKind.NOT_NOW]


CONFIRMED = with_options(replace(STRICT, target=10), {"confirm_after_next_play": "yes"})


def test_a_win_may_need_confirmation_by_the_next_play() -> None:
    # A3-12: option confirm_after_next_play
    table = scored(*TEXT, rules=CONFIRMED)
    assert table.game.winner is None
    table.play("6-1@W")
    assert table.outcomes[-1] == engine.MatchOver(D, (0, 0, 0, 10))
    # A3-12: option confirm_after_next_play: the steal counts
    table = scored(*TEXT, rules=CONFIRMED).stack("2-4").call()
    assert (table.totals, table.game.winner) == ((10, 0, 0, 0), None)
    assert table.play("6-1@W").game.winner == A
    # A3-12: option confirm_after_next_play: forfeited points do not change the total
    table = scored(*TEXT, rules=CONFIRMED).stack("2-4").play("6-1@W")
    assert table.game.winner == D
    # A3-12: option confirm_after_next_play: there is no next play
    table = Table(replace(CONFIRMED, hand=1), FOUR).play("5-5").call(seat=0)
    assert table.game.winner is None
    table.reveal(1, 0).reveal(2, 0).reveal(3, 0)
    assert table.game.winner == A
