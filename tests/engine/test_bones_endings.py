"""Tests of docs/reference/rules.md 2.3 to 2.5 and 3.1: ends of hands and matches of bones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    BONES,
    Abandon,
    Abandoned,
    Blocked,
    Domino,
    Draw,
    Ending,
    HandEnd,
    HandOver,
    HouseTally,
    Knock,
    MatchClose,
    MatchEnd,
    MatchOver,
    MatchStart,
    Must,
    NewHand,
    Phase,
    Policy,
    ProblemKind,
    Reason,
    Reveal,
    RevealPips,
    Scored,
    Seat,
    ShowHands,
    TargetTest,
    TieBreak,
    Turn,
    full_set,
    legal_plays,
)
from engine.rules.options import with_options
from tests.engine.table import OPEN_BONES, Table, kinds, out_of, short, tiles

A, B, C = Seat(0), Seat(1), Seat(2)
STRICT = replace(BONES, policy=Policy.STRICT)
WARN = replace(OPEN_BONES, policy=Policy.WARN)


# ---- the end of a hand ----


def test_the_last_tile_scores_its_count_and_then_the_bonus_is_paid() -> None:
    # 3.1 Hand end: first out wins; A0-5: the going-out tile scores its count, then the bonus
    table = Table(short(hand=1)).play("5-5")
    assert out_of(table, ShowHands) == [ShowHands(Ending.DOMINO, A, (B,))]
    assert table.totals == (10, 0)
    table.feed(Reveal(B, tiles("6-6")))
    assert out_of(table, Scored) == [Scored(A, 10, Reason.BONUS, "12, rounded to 10")]
    assert table.totals == (20, 0)


@pytest.mark.parametrize(("left", "bonus"), [(27, 25), (28, 30), (0, 0), (2, 0)])
def test_the_bonus_is_the_sum_to_the_nearest_five(left: int, bonus: int) -> None:
    # 3.1 Hand end: 27 is rounded to 25, 28 to 30
    table = Table(short(hand=1)).play("6-5").feed(RevealPips(B, left))
    assert table.totals == (bonus, 0)


def test_the_bonus_waits_until_every_opponent_has_revealed() -> None:
    table = Table(short(hand=1), ("A", "B", "C")).play("6-5").feed(Reveal(C, tiles("6-6")))
    assert out_of(table, ShowHands) == [ShowHands(Ending.DOMINO, A, (B,))]
    assert table.totals == (0, 0, 0)
    table.feed(RevealPips(B, 3))
    assert table.totals == (15, 0, 0)


def test_a_second_reveal_replaces_the_first() -> None:
    table = (
        Table(short(hand=1), ("A", "B", "C")).play("6-5").feed(RevealPips(C, 40), RevealPips(C, 4), RevealPips(B, 1))
    )
    assert table.totals == (5, 0, 0)


def test_domino_ends_the_hand_despite_the_tracked_size() -> None:
    table = Table(BONES).play("5-5", "5-0@E").feed(Domino(A))
    assert kinds(table) == [ProblemKind.NOT_OUT]
    assert out_of(table, ShowHands) == [ShowHands(Ending.DOMINO, A, (B,))]


def all_zeros_out(*, hand: int) -> Table:
    """Return a layout with 0 at every end and all seven zeros played, after five plays by each seat."""
    rules = replace(OPEN_BONES, hand=hand, match_end=MatchEnd.END_OF_HAND)
    west, east, north = ("0-1@W", "1-2@W", "2-0@W"), ("0-3@E", "3-4@E", "4-0@E"), ("0-5@N", "5-6@N", "6-0@N")
    return Table(rules).play("0-0", *west, *east, *north)


def test_a_provable_block_with_tiles_to_draw_is_announced() -> None:
    # A-G1: announce, accept the hand-end button
    table = all_zeros_out(hand=7)
    assert out_of(table, Blocked) == [Blocked(14)]
    assert (table.outcomes[-1], table.game.phase) == (Turn(A, Must.DRAW_OR_END), Phase.PLAY)
    assert legal_plays(table.state, full_set(6)) == ()
    table.feed(HandEnd())
    assert out_of(table, ShowHands) == [ShowHands(Ending.BLOCKED_BY_PROOF, None, (A, B))]
    assert kinds(table) == []


def test_drawing_after_a_provable_block_ends_with_the_boneyard() -> None:
    # A-G1: announce, accept observed draws
    table = all_zeros_out(hand=7).feed(Draw(A, 13))
    assert table.game.phase is Phase.PLAY
    table.feed(Draw(A, 1))
    assert out_of(table, ShowHands) == [ShowHands(Ending.BLOCKED_BY_PROOF, None, (A, B))]


def test_a_provable_block_without_tiles_to_draw_ends_the_hand() -> None:
    table = all_zeros_out(hand=14)
    assert out_of(table, ShowHands) == [ShowHands(Ending.BLOCKED_BY_PROOF, None, (A, B))]


def test_one_remaining_tile_prevents_a_block() -> None:
    """Both ends show a 6, and all sixes but 6-6 are in the line."""
    table = Table().play("6-0", "0-1@E", "1-6@E", "6-2@E", "2-3@E", "3-6@E", "6-4@E", "4-5@E", "5-6@E")
    assert not table.hand.locked
    assert [str(play.tile) for play in legal_plays(table.state, full_set(6))] == ["6-6", "6-6"]


def test_a_full_round_of_knocks_blocks_the_hand() -> None:
    table = Table(replace(OPEN_BONES, hand=9), ("A", "B", "C")).play("5-5").feed(Draw(B, 1))
    assert table.hand.boneyard == 0
    table.feed(Knock(B), Knock(C))
    assert table.game.phase is Phase.PLAY
    table.play("5-1@W").feed(Knock(B), Knock(C))
    assert table.game.phase is Phase.PLAY
    table.feed(Knock(A))
    assert out_of(table, ShowHands) == [ShowHands(Ending.BLOCKED_BY_KNOCKS, None, (A, B, C))]


def test_the_lightest_hand_wins_a_block_and_the_sum_of_the_others() -> None:
    # A0-2: the lightest hand wins the others' sum, rounded
    table = all_zeros_out(hand=7).feed(HandEnd(), Reveal(A, tiles("1-1 1-3")), Reveal(B, tiles("6-6 5-4")))
    assert out_of(table, Scored) == [Scored(A, 20, Reason.BONUS, "21, rounded to 20")]


def test_a_tie_requires_the_tiles_if_only_sums_are_known() -> None:
    # A0-3: tie for lightest: lightest single tile
    table = all_zeros_out(hand=7).feed(HandEnd(), RevealPips(A, 6), Reveal(B, tiles("1-1 1-3")))
    assert out_of(table, ShowHands) == [ShowHands(Ending.BLOCKED_BY_PROOF, None, (A,))]
    table.feed(Reveal(A, tiles("1-4 1-0")))
    assert [outcome.result.winner for outcome in table.outcomes if isinstance(outcome, HandOver)] == [A]


def test_an_unbreakable_tie_is_ended_with_the_button() -> None:
    table = all_zeros_out(hand=7).feed(HandEnd(), RevealPips(A, 6), RevealPips(B, 6), HandEnd())
    assert [outcome.result.winner for outcome in table.outcomes if isinstance(outcome, HandOver)] == [None]
    assert table.game.phase is Phase.DEAL


def test_without_a_tie_break_equal_sums_need_no_tiles() -> None:
    # A0-3: option none
    rules = replace(OPEN_BONES, hand_points=replace(BONES.hand_points, tie=TieBreak.NONE), policy=Policy.WARN)
    table = Table(rules).play("6-5").feed(HandEnd(), RevealPips(A, 6), RevealPips(B, 6))
    assert [outcome.result.winner for outcome in table.outcomes if isinstance(outcome, HandOver)] == [None]


# ---- the end of the match ----


def test_a_play_that_reaches_the_target_ends_the_match() -> None:
    # 3.1 Match: the first person to reach it; A0-6: match ends mid-hand: immediate
    table = Table(replace(OPEN_BONES, target=10)).play("5-5")
    assert table.outcomes[-1] == MatchOver(A, (10, 0))
    assert (table.game.phase, table.game.winner) == (Phase.MATCH_OVER, A)
    assert kinds(table.feed(replace(table.play_of("5-1@W", seat=1)))) == [ProblemKind.NOT_NOW]


def test_the_bonus_can_reach_the_target() -> None:
    table = Table(short(hand=1, target=20)).play("5-5").feed(RevealPips(B, 9))
    assert table.outcomes[-1] == MatchOver(A, (20, 0))


def test_with_exceed_reaching_the_target_is_not_enough() -> None:
    rules = replace(OPEN_BONES, target=10, target_test=TargetTest.EXCEED)
    table = Table(rules).play("5-5")
    assert table.game.winner is None
    table = Table(replace(rules, target=9)).play("5-5")
    assert table.game.winner == A


def test_with_end_of_hand_the_highest_total_wins() -> None:
    rules = short(hand=1, target=10, match_end=MatchEnd.END_OF_HAND)
    table = Table(rules).play("5-5")
    assert table.game.winner is None
    table.feed(RevealPips(B, 1))
    assert table.outcomes[-1] == MatchOver(A, (10, 0))


def test_with_end_of_hand_equal_totals_play_another_hand() -> None:
    rules = replace(OPEN_BONES, target=10, match_end=MatchEnd.END_OF_HAND, policy=Policy.WARN)
    table = Table(rules).play("5-5", "5-0@E").feed(HandEnd(), RevealPips(A, 2), RevealPips(B, 1))
    assert (table.totals, table.game.winner, table.game.phase) == ((10, 10), None, Phase.DEAL)


def test_a_new_match_starts_from_nothing() -> None:
    table = Table(replace(OPEN_BONES, target=10)).play("5-5").feed(MatchStart(BONES, ("C", "D", "E")))
    assert (table.totals, table.game.players, table.game.phase) == ((0, 0, 0), ("C", "D", "E"), Phase.DEAL)


# ---- cases that the source leaves open ----


def test_the_winner_of_a_block_does_not_subtract_their_own_hand() -> None:
    # A0-2: blocked: own hand not subtracted
    table = Table(WARN).play("6-5").feed(HandEnd()).reveal(0, 12).reveal(1, 26)
    assert out_of(table, Scored) == [Scored(A, 25, Reason.BONUS, "26, rounded to 25")]


def test_the_lightest_tile_wins_a_tied_block_unless_disabled() -> None:
    # A0-3: tie for lightest: lightest single tile; option none
    for tie, points in (("lightest_tile", 15), ("none", 0)):
        table = Table(with_options(WARN, {"tie": tie})).play("6-5").feed(HandEnd())
        table.reveal(0, "5-5 4-3").reveal(1, "2-1 4-2 5-3")
        assert table.totals == (0, points)


def test_the_score_of_the_last_tile_can_end_the_match_before_the_bonus() -> None:
    # A0-6: immediate, "first person to reach": a play's score, before the hand bonus
    table = Table(short(hand=1, target=10)).play("5-5")
    assert table.outcomes[-1] == MatchOver(A, (10, 0))
    assert out_of(table, ShowHands) == []


def test_the_total_of_the_opponents_is_rounded_once() -> None:
    # A0-7: "the total is rounded": 7 + 7 = 14 is 15, and not 5 + 5
    table = Table(short(hand=1), ("A", "B", "C")).play("6-5").reveal(1, 7).reveal(2, 7)
    assert table.totals == (15, 0, 0)


@pytest.mark.parametrize("target", ["150", "200", "1000"])
def test_the_match_is_played_to_any_number_of_fifties(target: str) -> None:
    # 3.1 Match: usually 150 or higher, in increments of 50
    rules = replace(with_options(OPEN_BONES, {"target": target}), hand=1)
    table = Table(rules).play("6-5").reveal(1, int(target) - 5)
    assert table.game.winner is None
    assert table.feed(NewHand()).play("4-1").game.winner == A
    assert BONES.target == 150


def test_scores_are_tallied_as_houses() -> None:
    # 3.1 Tally: slash 5, circle 10, a cross of two slashes, four quadrants, a full house is 50
    table = Table().play("5-5", "5-0@E", "5-1@W", "0-4@E")
    tally = table.game.tally(B)
    assert table.totals == (10, 15)
    assert isinstance(tally, HouseTally)
    assert [house.lines() for house in tally.houses] == [("\\| ", "-+-", " | ")]


def test_a_half_x_is_finished_before_a_circle() -> None:
    # A0-9: O versus X when 10 is scored over a half X: finish the X first
    (house,) = HouseTally.of([10, 5, 10]).houses
    assert house.lines() == ("X|\\", "-+-", " | ")


def test_an_abandoned_hand_keeps_its_scores_and_has_no_winner() -> None:
    table = Table(STRICT).play("5-5", "5-0@E").feed(Abandon())
    assert table.totals == (10, 10)
    assert out_of(table, Abandoned) == [Abandoned(1)]
    table.feed(NewHand())
    assert (table.hand.number, table.hand.turn, table.game.hand_winner) == (2, None, None)
    assert kinds(table.feed(MatchClose(), Abandon())) == [ProblemKind.NOT_NOW]
