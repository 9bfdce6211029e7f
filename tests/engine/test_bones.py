"""Tests of docs/reference/rules.md 3.1, from the deal to the score. Endings are in test_bones_endings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    BONES,
    Domino,
    Draw,
    Drew,
    Event,
    HandEnd,
    HandOver,
    HandStarted,
    Irregular,
    ItStands,
    Knock,
    Lead,
    LeadRule,
    Must,
    NewHand,
    Passed,
    Phase,
    Placed,
    Policy,
    ProblemKind,
    Reason,
    Redeal,
    RedealReason,
    Redealt,
    Reveal,
    RevealPips,
    Rules,
    Scored,
    Seat,
    Seq,
    State,
    Tile,
    Turn,
    apply,
    deal_problems,
    legal_plays,
    problem_with,
)
from engine.rules.options import with_options
from tests.engine.table import OPEN_BONES, Table, kinds, out_of, short, text, tiles

A, B, C = Seat(0), Seat(1), Seat(2)
STRICT = replace(BONES, policy=Policy.STRICT)


# ---- the deal ----


def test_at_least_two_players_share_a_set_with_blanks_and_one_copy_of_each_tile() -> None:
    # 3.1 Setup: at least two players; a set with blanks, in which each tile is unique
    assert [deal_problems(BONES, seats) == () for seats in (1, 2)] == [False, True]
    table = Table(STRICT).play("6-6", "6-0@E")
    assert table.can_play("1-0 0-0 6-0") == ["1-0@E", "0-0@E"]
    assert kinds(table.play("6-0@W")) == [ProblemKind.ALREADY_USED]


def test_each_player_gets_seven_tiles_and_the_rest_is_the_boneyard() -> None:
    # 3.1 Setup: everyone starts with seven tiles; at 4 players the boneyard is empty
    for players, boneyard in ((("A", "B"), 14), (("A", "B", "C"), 7), (("A", "B", "C", "D"), 0)):
        table = Table(BONES, players)
        assert table.hand.sizes == (7,) * len(players)
        assert table.hand.boneyard == boneyard
        assert HandStarted(1, boneyard) in table.outcomes


def test_more_than_three_doubles_are_dealt_again() -> None:
    # 3.1 Setup: more than three doubles: everybody redraws; A0-8: hidden information, so a redeal button
    table = Table(BONES).feed(Redeal(RedealReason.TOO_MANY_DOUBLES))
    assert table.outcomes[0] == Redealt(RedealReason.TOO_MANY_DOUBLES)
    assert (table.game.phase, table.hand.number) == (Phase.LEAD, 1)


def with_four_doubles(*drawn: Draw, rules: Rules = STRICT) -> Table:
    """Return a hand where Brian lays 6-6, 5-5, 4-4 and 2-2. He draws *drawn* on 6 and 1, before the 6-5."""
    table = Table(rules).play("6-6", "6-1@E").feed(*drawn)
    table.play("6-5@W", "1-4@E", "5-5@W", "5-2@W", "4-4@E", "4-3@E")
    assert table.state.irregular == ()
    return table.play("2-2@W")


def test_a_fourth_dealt_double_is_reported_when_played() -> None:
    # 3.1 Setup: more than three doubles: everybody redraws; A0-8: hidden information, known once the fourth is played
    table = with_four_doubles()
    assert kinds(table) == [ProblemKind.TOO_MANY_DOUBLES]
    assert text(table) == ["Brian did not declare more than 3 doubles, but held 2-2"]
    assert len(table.game.layout.nodes) == 9


def test_without_the_redeal_rule_any_number_of_doubles_is_legal() -> None:
    # A0-8: only if agreed
    assert kinds(with_four_doubles(rules=replace(STRICT, redeal_if_doubles_over=None))) == []
    assert kinds(with_four_doubles(rules=replace(STRICT, redeal_if_doubles_over=4))) == []


def test_a_double_that_may_have_been_drawn_does_not_count() -> None:
    # Of two tiles drawn on 6 and 1, one was the 6-5 and the other may be any double. A single drawn tile was the 6-5.
    assert kinds(with_four_doubles(Draw(A, 2))) == []
    assert kinds(with_four_doubles(Draw(A, 2, faces=tiles("2-2 6-5")))) == []
    assert kinds(with_four_doubles(Draw(A))) == [ProblemKind.TOO_MANY_DOUBLES]
    assert kinds(with_four_doubles(Draw(A, 2, faces=tiles("1-0 6-5")))) == [ProblemKind.TOO_MANY_DOUBLES]


def test_doubles_in_a_revealed_hand_count_as_dealt() -> None:
    # A0-8: also seen when the hand is revealed
    table = Table(short(BONES, hand=5)).play("6-6", "6-1@E", "6-5@W").feed(Domino(B), Reveal(A, tiles("0-0 1-1 2-2")))
    assert text(table) == ["Brian did not declare more than 3 doubles, but held 0-0, 1-1 and 2-2"]


def test_without_the_rule_doubles_are_no_reason_for_a_redeal() -> None:
    # 3.1 Setup: more than three doubles, where that is agreed
    table = Table(replace(STRICT, redeal_if_doubles_over=None)).feed(Redeal(RedealReason.TOO_MANY_DOUBLES))
    assert kinds(table) == [ProblemKind.NO_REDEAL]


def test_a_roll_call_without_any_double_is_dealt_again() -> None:
    # A0-1: nobody has a double: redeal
    table = Table(STRICT).feed(Redeal(RedealReason.NO_DOUBLE))
    assert kinds(table) == []
    assert kinds(Table(OPEN_BONES).feed(Redeal(RedealReason.NO_DOUBLE))) == [ProblemKind.NO_REDEAL]


def test_a_redeal_with_tiles_on_the_table_needs_confirmation() -> None:
    table = Table(BONES).play("5-5").feed(Redeal(RedealReason.MISDEAL))
    assert kinds(table) == [ProblemKind.NO_REDEAL]
    assert table.totals == (10, 0)
    assert len(table.game.layout.nodes) == 1


def test_an_accepted_redeal_revokes_the_points_of_its_hand() -> None:
    # 3.1 Setup: everybody redraws tiles and you start over
    table = Table(BONES).play("5-5").feed(Redeal(RedealReason.TOO_MANY_DOUBLES))
    table.feed(ItStands(Seq(len(table.state.log) - 1)))
    assert (table.totals, table.hand.sizes, table.game.phase) == ((0, 0), (7, 7), Phase.LEAD)


# ---- the lead ----


def test_the_holder_of_the_highest_double_leads_it_in_the_first_hand() -> None:
    # 3.1 Lead: the person with the highest double plays first, playing that double
    table = Table(STRICT)
    assert table.outcomes[-1] == Turn(None, Must.LEAD_HIGHEST_DOUBLE)
    assert kinds(table.play("6-5", seat=1)) == [ProblemKind.LEAD_NOT_A_DOUBLE]
    assert kinds(table.play("5-5", seat=1)) == []
    assert table.hand.turn == A


def test_in_a_roll_call_only_the_highest_double_of_a_hand_may_lead() -> None:
    table = Table(STRICT).feed(Lead(B))
    assert [play.tile for play in legal_plays(table.state, tiles("6-5 2-2 4-4 0-0"))] == [Tile(4, 4)]
    assert legal_plays(table.state, tiles("6-5")) == ()


def test_any_seat_may_lead_while_the_leader_is_unknown() -> None:
    table = Table(STRICT)
    assert [play.seat for play in legal_plays(table.state, tiles("4-4"))] == [A, B]
    assert [play.seat for play in legal_plays(table.state, tiles("4-4"), seat=B)] == [B]
    table.feed(Lead(B))
    assert [play.seat for play in legal_plays(table.state, tiles("4-4"))] == [B]
    assert legal_plays(table.state, tiles("4-4"), seat=A) == ()


def test_a_higher_double_in_the_deal_is_reported() -> None:
    # 3.1 Lead: the highest double
    table = Table(BONES).play("4-4", "4-5@E", "4-2@W", "5-5@E", seat=0)
    assert ProblemKind.HIGHER_DOUBLE_HELD in kinds(table)
    assert "Brian let the 4-4 lead, but held 5-5" in [
        outcome.problem.text for outcome in table.outcomes if isinstance(outcome, Irregular)
    ]
    assert Tile(5, 5) in table.game.layout.tiles


def test_a_higher_double_that_may_have_been_drawn_is_legal() -> None:
    table = Table(BONES).play("4-4", "4-5@E").feed(Draw(A)).play("5-5@E")
    assert kinds(table) == []


def test_a_second_copy_of_the_lead_is_not_higher() -> None:
    table = Table(replace(BONES, copies=2)).play("4-4", "4-4@E")
    assert kinds(table) == []


def test_the_winner_of_a_hand_leads_the_next_with_any_tile() -> None:
    # 3.1 Lead: the winner of the previous hand starts with any tile, double or not
    table = Table(short(STRICT, hand=1)).play("5-5", seat=1).feed(Reveal(A, tiles("6-6")), NewHand())
    assert table.outcomes[-1] == Turn(B, Must.LEAD_ANY)
    assert [str(play.tile) for play in legal_plays(table.state, tiles("6-5 4-4"))] == ["6-5", "4-4"]
    assert kinds(table.play("6-5", seat=0)) == [ProblemKind.WRONG_SEAT]
    assert kinds(table.play("6-5", seat=1)) == []


def test_a_lead_by_another_seat_than_the_winner_is_reported_and_accepted() -> None:
    # A1-3: Tallybone follows the table, except with strict rules (2.6: a wrong lead)
    for rules, leader, stands in ((BONES, A, True), (STRICT, B, False)):
        table = Table(short(rules, hand=1)).play("5-5", seat=1).feed(Reveal(A, tiles("6-6")), NewHand(), Lead(A))
        assert [
            (outcome.problem.kind, outcome.stands) for outcome in table.outcomes if isinstance(outcome, Irregular)
        ] == [(ProblemKind.WRONG_SEAT, stands)]
        assert table.hand.turn == leader


def test_an_undecided_lead_may_be_named_again() -> None:
    # A1-3: only the players know who leads the first hand
    table = Table(replace(STRICT, lead_first=LeadRule.LOT_ANY)).lead(0).lead(1)
    assert (kinds(table), table.hand.turn) == ([ProblemKind.WRONG_SEAT], B)


def test_a_dead_tie_is_followed_by_another_roll_call() -> None:
    # A0-4: dead tie: roll call again
    table = Table(short(BONES, hand=2)).play("5-5").feed(HandEnd())
    table.feed(Reveal(A, tiles("1-3")), Reveal(B, tiles("0-4")))
    assert [outcome.result.winner for outcome in table.outcomes if isinstance(outcome, HandOver)] == [None]
    assert table.totals == (10, 0)
    table.feed(NewHand())
    assert table.outcomes[-1] == Turn(None, Must.LEAD_HIGHEST_DOUBLE)


# ---- the plays ----


def test_a_tile_must_match_the_end_it_is_played_on() -> None:
    # 3.1 Legal plays: match an open end
    table = Table().play("5-5")
    assert kinds(table.play("6-4@E")) == [ProblemKind.CANNOT_LIE_THERE]
    play = replace(table.play_of("6-4@E"), inner=6)
    assert kinds(table.feed(play)) == [ProblemKind.WRONG_NUMBER]
    assert len(table.game.layout.nodes) == 1


def test_the_matching_half_must_be_inside() -> None:
    table = Table().play("5-5")
    table.feed(replace(table.play_of("5-4@E"), inner=4))
    assert [outcome.problem.text for outcome in table.outcomes if isinstance(outcome, Irregular)] == [
        "turn the 5-4 round: the 5 must touch the layout"
    ]


def test_only_the_first_double_played_branches() -> None:
    """The layout of the rules' picture: 5-5 was played before 1-1."""
    # 3.1 Legal plays: the first double played is the only tile that will ever be branched from
    table = Table().play("5-5", "5-1@W", "1-1@W", "1-6@W", "6-3@W", "5-4@E")
    table.play("2-1@1-1:N")
    (refused,) = (outcome for outcome in table.outcomes if isinstance(outcome, Irregular))
    assert refused.problem.kind is ProblemKind.NO_BRANCH
    assert refused.problem.text == "only the first double branches: that is the 5-5, not the 1-1"
    assert kinds(table.play("2-5@N")) == []


def test_the_first_double_of_each_hand_is_its_only_spinner() -> None:
    # 3.1 Legal plays: the first double that is played; in the first hand, it is the first tile
    table = Table(short(STRICT, hand=4)).play("6-6", "6-5@E", "5-5@E", "5-1@E", "6-2@W")
    assert table.can_play("6-3 5-3") == ["6-3@N", "6-3@S"]
    table.play("6-3@N", "6-4@S").reveal(1, 4).feed(NewHand())
    assert table.due == Turn(A, Must.LEAD_ANY)
    table.play("6-5", "5-5@E", "5-1@E", "6-6@W", "6-2@W")
    assert table.can_play("6-3 5-3") == ["5-3@N", "5-3@S"]


def test_the_spinner_branches_only_when_it_has_a_tile_on_both_sides() -> None:
    # 3.1 Legal plays: no branch off a spinner unless it has a tile on each side already
    table = Table().play("5-5", "5-1@W")
    table.play("5-2@N")
    (refused,) = (outcome for outcome in table.outcomes if isinstance(outcome, Irregular))
    assert refused.problem.kind is ProblemKind.TIP_CLOSED
    assert refused.problem.text == "the spinner needs a tile on both sides first"
    assert kinds(table.play("5-4@E", "5-2@N")) == []


def test_legal_plays_are_the_matching_open_ends_without_closed_ports() -> None:
    table = Table().play("5-5", "5-1@W")
    assert [(str(play.tile), play.at, play.inner) for play in legal_plays(table.state, tiles("5-2 1-0 6-6 5-1"))] == [
        ("5-2", table.end("E").spot, 5),
        ("1-0", table.end("W").spot, 1),
    ]
    table.play("5-4@E")
    assert len(legal_plays(table.state, tiles("5-2"))) == 2


def test_a_tile_of_another_set_or_already_played_has_no_legal_play() -> None:
    assert legal_plays(Table().state, tiles("7-7 9-3")) == ()
    assert legal_plays(Table().play("5-5").state, tiles("5-5 7-5")) == ()


def test_a_tile_that_matches_two_ends_has_two_plays() -> None:
    table = Table().play("4-3", "3-6@E")
    assert [play.inner for play in legal_plays(table.state, tiles("6-4"))] == [4, 6]


def test_play_goes_round_clockwise() -> None:
    table = Table(OPEN_BONES, ("A", "B", "C"))
    turns = []
    for move in ("5-5", "5-1@W", "5-4@E", "1-3@W"):
        table.play(move)
        turns.append(table.hand.turn)
    assert turns == [1, 2, 0, 1]


# ---- drawing and knocking ----


def test_a_player_without_a_play_draws_and_keeps_the_turn() -> None:
    # 3.1 Drawing: until a playable tile is possessed
    table = Table().play("5-5").feed(Draw(B, 3))
    assert table.outcomes == (Drew(B, 3, 11), Turn(B, Must.PLAY_OR_DRAW))
    assert (table.hand.sizes, table.hand.boneyard) == ((6, 10), 11)


def test_a_knock_with_tiles_to_draw_is_refused() -> None:
    # 3.1 Drawing: draw, if you cannot play
    table = Table().play("5-5").feed(Knock(B))
    (refused,) = (outcome for outcome in table.outcomes if isinstance(outcome, Irregular))
    assert refused.problem.kind is ProblemKind.KNOCK_TOO_EARLY
    assert refused.problem.text == "draw before knocking: 14 tiles left in the boneyard"
    assert table.hand.turn == B


def test_a_knock_with_an_empty_boneyard_passes() -> None:
    # 3.1 Drawing: no leftover tiles: knock and be skipped
    table = Table().play("5-5").feed(Draw(B, 14))
    assert table.outcomes[-1] == Turn(B, Must.PLAY_OR_KNOCK)
    table.feed(Knock(B))
    assert table.outcomes == (Passed(B, 1), Turn(A, Must.PLAY_OR_KNOCK))


def test_a_draw_larger_than_the_boneyard_is_refused() -> None:
    table = Table(BONES).play("5-5", seat=0).feed(Draw(B, 15))
    assert kinds(table) == [ProblemKind.BONEYARD_TOO_SMALL]
    assert table.hand.boneyard == 14


# ---- the score ----


def test_a_play_scores_for_its_player_with_its_sum() -> None:
    # 3.1 Count: 5-5 led is 10, a five-blank off it 0 + 5 + 5
    table = Table().play("5-5", "5-0@E")
    assert out_of(table, Scored) == [Scored(B, 10, Reason.PLAY, "5 + 5 + 0 = 10")]
    assert table.totals == (10, 10)


def test_the_count_rule_is_the_same_with_a_larger_set() -> None:
    # 3.1 Count: the rule does not change with the size of the set
    table = Table(with_options(OPEN_BONES, "set=12")).play("12-12", "12-1@W", "12-9@E")
    assert (str(table.count), table.score) == ("1 + 9 = 10", 10)


@pytest.mark.parametrize(
    ("highest", "lead", "points"), [(6, "6-4", 10), (9, "9-6", 15), (12, "12-8", 20), (16, "16-9", 25)]
)
def test_multiples_of_five_score_with_every_set(highest: int, lead: str, points: int) -> None:
    # 3.1 Count: double-six, double-nine, double-twelve and double-sixteen all add up to multiples of five
    table = Table(with_options(OPEN_BONES, {"set": str(highest)}))
    assert table.play(lead).score == points
    assert Table(table.rules).play(f"{highest}-{points - highest - 1}").score == 0


# ---- events out of place ----


def test_events_before_a_match_are_refused() -> None:
    for event in (NewHand(), Knock(A), HandEnd(), Redeal(RedealReason.MISDEAL), Lead(A)):
        problem = problem_with(State(), event)
        assert problem is not None
        assert problem.text == "no match has been started"
        assert apply(State(), event)[0].game is None


@pytest.mark.parametrize("event", [Knock(A), NewHand(), HandEnd(), Domino(A), RevealPips(A, 3)])
def test_events_before_the_first_tile_are_refused(event: Event) -> None:
    problem = problem_with(Table(BONES).state, event)
    assert problem is not None
    assert problem.text == "the first tile has not been played"


@pytest.mark.parametrize("event", [NewHand(), Lead(A), RevealPips(A, 3)])
def test_events_of_other_phases_are_refused_during_play(event: Event) -> None:
    problem = problem_with(Table(BONES).play("5-5").state, event)
    assert problem is not None
    assert problem.text == "the hand is being played"


def test_an_unoccupied_seat_is_refused() -> None:
    table = Table(BONES).play("5-5").feed(Draw(Seat(4)))
    assert kinds(table) == [ProblemKind.NO_SUCH_SEAT]
    assert kinds(table.feed(Draw(Seat(-1)))) == [ProblemKind.NO_SUCH_SEAT]


def test_hands_cannot_be_revealed_during_play() -> None:
    table = Table(short(hand=1), ("A", "B", "C")).play("6-5")
    assert kinds(table.feed(HandEnd())) == [ProblemKind.NOT_NOW]
    assert kinds(table.feed(RevealPips(A, 3))) == [ProblemKind.NOT_NOW]


def test_a_placed_tile_has_a_node_id() -> None:
    table = Table().play("5-5", "5-0@E")
    assert out_of(table, Placed) == [Placed(B, Tile(0, 5), table.node("5-0"))]
