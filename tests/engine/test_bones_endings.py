"""Tests of docs/reference/rules.md 2.3 to 2.5 and 3.1: ends of hands and matches of bones."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from tests.engine.table import OPEN_BONES, Table, kinds, out_of, short, tiles

A, B, C = engine.Seat(0), engine.Seat(1), engine.Seat(2)
STRICT = replace(engine.BONES, policy=engine.Policy.STRICT)
WARN = replace(OPEN_BONES, policy=engine.Policy.WARN)


def test_the_last_tile_scores_its_count_and_then_the_bonus_is_paid() -> None:
    # 3.1 Hand end: first out wins; A0-5: the going-out tile scores its count, then the bonus
    table = Table(short(hand=1)).play("5-5")
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B,))]
    assert table.totals == (10, 0)
    table.feed(engine.Reveal(B, tiles("6-6")))
    assert out_of(table, engine.Scored) == [engine.Scored(A, 10, engine.Reason.BONUS, "12, rounded to 10")]
    assert table.totals == (20, 0)


@pytest.mark.parametrize(("left", "bonus"), [(27, 25), (28, 30), (0, 0), (2, 0)])
def test_the_bonus_is_the_sum_to_the_nearest_five(left: int, bonus: int) -> None:
    # 3.1 Hand end: 27 is rounded to 25, 28 to 30
    table = Table(short(hand=1)).play("6-5").feed(engine.RevealPips(B, left))
    assert table.totals == (bonus, 0)


def test_the_bonus_waits_until_every_opponent_has_revealed() -> None:
    table = Table(short(hand=1), ("A", "B", "C")).play("6-5").feed(engine.Reveal(C, tiles("6-6")))
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B,))]
    assert table.totals == (0, 0, 0)
    table.feed(engine.RevealPips(B, 3))
    assert table.totals == (15, 0, 0)
    table = (
        Table(short(hand=1), ("A", "B", "C"))
        .play("6-5")
        .feed(engine.RevealPips(C, 40), engine.RevealPips(C, 4), engine.RevealPips(B, 1))
    )
    assert table.totals == (5, 0, 0)


def test_domino_ends_the_hand_despite_the_tracked_size() -> None:
    table = Table(engine.BONES).play("5-5", "5-0@E").feed(engine.Domino(A))
    assert kinds(table) == [engine.ProblemKind.NOT_OUT]
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B,))]


def all_zeros_out(*, hand: int) -> Table:
    """Return a layout with 0 at every end and all seven zeros played, after five plays by each seat."""
    rules = replace(OPEN_BONES, hand=hand, match_end=engine.MatchEnd.END_OF_HAND)
    west, east, north = ("0-1@W", "1-2@W", "2-0@W"), ("0-3@E", "3-4@E", "4-0@E"), ("0-5@N", "5-6@N", "6-0@N")
    return Table(rules).play("0-0", *west, *east, *north)


def test_a_provable_block_with_tiles_to_draw_is_announced_and_ended_or_drawn_out() -> None:
    # A-G1: announce, accept the hand-end button
    table = all_zeros_out(hand=7)
    assert out_of(table, engine.Blocked) == [engine.Blocked(14)]
    assert (table.outcomes[-1], table.game.phase) == (engine.Turn(A, engine.Must.DRAW_OR_END), engine.Phase.PLAY)
    assert engine.legal_plays(table.state, engine.full_set(6)) == ()
    table.feed(engine.HandEnd())
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_PROOF, None, (A, B))]
    assert kinds(table) == []
    # A-G1: announce, accept observed draws
    table = all_zeros_out(hand=7).feed(engine.Draw(A, 13))
    assert table.game.phase is engine.Phase.PLAY
    table.feed(engine.Draw(A, 1))
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_PROOF, None, (A, B))]
    table = all_zeros_out(hand=14)
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_PROOF, None, (A, B))]
    table = Table().play("6-0", "0-1@E", "1-6@E", "6-2@E", "2-3@E", "3-6@E", "6-4@E", "4-5@E", "5-6@E")
    assert not table.hand.locked
    assert [str(play.tile) for play in engine.legal_plays(table.state, engine.full_set(6))] == ["6-6", "6-6"]


def test_a_full_round_of_knocks_blocks_the_hand() -> None:
    table = Table(replace(OPEN_BONES, hand=9), ("A", "B", "C")).play("5-5").feed(engine.Draw(B, 1))
    assert table.hand.boneyard == 0
    table.feed(engine.Knock(B), engine.Knock(C))
    assert table.game.phase is engine.Phase.PLAY
    table.play("5-1@W").feed(engine.Knock(B), engine.Knock(C))
    assert table.game.phase is engine.Phase.PLAY
    table.feed(engine.Knock(A))
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_KNOCKS, None, (A, B, C))]


def test_the_lightest_hand_wins_the_sum_of_the_others() -> None:
    # A0-2: the lightest hand wins the others' sum, rounded
    table = all_zeros_out(hand=7).feed(
        engine.HandEnd(), engine.Reveal(A, tiles("1-1 1-3")), engine.Reveal(B, tiles("6-6 5-4"))
    )
    assert out_of(table, engine.Scored) == [engine.Scored(A, 20, engine.Reason.BONUS, "21, rounded to 20")]
    # A0-2: blocked: own hand not subtracted
    table = Table(WARN).play("6-5").feed(engine.HandEnd()).reveal(0, 12).reveal(1, 26)
    assert out_of(table, engine.Scored) == [engine.Scored(A, 25, engine.Reason.BONUS, "26, rounded to 25")]
    # A0-7: "the total is rounded": 7 + 7 = 14 is 15, and not 5 + 5
    table = Table(short(hand=1), ("A", "B", "C")).play("6-5").reveal(1, 7).reveal(2, 7)
    assert table.totals == (15, 0, 0)


def test_a_tie_requires_the_tiles_unless_it_has_no_tie_break_or_is_ended() -> None:
    # A0-3: tie for lightest: lightest single tile
    table = all_zeros_out(hand=7).feed(engine.HandEnd(), engine.RevealPips(A, 6), engine.Reveal(B, tiles("1-1 1-3")))
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_PROOF, None, (A,))]
    table.feed(engine.Reveal(A, tiles("1-4 1-0")))
    assert [outcome.result.winner for outcome in table.outcomes if isinstance(outcome, engine.HandOver)] == [A]
    table = all_zeros_out(hand=7).feed(
        engine.HandEnd(), engine.RevealPips(A, 6), engine.RevealPips(B, 6), engine.HandEnd()
    )
    assert [outcome.result.winner for outcome in table.outcomes if isinstance(outcome, engine.HandOver)] == [None]
    assert table.game.phase is engine.Phase.DEAL
    # A0-3: option none
    rules = replace(
        OPEN_BONES, hand_points=replace(engine.BONES.hand_points, tie=engine.TieBreak.NONE), policy=engine.Policy.WARN
    )
    table = Table(rules).play("6-5").feed(engine.HandEnd(), engine.RevealPips(A, 6), engine.RevealPips(B, 6))
    assert [outcome.result.winner for outcome in table.outcomes if isinstance(outcome, engine.HandOver)] == [None]


def test_the_target_is_reached_by_a_play_or_the_bonus() -> None:
    # 3.1 Match: the first person to reach it; A0-6: match ends mid-hand: immediate
    table = Table(replace(OPEN_BONES, target=10)).play("5-5")
    assert table.outcomes[-1] == engine.MatchOver(A, (10, 0))
    assert (table.game.phase, table.game.winner) == (engine.Phase.MATCH_OVER, A)
    assert kinds(table.feed(replace(table.play_of("5-1@W", seat=1)))) == [engine.ProblemKind.NOT_NOW]
    table = Table(short(hand=1, target=20)).play("5-5").feed(engine.RevealPips(B, 9))
    assert table.outcomes[-1] == engine.MatchOver(A, (20, 0))
    # A0-6: immediate, "first person to reach": a play's score, before the hand bonus
    table = Table(short(hand=1, target=10)).play("5-5")
    assert table.outcomes[-1] == engine.MatchOver(A, (10, 0))
    assert out_of(table, engine.ShowHands) == []


def test_the_target_may_have_to_be_exceeded_or_wait_for_the_end_of_the_hand() -> None:
    rules = replace(OPEN_BONES, target=10, target_test=engine.TargetTest.EXCEED)
    table = Table(rules).play("5-5")
    assert table.game.winner is None
    table = Table(replace(rules, target=9)).play("5-5")
    assert table.game.winner == A
    rules = short(hand=1, target=10, match_end=engine.MatchEnd.END_OF_HAND)
    table = Table(rules).play("5-5")
    assert table.game.winner is None
    table.feed(engine.RevealPips(B, 1))
    assert table.outcomes[-1] == engine.MatchOver(A, (10, 0))
    rules = replace(OPEN_BONES, target=10, match_end=engine.MatchEnd.END_OF_HAND, policy=engine.Policy.WARN)
    table = Table(rules).play("5-5", "5-0@E").feed(engine.HandEnd(), engine.RevealPips(A, 2), engine.RevealPips(B, 1))
    assert (table.totals, table.game.winner, table.game.phase) == ((10, 10), None, engine.Phase.DEAL)


def test_the_lightest_tile_wins_a_tied_block_unless_disabled() -> None:
    # A0-3: tie for lightest: lightest single tile; option none
    for tie, points in (("lightest_tile", 15), ("none", 0)):
        table = Table(with_options(WARN, {"tie": tie})).play("6-5").feed(engine.HandEnd())
        table.reveal(0, "5-5 4-3").reveal(1, "2-1 4-2 5-3")
        assert table.totals == (0, points)


@pytest.mark.parametrize("target", ["150", "200", "1000"])
def test_the_match_is_played_to_any_number_of_fifties(target: str) -> None:
    # 3.1 Match: usually 150 or higher, in increments of 50
    rules = replace(with_options(OPEN_BONES, {"target": target}), hand=1)
    table = Table(rules).play("6-5").reveal(1, int(target) - 5)
    assert table.game.winner is None
    assert table.feed(engine.NewHand()).play("4-1").game.winner == A
    assert engine.BONES.target == 150


def test_scores_are_tallied_as_houses() -> None:
    # 3.1 Tally: slash 5, circle 10, a cross of two slashes, four quadrants, a full house is 50
    table = Table().play("5-5", "5-0@E", "5-1@W", "0-4@E")
    tally = table.game.tally(B)
    assert table.totals == (10, 15)
    assert isinstance(tally, engine.HouseTally)
    assert [house.lines() for house in tally.houses] == [("\\| ", "-+-", " | ")]
    # A0-9: O versus X when 10 is scored over a half X: finish the X first
    (house,) = engine.HouseTally.of([10, 5, 10]).houses
    assert house.lines() == ("X|\\", "-+-", " | ")


def test_a_hand_or_match_may_be_abandoned_or_started_again() -> None:
    table = Table(STRICT).play("5-5", "5-0@E").feed(engine.Abandon())
    assert table.totals == (10, 10)
    assert out_of(table, engine.Abandoned) == [engine.Abandoned(1)]
    table.feed(engine.NewHand())
    assert (table.hand.number, table.hand.turn, table.game.hand_winner) == (2, None, None)
    assert kinds(table.feed(engine.MatchClose(), engine.Abandon())) == [engine.ProblemKind.NOT_NOW]
    table = Table(replace(OPEN_BONES, target=10)).play("5-5").feed(engine.MatchStart(engine.BONES, ("C", "D", "E")))
    assert (table.totals, table.game.players, table.game.phase) == ((0, 0, 0), ("C", "D", "E"), engine.Phase.DEAL)
