"""The spells of docs/reference/rules.md 3.5: a 13 that is left open, and the starter 13-13."""

from __future__ import annotations

from dataclasses import replace

from engine import (
    SUPER,
    Ending,
    ForcedDraw,
    HandEnd,
    Knock,
    Must,
    NewHand,
    Play,
    Policy,
    Port,
    ProblemKind,
    Rules,
    Seat,
    ShowHands,
    Skipped,
    Spell,
    Spelled,
    Tile,
    Turn,
    Turned,
    legal_moves,
)
from engine.rules.options import with_options
from tests.engine.table import Table, kinds, out_of, words

A, B, C, D = Seat(0), Seat(1), Seat(2), Seat(3)
TWO, THREE = ("Ann", "Bob"), ("Ann", "Bob", "Cay")
STRICT = replace(SUPER, policy=Policy.STRICT)
ARM = Port.ARM_1


def cast(rules: Rules = STRICT, players: tuple[str, ...] = THREE) -> Table:
    """Ann has led, and Bob has left a 13 on the first arm."""
    return Table(rules, players).lead(0).play("7-7", "7-13@1")


def cast_by_starter(rules: Rules = STRICT, players: tuple[str, ...] = THREE) -> Table:
    return Table(rules, players).lead(0).play("13-13")


def nothing_to_draw(**options: str) -> Table:
    """Bob casts a spell, and the boneyard is empty before anybody can break it."""
    rules = with_options(replace(STRICT, hand=45), options)
    table = cast(rules).draw()
    assert table.hand.boneyard == 0
    return table


# ---- a 13 that a play leaves ----


def test_a_13_casts_a_spell_on_its_arm() -> None:
    # 3.5 Leaves 13: you cast a spell
    table = cast()
    assert out_of(table, Spelled) == [Spelled(B, ARM, is_on=True)]
    assert table.hand.course.spell == Spell(B, ARM)
    assert table.due == Turn(C, Must.BREAK_OR_DRAW)


def test_a_spell_has_to_be_broken_on_that_piece() -> None:
    # 3.5 Leaves 13: next player must play on that tile, with a tile holding 13 or any double
    table = cast()
    assert table.can_play("7-1 13-1 4-4 5-4 7-7") == ["13-1@1", "4-4@1"]
    table.play("7-1@2")
    assert kinds(table) == [ProblemKind.UNDER_A_SPELL]
    assert words(table) == ["a spell is on: it has to be broken on the end of arm 1"]


def test_a_play_elsewhere_that_stands_does_not_break_it() -> None:
    # 3.5 Leaves 13: until the spell is broken, play continues in this way
    table = cast(SUPER).play("7-1@2")
    assert kinds(table) == [ProblemKind.UNDER_A_SPELL]
    assert table.due == Turn(A, Must.BREAK_OR_DRAW)


def test_a_13_breaks_the_spell() -> None:
    # 3.5 Leaves 13: broken with another 13
    table = cast().play("13-1@1")
    assert out_of(table, Spelled) == [Spelled(B, ARM, is_on=False)]
    assert table.hand.course.spell is None
    assert table.can_play("7-2 2-1") == ["7-2@2", "2-1@1"]


def test_a_double_breaks_the_spell_and_costs_a_turn() -> None:
    # 3.5 Leaves 13: or with a double; 3.5 Leaves a double: next player loses a turn
    table = cast().play("4-4@1")
    assert table.hand.course.spell is None
    assert (out_of(table, Skipped), table.whose) == ([Skipped(A)], B)


def test_who_cannot_break_it_draws_two_and_may_break_it_with_them() -> None:
    # 3.5 Leaves 13: else draws two and may play either if it breaks; and so on round the table
    table = cast()
    assert kinds(table.knock()) == [ProblemKind.KNOCK_TOO_EARLY]
    assert table.draw(2).due == Turn(C, Must.BREAK_OR_KNOCK, extra=True)
    assert kinds(table.play("7-1@2")) == [ProblemKind.UNDER_A_SPELL]
    assert table.knock().due == Turn(A, Must.BREAK_OR_DRAW)
    assert kinds(table.draw(2).play("13-2@1")) == []
    assert table.hand.course.spell is None


def test_who_drew_under_a_spell_had_nothing_to_break_it() -> None:
    # 3.5 Leaves 13: only who is unable to break it draws; two were drawn, so a third that fits was held before
    table = cast(SUPER, TWO).draw(2).play("13-2@1", "2-0@1", "0-0@1")
    assert words(table) == []
    assert words(table.play("13-0@1")) == ["Ann drew on 13, but held 13-0"]


def test_13_13_breaks_the_spell_to_cast_a_new_one() -> None:
    # 3.5 Leaves 13: 13-13 breaks it only to cast a new one
    table = cast().play("13-13@1")
    assert out_of(table, Spelled) == [Spelled(B, ARM, is_on=False), Spelled(C, ARM, is_on=True)]
    assert table.due == Turn(A, Must.BREAK_OR_DRAW)
    assert table.can_play("13-1 4-4 7-1") == ["13-1@1", "4-4@1"]


def test_what_breaks_a_spell_has_its_own_effect() -> None:
    # 3.5 Leaves 13: the breaking tile leaves a 15, a 14, a 3 like any other
    assert len(out_of(cast().play("13-15@1"), ForcedDraw)) == 2
    assert cast().play("13-14@1").due == Turn(C, Must.PLAY_AGAIN, extra=True)
    assert out_of(cast().play("13-3@1"), Turned) == [Turned(clockwise=False)]
    assert cast().play("13-3@1").whose == B


# ---- the caster ----


def test_the_caster_passes_without_drawing_whenever_play_comes_back_to_him() -> None:
    # A2-5: exempt whenever play comes back to him; he passes without drawing
    table = cast()
    for _ in range(2):
        table.draw(2).knock().draw(2).knock()
        assert table.due == Turn(B, Must.BREAK_OR_KNOCK)
        assert kinds(table.draw(2)) == [ProblemKind.DRAWN_ENOUGH]
        assert kinds(table.knock()) == []
        assert table.due == Turn(C, Must.BREAK_OR_DRAW)


def test_the_caster_may_break_his_own_spell() -> None:
    # A2-5: he may break voluntarily
    table = cast().draw(2).knock().draw(2).knock()
    assert table.can_play("13-1 7-1") == ["13-1@1"]
    assert kinds(table.play("13-1@1")) == []
    assert table.hand.course.spell is None


def test_the_caster_may_have_to_take_part_in_the_first_lap() -> None:
    # A2-5: option caster_once
    table = cast(with_options(STRICT, {"spell_lap": "caster_once"})).draw(2).knock().draw(2).knock()
    assert table.due == Turn(B, Must.BREAK_OR_DRAW)
    assert kinds(table.knock()) == [ProblemKind.KNOCK_TOO_EARLY]
    table.draw(2).knock().draw(2).knock().draw(2).knock()
    assert table.due == Turn(B, Must.BREAK_OR_KNOCK)
    assert kinds(table.draw(2)) == [ProblemKind.DRAWN_ENOUGH]


def test_a_new_spell_has_a_new_caster() -> None:
    # A2-5: the lap is counted from the caster's own play; Cay has recast it
    table = cast().play("13-13@1").draw(2).knock()
    assert table.due == Turn(B, Must.BREAK_OR_DRAW)
    assert kinds(table.knock()) == [ProblemKind.KNOCK_TOO_EARLY]
    table.draw(2).knock()
    assert table.due == Turn(C, Must.BREAK_OR_KNOCK)


# ---- nothing left to draw ----


def test_a_lap_of_passes_under_a_spell_blocks_when_nothing_is_left_to_draw() -> None:
    # A2-6: spell and empty boneyard: passes; a full lap of passes = blocked
    table = nothing_to_draw().knock(2)
    assert (out_of(table, ShowHands), table.whose) == ([], B)
    assert out_of(table.knock(), ShowHands) == [ShowHands(Ending.BLOCKED_BY_KNOCKS, None, (A, B, C))]


def test_a_caster_with_nothing_to_draw_claims_by_knocking_that_no_tile_fits() -> None:
    # A2-5: exempt from drawing; Hand end: all the pieces have been drawn and no one is able to play
    table = nothing_to_draw().knock(2)
    assert table.due == Turn(B, Must.BREAK_OR_KNOCK)
    held = (Tile(1, 13), Tile(1, 2))
    assert [type(move) for move in legal_moves(table.state, held)] == [Play]
    assert [type(move) for move in legal_moves(table.state, held[1:])] == [Knock]
    assert words(table.knock().reveal(B, "13-1"))[-1] == "Bob knocked on 13, but held 13-1"


def test_a_caster_who_is_exempt_from_drawing_claims_nothing_by_knocking() -> None:
    # A2-5: the caster may break the spell, else passes without drawing
    table = cast(SUPER, TWO).draw(2).knock()
    assert [type(move) for move in legal_moves(table.state, (Tile(1, 13),))] == [Play, Knock]
    assert words(table.knock().draw(2).knock().play("13-1@1")) == []


def test_the_spell_may_lapse_instead() -> None:
    # A2-6: option spell_lapses
    table = nothing_to_draw(spell_lapses="yes").knock(3)
    assert out_of(table, Spelled) == [Spelled(B, ARM, is_on=False)]
    assert table.due == Turn(C, Must.PLAY_OR_KNOCK)
    assert table.can_play("7-1 13-1") == ["7-1@2", "13-1@1"]
    assert out_of(table.knock(3), ShowHands) == [ShowHands(Ending.BLOCKED_BY_KNOCKS, None, (A, B, C))]


def test_a_lap_under_a_spell_with_tiles_to_draw_is_no_block() -> None:
    # A2-6: literal: no one able to play and all pieces drawn
    table = cast().draw(2).knock().draw(2).knock().knock()
    assert (out_of(table, ShowHands), table.whose) == ([], C)


# ---- the starter 13-13 ----


def test_a_starter_13_13_asks_for_all_six_arms() -> None:
    # 3.5 Starter: 13-13 spell until all six arms are started
    table = cast_by_starter()
    assert out_of(table, Spelled) == [Spelled(A, None, is_on=True)]
    assert table.due == Turn(B, Must.START_ARM_OR_DRAW)
    table.play("13-1@1")
    assert table.can_play("1-2 13-2 4-4") == ["13-2@2", "4-4@2"]
    table.play("1-2@1")
    assert words(table) == ["a spell is on: it has to be broken on a new arm of the starter"]


def test_its_sixth_arm_lifts_it() -> None:
    # 3.5 Starter: 13-13: each arm must be started before the spell is broken
    table = cast_by_starter().play("13-1@1", "13-2@2", "13-4@3", "13-5@4", "13-6@5")
    assert table.can_play("1-0 13-8") == ["13-8@6"]
    table.play("13-8@6")
    assert out_of(table, Spelled) == [Spelled(A, None, is_on=False)]
    assert table.can_play("1-0 8-0 13-0") == ["1-0@1", "8-0@6"]


def test_its_caster_is_not_exempt() -> None:
    # 3.5 Starter: 13-13: the player who cast it is not exempt; A2-5
    table = cast_by_starter(players=TWO).draw(2).knock()
    assert table.due == Turn(A, Must.START_ARM_OR_DRAW)
    assert kinds(table.knock()) == [ProblemKind.KNOCK_TOO_EARLY]
    assert kinds(table.draw(2).knock()) == []


def test_a_double_starts_an_arm_of_it() -> None:
    # 3.5 Starter: 13-13: a new arm with a 13 or any double; the double costs a turn and no spell is cast
    table = cast_by_starter().play("4-4@1")
    assert (out_of(table, Skipped), table.whose) == ([Skipped(C)], A)
    assert table.end("1").number == 4
    assert table.can_play("4-1 13-2 5-5") == ["13-2@2", "5-5@2"]


def test_a_14_plays_again_on_a_new_arm_only() -> None:
    # 3.5 Starter: 13-13; during a starter spell a 14 plays again only on a new arm
    table = cast_by_starter().play("13-14@1")
    assert table.due == Turn(B, Must.PLAY_AGAIN, extra=True)
    assert table.can_play("14-1 13-2") == ["13-2@2"]


def test_nothing_else_leaves_a_13_while_it_lasts() -> None:
    # A2-14: cannot happen: 13-13 is the only tile leaving 13 there, and it is the starter
    table = cast_by_starter()
    for other in range(13):
        assert Table(STRICT, THREE).lead(0).play("13-13", f"13-{other}@1").end("1").number == other
    assert table.can_play("13-13") == []


def test_a_starter_spell_and_an_empty_boneyard() -> None:
    # A2-6: the starter's spell too: a full lap of passes = blocked, or it lapses
    for lapses, ended in (("no", True), ("yes", False)):
        rules = with_options(replace(STRICT, hand=68), {"spell_lapses": lapses})
        table = cast_by_starter(rules, TWO)
        assert table.due == Turn(B, Must.START_ARM_OR_KNOCK)
        assert (out_of(table.knock(2), ShowHands) != []) is ended
    assert table.can_play("13-2 4-4") == ["13-2@1", "4-4@1"]


def test_a_spell_of_the_last_hand_is_forgotten() -> None:
    # 3.5 Hand end: a new hand has no spell
    table = cast(SUPER, TWO).feed(HandEnd()).reveal(0, "1-0").reveal(1, "1-1 2-1").feed(NewHand())
    assert table.play("5-5").due == Turn(A, Must.PLAY_OR_DRAW)
