"""How a hand was scored against how it went: each mistake is counted once, where it is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from engine import BONES, Amend, Lead, MatchStart, NewHand, NodeId, Play, Remove, Seat, Seq, Spot, State, Tile
from engine import replay as fold
from engine.state.layout import Port
from tallybone.evaluate.hands import HandJudged, HandScored, hand_scored, judge_hand
from tallybone.evaluate.session_report import is_unflagged
from tests.tallybone.truth_eye import script


@cache
def whole_hand() -> State:
    """The match after one hand that was played out."""
    *_, last = script(1)[1]
    return last.state


def judged(truth: State, seen: State) -> HandJudged:
    return judge_hand(1, hand_scored(truth, ()), hand_scored(seen, ()), closed_ns=5, is_flagged=False)


def short_hand() -> list[MatchStart | NewHand | Lead | Play]:
    """Three tiles in a row; the second scores ten, the third nothing."""
    first, second = NodeId(3), NodeId(4)
    return [
        MatchStart(BONES, ("Ann", "Ben")),
        NewHand(),
        Lead(Seat(0)),
        Play(Seat(0), Tile(5, 5), None, 5),
        Play(Seat(1), Tile(0, 5), Spot(first, Port.E), 5),
        Play(Seat(0), Tile(0, 6), Spot(second, Port.E), 0),
    ]


def test_a_hand_that_was_scored_as_it_went_is_wholly_right() -> None:
    hand = judged(whole_hand(), whole_hand())
    assert len(hand.plays) > 10
    assert all(play.is_wholly_right for play in hand.plays)
    assert hand.are_totals_right
    assert hand.is_end_right
    assert hand.is_score_right
    assert hand.truth.over is not None


def test_points_are_those_until_the_next_tile() -> None:
    found = hand_scored(fold(short_hand()), ())
    assert [one.points for one in found.laid] == [10, 10, 0]
    assert found.gained == (10, 10)
    assert found.over is None


def test_what_a_hand_is_worth_is_gained_by_no_tile() -> None:
    found = hand_scored(whole_hand(), ())
    assert found.over is not None
    assert found.over.result.points > 0
    assert sum(one.points for one in found.laid) == sum(found.gained) - found.over.result.points


def test_only_what_was_paid_in_the_hand_is_gained() -> None:
    assert hand_scored(fold(short_hand()), (10, 0)).gained == (0, 10)


def test_a_tile_of_the_wrong_player_has_the_wrong_seat_alone() -> None:
    seen = fold([*short_hand(), Amend(Seq(5), Play(Seat(1), Tile(0, 6), Spot(NodeId(4), Port.E), 0))])
    hand = judged(fold(short_hand()), seen)
    (wrong,) = (play for play in hand.plays if not play.is_wholly_right)
    assert (wrong.number, wrong.is_seat_right) == (3, False)
    assert wrong.is_tile_right
    assert wrong.is_place_right
    assert wrong.are_points_right


def test_a_misread_tile_costs_nothing_of_those_laid_against_it() -> None:
    events = short_hand()
    events[5] = Play(Seat(0), Tile(0, 4), Spot(NodeId(4), Port.E), 0)
    on_it = Play(Seat(1), Tile(2, 6), Spot(NodeId(5), Port.E), 6)
    seen = fold([*events, replace(on_it, tile=Tile(2, 4), inner=4)])
    hand = judged(fold([*short_hand(), on_it]), seen)
    assert [play.is_tile_right for play in hand.plays] == [True, True, False, False]
    assert [play.seen.tile for play in hand.plays if play.seen] == [one.tile for one in hand_scored(seen, ()).laid]


def test_a_tile_at_another_end_is_in_the_wrong_place() -> None:
    events = short_hand()
    events[4] = Play(Seat(1), Tile(0, 5), Spot(NodeId(3), Port.W), 5)
    hand = judged(fold(short_hand()), fold(events))
    assert [play.is_place_right for play in hand.plays] == [True, False, True]
    assert hand.plays[1].are_points_right


def test_a_tile_that_nobody_saw_is_wrong_and_those_after_it_keep_their_own() -> None:
    hand = judged(fold(short_hand()), fold([*short_hand(), Remove(Seq(4))]))
    assert hand.plays[1].seen is None
    assert not hand.plays[1].is_wholly_right
    assert hand.plays[0].is_wholly_right
    assert not hand.is_score_right


def test_a_tile_that_was_never_laid_is_spare() -> None:
    hand = judged(fold(short_hand()[:-1]), fold(short_hand()))
    assert [one.tile for one in hand.spare] == [Tile(0, 6)]
    assert all(play.is_wholly_right for play in hand.plays)
    assert not hand.is_score_right


def test_a_hand_that_nobody_noticed_is_all_wrong() -> None:
    hand = judge_hand(1, hand_scored(fold(short_hand()), ()), None, closed_ns=5, is_flagged=False)
    assert [play.seen for play in hand.plays] == [None] * 3
    assert not hand.are_totals_right
    assert not hand.is_end_right


def test_another_ending_is_a_wrong_end() -> None:
    whole = hand_scored(whole_hand(), ())
    hand = judge_hand(1, whole, HandScored(whole.laid, whole.gained, None), closed_ns=5, is_flagged=False)
    assert hand.are_totals_right
    assert not hand.is_end_right


def test_a_wrong_score_is_unflagged_where_nothing_was_asked() -> None:
    right, wrong = hand_scored(fold(short_hand()), ()), hand_scored(fold([*short_hand(), Remove(Seq(4))]), ())
    hands = [
        judge_hand(1, right, seen, closed_ns=5, is_flagged=flagged)
        for seen in (right, wrong)
        for flagged in (True, False)
    ]
    assert [is_unflagged(hand) for hand in hands] == [False, False, False, True]
