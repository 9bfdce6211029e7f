"""Tests of docs/reference/rules.md 3.6, except stacking (test_cutthroat) and the race for the lead (test_leads)."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from tests.engine.table import Table, kinds, out_of, text, won

A, B, C, D = engine.Seat(0), engine.Seat(1), engine.Seat(2), engine.Seat(3)
FOUR = ("Ann", "Bob", "Cay", "Dot")
ANY_LEAD = replace(engine.TWOSET, lead_first=engine.LeadRule.LOT_ANY)
STRICT = replace(ANY_LEAD, policy=engine.Policy.STRICT)


def table_of(*plays: str, rules: engine.Rules = STRICT) -> Table:
    return Table(rules, FOUR).play(*plays)


def blocked(*hands: str | int, rules: engine.Rules = STRICT) -> Table:
    """Return a table with an empty boneyard where all have knocked and revealed *hands*."""
    table = Table(replace(rules, hand=14), FOUR).play("6-5").knock(4)
    for seat, hand in enumerate(hands):
        table.reveal(seat, hand)
    return table


def test_four_to_six_players_get_seven_of_56_tiles() -> None:
    # 3.6 Setup: 4 players (5 or 6 possible), two double-six sets = 56, 7 each, boneyard to the side
    assert [(seats, engine.deal_problems(engine.TWOSET, seats) == ()) for seats in (3, 4, 5, 6, 7)] == [
        (3, False),
        (4, True),
        (5, True),
        (6, True),
        (7, False),
    ]
    assert (engine.TWOSET.tiles, Table(engine.TWOSET, FOUR).hand.sizes, Table(engine.TWOSET, FOUR).hand.boneyard) == (
        56,
        (7,) * 4,
        28,
    )
    # A3-15: 2-3 players: not offered by default
    assert engine.deal_problems(engine.TWOSET, 2) == ("twoset is for 4 to 6 players, got 2",)
    assert engine.deal_problems(with_options(engine.TWOSET, {"players": "2-6"}), 2) == ()
    # 3.6 Setup: two sets
    table = table_of("5-5", "5-1@W", "5-1@E")
    assert (kinds(table), table.can_play("5-1 5-2")) == ([], ["5-2@N", "5-2@S"])
    assert text(table.play("5-1@N")) == ["the 5-1 is already on the table, all 2 of them"]


def test_both_long_sides_are_played_before_a_branch() -> None:
    # 3.6 Setup: the 2 long sides of the spinner must be played upon before either of the tips
    table = table_of("6-6", "6-1@W")
    assert kinds(table.play("6-2@6-6:N")) == [engine.ProblemKind.TIP_CLOSED]
    assert kinds(table.play("6-2@E", "6-3@N")) == []
    # 3.6 Setup: no duty to branch all four sides in the first 4 plays
    assert table_of("6-6", "6-1@W").can_play("1-2 6-3") == ["2-1@W", "6-3@E"]
    assert kinds(table_of("6-6", "6-1@W", "1-2@W", "2-3@W")) == []
    # 3.6 Setup: the initial double is the spinner, the turn then rotates to his left
    table = Table(engine.TWOSET, FOUR).play("5-5", seat=3)
    assert (table.to_move, table.play("5-1@W").to_move) == (A, B)
    table.play("5-2@E", "1-1@W")
    assert [end.arm for end in engine.ends(table.state) if end.number == 1] == ["W"]


def test_a_player_without_a_play_draws_and_then_passes() -> None:
    # 3.6 Draw: until playable, then pass; A3-3: the drawing rule is only implied
    table = table_of("6-6")
    assert kinds(table.knock()) == [engine.ProblemKind.KNOCK_TOO_EARLY]
    assert table.draw(28).due == engine.Turn(B, engine.Must.PLAY_OR_KNOCK)
    assert (kinds(table.knock()), table.to_move) == ([], C)


def test_branches_count_once_they_are_played() -> None:
    # 3.6 Count: once both long sides are played the tips are not counted, a played tip counts its far end
    table = Table(replace(STRICT, target=500), FOUR)
    counts = [table.play(play).count.total for play in ("5-5", "5-1@W", "5-2@E", "5-4@N", "5-3@S", "4-4@N")]
    assert counts == [10, 11, 3, 7, 10, 14]
    # A3-4: spinner with 0 or 1 side covered: 2d
    assert [str(table_of(*plays).count) for plays in (("4-4",), ("4-4", "4-2@E"), ("4-2", "4-4@W"))] == [
        "4 + 4 = 8",
        "4 + 4 + 2 = 10",
        "4 + 4 + 2 = 10",
    ]


def test_points_must_be_called_by_their_player() -> None:
    # 3.6 Count: must be called by the player; A3-5: the seat that played, by button, the engine's value is credited
    table = table_of("5-5")
    assert out_of(table, engine.Claimable) == [engine.Claimable(A, 10, "5 + 5 = 10")]
    assert table.totals == (0, 0, 0, 0)
    assert out_of(table.call(), engine.Scored) == [engine.Scored(A, 10, engine.Reason.PLAY, "5 + 5 = 10")]
    assert kinds(table.call()) == [engine.ProblemKind.NOTHING_TO_CALL]
    assert table.totals == (10, 0, 0, 0)
    # A3-5: which value: a wrong number is refused but may be corrected inside the window
    table = table_of("5-5")
    assert text(table.call(15)) == ["Ann calls 15, but the points are 10 (5 + 5 = 10)"]
    assert table.totals == (0, 0, 0, 0)
    assert table.call(10).totals == (10, 0, 0, 0)
    # A3-5: call: by whom: the seat that played
    table = table_of("5-5")
    assert text(table.call(seat=1)) == ["only Ann can call these points, not Bob"]
    assert table.call(seat=0).totals == (10, 0, 0, 0)
    # 3.6 Count: points are given for multiples of 5
    table = table_of("5-5", "5-1@E")
    assert out_of(table, engine.Claimable) == []
    assert text(table.call(seat=1)) == ["Bob has no points to call"]
    # A3-5: call: by whom
    assert kinds(table_of("5-5").feed(engine.Call(engine.Seat(4)))) == [engine.ProblemKind.NO_SUCH_SEAT]


def test_points_not_called_before_the_next_tile_are_forfeited() -> None:
    # 3.6 Count: before the next player lets go of his bone; later = forfeited
    table = table_of("5-5", "5-0@E")
    assert out_of(table, engine.Forfeited) == [engine.Forfeited(A, 10)]
    assert text(table.call(seat=2)) == ["only Bob can call these points, not Cay"]
    assert table.call(seat=1).totals == (0, 10, 0, 0)
    # A3-5: window closes at the release of the next tile
    assert table_of("5-5").draw().call(seat=0).totals == (10, 0, 0, 0)
    assert table_of("5-5", rules=replace(STRICT, hand=14)).knock().call(seat=0).totals == (10, 0, 0, 0)
    # A3-5: last play of the hand: window closes at hand reveal
    rules = replace(STRICT, hand=1)
    table = table_of("5-5", rules=rules).call(seat=0)
    assert table.totals == (10, 0, 0, 0)
    late = table_of("5-5", rules=rules).reveal(1, 1)
    assert out_of(late, engine.Forfeited) == [engine.Forfeited(A, 10)]
    assert late.call(seat=0).totals == (0, 0, 0, 0)


def test_a_late_call_only_counts_if_accepted_before_another_tile() -> None:
    # A3-5: window closes at the release of the next tile; late is refused, the players may accept it
    table = table_of("5-5", "5-1@E").call(seat=0)
    (late,) = out_of(table, engine.Irregular)
    assert isinstance(late, engine.Irregular)
    assert (late.problem.kind, late.problem.weight, late.stands) == (
        engine.ProblemKind.LATE_CALL,
        engine.Weight.DOUBTFUL,
        False,
    )
    assert table.totals == (0, 0, 0, 0)
    assert table.feed(engine.ItStands(late.seq)).totals == (10, 0, 0, 0)
    # A3-5: only the points of the play before the last can be granted late
    table = table_of("5-5", "5-0@E", "5-1@W").call(seat=0)
    assert text(table) == ["Ann has no points to call"]
    # A3-5: the window closes at the reveal, which forfeits the points
    table = Table(replace(table_of().game.rules, hand=1), FOUR).play("5-5")
    for seat in (1, 2, 3):
        table.reveal(seat, 5)
        assert text(table.call(seat=0)) == ["too late: Ann forfeited the 10 points"]
    (late,) = out_of(table, engine.Irregular)
    assert isinstance(late, engine.Irregular)
    assert (table.game.phase, late.problem.kind, late.problem.weight) == (
        engine.Phase.DEAL,
        engine.ProblemKind.LATE_CALL,
        engine.Weight.DOUBTFUL,
    )
    assert table.feed(engine.ItStands(late.seq)).totals == (25, 0, 0, 0)
    assert text(table.call(seat=1)) == ["the next hand has not been dealt"]


@pytest.mark.parametrize("called", [False, True])
def test_a_call_is_late_after_a_scoring_play(called: bool) -> None:
    # A3-5: window closes at the release of the next tile, whether or not that tile scores, and is called
    table = table_of("5-5", "5-0@E")
    if called:
        table.call(seat=1)
    before = table.totals
    assert text(table.call(seat=0)) == ["too late: Ann forfeited the 10 points when the next tile was played"]
    (late,) = out_of(table, engine.Irregular)
    assert isinstance(late, engine.Irregular)
    assert (late.problem.kind, late.problem.weight, late.stands) == (
        engine.ProblemKind.LATE_CALL,
        engine.Weight.DOUBTFUL,
        False,
    )
    assert table.totals == before
    assert table.feed(engine.ItStands(late.seq)).totals == (10, before[1], 0, 0)
    if not called:
        assert table.call(seat=1).totals == (10, 10, 0, 0)


def test_going_out_scores_all_pips_of_the_others() -> None:
    # 3.6 Hand end: out: all others' pips; A3-1: literal, no rounding
    table = table_of("6-5", rules=replace(STRICT, hand=1))
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B, C, D))]
    table.reveal(1, 6).reveal(2, 7).reveal(3, 9)
    assert out_of(table, engine.Scored) == [engine.Scored(A, 22, engine.Reason.BONUS, "6 + 7 + 9 = 22")]
    assert table.game.tally(A) == engine.RowsTally.of([22])
    assert engine.RowsTally.of([22]).rest == 2
    # A3-1: option round_to=5
    rules = with_options(replace(STRICT, hand=1), {"round_to": "5"})
    assert table_of("6-5", rules=rules).reveal(1, 6).reveal(2, 7).reveal(3, 9).totals == (20, 0, 0, 0)
    # 3.6 Hand end: each hand ends when one player goes domino
    assert kinds(table_of("5-5", rules=ANY_LEAD).feed(engine.Domino(A))) == [engine.ProblemKind.NOT_OUT]


def test_a_block_pays_the_other_hands_with_or_without_the_own() -> None:
    # 3.6 Hand end: nobody can play: lowest total wins; A3-2: others' pips less own
    table = blocked(20, 10, 9, 30)
    assert out_of(table, engine.Scored) == [engine.Scored(C, 51, engine.Reason.BONUS, "20 + 10 + 30 - 9 = 51")]
    # A3-2: option subtract_own=no: if everyone passed, all spots of the others; 20 + 10 + 30
    table = blocked(20, 10, 9, 30, rules=with_options(STRICT, {"subtract_own": "no"}))
    assert out_of(table, engine.Scored) == [engine.Scored(C, 60, engine.Reason.BONUS, "20 + 10 + 30 = 60")]


def test_the_lightest_tile_and_then_its_high_end_break_a_tie() -> None:
    # 3.6 Hand end: tie: lowest single bone, double-blank, then ace-blank
    assert won(blocked("5-5 1-0", "6-5 0-0", 40, 40)) == B
    # A3-14: pips, then lower high end: 1-1 before 2-0
    assert won(blocked("5-5 2-0", "6-4 1-1", 40, 40)) == B
    assert won(blocked("1-1 6-4", "2-0 5-5", 40, 40)) == A
    # A3-14: two identical hands: nobody
    table = blocked("1-1 5-5", "1-1 5-5", 40, 40)
    assert (won(table), table.totals) == (None, (0, 0, 0, 0))


@pytest.mark.parametrize("target", [100, 150, 200])
def test_the_match_is_won_at_150_or_as_agreed(target: int) -> None:
    # 3.6 Match: the first to score 150 or more, 100 or 200 by agreement
    rules = with_options(replace(STRICT, hand=1), {"target": str(target)})
    table = table_of("6-5", rules=rules).reveal(1, target - 10).reveal(2, 0).reveal(3, 0)
    assert (table.totals[0], table.game.winner) == (target - 10, None)
    table.feed(engine.NewHand()).play("5-5", seat=0)
    assert table.game.winner is None
    assert table.call(seat=0).outcomes[-1] == engine.MatchOver(A, (target, 0, 0, 0))
    assert engine.TWOSET.target == 150


def test_scores_are_marked_in_rows_of_fifty() -> None:
    # 3.6 Tally: / for 5, \ completes X, O for tens, rows of 50; A3-16: the source's own example is lost
    assert engine.RowsTally.of([5]).lines() == ("/",)
    assert engine.RowsTally.of([5, 5, 10, 25]).lines() == ("X O O O /",)
    assert engine.RowsTally.of([50, 5]).lines() == ("O O O O O", "/")
    assert table_of("5-5").call().game.tally(A) == engine.RowsTally.of([10])
