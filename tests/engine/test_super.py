"""Tests of docs/reference/rules.md 3.5, the six-arm game. Spells, endings and leads are in their own files."""

from __future__ import annotations

from dataclasses import replace

import engine
from engine.rules.options import with_options
from engine.state.match import ClaimKind
from tests.engine.table import Table, kinds, out_of, text

A, B, C, D = engine.Seat(0), engine.Seat(1), engine.Seat(2), engine.Seat(3)
TWO, THREE, FOUR = ("Ann", "Bob"), ("Ann", "Bob", "Cay"), ("Ann", "Bob", "Cay", "Dot")
STRICT = replace(engine.SUPER, policy=engine.Policy.STRICT)
BLANK = with_options(STRICT, {"skip_on": "blank"})


def led(starter: str = "7-7", rules: engine.Rules = STRICT, players: tuple[str, ...] = FOUR) -> Table:
    """Return a table where Ann has led."""
    return Table(rules, players).lead(0).play(starter)


def test_two_to_fifteen_players_get_nine_tiles() -> None:
    # 3.5 Setup: 2 or more players, double 15, 136 tiles, 9 each
    assert (engine.SUPER.tiles, Table(engine.SUPER, FOUR).hand.boneyard) == (136, 100)
    assert Table(engine.SUPER, FOUR).hand.sizes == (9,) * 4
    assert [engine.deal_problems(engine.SUPER, seats) == () for seats in (1, 2, 15, 16)] == [False, True, True, False]


def test_the_starter_has_six_arms_and_a_seventh_is_reported() -> None:
    # 3.5 Branches: six directions off the starter double
    table = led(players=TWO).play("7-1@1", "7-2@2", "7-4@3", "7-5@4", "7-6@5")
    assert table.can_play("7-8") == ["8-7@6"]
    assert table.play("7-8@6").can_play("7-9") == []
    assert text(table.play("7-9@7-7:7")) == ["the starter has only 6 arms"]
    # 3.5 Branches: reported, never silently corrected
    table = led(rules=engine.SUPER, players=TWO).play("7-1@1", "7-2@2", "7-4@3", "7-5@4", "7-6@5", "7-8@6", "7-9@7-7:7")
    assert kinds(table) == [engine.ProblemKind.SEVENTH_ARM]
    assert engine.Spot(table.node("7-7"), engine.Port.ARM_7) in [node.joins for node in table.game.layout.nodes]
    # 3.5 Branches: six directions off the starter, in any order; docs/reference/rules.md 5.1: only their number matters
    table = led(players=TWO).play("7-1@1", "7-2@7-7:7")
    assert (kinds(table), table.end("2").number) == ([], 2)
    assert text(table.play("5-4@7-1:7")) == ["5-4: the 7-1 has no such side"]
    # 3.5 Branches: a replay recounts the arms
    table = led(rules=engine.SUPER, players=TWO).play("7-1@1", "7-2@2", "7-4@3", "7-5@4", "7-6@5", "7-8@6", "7-9@7-7:7")
    assert kinds(table) == [engine.ProblemKind.SEVENTH_ARM]
    table.feed(engine.Remove(engine.Seq(table.node("7-8"))))
    outcomes = [outcome for action in engine.history(table.state) for outcome in action.outcomes]
    found = [outcome.problem.kind for outcome in outcomes if isinstance(outcome, engine.Irregular)]
    assert found == [engine.ProblemKind.WRONG_SEAT]  # the turn is now that of the player who laid the sixth
    assert table.end("6").number == 9


def test_a_play_starts_an_arm_or_matches_the_end_of_one() -> None:
    # 3.5 Branches: starting a new branch off the starter, or matching the end of an existing branch
    table = led().play("7-1@1")
    assert table.can_play("1-2 7-4 2-4") == ["2-1@1", "7-4@2"]
    assert kinds(table.play("1-2@1", "7-4@2")) == []
    assert table.can_play("7-1 2-1") == []
    assert table.can_play("4-2") == ["4-2@1", "4-2@2"]
    # 3.5 Branches: six directions off the original domino, off no other
    table = led().play("7-1@1", "1-1@1").play("1-2@1")
    assert kinds(table.play("1-5@1-1:N")) == [engine.ProblemKind.NO_BRANCH]


def test_only_a_double_can_be_played_on_a_13_without_matching() -> None:
    # 3.5 Branches: doubles can play on their matching number, or on a 13
    table = led().play("7-13@1", "5-5@1")
    assert kinds(table) == []
    assert table.end("1").number == 5
    assert table.can_play("4-4 5-4") == ["5-4@1"]
    # 3.5 Branches: only doubles may go on a 13 without matching
    table = led().play("7-13@1")
    assert kinds(table.play("5-4@1")) == [engine.ProblemKind.CANNOT_LIE_THERE]
    assert table.can_play("5-4 13-4") == ["13-4@1"]
    # 3.5 Branches: on any 13, regardless of when it was left open
    rules = with_options(replace(STRICT, hand=68), {"spell_lapses": "yes"})
    table = led(rules=rules, players=TWO).play("7-13@1").knock(2)
    assert table.hand.course.spell is None
    assert table.can_play("4-4 7-4") == ["4-4@1", "7-4@2"]


def test_a_player_without_a_play_draws_two_and_then_plays_or_passes() -> None:
    # 3.5 Cannot play: draw two tiles and then play if able, else the turn passes
    table = led()
    assert table.due == engine.Turn(B, engine.Must.PLAY_OR_DRAW)
    assert kinds(table.knock()) == [engine.ProblemKind.KNOCK_TOO_EARLY]
    assert kinds(table.draw().knock()) == [engine.ProblemKind.KNOCK_TOO_EARLY]
    assert kinds(table.draw()) == []
    assert table.due == engine.Turn(B, engine.Must.PLAY_OR_KNOCK, extra=True)
    assert kinds(table.draw()) == [engine.ProblemKind.DRAWN_ENOUGH]
    assert kinds(table.knock()) == []
    assert (table.to_move, table.hand.sizes[B]) == (C, 11)
    assert kinds(table.draw(3)) == [engine.ProblemKind.DRAWN_ENOUGH]
    # 3.5 Cannot play: draw two tiles and then play if able
    table = led().draw(2).play("7-1@1")
    assert (kinds(table), table.to_move, table.hand.sizes[B]) == ([], C, 10)
    table = led().draw()
    assert table.can_play("7-4") == []
    assert text(table.play("7-4@1")) == ["draw before playing: 1 tile still to draw"]
    assert kinds(table) == [engine.ProblemKind.DRAWN_TOO_FEW]
    assert table.draw().can_play("7-4") == ["7-4@1"]
    assert kinds(table.play("7-4@1")) == []
    # 2.6: under policy=warn an illegal play is accepted and reported
    table = led(rules=engine.SUPER).draw().play("7-4@1")
    assert (kinds(table), table.to_move) == ([engine.ProblemKind.DRAWN_TOO_FEW], C)


def test_a_draw_of_two_takes_the_tiles_that_are_left() -> None:
    # A2-3: fewer than two tiles left: draw what is there
    table = led(rules=replace(STRICT, hand=45), players=THREE).draw()
    assert table.can_play("7-4") == ["7-4@1"]
    assert kinds(table.play("7-4@1")) == []
    # A2-3 with boneyard_reserve=1: one of the last two tiles can be drawn
    table = led(rules=with_options(replace(STRICT, hand=67), {"boneyard_reserve": "1"}), players=TWO).draw()
    assert table.hand.boneyard == 1
    assert kinds(table.play("7-4@1")) == []
    # A2-3: fewer than two tiles left: draw the rest; none: pass
    table = led(rules=replace(STRICT, hand=45), players=THREE)
    assert table.hand.boneyard == 1
    assert kinds(table.draw().knock()) == []
    assert (table.hand.boneyard, table.due) == (0, engine.Turn(C, engine.Must.PLAY_OR_KNOCK))
    assert kinds(table.knock()) == []


def test_a_silent_pass_equals_a_knock() -> None:
    # 3.5 Cannot play: if unable, your turn passes to the next player
    table = led().draw(2).play("7-1@1", seat=2)
    assert (kinds(table), table.to_move) == ([], D)
    # 3.5 Cannot play: draw two, then pass; letting the next player act is a pass
    silent = led().draw(2).play("7-1@1", seat=2)
    spoken = led().draw(2).knock().play("7-1@1")
    assert ClaimKind.KNOCKED in [claim.kind for claim in silent.hand.claims[B]]
    assert (silent.hand.claims, silent.due, silent.hand.sizes) == (spoken.hand.claims, spoken.due, spoken.hand.sizes)
    for knocks in (True, False):
        table = led(players=THREE).draw(2)
        if knocks:
            table.knock()
        assert kinds(table.feed(engine.Knock(C))) == [engine.ProblemKind.KNOCK_TOO_EARLY]
        assert kinds(table.feed(engine.Draw(C, 3))) == [engine.ProblemKind.DRAWN_ENOUGH]
        assert kinds(table.feed(engine.Draw(C, 2))) == []
        assert table.hand.sizes == (8, 11, 11)
    # 3.5 Hand end: all have passed in succession and the boneyard is empty
    table = led(rules=engine.SUPER, players=TWO).feed(engine.Boneyard(2)).knock().draw(2)
    assert (table.hand.boneyard, table.to_move, table.hand.passes) == (0, A, 1)
    assert text(table.feed(engine.Knock(B))) == ["it is Ann's turn, not Bob's"]
    assert table.game.phase is engine.Phase.PLAY
    assert table.knock().game.phase is engine.Phase.REVEAL


def test_after_drawing_a_player_must_play_if_able() -> None:
    # A2-4: must play if able: yes, any tile; passing after drawing claims that no tile matched
    table = led(players=TWO, rules=engine.SUPER).draw(2).knock().play("7-1@1", "7-2@2")
    assert text(table) == ["Bob knocked on 7, but held 7-2"]
    # 2.6 a revoke needs more matching tiles than were drawn since the claim; 3.5 the second draw is mandatory
    table = led(players=TWO, rules=engine.SUPER).draw().draw().play("7-1@1").knock()
    assert text(table.play("7-2@2")) == []
    assert text(led(players=TWO, rules=engine.SUPER).draw(2).play("7-1@1").knock().play("7-2@2")) == []
    # A2-4: option must_play=no: pagat's "may then play one of them"
    rules = with_options(engine.SUPER, {"must_play": "no"})
    assert text(led(players=TWO, rules=rules).draw(2).knock().play("7-1@1", "7-2@2")) == []


def test_a_15_makes_every_other_player_draw() -> None:
    # 3.5 Leaves 15: every other player takes one tile at once
    table = led().play("7-15@1")
    assert out_of(table, engine.ForcedDraw) == [
        engine.ForcedDraw(C, 1, 99),
        engine.ForcedDraw(D, 1, 98),
        engine.ForcedDraw(A, 1, 97),
    ]
    assert (table.hand.sizes, table.hand.boneyard, table.to_move) == ((9, 8, 10, 10), 97, C)
    # 3.5 Leaves 15: what counts is the outward number
    table = led("15-15").play("15-2@1")
    assert out_of(table, engine.ForcedDraw) == []
    # A2-9: 15-draw with a short boneyard: in turn order until empty
    table = led(rules=replace(STRICT, hand=45), players=THREE).play("7-15@1")
    assert out_of(table, engine.ForcedDraw) == [engine.ForcedDraw(C, 1, 0)]
    back = led("3-3", rules=replace(STRICT, hand=45), players=THREE).play("3-15@1")
    assert out_of(back, engine.ForcedDraw) == [engine.ForcedDraw(B, 1, 0)]


def test_forced_draws_are_told_from_own_draws_even_if_seen_late() -> None:
    # 3.5 Leaves 15: at once, so the boneyard is counted after it
    table = (
        led().play("7-15@1").feed(engine.Boneyard(97), engine.Draw(A, 1, forced=True), engine.Draw(D, 1, forced=True))
    )
    assert (kinds(table), table.hand.sizes, table.hand.boneyard) == ([], (9, 8, 10, 10), 97)
    assert kinds(table.feed(engine.Draw(A, 1, forced=True))) == [
        engine.ProblemKind.NOTHING_OWED,
        engine.ProblemKind.WRONG_SEAT,
    ]
    # 3.5 Leaves 15 and 14: Cay drew one for each 15; Ann does not play again, Bob loses a turn, Cay cannot play
    table = led().play("7-15@1", "7-4@2", "4-15@2", "15-14@1", "14-14@1", "7-14@3")
    assert (table.hand.course.owed, table.due) == ((2, 1, 2, 1), engine.Turn(A, engine.Must.PLAY_AGAIN, extra=True))
    table.draw(2, seat=2)
    assert (table.hand.sizes[C], table.hand.course.owed, table.to_move) == (12, (2, 1, 2, 1), C)
    assert kinds(table.play("7-5@4", seat=3)) == []
    # 3.5 Leaves 15: at once, even if it is seen late
    table = led().play("7-15@1", "7-14@2").feed(engine.Draw(D, 1, forced=True))
    assert (kinds(table), table.due) == ([], engine.Turn(C, engine.Must.PLAY_AGAIN, extra=True))


def test_a_14_lets_the_same_player_play_again_or_decline() -> None:
    # 3.5 Leaves 14: you may play again, on any arm, if able
    table = led().play("7-14@1")
    assert table.due == engine.Turn(B, engine.Must.PLAY_AGAIN, extra=True)
    assert table.can_play("7-1 14-1") == ["7-1@2", "14-1@1"]
    assert kinds(table.play("7-1@2")) == []
    assert table.to_move == C
    # 3.5 Leaves 14: if able, no draw if unable
    table = led().play("7-14@1")
    assert kinds(table.draw(2)) == [engine.ProblemKind.DRAWN_ENOUGH]
    assert table.decline().outcomes == (engine.Declined(B), engine.Turn(C, engine.Must.PLAY_OR_DRAW))
    assert kinds(table.decline()) == [engine.ProblemKind.NO_EXTRA_TURN]
    # 3.5 Leaves 14: the next player continues
    table = led().play("7-14@1").play("7-1@2", seat=2)
    assert (kinds(table), out_of(table, engine.Declined)) == ([], [engine.Declined(B)])
    assert kinds(led().play("7-14@1").play("7-1@2", seat=3)) == [engine.ProblemKind.WRONG_SEAT]


def test_a_3_reverses_the_direction_of_three_or_more_players() -> None:
    # 3.5 Leaves 3: direction reverses at once, and vice versa
    table = led().play("7-3@1")
    assert out_of(table, engine.Turned) == [engine.Turned(clockwise=False)]
    assert table.to_move == A
    assert table.play("7-1@2").to_move == D
    assert out_of(table.play("1-3@2"), engine.Turned) == [engine.Turned(clockwise=True)]
    assert table.to_move == A
    # 3.5 Leaves 3: inapplicable when only two play
    table = led(players=TWO).play("7-3@1")
    assert out_of(table, engine.Turned) == []
    assert (table.to_move, table.hand.course.direction) == (A, 1)


def test_a_double_skips_the_next_player_once() -> None:
    # 3.5 Leaves a double: next player loses a turn
    table = led().play("7-9@1", "9-9@1")
    assert out_of(table, engine.Skipped) == [engine.Skipped(D)]
    assert table.to_move == A
    assert led(players=TWO).play("7-9@1", "9-9@1").to_move == A
    # 3.5 Leaves a double: the next player is the one to the right after a reversal
    table = led().play("7-3@1", "7-9@2", "9-9@2")
    assert (out_of(table, engine.Skipped), table.to_move) == ([engine.Skipped(C)], B)
    # 3.5 Leaves a double: a single turn, not all later ones
    table = led().play("7-9@1", "9-9@1").play("7-1@2")
    assert (out_of(table, engine.Skipped), table.to_move) == ([], B)
    # 3.5 Leaves a double: not for the starter, not for 13-13
    assert led("9-9").to_move == B
    assert led().play("7-13@1", "13-13@1").to_move == D


def test_with_skip_on_blank_a_blank_skips_instead_of_a_double() -> None:
    # 3.5 Leaves a double: house rule: leaving a blank skips, also a 0-0 starter; doubles then do not
    # A2-15: a non-blank double has no effect; 0-0 skips
    assert led(rules=BLANK).play("7-0@1").to_move == D
    assert led("0-0", rules=BLANK).to_move == C
    assert led(rules=BLANK).play("7-9@1", "9-9@1").to_move == D
    assert led(rules=BLANK).play("7-0@1", "0-0@1").to_move == B
    assert led(rules=BLANK, players=THREE).play("7-13@1", "0-0@1").to_move == B
    # 3.5 Leaves a double: only some games replace the rule
    assert led().play("7-0@1").to_move == C
    assert led("0-0").to_move == B


def test_the_starter_has_its_effect() -> None:
    # 3.5 Starter: 15-15 others draw one
    table = led("15-15")
    assert (table.hand.sizes, table.to_move) == ((8, 10, 10, 10), B)
    # 3.5 Starter: 14-14 play again if you can
    table = led("14-14")
    assert table.due == engine.Turn(A, engine.Must.PLAY_AGAIN, extra=True)
    assert table.play("14-1@1").to_move == B
    assert led("14-14").decline().to_move == B
    # 3.5 Starter: 3-3 play goes right first
    assert led("3-3").to_move == D
    assert led("3-3", players=TWO).to_move == B
    # 3.5 Starter: only 3-3 makes a hand commence to the right
    table = led("3-3", rules=engine.SUPER, players=THREE).feed(engine.HandEnd())
    table.reveal(0, "1-0").reveal(1, "2-0 1-1").reveal(2, "4-0 5-1").feed(engine.NewHand())
    assert (table.to_move, table.play("7-7").to_move) == (B, C)


def test_both_effects_of_a_double_apply_before_the_skip() -> None:
    # A2-8: both apply; the skip waits until a 14's extra play is done; one lost turn at most
    table = led().play("7-14@1", "7-1@2", "14-14@1")
    assert table.due == engine.Turn(C, engine.Must.PLAY_AGAIN, extra=True)
    assert led().play("7-14@1", "7-1@2", "14-14@1", "7-2@3").to_move == A
    assert table.decline().to_move == A
    twice = led().play("7-14@1", "7-1@2", "14-14@1", "1-1@2")
    assert out_of(twice, engine.Skipped) == [engine.Skipped(D)]
    assert twice.to_move == A
    # A2-8: reversal before the skip
    table = led().play("7-3@1", "7-1@2", "7-2@3")
    assert table.to_move == C
    table.play("3-3@1")
    assert out_of(table, engine.Skipped) == [engine.Skipped(D)]
    assert table.to_move == A
    # A2-8: 15-15: both apply
    table = led().play("7-15@1", "15-15@1")
    assert [draw.seat for draw in out_of(table, engine.ForcedDraw) if isinstance(draw, engine.ForcedDraw)] == [D, A, B]
    assert (out_of(table, engine.Skipped), table.to_move) == ([engine.Skipped(D)], A)
