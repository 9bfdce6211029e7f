"""Tests of judging hands: each mistake is counted once, at its place."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from engine import BONES, Amend, Lead, MatchStart, NewHand, NodeId, Play, Remove, Seat, Seq, Spot, State, Tile
from engine import replay as fold
from engine.state.layout import Port
from tallybone.replay.shadow import HandJudged, HandScored, hand_scored, is_unflagged, judge_hand
from tests.tallybone.truth_eye import script


@cache
def whole_hand() -> State:
    """Return the match after a complete hand."""
    *_, last = script(1)[1]
    return last.state


def judged(truth: State, seen: State) -> HandJudged:
    return judge_hand(1, hand_scored(truth, ()), hand_scored(seen, ()), closed_ns=5, is_flagged=False)


def short_hand() -> list[MatchStart | NewHand | Lead | Play]:
    """Return a hand of three tiles in a row. The second scores ten, the third nothing."""
    first, second = NodeId(3), NodeId(4)
    return [
        MatchStart(BONES, ("Ann", "Ben")),
        NewHand(),
        Lead(Seat(0)),
        Play(Seat(0), Tile(5, 5), None, 5),
        Play(Seat(1), Tile(0, 5), Spot(first, Port.E), 5),
        Play(Seat(0), Tile(0, 6), Spot(second, Port.E), 0),
    ]


def test_a_hand_scored_as_played_is_wholly_right() -> None:
    hand = judged(whole_hand(), whole_hand())
    assert len(hand.plays) > 10
    assert all(play.is_wholly_right for play in hand.plays)
    assert hand.are_totals_right
    assert hand.is_end_right
    assert hand.is_score_right
    assert hand.truth.over is not None


def test_points_count_for_the_tile_before_the_next() -> None:
    found = hand_scored(fold(short_hand()), ())
    assert [tile.points for tile in found.laid] == [10, 10, 0]
    assert found.gained == (10, 10)
    assert found.over is None


def test_the_result_of_a_hand_belongs_to_no_tile() -> None:
    found = hand_scored(whole_hand(), ())
    assert found.over is not None
    assert found.over.result.points > 0
    assert sum(tile.points for tile in found.laid) == sum(found.gained) - found.over.result.points


def test_only_points_of_the_hand_are_gained() -> None:
    assert hand_scored(fold(short_hand()), (10, 0)).gained == (0, 10)


def test_a_tile_of_the_wrong_player_is_only_a_wrong_seat() -> None:
    seen = fold([*short_hand(), Amend(Seq(5), Play(Seat(1), Tile(0, 6), Spot(NodeId(4), Port.E), 0))])
    hand = judged(fold(short_hand()), seen)
    (wrong,) = (play for play in hand.plays if not play.is_wholly_right)
    assert (wrong.number, wrong.is_seat_right) == (3, False)
    assert wrong.is_tile_right
    assert wrong.is_place_right
    assert wrong.are_points_right


def test_a_misread_tile_does_not_affect_the_places_of_later_ones() -> None:
    events = short_hand()
    events[5] = Play(Seat(0), Tile(0, 4), Spot(NodeId(4), Port.E), 0)
    next_play = Play(Seat(1), Tile(2, 6), Spot(NodeId(5), Port.E), 6)
    seen = fold([*events, replace(next_play, tile=Tile(2, 4), inner=4)])
    hand = judged(fold([*short_hand(), next_play]), seen)
    assert [play.is_tile_right for play in hand.plays] == [True, True, False, False]
    assert [play.seen.tile for play in hand.plays if play.seen] == [tile.tile for tile in hand_scored(seen, ()).laid]


def test_a_tile_at_another_end_is_in_the_wrong_place() -> None:
    events = short_hand()
    events[4] = Play(Seat(1), Tile(0, 5), Spot(NodeId(3), Port.W), 5)
    hand = judged(fold(short_hand()), fold(events))
    assert [play.is_place_right for play in hand.plays] == [True, False, True]
    assert hand.plays[1].are_points_right


def test_a_missed_tile_is_wrong_and_later_ones_are_matched() -> None:
    hand = judged(fold(short_hand()), fold([*short_hand(), Remove(Seq(4))]))
    assert hand.plays[1].seen is None
    assert not hand.plays[1].is_wholly_right
    assert hand.plays[0].is_wholly_right
    assert not hand.is_score_right


def test_a_tile_never_played_is_spare() -> None:
    hand = judged(fold(short_hand()[:-1]), fold(short_hand()))
    assert [tile.tile for tile in hand.spare] == [Tile(0, 6)]
    assert all(play.is_wholly_right for play in hand.plays)
    assert not hand.is_score_right


def test_a_missed_hand_is_all_wrong() -> None:
    hand = judge_hand(1, hand_scored(fold(short_hand()), ()), None, closed_ns=5, is_flagged=False)
    assert [play.seen for play in hand.plays] == [None] * 3
    assert not hand.are_totals_right
    assert not hand.is_end_right


def test_another_ending_is_a_wrong_end() -> None:
    complete = hand_scored(whole_hand(), ())
    hand = judge_hand(1, complete, HandScored(complete.laid, complete.gained, None), closed_ns=5, is_flagged=False)
    assert hand.are_totals_right
    assert not hand.is_end_right


def test_a_wrong_score_without_a_flag_is_unflagged() -> None:
    correct, wrong = hand_scored(fold(short_hand()), ()), hand_scored(fold([*short_hand(), Remove(Seq(4))]), ())
    hands = [
        judge_hand(1, correct, seen, closed_ns=5, is_flagged=flagged)
        for seen in (correct, wrong)
        for flagged in (True, False)
    ]
    assert [is_unflagged(hand) for hand in hands] == [False, False, False, True]
