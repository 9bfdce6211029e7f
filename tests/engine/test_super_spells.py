"""Tests of the spells of docs/reference/rules.md 3.5: an open 13, and the starter 13-13."""

from __future__ import annotations

from dataclasses import replace

import engine
from engine.rules.options import with_options
from tests.engine.table import Table, kinds, out_of, text

A, B, C, D = engine.Seat(0), engine.Seat(1), engine.Seat(2), engine.Seat(3)
TWO, THREE = ("Ann", "Bob"), ("Ann", "Bob", "Cay")
STRICT = replace(engine.SUPER, policy=engine.Policy.STRICT)
ARM = engine.Port.ARM_1


def cast(rules: engine.Rules = STRICT, players: tuple[str, ...] = THREE) -> Table:
    """Return a table where Ann has led and Bob has left a 13 on the first arm."""
    return Table(rules, players).lead(0).play("7-7", "7-13@1")


def cast_by_starter(rules: engine.Rules = STRICT, players: tuple[str, ...] = THREE) -> Table:
    return Table(rules, players).lead(0).play("13-13")


def nothing_to_draw(**options: str) -> Table:
    """Return a table where Bob has cast a spell, and the boneyard is empty before it is broken."""
    rules = with_options(replace(STRICT, hand=45), options)
    table = cast(rules).draw()
    assert table.hand.boneyard == 0
    return table


def test_a_13_casts_a_spell_that_must_be_broken_on_its_arm() -> None:
    # 3.5 Leaves 13: you cast a spell
    table = cast()
    assert out_of(table, engine.Spelled) == [engine.Spelled(B, ARM, is_on=True)]
    assert table.hand.course.spell == engine.Spell(B, ARM)
    assert table.due == engine.Turn(C, engine.Must.BREAK_OR_DRAW)
    # 3.5 Leaves 13: next player must play on that tile, with a tile holding 13 or any double
    table = cast()
    assert table.can_play("7-1 13-1 4-4 5-4 7-7") == ["13-1@1", "4-4@1"]
    table.play("7-1@2")
    assert kinds(table) == [engine.ProblemKind.UNDER_A_SPELL]
    assert text(table) == ["a spell is active: it must be broken at the end of arm 1"]
    # 3.5 Leaves 13: until the spell is broken, play continues in this way
    table = cast(engine.SUPER).play("7-1@2")
    assert kinds(table) == [engine.ProblemKind.UNDER_A_SPELL]
    assert table.due == engine.Turn(A, engine.Must.BREAK_OR_DRAW)


def test_a_13_or_a_double_breaks_the_spell_with_its_own_effect() -> None:
    # 3.5 Leaves 13: broken with another 13
    table = cast().play("13-1@1")
    assert out_of(table, engine.Spelled) == [engine.Spelled(B, ARM, is_on=False)]
    assert table.hand.course.spell is None
    assert table.can_play("7-2 2-1") == ["7-2@2", "2-1@1"]
    # 3.5 Leaves 13: or with a double; 3.5 Leaves a double: next player loses a turn
    table = cast().play("4-4@1")
    assert table.hand.course.spell is None
    assert (out_of(table, engine.Skipped), table.to_move) == ([engine.Skipped(A)], B)
    # 3.5 Leaves 13: 13-13 breaks it only to cast a new one
    table = cast().play("13-13@1")
    assert out_of(table, engine.Spelled) == [engine.Spelled(B, ARM, is_on=False), engine.Spelled(C, ARM, is_on=True)]
    assert table.due == engine.Turn(A, engine.Must.BREAK_OR_DRAW)
    assert table.can_play("13-1 4-4 7-1") == ["13-1@1", "4-4@1"]
    # 3.5 Leaves 13: the breaking tile has the usual effect of a 15, 14 or 3
    assert len(out_of(cast().play("13-15@1"), engine.ForcedDraw)) == 2
    assert cast().play("13-14@1").due == engine.Turn(C, engine.Must.PLAY_AGAIN, extra=True)
    assert out_of(cast().play("13-3@1"), engine.Turned) == [engine.Turned(clockwise=False)]
    assert cast().play("13-3@1").to_move == B


def test_a_player_who_cannot_break_the_spell_draws_two() -> None:
    # 3.5 Leaves 13: else draws two and may play either if it breaks; and so on round the table
    table = cast()
    assert kinds(table.knock()) == [engine.ProblemKind.KNOCK_TOO_EARLY]
    assert table.draw(2).due == engine.Turn(C, engine.Must.BREAK_OR_KNOCK, extra=True)
    assert kinds(table.play("7-1@2")) == [engine.ProblemKind.UNDER_A_SPELL]
    assert table.knock().due == engine.Turn(A, engine.Must.BREAK_OR_DRAW)
    assert kinds(table.draw(2).play("13-2@1")) == []
    assert table.hand.course.spell is None
    # 3.5 Leaves 13: only a player unable to break it draws; two were drawn, so a third matching tile was held before
    table = cast(engine.SUPER, TWO).draw(2).play("13-2@1", "2-0@1", "0-0@1")
    assert text(table) == []
    assert text(table.play("13-0@1")) == ["Ann drew on 13, but held 13-0"]


def test_the_caster_passes_without_drawing_or_breaks_the_spell() -> None:
    # A2-5: exempt whenever play comes back to him; he passes without drawing
    table = cast()
    for _ in range(2):
        table.draw(2).knock().draw(2).knock()
        assert table.due == engine.Turn(B, engine.Must.BREAK_OR_KNOCK)
        assert kinds(table.draw(2)) == [engine.ProblemKind.DRAWN_ENOUGH]
        assert kinds(table.knock()) == []
        assert table.due == engine.Turn(C, engine.Must.BREAK_OR_DRAW)
    # A2-5: he may break voluntarily
    table = cast().draw(2).knock().draw(2).knock()
    assert table.can_play("13-1 7-1") == ["13-1@1"]
    assert kinds(table.play("13-1@1")) == []
    assert table.hand.course.spell is None
    # A2-5: the caster may break the spell, else passes without drawing
    table = cast(engine.SUPER, TWO).draw(2).knock()
    assert [type(move) for move in engine.legal_moves(table.state, (engine.Tile(1, 13),))] == [
        engine.Play,
        engine.Knock,
    ]
    assert text(table.knock().draw(2).knock().play("13-1@1")) == []


def test_with_caster_once_the_caster_must_draw_in_the_first_round() -> None:
    # A2-5: option caster_once
    table = cast(with_options(STRICT, {"spell_lap": "caster_once"})).draw(2).knock().draw(2).knock()
    assert table.due == engine.Turn(B, engine.Must.BREAK_OR_DRAW)
    assert kinds(table.knock()) == [engine.ProblemKind.KNOCK_TOO_EARLY]
    table.draw(2).knock().draw(2).knock().draw(2).knock()
    assert table.due == engine.Turn(B, engine.Must.BREAK_OR_KNOCK)
    assert kinds(table.draw(2)) == [engine.ProblemKind.DRAWN_ENOUGH]
    # A2-5: the lap is counted from the caster's own play; Cay has recast it
    table = cast().play("13-13@1").draw(2).knock()
    assert table.due == engine.Turn(B, engine.Must.BREAK_OR_DRAW)
    assert kinds(table.knock()) == [engine.ProblemKind.KNOCK_TOO_EARLY]
    table.draw(2).knock()
    assert table.due == engine.Turn(C, engine.Must.BREAK_OR_KNOCK)


def test_a_round_of_passes_under_a_spell_is_a_block_once_nothing_is_left_to_draw() -> None:
    # A2-6: spell and empty boneyard: passes; a full lap of passes = blocked
    table = nothing_to_draw().knock(2)
    assert (out_of(table, engine.ShowHands), table.to_move) == ([], B)
    assert out_of(table.knock(), engine.ShowHands) == [
        engine.ShowHands(engine.Ending.BLOCKED_BY_KNOCKS, None, (A, B, C))
    ]
    # A2-6: literal: no one able to play and all pieces drawn
    table = cast().draw(2).knock().draw(2).knock().knock()
    assert (out_of(table, engine.ShowHands), table.to_move) == ([], C)
    # A2-5: exempt from drawing; Hand end: all the pieces have been drawn and no one is able to play
    table = nothing_to_draw().knock(2)
    assert table.due == engine.Turn(B, engine.Must.BREAK_OR_KNOCK)
    held = (engine.Tile(1, 13), engine.Tile(1, 2))
    assert [type(move) for move in engine.legal_moves(table.state, held)] == [engine.Play]
    assert [type(move) for move in engine.legal_moves(table.state, held[1:])] == [engine.Knock]
    assert text(table.knock().reveal(B, "13-1"))[-1] == "Bob knocked on 13, but held 13-1"
    # A2-6: option spell_lapses
    table = nothing_to_draw(spell_lapses="yes").knock(3)
    assert out_of(table, engine.Spelled) == [engine.Spelled(B, ARM, is_on=False)]
    assert table.due == engine.Turn(C, engine.Must.PLAY_OR_KNOCK)
    assert table.can_play("7-1 13-1") == ["7-1@2", "13-1@1"]
    assert out_of(table.knock(3), engine.ShowHands) == [
        engine.ShowHands(engine.Ending.BLOCKED_BY_KNOCKS, None, (A, B, C))
    ]


def test_a_starter_13_13_requires_all_six_arms() -> None:
    # 3.5 Starter: 13-13 spell until all six arms are started
    table = cast_by_starter()
    assert out_of(table, engine.Spelled) == [engine.Spelled(A, None, is_on=True)]
    assert table.due == engine.Turn(B, engine.Must.START_ARM_OR_DRAW)
    table.play("13-1@1")
    assert table.can_play("1-2 13-2 4-4") == ["13-2@2", "4-4@2"]
    table.play("1-2@1")
    assert text(table) == ["a spell is active: it must be broken on a new arm of the starter"]
    # 3.5 Starter: 13-13: each arm must be started before the spell is broken
    table = cast_by_starter().play("13-1@1", "13-2@2", "13-4@3", "13-5@4", "13-6@5")
    assert table.can_play("1-0 13-8") == ["13-8@6"]
    table.play("13-8@6")
    assert out_of(table, engine.Spelled) == [engine.Spelled(A, None, is_on=False)]
    assert table.can_play("1-0 8-0 13-0") == ["1-0@1", "8-0@6"]
    # A2-14: cannot happen: 13-13 is the only tile leaving 13 there, and it is the starter
    table = cast_by_starter()
    for other in range(13):
        assert Table(STRICT, THREE).lead(0).play("13-13", f"13-{other}@1").end("1").number == other
    assert table.can_play("13-13") == []


def test_the_caster_of_a_starter_spell_is_not_exempt() -> None:
    # 3.5 Starter: 13-13: the player who cast it is not exempt; A2-5
    table = cast_by_starter(players=TWO).draw(2).knock()
    assert table.due == engine.Turn(A, engine.Must.START_ARM_OR_DRAW)
    assert kinds(table.knock()) == [engine.ProblemKind.KNOCK_TOO_EARLY]
    assert kinds(table.draw(2).knock()) == []
    # A2-6: the starter's spell too: a full lap of passes = blocked, or it lapses
    for lapses, ended in (("no", True), ("yes", False)):
        rules = with_options(replace(STRICT, hand=68), {"spell_lapses": lapses})
        table = cast_by_starter(rules, TWO)
        assert table.due == engine.Turn(B, engine.Must.START_ARM_OR_KNOCK)
        assert (out_of(table.knock(2), engine.ShowHands) != []) is ended
    assert table.can_play("13-2 4-4") == ["13-2@1", "4-4@1"]
    # 3.5 Hand end: a new hand has no spell
    table = cast(engine.SUPER, TWO).feed(engine.HandEnd()).reveal(0, "1-0").reveal(1, "1-1 2-1").feed(engine.NewHand())
    assert table.play("5-5").due == engine.Turn(A, engine.Must.PLAY_OR_DRAW)


def test_a_double_or_a_14_starts_an_arm_under_the_starter_spell() -> None:
    # 3.5 Starter: 13-13: a new arm with a 13 or any double; the double costs a turn and no spell is cast
    table = cast_by_starter().play("4-4@1")
    assert (out_of(table, engine.Skipped), table.to_move) == ([engine.Skipped(C)], A)
    assert table.end("1").number == 4
    assert table.can_play("4-1 13-2 5-5") == ["13-2@2", "5-5@2"]
    # 3.5 Starter: 13-13; during a starter spell a 14 plays again only on a new arm
    table = cast_by_starter().play("13-14@1")
    assert table.due == engine.Turn(B, engine.Must.PLAY_AGAIN, extra=True)
    assert table.can_play("14-1 13-2") == ["13-2@2"]
