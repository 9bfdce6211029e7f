"""Tests of docs/reference/rules.md 3.3 (All Fives and variations) and of the rows of 3.7. Leads are in test_leads.

Most layouts are the rules' example: a 5-5, b 5-0, c 5-3 and then 0-2, d 5-4 on top, 2-2, 2-5, 3-3.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from engine.state.layout import points_for
from tests.engine.table import MIRROR, SAME, Table, kinds, out_of

A, B = engine.Seat(0), engine.Seat(1)
STRICT = replace(engine.ALLFIVES, policy=engine.Policy.STRICT)
A_TO_C = ("5-5", "5-0@E", "5-3@W", "0-2@E")
D = ("5-4@N", "2-2@E", "2-5@E", "3-3@W")


def chosen(**options: str) -> engine.Rules:
    return with_options(STRICT, options)


def counts(rules: engine.Rules, *plays: str, names: dict[engine.Port, engine.Port] = SAME) -> list[int]:
    table = Table(replace(rules, target=500), names=names)
    return [table.play(text).count.total for text in plays]


def scores(rules: engine.Rules, *plays: str) -> list[int]:
    table = Table(rules)
    return [table.play(text).score for text in plays]


@pytest.mark.parametrize(("seats", "dealt", "boneyard"), [(2, 7, 14), (3, 5, 13), (4, 5, 8)])
def test_two_players_get_seven_tiles_and_three_or_four_get_five(seats: int, dealt: int, boneyard: int) -> None:
    # 3.3 Setup: 2 players 7, 3 and 4 players 5, the rest is the boneyard
    table = Table(engine.ALLFIVES, ("A", "B", "C", "D")[:seats])
    assert (table.hand.sizes, table.hand.boneyard) == ((dealt,) * seats, boneyard)
    assert engine.deal_problems(engine.ALLFIVES, 5) != ()


def test_only_the_first_double_is_open_on_all_four_edges() -> None:
    # 3.3 Lead: the first double, whether it is the initial tile or not, can be played off of on all four edges
    # A1-24: four edges are open from the first double, whatever the remark "2, 3, or 4" says
    table = Table(STRICT).play("5-5")
    assert [end.spot.port for end in engine.ends(table.state) if end.playable] == ["W", "N", "E", "S"]
    assert kinds(table.play("5-4@N", "5-3@S", "5-2@W", "5-1@E")) == []
    # 3.3 Lead: whenever it is played
    table = Table(STRICT).play("6-5", "5-5@E")
    assert table.can_play("5-4") == ["5-4@N", "5-4@E", "5-4@S"]
    # 3.3 Lead: all subsequent doubles can only connect on two edges; top and bottom of the 2-2 are not open
    table = Table(STRICT).play(*A_TO_C, *D)
    assert kinds(table.play("3-1@3-3:N")) == [engine.ProblemKind.NO_BRANCH]
    assert kinds(table.play("2-6@2-2:S")) == [engine.ProblemKind.NO_BRANCH]
    assert [(end.number, end.arm) for end in engine.ends(table.state)] == [(3, "W"), (4, "N"), (5, "E"), (5, "S")]


def test_play_goes_to_the_left_and_a_player_without_a_play_draws() -> None:
    # 3.3 Lead: he must draw until he can make a move; with no dominoes left he must pass
    table = Table(STRICT).play("5-5")
    assert table.due == engine.Turn(B, engine.Must.PLAY_OR_DRAW)
    assert kinds(table.knock()) == [engine.ProblemKind.KNOCK_TOO_EARLY]
    assert kinds(table.draw(14).knock()) == []
    assert table.to_move == A
    # 3.3 Lead: as in draw; play proceeds to the left, each player adds a tile to an open end
    table = Table(STRICT, ("A", "B", "C")).play("6-5", seat=1)
    assert (table.to_move, table.can_play("6-1 5-2 4-3")) == (2, ["6-1@W", "5-2@E"])
    assert table.play("5-2@E").to_move == A
    assert table.play("6-1@W").to_move == B


@pytest.mark.parametrize("names", [SAME, MIRROR], ids=["as-written", "mirrored"])
def test_the_steps_of_the_example_count_as_in_the_rules(names: dict[engine.Port, engine.Port]) -> None:
    # 3.3 Count: a 10, b 10, c 13, c' 15, between 14, 16, 17, d 20; 3.7 capped spinner: 2d
    assert counts(engine.ALLFIVES, *A_TO_C, *D, names=names) == [10, 10, 13, 15, 14, 16, 17, 20]


def test_the_steps_of_the_example_score_as_in_the_rules() -> None:
    # 3.3 Count: a multiple of five scores that number of points
    assert scores(engine.ALLFIVES, *A_TO_C, *D) == [10, 10, 0, 15, 0, 0, 0, 20]
    # 3.3 Lead: all sides of the 5-5; three and the blank; its top and bottom, the 3 and the 2; at last four ends
    table = Table(STRICT)
    open_after = [
        sorted(f"{end.number}{end.arm}" for end in engine.ends(table.play(play).state) if end.playable)
        for play in (*A_TO_C, *D)
    ]
    assert open_after == [
        ["5E", "5N", "5S", "5W"],
        ["0E", "5N", "5S", "5W"],
        ["0E", "3W", "5N", "5S"],
        ["2E", "3W", "5N", "5S"],
        ["2E", "3W", "4N", "5S"],
        ["2E", "3W", "4N", "5S"],
        ["3W", "4N", "5E", "5S"],
        ["3W", "4N", "5E", "5S"],
    ]
    # 3.3 Options: each player draws 5 tiles, regardless of the number of players
    for rules in (chosen(hand="5"), chosen(variation="puremco")):
        assert [rules.dealt(seats) for seats in (2, 3, 4)] == [5, 5, 5]


@pytest.mark.parametrize("names", [SAME, MIRROR], ids=["as-written", "mirrored"])
def test_the_spinner_may_stop_counting_once_both_sides_are_played(names: dict[engine.Port, engine.Port]) -> None:
    # 3.3 Options: spinner_count=until_capped: c is 3 and c' 5, d is 15
    rules = chosen(spinner_count="until_capped")
    assert counts(rules, *A_TO_C, *D, names=names) == [10, 10, 3, 5, 9, 11, 12, 15]


@pytest.mark.parametrize(
    ("value", "expected"), [("open_halves", [10, 11, 10 + 3, 5 + 6, 10]), ("until_capped", [10, 11, 3, 6, 10])]
)
@pytest.mark.parametrize("order", ["WENS", "NSWE", "NESW"])
def test_the_count_depends_on_the_number_of_covered_edges_only(value: str, expected: list[int], order: str) -> None:
    # A1-21: d * min(2, open ports) for open_halves, n >= 2 counts 0 for the variation, whichever they are
    plays = [f"5-{number}@{port}" for number, port in zip((1, 2, 3, 4), order, strict=True)]
    assert counts(chosen(spinner_count=value), "5-5", *plays) == expected


def test_a_hand_ends_with_the_last_tile_or_in_a_block() -> None:
    # 3.3 Hand end: out: 17 + 11 = 28, rounded to 30; blocked: the lightest hand, 17 + 11 - 4 = 24, rounded to 25
    three = ("A", "B", "C")
    out = Table(replace(STRICT, hand=1, hand_for=()), three).play("6-5", seat=0).reveal(1, 17).reveal(2, 11)
    assert out_of(out, engine.Scored) == [
        engine.Scored(A, 6, engine.Reason.BONUS, "17 + 11 = 28, rounded to 30, paid 6")
    ]
    blocked = Table(STRICT, three).play("6-5", seat=0).draw(13).knock(2)
    assert out_of(blocked, engine.HandOver) == []
    blocked.knock().reveal(0, 17).reveal(1, 4).reveal(2, 11)
    assert out_of(blocked, engine.Scored) == [
        engine.Scored(B, 5, engine.Reason.BONUS, "17 + 11 - 4 = 24, rounded to 25, paid 5")
    ]
    # 3.3 Hand end: all players retain the points of gameplay, only the winner gets the bonus; going out is 0 pips
    table = Table(replace(STRICT, hand=2)).play("5-5", "5-0@E", "5-3@W").reveal(1, 28)
    assert table.totals == (10 + 6, 10)
    # A1-25: blocked tie: lightest tile
    table = Table(engine.ALLFIVES, ("A", "B", "C")).play("6-5", seat=0).feed(engine.HandEnd())
    table.reveal(0, "5-5 4-3").reveal(1, "2-1 4-2 5-3").reveal(2, 40)
    assert out_of(table, engine.Scored) == [engine.Scored(B, 8, engine.Reason.BONUS, "17 + 40 - 17 = 40, paid 8")]


def test_the_example_pays_five_or_the_full_bonus() -> None:
    # 3.3 Hand end: own 3, others 5 + 11 + 13: 29 - 3 = 26, rounded to 25, divided by 5; A1-22: literal, /5
    table = Table(engine.ALLFIVES, ("A", "B", "C", "D")).play("6-5", seat=0).feed(engine.HandEnd())
    table.reveal(0, 3).reveal(1, 5).reveal(2, 11).reveal(3, 13)
    assert out_of(table, engine.Scored) == [
        engine.Scored(A, 5, engine.Reason.BONUS, "5 + 11 + 13 - 3 = 26, rounded to 25, paid 5")
    ]
    # A1-22: option bonus_divisor=1: 25
    table = Table(with_options(engine.ALLFIVES, {"bonus_divisor": "1"}), ("A", "B", "C", "D")).play("6-5", seat=0)
    table.feed(engine.HandEnd()).reveal(0, 3).reveal(1, 5).reveal(2, 11).reveal(3, 13)
    assert table.totals == (25, 0, 0, 0)


@pytest.mark.parametrize("target", [100, 200])
def test_the_match_ends_the_moment_the_target_is_reached(target: int) -> None:
    # 3.3 Match: 100, 200 or as agreed; A1-28: match ends mid-hand: immediate
    table = Table(replace(chosen(target=str(target)), hand=1)).play("6-5", seat=0).reveal(1, 5 * (target - 10))
    assert table.totals == (target - 10, 0)
    table.feed(engine.NewHand()).play("5-5")
    assert table.outcomes[-1] == engine.MatchOver(A, (target, 0))
    assert engine.ALLFIVES.target == 100


def test_cribbage_scoring_pegs_a_fifth_of_each_play_up_to_61() -> None:
    # 3.3 Options: scoring=cribbage: 5, 10, 15 yield 1, 2, 3; typically played to 61
    rules = chosen(scoring="cribbage")
    assert scores(rules, *A_TO_C, *D) == [2, 2, 0, 3, 0, 0, 0, 4]
    assert rules.target == 61
    # A1-23: cribbage: the bonus stays 5, bonus_divisor 5
    table = Table(chosen(scoring="cribbage", policy="warn"), ("A", "B", "C", "D")).play("6-5", seat=0)
    table.feed(engine.HandEnd()).reveal(0, 3).reveal(1, 5).reveal(2, 11).reveal(3, 13)
    assert table.totals == (5, 0, 0, 0)


@pytest.mark.parametrize("options", [{"variation": "all_threes"}, {"unit": "3"}])
def test_cribbage_scoring_of_all_threes_pegs_a_third(options: dict[str, str]) -> None:
    rules = chosen(scoring="cribbage", **options)
    assert [points_for(count, rules) for count in (3, 9, 10, 12)] == [1, 3, 0, 4]
    assert with_options(chosen(scoring="cribbage"), "unit=3") == chosen(scoring="cribbage", unit="3")
    assert chosen(scoring="cribbage", unit="3", play_divisor="1").play_divisor == 1
    assert chosen(scoring="cribbage", unit="none").target == 61


def test_with_spinner_all_every_double_branches_and_stops_counting() -> None:
    # 3.3 Options: spinner=all; A1-26: mid-line doubles open their tips when both sides are covered
    for rules in (chosen(spinner="all"), chosen(variation="five_up")):
        table = Table(rules).play("5-5", "5-3@E", "3-3@E")
        assert table.can_play("3-1 5-1") == ["3-1@E", "5-1@W"]
        table.play("3-1@E")
        assert kinds(table.play("3-6@3-3:N", "3-4@3-3:S")) == []
    # A1-26: until_capped + sides_first, "ceases to count although its ends remain open"
    assert counts(chosen(spinner="all"), "5-5", "5-3@E", "3-3@E", "3-1@E", "5-2@W") == [10, 13, 16, 11, 3]
    # 3.3 Options: variation: no spinner
    table = Table(chosen(variation="muggins")).play("5-5", "5-1@W", "5-2@E")
    assert table.can_play("5-3") == []


def test_all_threes_scores_and_rounds_to_threes() -> None:
    # 3.3 Options: unit=3: All Threes is the same game with multiples of 3
    for rules in (chosen(unit="3"), chosen(variation="all_threes")):
        assert scores(rules, "6-6", "6-3@E", "6-1@W", "3-2@E") == [12, 15, 0, 15]
        assert scores(rules, "5-5") == [0]
    # A1-27: All Threes: round_to=3, bonus_divisor=3: 29 - 3 = 26, rounded to 27, paid 9
    table = Table(chosen(unit="3", policy="warn"), ("A", "B", "C", "D")).play("6-5", seat=0)
    table.feed(engine.HandEnd()).reveal(0, 3).reveal(1, 5).reveal(2, 11).reveal(3, 13)
    assert out_of(table, engine.Scored) == [
        engine.Scored(A, 9, engine.Reason.BONUS, "5 + 11 + 13 - 3 = 26, rounded to 27, paid 9")
    ]


ANY_LEAD = {"lead_first": engine.LeadRule.LOT_ANY, "policy": engine.Policy.STRICT}
BONES_HERE = replace(engine.BONES, **ANY_LEAD)  # type: ignore[arg-type]  # fields of Rules
TWOSET_HERE = replace(engine.TWOSET, seats_min=2, **ANY_LEAD)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rules", "tips"), [(BONES_HERE, []), (STRICT, ["5-4@N", "5-4@S"]), (TWOSET_HERE, [])])
def test_tips_before_both_sides(rules: engine.Rules, tips: list[str]) -> None:
    # 3.7 tips before both sides: no, yes, no
    assert [play for play in Table(rules).play("5-5", "5-1@W").can_play("5-4") if play[-1] in "NS"] == tips


@pytest.mark.parametrize(("rules", "worth"), [(BONES_HERE, [0, 0, 0]), (STRICT, [10, 5, 0]), (TWOSET_HERE, [0, 0, 0])])
def test_a_capped_spinner_counts(rules: engine.Rules, worth: list[int]) -> None:
    # 3.7 capped spinner counts: 0; 2d, then d; 0
    played = counts(rules, "5-5", "5-1@W", "5-2@E", "5-3@N", "5-4@S")[2:]
    assert [total - tips for total, tips in zip(played, (3, 6, 10), strict=True)] == worth


@pytest.mark.parametrize(
    ("rules", "bonus"),
    [
        (BONES_HERE, "3 + 30 = 33, rounded to 35"),
        (STRICT, "3 + 30 - 2 = 31, rounded to 30, paid 6"),
        (TWOSET_HERE, "3 + 30 - 2 = 31"),
    ],
)
def test_the_bonus_of_a_block(rules: engine.Rules, bonus: str) -> None:
    # 3.7 bonus: nearest 5; (-own) nearest 5, / 5; exact. 3.7 block: the lightest hand
    table = Table(replace(rules, policy=engine.Policy.WARN), ("A", "B", "C")).play("6-5", seat=0).feed(engine.HandEnd())
    table.reveal(0, 3).reveal(1, 2).reveal(2, 30)
    (paid,) = out_of(table, engine.Scored)
    assert isinstance(paid, engine.Scored)
    assert (paid.seat, paid.because) == (B, bonus)


@pytest.mark.parametrize(("rules", "total"), [(BONES_HERE, 10), (STRICT, 10), (TWOSET_HERE, 0)])
def test_the_score_of_a_play_is_automatic(rules: engine.Rules, total: int) -> None:
    # 3.7 score automatic: yes, yes, only if called
    table = Table(rules).play("5-5")
    assert table.totals == (total, 0)
    assert bool(out_of(table, engine.Claimable)) is (total == 0)
