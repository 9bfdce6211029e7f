"""Tests of docs/reference/rules.md 3.5, the six-arm game. Spells, endings and leads are in their own files."""

from __future__ import annotations

from dataclasses import replace

from engine import (
    SUPER,
    Boneyard,
    Declined,
    Draw,
    ForcedDraw,
    HandEnd,
    Irregular,
    Knock,
    Must,
    NewHand,
    Phase,
    Policy,
    Port,
    ProblemKind,
    Remove,
    Rules,
    Seat,
    Seq,
    Skipped,
    Spot,
    Turn,
    Turned,
    deal_problems,
    history,
)
from engine.rules.options import with_options
from engine.state.match import ClaimKind
from tests.engine.table import Table, kinds, out_of, text

A, B, C, D = Seat(0), Seat(1), Seat(2), Seat(3)
TWO, THREE, FOUR = ("Ann", "Bob"), ("Ann", "Bob", "Cay"), ("Ann", "Bob", "Cay", "Dot")
STRICT = replace(SUPER, policy=Policy.STRICT)
BLANK = with_options(STRICT, {"skip_on": "blank"})


def led(starter: str = "7-7", rules: Rules = STRICT, players: tuple[str, ...] = FOUR) -> Table:
    """Return a table where Ann has led."""
    return Table(rules, players).lead(0).play(starter)


# ---- the deal ----


def test_two_to_fifteen_players_get_nine_tiles() -> None:
    # 3.5 Setup: 2 or more players, double 15, 136 tiles, 9 each
    assert (SUPER.tiles, Table(SUPER, FOUR).hand.boneyard) == (136, 100)
    assert Table(SUPER, FOUR).hand.sizes == (9,) * 4
    assert [deal_problems(SUPER, seats) == () for seats in (1, 2, 15, 16)] == [False, True, True, False]


# ---- arms ----


def test_the_starter_has_six_arms() -> None:
    # 3.5 Branches: six directions off the starter double
    table = led(players=TWO).play("7-1@1", "7-2@2", "7-4@3", "7-5@4", "7-6@5")
    assert table.can_play("7-8") == ["8-7@6"]
    assert table.play("7-8@6").can_play("7-9") == []
    assert text(table.play("7-9@7-7:7")) == ["the starter has only 6 arms"]


def test_a_seventh_arm_is_accepted_if_illegal_plays_are() -> None:
    # 3.5 Branches: reported, never silently corrected
    table = led(rules=SUPER, players=TWO).play("7-1@1", "7-2@2", "7-4@3", "7-5@4", "7-6@5", "7-8@6", "7-9@7-7:7")
    assert kinds(table) == [ProblemKind.SEVENTH_ARM]
    assert Spot(table.node("7-7"), Port.ARM_7) in [node.joins for node in table.game.layout.nodes]


def test_an_unknown_arm_means_a_free_one() -> None:
    # 3.5 Branches: six directions off the starter, in any order; docs/reference/rules.md 5.1: only their number matters
    table = led(players=TWO).play("7-1@1", "7-2@7-7:7")
    assert (kinds(table), table.end("2").number) == ([], 2)
    assert text(table.play("5-4@7-1:7")) == ["5-4: the 7-1 has no such side"]


def test_removing_an_arm_makes_the_seventh_the_sixth() -> None:
    # 3.5 Branches: a replay recounts the arms
    table = led(rules=SUPER, players=TWO).play("7-1@1", "7-2@2", "7-4@3", "7-5@4", "7-6@5", "7-8@6", "7-9@7-7:7")
    assert kinds(table) == [ProblemKind.SEVENTH_ARM]
    table.feed(Remove(Seq(table.node("7-8"))))
    outcomes = [outcome for action in history(table.state) for outcome in action.outcomes]
    found = [outcome.problem.kind for outcome in outcomes if isinstance(outcome, Irregular)]
    assert found == [ProblemKind.WRONG_SEAT]  # the turn is now that of the player who laid the sixth
    assert table.end("6").number == 9


def test_a_play_starts_an_arm_or_matches_the_end_of_one() -> None:
    # 3.5 Branches: starting a new branch off the starter, or matching the end of an existing branch
    table = led().play("7-1@1")
    assert table.can_play("1-2 7-4 2-4") == ["2-1@1", "7-4@2"]
    assert kinds(table.play("1-2@1", "7-4@2")) == []
    assert table.can_play("7-1 2-1") == []
    assert table.can_play("4-2") == ["4-2@1", "4-2@2"]


def test_only_the_starter_branches() -> None:
    # 3.5 Branches: six directions off the original domino, off no other
    table = led().play("7-1@1", "1-1@1").play("1-2@1")
    assert kinds(table.play("1-5@1-1:N")) == [ProblemKind.NO_BRANCH]


def test_any_double_can_be_played_on_a_13() -> None:
    # 3.5 Branches: doubles can play on their matching number, or on a 13
    table = led().play("7-13@1", "5-5@1")
    assert kinds(table) == []
    assert table.end("1").number == 5
    assert table.can_play("4-4 5-4") == ["5-4@1"]


def test_a_single_on_a_13_must_match() -> None:
    # 3.5 Branches: only doubles may go on a 13 without matching
    table = led().play("7-13@1")
    assert kinds(table.play("5-4@1")) == [ProblemKind.CANNOT_LIE_THERE]
    assert table.can_play("5-4 13-4") == ["13-4@1"]


def test_a_double_may_be_played_on_a_13_without_a_spell() -> None:
    # 3.5 Branches: on any 13, regardless of when it was left open
    rules = with_options(replace(STRICT, hand=68), {"spell_lapses": "yes"})
    table = led(rules=rules, players=TWO).play("7-13@1").knock(2)
    assert table.hand.course.spell is None
    assert table.can_play("4-4 7-4") == ["4-4@1", "7-4@2"]


# ---- drawing ----


def test_a_player_without_a_play_draws_two_and_then_plays_or_passes() -> None:
    # 3.5 Cannot play: draw two tiles and then play if able, else the turn passes
    table = led()
    assert table.due == Turn(B, Must.PLAY_OR_DRAW)
    assert kinds(table.knock()) == [ProblemKind.KNOCK_TOO_EARLY]
    assert kinds(table.draw().knock()) == [ProblemKind.KNOCK_TOO_EARLY]
    assert kinds(table.draw()) == []
    assert table.due == Turn(B, Must.PLAY_OR_KNOCK, extra=True)
    assert kinds(table.draw()) == [ProblemKind.DRAWN_ENOUGH]
    assert kinds(table.knock()) == []
    assert (table.to_move, table.hand.sizes[B]) == (C, 11)
    assert kinds(table.draw(3)) == [ProblemKind.DRAWN_ENOUGH]


def test_a_player_who_has_drawn_two_may_play() -> None:
    # 3.5 Cannot play: draw two tiles and then play if able
    table = led().draw(2).play("7-1@1")
    assert (kinds(table), table.to_move, table.hand.sizes[B]) == ([], C, 10)


def test_a_player_who_has_drawn_one_of_two_tiles_may_not_play_yet() -> None:
    # 3.5 Cannot play: draw two tiles and then play if able
    table = led().draw()
    assert table.can_play("7-4") == []
    assert text(table.play("7-4@1")) == ["draw before playing: 1 tile still to draw"]
    assert kinds(table) == [ProblemKind.DRAWN_TOO_FEW]
    assert table.draw().can_play("7-4") == ["7-4@1"]
    assert kinds(table.play("7-4@1")) == []


def test_a_player_who_has_drawn_the_last_tile_may_play() -> None:
    # A2-3: fewer than two tiles left: draw what is there
    table = led(rules=replace(STRICT, hand=45), players=THREE).draw()
    assert table.can_play("7-4") == ["7-4@1"]
    assert kinds(table.play("7-4@1")) == []


def test_a_reserve_in_the_boneyard_ends_a_draw_of_two_early() -> None:
    # A2-3 with boneyard_reserve=1: one of the last two tiles can be drawn
    table = led(rules=with_options(replace(STRICT, hand=67), {"boneyard_reserve": "1"}), players=TWO).draw()
    assert table.hand.boneyard == 1
    assert kinds(table.play("7-4@1")) == []


def test_a_play_after_one_draw_is_accepted_and_reported() -> None:
    # 2.6: under policy=warn an illegal play is accepted and reported
    table = led(rules=SUPER).draw().play("7-4@1")
    assert (kinds(table), table.to_move) == ([ProblemKind.DRAWN_TOO_FEW], C)


def test_the_next_player_may_continue_after_a_silent_pass() -> None:
    # 3.5 Cannot play: if unable, your turn passes to the next player
    table = led().draw(2).play("7-1@1", seat=2)
    assert (kinds(table), table.to_move) == ([], D)


def test_a_silent_pass_claims_what_a_knock_claims() -> None:
    # 3.5 Cannot play: draw two, then pass; letting the next player act is a pass
    silent = led().draw(2).play("7-1@1", seat=2)
    spoken = led().draw(2).knock().play("7-1@1")
    assert ClaimKind.KNOCKED in [claim.kind for claim in silent.hand.claims[B]]
    assert (silent.hand.claims, silent.due, silent.hand.sizes) == (spoken.hand.claims, spoken.due, spoken.hand.sizes)


def test_a_silent_pass_does_not_spare_the_next_player_a_draw() -> None:
    # 3.5 Cannot play: draw two, then pass; letting the next player act is a pass
    for knocks in (True, False):
        table = led(players=THREE).draw(2)
        if knocks:
            table.knock()
        assert kinds(table.feed(Knock(C))) == [ProblemKind.KNOCK_TOO_EARLY]
        assert kinds(table.feed(Draw(C, 3))) == [ProblemKind.DRAWN_ENOUGH]
        assert kinds(table.feed(Draw(C, 2))) == []
        assert table.hand.sizes == (8, 11, 11)


def test_a_pass_that_ends_the_hand_must_be_explicit() -> None:
    # 3.5 Hand end: all have passed in succession and the boneyard is empty
    table = led(rules=SUPER, players=TWO).feed(Boneyard(2)).knock().draw(2)
    assert (table.hand.boneyard, table.to_move, table.hand.passes) == (0, A, 1)
    assert text(table.feed(Knock(B))) == ["it is Ann's turn, not Bob's"]
    assert table.game.phase is Phase.PLAY
    assert table.knock().game.phase is Phase.REVEAL


def test_fewer_than_two_tiles_are_drawn_from_a_short_boneyard() -> None:
    # A2-3: fewer than two tiles left: draw the rest; none: pass
    table = led(rules=replace(STRICT, hand=45), players=THREE)
    assert table.hand.boneyard == 1
    assert kinds(table.draw().knock()) == []
    assert (table.hand.boneyard, table.due) == (0, Turn(C, Must.PLAY_OR_KNOCK))
    assert kinds(table.knock()) == []


def test_after_drawing_a_player_must_play_if_able() -> None:
    # A2-4: must play if able: yes, any tile; passing after drawing claims that no tile matched
    table = led(players=TWO, rules=SUPER).draw(2).knock().play("7-1@1", "7-2@2")
    assert text(table) == ["Bob knocked on 7, but held 7-2"]


def test_the_second_of_two_draws_makes_no_claim_about_the_first() -> None:
    # 2.6 a revoke needs more matching tiles than were drawn since the claim; 3.5 the second draw is mandatory
    table = led(players=TWO, rules=SUPER).draw().draw().play("7-1@1").knock()
    assert text(table.play("7-2@2")) == []
    assert text(led(players=TWO, rules=SUPER).draw(2).play("7-1@1").knock().play("7-2@2")) == []


def test_after_drawing_a_tile_may_be_kept() -> None:
    # A2-4: option must_play=no: pagat's "may then play one of them"
    rules = with_options(SUPER, {"must_play": "no"})
    assert text(led(players=TWO, rules=rules).draw(2).knock().play("7-1@1", "7-2@2")) == []


# ---- effects of the number left open ----


def test_a_15_makes_every_other_player_draw() -> None:
    # 3.5 Leaves 15: every other player takes one tile at once
    table = led().play("7-15@1")
    assert out_of(table, ForcedDraw) == [ForcedDraw(C, 1, 99), ForcedDraw(D, 1, 98), ForcedDraw(A, 1, 97)]
    assert (table.hand.sizes, table.hand.boneyard, table.to_move) == ((9, 8, 10, 10), 97, C)


def test_a_covered_15_has_no_effect() -> None:
    # 3.5 Leaves 15: what counts is the outward number
    table = led("15-15").play("15-2@1")
    assert out_of(table, ForcedDraw) == []


def test_observed_forced_draws_are_not_counted_twice() -> None:
    # 3.5 Leaves 15: at once, so the boneyard is counted after it
    table = led().play("7-15@1").feed(Boneyard(97), Draw(A, 1, forced=True), Draw(D, 1, forced=True))
    assert (kinds(table), table.hand.sizes, table.hand.boneyard) == ([], (9, 8, 10, 10), 97)
    assert kinds(table.feed(Draw(A, 1, forced=True))) == [ProblemKind.NOTHING_OWED, ProblemKind.WRONG_SEAT]


def test_forced_draws_do_not_count_as_a_players_own_draws() -> None:
    # 3.5 Leaves 15 and 14: Cay drew one for each 15; Ann does not play again, Bob loses a turn, Cay cannot play
    table = led().play("7-15@1", "7-4@2", "4-15@2", "15-14@1", "14-14@1", "7-14@3")
    assert (table.hand.course.owed, table.due) == ((2, 1, 2, 1), Turn(A, Must.PLAY_AGAIN, extra=True))
    table.draw(2, seat=2)
    assert (table.hand.sizes[C], table.hand.course.owed, table.to_move) == (12, (2, 1, 2, 1), C)
    assert kinds(table.play("7-5@4", seat=3)) == []


def test_a_late_forced_draw_does_not_end_the_current_turn() -> None:
    # 3.5 Leaves 15: at once, even if it is seen late
    table = led().play("7-15@1", "7-14@2").feed(Draw(D, 1, forced=True))
    assert (kinds(table), table.due) == ([], Turn(C, Must.PLAY_AGAIN, extra=True))


def test_a_short_boneyard_is_drawn_in_turn_order() -> None:
    # A2-9: 15-draw with a short boneyard: in turn order until empty
    table = led(rules=replace(STRICT, hand=45), players=THREE).play("7-15@1")
    assert out_of(table, ForcedDraw) == [ForcedDraw(C, 1, 0)]
    back = led("3-3", rules=replace(STRICT, hand=45), players=THREE).play("3-15@1")
    assert out_of(back, ForcedDraw) == [ForcedDraw(B, 1, 0)]


def test_a_14_lets_the_same_player_play_again_on_any_arm() -> None:
    # 3.5 Leaves 14: you may play again, on any arm, if able
    table = led().play("7-14@1")
    assert table.due == Turn(B, Must.PLAY_AGAIN, extra=True)
    assert table.can_play("7-1 14-1") == ["7-1@2", "14-1@1"]
    assert kinds(table.play("7-1@2")) == []
    assert table.to_move == C


def test_a_14_may_be_declined_but_not_drawn_for() -> None:
    # 3.5 Leaves 14: if able, no draw if unable
    table = led().play("7-14@1")
    assert kinds(table.draw(2)) == [ProblemKind.DRAWN_ENOUGH]
    assert table.decline().outcomes == (Declined(B), Turn(C, Must.PLAY_OR_DRAW))
    assert kinds(table.decline()) == [ProblemKind.NO_EXTRA_TURN]


def test_a_14_may_be_declined_silently() -> None:
    # 3.5 Leaves 14: the next player continues
    table = led().play("7-14@1").play("7-1@2", seat=2)
    assert (kinds(table), out_of(table, Declined)) == ([], [Declined(B)])
    assert kinds(led().play("7-14@1").play("7-1@2", seat=3)) == [ProblemKind.WRONG_SEAT]


def test_a_3_reverses_the_direction_at_once() -> None:
    # 3.5 Leaves 3: direction reverses at once, and vice versa
    table = led().play("7-3@1")
    assert out_of(table, Turned) == [Turned(clockwise=False)]
    assert table.to_move == A
    assert table.play("7-1@2").to_move == D
    assert out_of(table.play("1-3@2"), Turned) == [Turned(clockwise=True)]
    assert table.to_move == A


def test_two_players_have_no_direction() -> None:
    # 3.5 Leaves 3: inapplicable when only two play
    table = led(players=TWO).play("7-3@1")
    assert out_of(table, Turned) == []
    assert (table.to_move, table.hand.course.direction) == (A, 1)


def test_a_double_skips_the_next_player() -> None:
    # 3.5 Leaves a double: next player loses a turn
    table = led().play("7-9@1", "9-9@1")
    assert out_of(table, Skipped) == [Skipped(D)]
    assert table.to_move == A
    assert led(players=TWO).play("7-9@1", "9-9@1").to_move == A


def test_a_skip_follows_the_direction() -> None:
    # 3.5 Leaves a double: the next player is the one to the right after a reversal
    table = led().play("7-3@1", "7-9@2", "9-9@2")
    assert (out_of(table, Skipped), table.to_move) == ([Skipped(C)], B)


def test_only_a_single_turn_is_skipped() -> None:
    # 3.5 Leaves a double: a single turn, not all later ones
    table = led().play("7-9@1", "9-9@1").play("7-1@2")
    assert (out_of(table, Skipped), table.to_move) == ([], B)


def test_the_starter_and_13_13_skip_nobody() -> None:
    # 3.5 Leaves a double: not for the starter, not for 13-13
    assert led("9-9").to_move == B
    assert led().play("7-13@1", "13-13@1").to_move == D


def test_with_skip_on_blank_a_double_does_not_skip() -> None:
    # 3.5 Leaves a double: house rule: leaving a blank skips, also a 0-0 starter; doubles then do not
    # A2-15: a non-blank double has no effect; 0-0 skips
    assert led(rules=BLANK).play("7-0@1").to_move == D
    assert led("0-0", rules=BLANK).to_move == C
    assert led(rules=BLANK).play("7-9@1", "9-9@1").to_move == D
    assert led(rules=BLANK).play("7-0@1", "0-0@1").to_move == B
    assert led(rules=BLANK, players=THREE).play("7-13@1", "0-0@1").to_move == B


def test_by_default_a_blank_does_not_skip() -> None:
    # 3.5 Leaves a double: only some games replace the rule
    assert led().play("7-0@1").to_move == C
    assert led("0-0").to_move == B


# ---- effects of the starter ----


def test_a_starter_15_15_makes_the_others_draw_one() -> None:
    # 3.5 Starter: 15-15 others draw one
    table = led("15-15")
    assert (table.hand.sizes, table.to_move) == ((8, 10, 10, 10), B)


def test_a_starter_14_14_may_play_again() -> None:
    # 3.5 Starter: 14-14 play again if you can
    table = led("14-14")
    assert table.due == Turn(A, Must.PLAY_AGAIN, extra=True)
    assert table.play("14-1@1").to_move == B
    assert led("14-14").decline().to_move == B


def test_a_starter_3_3_sends_play_to_the_right() -> None:
    # 3.5 Starter: 3-3 play goes right first
    assert led("3-3").to_move == D
    assert led("3-3", players=TWO).to_move == B


def test_a_new_hand_resets_the_direction() -> None:
    # 3.5 Starter: only 3-3 makes a hand commence to the right
    table = led("3-3", rules=SUPER, players=THREE).feed(HandEnd())
    table.reveal(0, "1-0").reveal(1, "2-0 1-1").reveal(2, "4-0 5-1").feed(NewHand())
    assert (table.to_move, table.play("7-7").to_move) == (B, C)


# ---- two effects of a single tile ----


def test_14_14_plays_again_before_the_skip() -> None:
    # A2-8: both apply; the skip waits until a 14's extra play is done; one lost turn at most
    table = led().play("7-14@1", "7-1@2", "14-14@1")
    assert table.due == Turn(C, Must.PLAY_AGAIN, extra=True)
    assert led().play("7-14@1", "7-1@2", "14-14@1", "7-2@3").to_move == A
    assert table.decline().to_move == A
    twice = led().play("7-14@1", "7-1@2", "14-14@1", "1-1@2")
    assert out_of(twice, Skipped) == [Skipped(D)]
    assert twice.to_move == A


def test_3_3_reverses_before_the_skip() -> None:
    # A2-8: reversal before the skip
    table = led().play("7-3@1", "7-1@2", "7-2@3")
    assert table.to_move == C
    table.play("3-3@1")
    assert out_of(table, Skipped) == [Skipped(D)]
    assert table.to_move == A


def test_15_15_makes_the_others_draw_and_skips_the_next() -> None:
    # A2-8: 15-15: both apply
    table = led().play("7-15@1", "15-15@1")
    assert [draw.seat for draw in out_of(table, ForcedDraw) if isinstance(draw, ForcedDraw)] == [D, A, B]
    assert (out_of(table, Skipped), table.to_move) == ([Skipped(D)], A)
