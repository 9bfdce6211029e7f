"""Tests of leads: roll call, lots, race, chosen player and drawing for a double.

See docs/reference/rules.md 3.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import with_options
from tests.engine.table import Table, kinds, text

A, B, C, D = engine.Seat(0), engine.Seat(1), engine.Seat(2), engine.Seat(3)
THREE, FOUR = ("Ann", "Bob", "Cay"), ("Ann", "Bob", "Cay", "Dot")
NO_DOUBLE = engine.Redeal(engine.RedealReason.NO_DOUBLE)


def strict(rules: engine.Rules, **options: object) -> engine.Rules:
    return replace(rules, policy=engine.Policy.STRICT, **options)  # type: ignore[arg-type]  # fields of Rules


def won_by(rules: engine.Rules, winner: int, players: tuple[str, ...], lead: str) -> Table:
    """Return the hand after *winner* went out with a single dealt tile."""
    table = Table(replace(rules, hand=1, hand_for=(), target=500), players)
    table.play(lead, seat=winner)
    for seat in range(len(players)):
        if seat != winner:
            table.reveal(seat, 3)
    return table.feed(engine.NewHand())


FIRST = [
    (engine.BONES, engine.Turn(None, engine.Must.LEAD_HIGHEST_DOUBLE)),
    (engine.DRAW, engine.Turn(None, engine.Must.LEAD_ANY)),
    (engine.ALLFIVES, engine.Turn(None, engine.Must.LEAD_ANY)),
    (engine.BLOCK, engine.Turn(None, engine.Must.LEAD_HIGHEST_DOUBLE)),
    (engine.SUPER, engine.Turn(None, engine.Must.LEAD_DOUBLE)),
    (engine.TWOSET, engine.Turn(None, engine.Must.RACE)),
]
NEXT = [
    (engine.BONES, "5-5", engine.Turn(C, engine.Must.LEAD_ANY)),
    (engine.DRAW, "6-5", engine.Turn(C, engine.Must.LEAD_ANY)),
    (engine.ALLFIVES, "6-5", engine.Turn(C, engine.Must.LEAD_ANY)),
    (engine.BLOCK, "5-5", engine.Turn(None, engine.Must.LEAD_HIGHEST_DOUBLE)),
    (engine.SUPER, "5-5", engine.Turn(D, engine.Must.LEAD_DOUBLE)),
    (engine.TWOSET, "5-5", engine.Turn(None, engine.Must.RACE)),
]


@pytest.mark.parametrize(("rules", "due"), FIRST)
def test_the_first_lead_of_each_game(rules: engine.Rules, due: engine.Turn) -> None:
    # 3.7 lead: roll call; lot; roll call; any double; race
    assert Table(rules, FOUR).due == due


@pytest.mark.parametrize(("rules", "lead", "due"), NEXT)
def test_the_later_leads_of_each_game(rules: engine.Rules, lead: str, due: engine.Turn) -> None:
    # 3.7 lead: the winner in bones, draw and allfives; the same rule in block and twoset; left of the winner in super
    assert won_by(replace(rules, target=500), 2, FOUR, lead).due == due


def test_the_roll_call_finds_the_highest_double_held() -> None:
    # 3.1 Lead: the first hand is led with the highest double, and that double is played
    table = Table(strict(with_options(engine.BONES, "set=12")))
    assert table.can_play("12-0 11-11 12-11 4-4") == ["11-11", "11-11"]
    assert kinds(table.play("11-11", seat=1)) == []
    # A0-1: nobody has a double: redeal
    table = Table(strict(engine.BONES))
    assert table.can_play("6-5 4-3") == []
    assert kinds(table.play("6-5", seat=0)) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    assert table.feed(NO_DOUBLE).outcomes[0] == engine.Redealt(engine.RedealReason.NO_DOUBLE)


def test_the_winner_of_a_block_leads_and_a_dead_tie_is_followed_by_a_roll_call() -> None:
    # A0-4: who leads after a block: its winner
    table = Table(engine.BONES, THREE).play("5-5", seat=0).feed(engine.HandEnd()).reveal(0, 9).reveal(1, 7).reveal(2, 4)
    assert table.feed(engine.NewHand()).due == engine.Turn(C, engine.Must.LEAD_ANY)
    # A0-4: dead tie: roll call again
    table = Table(engine.BONES).play("5-5", seat=0).feed(engine.HandEnd()).reveal(0, "3-1").reveal(1, "2-2")
    assert table.feed(engine.NewHand()).due == engine.Turn(None, engine.Must.LEAD_HIGHEST_DOUBLE)
    # A0-4: dead tie: roll call again, regardless of the previous winner
    table = (
        Table(engine.BONES).play("5-5", seat=0).feed(engine.HandEnd()).reveal(0, 9).reveal(1, 2).feed(engine.NewHand())
    )
    assert table.due == engine.Turn(B, engine.Must.LEAD_ANY)
    table.play("6-5").feed(engine.HandEnd()).reveal(0, "3-1").reveal(1, "2-2").feed(engine.NewHand())
    assert table.due == engine.Turn(None, engine.Must.LEAD_HIGHEST_DOUBLE)


def test_every_hand_of_block_is_led_with_the_highest_double_itself() -> None:
    # A1-40: the highest double itself must be led; 3.4 Lead
    table = Table(strict(engine.BLOCK))
    assert table.can_play("6-5 3-3 2-2") == ["3-3", "3-3"]
    assert kinds(table.play("6-5", seat=0)) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    warned = Table(engine.BLOCK).play("2-2", "2-1@E", "3-3@2-2:W", seat=0)
    assert "Brian let the 2-2 lead, but held 3-3" in text(warned)
    # A1-42: later hands: same lead rule each hand
    table = won_by(strict(engine.BLOCK), 1, ("Ann", "Bob"), "5-5")
    assert kinds(table.play("6-5", seat=1)) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    assert kinds(table.play("6-6", seat=0)) == []


def test_block_without_any_double_is_dealt_again_or_led_with_the_highest_tile() -> None:
    # A1-41: no double anywhere: redeal
    table = Table(strict(engine.BLOCK))
    assert kinds(table.play("6-5", seat=0)) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    assert kinds(table.feed(NO_DOUBLE)) == []
    # A1-41: option highest tile
    table = Table(strict(with_options(engine.BLOCK, {"no_double": "highest_tile"})))
    assert table.can_play("6-4 5-3 6-3") == ["6-4", "6-4"]
    assert table.can_play("6-4 1-1") == ["1-1", "1-1"]
    assert kinds(table.play("6-4", seat=0)) == []


@pytest.mark.parametrize("rules", [engine.DRAW, engine.ALLFIVES])
def test_the_winner_of_the_lot_leads_any_tile(rules: engine.Rules) -> None:
    # 3.2 Lead: any domino may be used; 3.3 Lead: the first tile can be of any value, and need not be a double
    # A1-3: who sets: lot, and the engine takes the seat from the lead button; A1-20: lots: the engine needs Lead(seat)
    table = Table(strict(rules), THREE).lead(2)
    assert table.due == engine.Turn(C, engine.Must.LEAD_ANY)
    assert table.can_play("6-5 3-3") == ["6-5", "3-3"]
    assert kinds(table.play("6-5")) == []
    assert table.to_move == A


@pytest.mark.parametrize("rules", [engine.DRAW, engine.ALLFIVES])
def test_after_a_dead_tie_lots_are_drawn_again(rules: engine.Rules) -> None:
    # A1-20: after a dead tie lot again
    table = Table(rules).play("6-5", seat=0).feed(engine.HandEnd()).reveal(0, "3-1").reveal(1, "2-2")
    assert table.feed(engine.NewHand()).due == engine.Turn(None, engine.Must.LEAD_ANY)


def test_the_set_domino_may_be_any_or_a_double() -> None:
    # 3.2 Options: set domino any
    rules = with_options(engine.BLOCK, {"set_domino": "any"})
    assert (rules.lead_first, rules.lead_next) == (engine.LeadRule.LOT_ANY, engine.LeadRule.WINNER_ANY)
    assert kinds(Table(strict(rules)).play("6-5", seat=0)) == []
    # 3.2 Options: set domino 1) highest double, and if no double is drawn reshuffle
    rules = strict(with_options(engine.DRAW, {"set_domino": "highest_double"}))
    table = won_by(rules, 1, ("Ann", "Bob"), "5-5")
    assert table.due == engine.Turn(None, engine.Must.LEAD_HIGHEST_DOUBLE)
    assert kinds(table.play("6-5", seat=0)) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    assert kinds(table.feed(NO_DOUBLE)) == []
    # 3.2 Options: set domino 2) 6-6, and if it is not drawn reshuffle
    rules = strict(with_options(engine.DRAW, {"set_domino": "double_six"}))
    table = Table(rules)
    assert table.due == engine.Turn(None, engine.Must.LEAD_SET_DOUBLE)
    assert table.can_play("5-5 6-5") == []
    assert text(table.play("5-5", seat=0)) == ["this hand must be led with the 6-6"]
    assert kinds(table.feed(NO_DOUBLE)) == []
    assert kinds(table.play("6-6", seat=1)) == []
    assert won_by(rules, 1, ("Ann", "Bob"), "6-6").due == engine.Turn(None, engine.Must.LEAD_SET_DOUBLE)


def test_the_set_domino_may_be_the_highest_double_else_the_highest_single() -> None:
    # 3.2 Options: set domino 3) highest double, and if no double is drawn the highest single
    table = Table(strict(with_options(engine.DRAW, {"set_domino": "highest_double_else_highest_single"})))
    assert table.can_play("6-4 2-2") == ["2-2", "2-2"]
    assert table.can_play("6-4 5-4 6-3") == ["6-4", "6-4"]
    assert table.can_play("5-4 6-3 4-2") == ["6-3", "6-3"]  # equal pips, so the higher half decides
    assert kinds(table.play("6-4", seat=0)) == []
    # 3.2 Options: set domino 3) in the event no double is drawn, play the highest single; nothing is dealt again
    rules = with_options(engine.DRAW, {"set_domino": "highest_double_else_highest_single"})
    assert kinds(Table(strict(rules)).feed(NO_DOUBLE)) == [engine.ProblemKind.NO_REDEAL]
    # 3.2 Options: set domino 3) the highest single is played only when no double is drawn
    rules = with_options(engine.DRAW, {"set_domino": "highest_double_else_highest_single"})
    assert text(Table(rules).play("5-4", "4-4@E", seat=0))[-1] == "Brian let the 5-4 lead, but held 4-4"
    assert text(Table(rules).play("5-4", "6-5@W", seat=0))[-1] == "Brian let the 5-4 lead, but held 6-5"
    assert kinds(Table(rules).play("5-4", seat=0).play("4-3@E", seat=1)) == []


def test_every_hand_starts_with_a_race_for_the_highest_double() -> None:
    # 3.6 Setup: the first to play their double-6 starts, if there is none the double-5; the turn goes to the left
    table = Table(strict(engine.TWOSET), FOUR)
    assert table.due == engine.Turn(None, engine.Must.RACE)
    assert kinds(table.play("6-5", seat=1)) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    assert kinds(table.play("5-5", seat=2)) == []
    assert table.to_move == D
    assert table.game.layout.spinner is not None
    # 3.6 Setup: if no one holds the double, the next lower one is asked for, and so on down to double 0
    table = Table(strict(engine.TWOSET), FOUR)
    assert table.can_play("1-0 0-0 2-1") == ["0-0"] * 4
    assert kinds(table.play("0-0", seat=2)) == []
    assert table.to_move == D
    late = Table(engine.TWOSET, FOUR).play("0-0", seat=2).play("1-0@E", "0-2@W", "0-3@N", "1-1@E")
    assert text(late)[-1] == "Cay let the 0-0 lead, but held 1-1"
    # 3.6 Setup: after each hand the same lay-down is followed, regardless of who won
    table = won_by(strict(engine.TWOSET), 2, FOUR, "5-5")
    assert table.due == engine.Turn(None, engine.Must.RACE)
    assert kinds(table.play("6-5", seat=2)) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    assert kinds(table.play("4-4", seat=1)) == []
    # 3.6 Setup: in the rare case that no one holds a double, players shuffle and draw again
    assert kinds(Table(strict(engine.TWOSET), FOUR).feed(NO_DOUBLE)) == []
    # A3-11: two 6-6 holders: first to settle; a later second 6-6 is an ordinary double, 12 at an end
    table = Table(strict(engine.TWOSET), FOUR).play("6-6", seat=2).play("6-0@E", "6-6@W")
    assert kinds(table) == []
    assert str(table.count) == "6 + 6 + 0 = 12"
    assert [node.branches for node in table.game.layout.nodes] == [True, False, False]


def test_the_chosen_player_leads_any_double_or_passes_the_lead() -> None:
    # 3.5 Setup: the first player may start with any double; A2-1: who is chosen: button
    table = Table(strict(engine.SUPER), FOUR).lead(1)
    assert table.due == engine.Turn(B, engine.Must.LEAD_DOUBLE)
    assert table.can_play("4-4 12-12 15-3") == ["4-4", "12-12"]
    assert kinds(table.play("15-3")) == [engine.ProblemKind.LEAD_NOT_A_DOUBLE]
    assert kinds(table.play("4-4")) == []
    # 3.5 Setup: no double: the chance to begin goes to the next player in turn
    table = Table(strict(engine.SUPER), FOUR).lead(2).knock()
    assert table.due == engine.Turn(D, engine.Must.LEAD_DOUBLE)
    assert kinds(table.play("4-4", seat=3)) == []
    assert table.to_move == A
    # A2-2: may a holder decline: no
    table = Table(strict(engine.SUPER), THREE).lead(0).knock().play("7-7", "7-1@1", "1-1@1")
    assert text(table) == ["Ann had no double to lead, but held 1-1"]


def test_without_doubles_players_draw_in_turn_until_one_appears() -> None:
    # 3.5 Setup: nobody: back to the first, draw one each in turn until somebody draws a double, which starts
    table = Table(strict(engine.SUPER), THREE).lead(1).knock(3)
    assert table.due == engine.Turn(B, engine.Must.DRAW_A_DOUBLE)
    assert kinds(table.draw().draw(seat=2)) == []
    assert (table.hand.sizes, table.hand.boneyard) == ((9, 10, 10), 136 - 29)
    assert kinds(table.draw(seat=2)) == [engine.ProblemKind.DRAWN_ENOUGH]
    assert kinds(table.play("8-8", seat=2)) == []
    assert table.to_move == A
    # 3.5 Setup: only in case no player has a double are pieces drawn
    table = Table(strict(engine.SUPER), THREE).lead(0).knock(2)
    assert kinds(table.draw()) == [engine.ProblemKind.NO_DRAWING]
    # 3.5 Setup: in case no player has a double, players draw; no source has a redeal
    assert kinds(Table(strict(engine.SUPER), THREE).feed(NO_DOUBLE)) == [engine.ProblemKind.NO_REDEAL]


def test_the_player_left_of_the_winner_leads_the_next_hand_of_super() -> None:
    # A2-1: later hands: the player left of the previous winner
    table = won_by(strict(engine.SUPER), 2, THREE, "5-5")
    assert table.due == engine.Turn(A, engine.Must.LEAD_DOUBLE)
    assert kinds(table.play("4-4", seat=1)) == [engine.ProblemKind.WRONG_SEAT]
    assert kinds(table.feed(engine.Knock(A))) == []
    assert kinds(table.play("4-4", seat=1)) == []
    # 3.2 Options: set domino; the names of no_double are the same everywhere
    rules = with_options(engine.BONES, {"lead_next": "left_of_winner", "no_double": "highest_tile"})
    assert rules.no_double is engine.NoDouble.HIGHEST_TILE
    assert won_by(rules, 1, THREE, "5-5").due == engine.Turn(C, engine.Must.LEAD_ANY)
    # A1-3: the engine takes the seat from the lead button so a wrong guess costs nothing
    table = won_by(engine.DRAW, 2, THREE, "6-5").lead(0)
    assert table.due == engine.Turn(A, engine.Must.LEAD_ANY)
    assert kinds(table.play("6-4")) == []
