"""Tests of docs/reference/rules.md 3.1, and of the ends of hands and matches in 2.3 to 2.5."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from tests.engine.table import OPEN_BONES, Table, kinds, out_of, short, text, tiles, won

A, B, C = engine.Seat(0), engine.Seat(1), engine.Seat(2)
STRICT = replace(engine.BONES, policy=engine.Policy.STRICT)


def test_at_least_two_players_share_a_set_with_blanks_and_one_copy_of_each_tile() -> None:
    # 3.1 Setup: at least two players; a set with blanks, in which each tile is unique
    assert [engine.deal_problems(engine.BONES, seats) == () for seats in (1, 2)] == [False, True]
    table = Table(STRICT).play("6-6", "6-0@E")
    assert table.can_play("1-0 0-0 6-0") == ["1-0@E", "0-0@E"]
    assert kinds(table.play("6-0@W")) == [engine.ProblemKind.ALREADY_USED]


def test_each_player_gets_seven_tiles_and_the_rest_is_the_boneyard() -> None:
    # 3.1 Setup: everyone starts with seven tiles; at 4 players the boneyard is empty
    for players, boneyard in ((("A", "B"), 14), (("A", "B", "C"), 7), (("A", "B", "C", "D"), 0)):
        table = Table(engine.BONES, players)
        assert table.hand.sizes == (7,) * len(players)
        assert table.hand.boneyard == boneyard
        assert engine.HandStarted(1, boneyard) in table.outcomes


def test_a_hand_is_dealt_again_for_four_doubles_or_none() -> None:
    # 3.1 Setup: more than three doubles: everybody redraws; A0-8: hidden information, so a redeal button
    table = Table(engine.BONES).feed(engine.Redeal(engine.RedealReason.TOO_MANY_DOUBLES))
    assert table.outcomes[0] == engine.Redealt(engine.RedealReason.TOO_MANY_DOUBLES)
    assert (table.game.phase, table.hand.number) == (engine.Phase.LEAD, 1)
    # 3.1 Setup: more than three doubles, where that is agreed
    table = Table(replace(STRICT, redeal_if_doubles_over=None)).feed(
        engine.Redeal(engine.RedealReason.TOO_MANY_DOUBLES)
    )
    assert kinds(table) == [engine.ProblemKind.NO_REDEAL]
    # A0-1: nobody has a double: redeal
    table = Table(STRICT).feed(engine.Redeal(engine.RedealReason.NO_DOUBLE))
    assert kinds(table) == []
    assert kinds(Table(OPEN_BONES).feed(engine.Redeal(engine.RedealReason.NO_DOUBLE))) == [engine.ProblemKind.NO_REDEAL]


def with_four_doubles(*drawn: engine.Draw, rules: engine.Rules = STRICT) -> Table:
    """Return a hand where Brian lays 6-6, 5-5, 4-4 and 2-2. He draws *drawn* on 6 and 1, before the 6-5."""
    table = Table(rules).play("6-6", "6-1@E").feed(*drawn)
    table.play("6-5@W", "1-4@E", "5-5@W", "5-2@W", "4-4@E", "4-3@E")
    assert table.state.irregular == ()
    return table.play("2-2@W")


def test_a_fourth_dealt_double_is_reported_unless_it_may_have_been_drawn() -> None:
    # 3.1 Setup: more than three doubles: everybody redraws; A0-8: hidden information, known once the fourth is played
    table = with_four_doubles()
    assert kinds(table) == [engine.ProblemKind.TOO_MANY_DOUBLES]
    assert text(table) == ["Brian did not declare more than 3 doubles, but held 2-2"]
    assert len(table.game.layout.nodes) == 9
    # A0-8: only if agreed
    assert kinds(with_four_doubles(rules=replace(STRICT, redeal_if_doubles_over=None))) == []
    assert kinds(with_four_doubles(rules=replace(STRICT, redeal_if_doubles_over=4))) == []
    # Of two tiles drawn on 6 and 1, one was the 6-5 and the other may be any double. A single drawn tile was the 6-5.
    assert kinds(with_four_doubles(engine.Draw(A, 2))) == []
    assert kinds(with_four_doubles(engine.Draw(A, 2, faces=tiles("2-2 6-5")))) == []
    assert kinds(with_four_doubles(engine.Draw(A))) == [engine.ProblemKind.TOO_MANY_DOUBLES]
    assert kinds(with_four_doubles(engine.Draw(A, 2, faces=tiles("1-0 6-5")))) == [engine.ProblemKind.TOO_MANY_DOUBLES]
    # A0-8: also seen when the hand is revealed
    table = (
        Table(short(engine.BONES, hand=5))
        .play("6-6", "6-1@E", "6-5@W")
        .feed(engine.Domino(B), engine.Reveal(A, tiles("0-0 1-1 2-2")))
    )
    assert text(table) == ["Brian did not declare more than 3 doubles, but held 0-0, 1-1 and 2-2"]


def test_a_redeal_with_tiles_on_the_table_needs_confirmation_and_revokes_the_points() -> None:
    table = Table(engine.BONES).play("5-5").feed(engine.Redeal(engine.RedealReason.MISDEAL))
    assert kinds(table) == [engine.ProblemKind.NO_REDEAL]
    assert table.totals == (10, 0)
    assert len(table.game.layout.nodes) == 1
    # 3.1 Setup: everybody redraws tiles and you start over
    table = Table(engine.BONES).play("5-5").feed(engine.Redeal(engine.RedealReason.TOO_MANY_DOUBLES))
    table.feed(engine.ItStands(engine.Seq(len(table.state.log) - 1)))
    assert (table.totals, table.hand.sizes, table.game.phase) == ((0, 0), (7, 7), engine.Phase.LEAD)


def test_only_the_highest_double_may_lead_the_first_hand() -> None:
    # 3.1 Lead: the person with the highest double plays first, playing that double
    table = Table(STRICT)
    assert table.outcomes[-1] == engine.Turn(None, engine.Must.LEAD_HIGHEST_DOUBLE)
    assert kinds(table.play("6-5", seat=1)) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    assert kinds(table.play("5-5", seat=1)) == []
    assert table.hand.turn == A
    table = Table(STRICT).feed(engine.Lead(B))
    assert [play.tile for play in engine.legal_plays(table.state, tiles("6-5 2-2 4-4 0-0"))] == [engine.Tile(4, 4)]
    assert engine.legal_plays(table.state, tiles("6-5")) == ()
    table = Table(STRICT)
    assert [play.seat for play in engine.legal_plays(table.state, tiles("4-4"))] == [A, B]
    assert [play.seat for play in engine.legal_plays(table.state, tiles("4-4"), seat=B)] == [B]
    table.feed(engine.Lead(B))
    assert [play.seat for play in engine.legal_plays(table.state, tiles("4-4"))] == [B]
    assert engine.legal_plays(table.state, tiles("4-4"), seat=A) == ()


def test_a_higher_dealt_double_is_reported() -> None:
    # 3.1 Lead: the highest double
    table = Table(engine.BONES).play("4-4", "4-5@E", "4-2@W", "5-5@E", seat=0)
    assert engine.ProblemKind.HIGHER_DOUBLE_HELD in kinds(table)
    assert "Brian let the 4-4 lead, but held 5-5" in text(table)
    assert engine.Tile(5, 5) in table.game.layout.tiles
    table = Table(engine.BONES).play("4-4", "4-5@E").feed(engine.Draw(A)).play("5-5@E")
    assert kinds(table) == []
    table = Table(replace(engine.BONES, copies=2)).play("4-4", "4-4@E")
    assert kinds(table) == []


def test_the_winner_of_a_hand_leads_the_next_with_any_tile() -> None:
    # 3.1 Lead: the winner of the previous hand starts with any tile, double or not
    table = Table(short(STRICT, hand=1)).play("5-5", seat=1).feed(engine.Reveal(A, tiles("6-6")), engine.NewHand())
    assert table.outcomes[-1] == engine.Turn(B, engine.Must.LEAD_ANY)
    assert [str(play.tile) for play in engine.legal_plays(table.state, tiles("6-5 4-4"))] == ["6-5", "4-4"]
    assert kinds(table.play("6-5", seat=0)) == [engine.ProblemKind.WRONG_SEAT]
    assert kinds(table.play("6-5", seat=1)) == []
    # A1-3: Tallybone follows the table, except with strict rules (2.6: a wrong lead)
    for rules, leader, stands in ((engine.BONES, A, True), (STRICT, B, False)):
        table = (
            Table(short(rules, hand=1))
            .play("5-5", seat=1)
            .feed(engine.Reveal(A, tiles("6-6")), engine.NewHand(), engine.Lead(A))
        )
        assert [
            (outcome.problem.kind, outcome.stands)
            for outcome in table.outcomes
            if isinstance(outcome, engine.Irregular)
        ] == [(engine.ProblemKind.WRONG_SEAT, stands)]
        assert table.hand.turn == leader
    # A1-3: only the players know who leads the first hand
    table = Table(replace(STRICT, lead_first=engine.LeadRule.LOT_ANY)).lead(0).lead(1)
    assert (kinds(table), table.hand.turn) == ([engine.ProblemKind.WRONG_SEAT], B)


def test_a_dead_tie_is_followed_by_another_roll_call() -> None:
    # A0-4: dead tie: roll call again
    table = Table(short(engine.BONES, hand=2)).play("5-5").feed(engine.HandEnd())
    table.feed(engine.Reveal(A, tiles("1-3")), engine.Reveal(B, tiles("0-4")))
    assert won(table) is None
    assert table.totals == (10, 0)
    table.feed(engine.NewHand())
    assert table.outcomes[-1] == engine.Turn(None, engine.Must.LEAD_HIGHEST_DOUBLE)


def test_a_tile_must_match_the_end_with_its_inner_half() -> None:
    # 3.1 Legal plays: match an open end
    table = Table().play("5-5")
    assert kinds(table.play("6-4@E")) == [engine.ProblemKind.CANNOT_LIE_THERE]
    play = replace(table.play_of("6-4@E"), inner=6)
    assert kinds(table.feed(play)) == [engine.ProblemKind.WRONG_NUMBER]
    assert len(table.game.layout.nodes) == 1
    table = Table().play("5-5")
    table.feed(replace(table.play_of("5-4@E"), inner=4))
    assert text(table) == ["turn the 5-4 round: the 5 must touch the layout"]


def test_only_the_first_double_of_each_hand_branches() -> None:
    # 3.1 Legal plays: the first double played is the only tile that will ever be branched from
    table = Table().play("5-5", "5-1@W", "1-1@W", "1-6@W", "6-3@W", "5-4@E")
    table.play("2-1@1-1:N")
    (refused,) = (outcome for outcome in table.outcomes if isinstance(outcome, engine.Irregular))
    assert refused.problem.kind is engine.ProblemKind.NO_BRANCH
    assert refused.problem.text == "only the first double branches: that is the 5-5, not the 1-1"
    assert kinds(table.play("2-5@N")) == []
    # 3.1 Legal plays: the first double that is played; in the first hand, it is the first tile
    table = Table(short(STRICT, hand=4)).play("6-6", "6-5@E", "5-5@E", "5-1@E", "6-2@W")
    assert table.can_play("6-3 5-3") == ["6-3@N", "6-3@S"]
    table.play("6-3@N", "6-4@S").reveal(1, 4).feed(engine.NewHand())
    assert table.due == engine.Turn(A, engine.Must.LEAD_ANY)
    table.play("6-5", "5-5@E", "5-1@E", "6-6@W", "6-2@W")
    assert table.can_play("6-3 5-3") == ["5-3@N", "5-3@S"]
    # 3.1 Legal plays: no branch off a spinner unless it has a tile on each side already
    table = Table().play("5-5", "5-1@W")
    table.play("5-2@N")
    (refused,) = (outcome for outcome in table.outcomes if isinstance(outcome, engine.Irregular))
    assert refused.problem.kind is engine.ProblemKind.TIP_CLOSED
    assert refused.problem.text == "the spinner needs a tile on both sides first"
    assert kinds(table.play("5-4@E", "5-2@N")) == []


def test_legal_plays_are_the_matching_open_ends() -> None:
    table = Table().play("5-5", "5-1@W")
    assert [
        (str(play.tile), play.at, play.inner) for play in engine.legal_plays(table.state, tiles("5-2 1-0 6-6 5-1"))
    ] == [("5-2", table.end("E").spot, 5), ("1-0", table.end("W").spot, 1)]
    table.play("5-4@E")
    assert len(engine.legal_plays(table.state, tiles("5-2"))) == 2
    assert engine.legal_plays(Table().state, tiles("7-7 9-3")) == ()
    assert engine.legal_plays(Table().play("5-5").state, tiles("5-5 7-5")) == ()
    table = Table().play("4-3", "3-6@E")
    assert [play.inner for play in engine.legal_plays(table.state, tiles("6-4"))] == [4, 6]


def test_play_goes_round_clockwise() -> None:
    table = Table(OPEN_BONES, ("A", "B", "C"))
    turns = []
    for move in ("5-5", "5-1@W", "5-4@E", "1-3@W"):
        table.play(move)
        turns.append(table.hand.turn)
    assert turns == [1, 2, 0, 1]


def test_a_player_without_a_play_draws_and_passes_once_the_boneyard_is_empty() -> None:
    # 3.1 Drawing: until a playable tile is possessed
    table = Table().play("5-5").feed(engine.Draw(B, 3))
    assert table.outcomes == (engine.Drew(B, 3, 11), engine.Turn(B, engine.Must.PLAY_OR_DRAW))
    assert (table.hand.sizes, table.hand.boneyard) == ((6, 10), 11)
    # 3.1 Drawing: draw, if you cannot play
    table = Table().play("5-5").feed(engine.Knock(B))
    (refused,) = (outcome for outcome in table.outcomes if isinstance(outcome, engine.Irregular))
    assert refused.problem.kind is engine.ProblemKind.KNOCK_TOO_EARLY
    assert refused.problem.text == "draw before knocking: 14 tiles left in the boneyard"
    assert table.hand.turn == B
    # 3.1 Drawing: no leftover tiles: knock and be skipped
    table = Table().play("5-5").feed(engine.Draw(B, 14))
    assert table.outcomes[-1] == engine.Turn(B, engine.Must.PLAY_OR_KNOCK)
    table.feed(engine.Knock(B))
    assert table.outcomes == (engine.Passed(B, 1), engine.Turn(A, engine.Must.PLAY_OR_KNOCK))
    table = Table(engine.BONES).play("5-5", seat=0).feed(engine.Draw(B, 15))
    assert kinds(table) == [engine.ProblemKind.BONEYARD_TOO_SMALL]
    assert table.hand.boneyard == 14


def test_a_play_scores_its_sum_with_every_set() -> None:
    # 3.1 Count: 5-5 led is 10, a five-blank off it 0 + 5 + 5
    table = Table().play("5-5", "5-0@E")
    assert out_of(table, engine.Scored) == [engine.Scored(B, 10, engine.Reason.PLAY, "5 + 5 + 0 = 10")]
    assert table.totals == (10, 10)
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


@pytest.mark.parametrize(
    "event", [engine.Knock(A), engine.NewHand(), engine.HandEnd(), engine.Domino(A), engine.RevealPips(A, 3)]
)
def test_events_before_the_first_tile_are_refused(event: engine.Event) -> None:
    problem = engine.problem_with(Table(engine.BONES).state, event)
    assert problem is not None
    assert problem.text == "the first tile has not been played"


@pytest.mark.parametrize("event", [engine.NewHand(), engine.Lead(A), engine.RevealPips(A, 3)])
def test_events_of_other_phases_are_refused_during_play(event: engine.Event) -> None:
    problem = engine.problem_with(Table(engine.BONES).play("5-5").state, event)
    assert problem is not None
    assert problem.text == "the hand is being played"


def test_events_of_seats_or_phases_that_do_not_exist_are_refused() -> None:
    table = Table(engine.BONES).play("5-5").feed(engine.Draw(engine.Seat(4)))
    assert kinds(table) == [engine.ProblemKind.NO_SUCH_SEAT]
    assert kinds(table.feed(engine.Draw(engine.Seat(-1)))) == [engine.ProblemKind.NO_SUCH_SEAT]
    table = Table(short(hand=1), ("A", "B", "C")).play("6-5")
    assert kinds(table.feed(engine.HandEnd())) == [engine.ProblemKind.NOT_NOW]
    assert kinds(table.feed(engine.RevealPips(A, 3))) == [engine.ProblemKind.NOT_NOW]
    for event in (
        engine.NewHand(),
        engine.Knock(A),
        engine.HandEnd(),
        engine.Redeal(engine.RedealReason.MISDEAL),
        engine.Lead(A),
    ):
        problem = engine.problem_with(engine.State(), event)
        assert problem is not None
        assert problem.text == "no match has been started"
        assert engine.apply(engine.State(), event)[0].game is None


WARN = replace(OPEN_BONES, policy=engine.Policy.WARN)


def test_the_last_tile_scores_its_count_and_then_the_bonus_is_paid() -> None:
    # 3.1 Hand end: first out wins; A0-5: the going-out tile scores its count, then the bonus
    table = Table(short(hand=1)).play("5-5")
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B,))]
    assert table.totals == (10, 0)
    table.feed(engine.Reveal(B, tiles("6-6")))
    assert out_of(table, engine.Scored) == [engine.Scored(A, 10, engine.Reason.BONUS, "12, rounded to 10")]
    assert table.totals == (20, 0)
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
    table = Table(engine.BONES).play("5-5", "5-0@E").feed(engine.Domino(A))
    assert kinds(table) == [engine.ProblemKind.NOT_OUT]
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.DOMINO, A, (B,))]


@pytest.mark.parametrize(("left", "bonus"), [(27, 25), (28, 30), (0, 0), (2, 0)])
def test_the_bonus_is_the_sum_to_the_nearest_five(left: int, bonus: int) -> None:
    # 3.1 Hand end: 27 is rounded to 25, 28 to 30
    table = Table(short(hand=1)).play("6-5").feed(engine.RevealPips(B, left))
    assert table.totals == (bonus, 0)


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
    # A0-3: tie for lightest: lightest single tile
    table = all_zeros_out(hand=7).feed(engine.HandEnd(), engine.RevealPips(A, 6), engine.Reveal(B, tiles("1-1 1-3")))
    assert out_of(table, engine.ShowHands) == [engine.ShowHands(engine.Ending.BLOCKED_BY_PROOF, None, (A,))]
    table.feed(engine.Reveal(A, tiles("1-4 1-0")))
    assert won(table) == A
    table = all_zeros_out(hand=7).feed(
        engine.HandEnd(), engine.RevealPips(A, 6), engine.RevealPips(B, 6), engine.HandEnd()
    )
    assert won(table) is None
    assert table.game.phase is engine.Phase.DEAL
    # A0-3: option none
    rules = replace(
        OPEN_BONES, hand_points=replace(engine.BONES.hand_points, tie=engine.TieBreak.NONE), policy=engine.Policy.WARN
    )
    table = Table(rules).play("6-5").feed(engine.HandEnd(), engine.RevealPips(A, 6), engine.RevealPips(B, 6))
    assert won(table) is None


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
