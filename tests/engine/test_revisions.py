"""Tests of docs/reference/rules.md 5.3: undo, amend and "it stands" replay the log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    BONES,
    Amend,
    Draw,
    Event,
    Irregular,
    ItStands,
    Knock,
    LeadRule,
    MatchStart,
    NewHand,
    Play,
    Policy,
    ProblemKind,
    Redeal,
    RedealReason,
    Revised,
    Scored,
    Seat,
    Seq,
    Tile,
    Turn,
    Undo,
    entries,
    history,
    replay,
)
from tests.engine.table import Table

A, B = Seat(0), Seat(1)
WARN = replace(BONES, lead_first=LeadRule.LOT_ANY)
STRICT = replace(WARN, policy=Policy.STRICT)


def irregular(table: Table) -> list[str]:
    return [outcome.problem.text for outcome in table.outcomes if isinstance(outcome, Irregular)]


def count_and_irregular(table: Table) -> tuple[int, tuple[Seq, ...]]:
    return len(table.game.layout.nodes), table.state.irregular


def test_undo_reverts_the_last_action() -> None:
    table = Table(WARN).play("5-5", "5-1@W")
    before = table.game
    table.play("5-4@E")
    assert table.totals == (15, 0)
    table.feed(Undo(entries(table.state)[-1].seq))
    assert table.game == before
    assert table.outcomes[0] == Revised((15, 0), (10, 0))
    assert isinstance(table.outcomes[-1], Turn)


def test_undo_reverts_all_later_actions() -> None:
    table = Table(WARN)
    before = table.game
    table.play("5-5", "5-1@W", "5-4@E").feed(Undo(Seq(2)))
    assert table.game == before
    assert table.totals == (0, 0)


def test_ids_are_not_reused_after_an_undo() -> None:
    table = Table(WARN).play("5-5", "5-1@W").feed(Undo(Seq(3))).play("5-4@W")
    assert [(node.id, str(node.tile)) for node in table.game.layout.nodes] == [(2, "5-5"), (5, "5-4")]


def test_the_match_start_can_be_undone() -> None:
    table = Table(WARN).feed(Undo(Seq(0)))
    assert table.state.game is None
    assert entries(table.state) == ()


def test_amending_a_misread_tile_updates_later_scores() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    assert table.totals == (15, 0)
    played = entries(table.state)[3].action
    assert isinstance(played, Play)
    table.feed(Amend(Seq(3), replace(played, tile=Tile(5, 6))))
    assert table.totals == (20, 0)  # 6 + 4
    assert table.outcomes[0] == Revised((15, 0), (20, 0))
    assert str(table.count) == "6 + 4 = 10"


def test_tiles_joined_to_an_amended_tile_stay() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    table.feed(Play(B, Tile(1, 3), table.end("W").spot, inner=1))
    played = entries(table.state)[3].action
    assert isinstance(played, Play)
    table.feed(Amend(Seq(3), replace(played, tile=Tile(5, 6))))
    assert irregular(table) == ["the 3-1 does not fit there: that end needs a 6"]
    assert str(table.count) == "3 + 4 = 7"


def test_moving_a_tile_also_moves_the_tiles_joined_to_it() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "1-3@W")
    played = entries(table.state)[3].action
    assert isinstance(played, Play)
    east = table.end("E").spot
    table.feed(Amend(Seq(3), replace(played, at=east)))
    assert irregular(table) == []
    assert (table.end("E").number, table.end("W").number) == (3, 5)


def test_amending_the_first_tile_keeps_its_sides() -> None:
    table = Table(WARN).play("3-5", "3-6@W")
    played = entries(table.state)[2].action
    assert isinstance(played, Play)
    table.feed(Amend(Seq(2), replace(played, tile=Tile(2, 3))))
    assert irregular(table) == []
    assert (table.end("W").number, table.end("E").number) == (6, 2)


def test_a_wrong_seat_is_amended() -> None:
    table = Table(WARN).play("5-5", "5-0@E")
    played = entries(table.state)[2].action
    assert isinstance(played, Play)
    table.feed(Amend(Seq(2), replace(played, seat=B)))
    assert table.totals == (0, 20)


def test_a_knock_that_was_a_draw_is_amended() -> None:
    table = Table(WARN).play("5-5").feed(Knock(B))
    table.feed(Amend(Seq(3), Draw(B)))
    assert (table.hand.boneyard, table.hand.turn, table.state.irregular) == (13, B, ())


def test_amending_a_play_to_a_knock_keeps_later_actions_in_the_log() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "1-3@W")
    right = entries(table.state)[3].action
    table.feed(Amend(Seq(3), Knock(B)))
    assert "3-1: the tile it should touch is not on the table" in irregular(table)
    assert count_and_irregular(table) == (1, (3, 4))  # the knock was premature
    table.feed(Amend(Seq(3), right))
    assert count_and_irregular(table) == (3, ())


def test_a_refused_play_can_be_accepted() -> None:
    table = Table(STRICT).play("5-5", "5-1@W")
    table.play("5-2@5-5:N")
    assert count_and_irregular(table) == (2, (4,))
    table.feed(ItStands(Seq(4)))
    assert count_and_irregular(table) == (3, ())
    assert irregular(table) == []


def test_a_doubtful_action_can_be_accepted() -> None:
    table = Table(WARN).play("5-5").feed(Redeal(RedealReason.MISDEAL))
    assert count_and_irregular(table) == (1, (3,))
    table.feed(ItStands(Seq(3)))
    assert count_and_irregular(table) == (0, ())
    assert table.totals == (0, 0)


def test_accepting_a_reported_play_clears_its_mark() -> None:
    table = Table(WARN).play("5-5").play("5-1@W", seat=0)
    game = table.game
    assert count_and_irregular(table) == (2, (3,))
    table.feed(ItStands(Seq(3)))
    assert count_and_irregular(table) == (2, ())
    assert table.game == game


def test_a_correction_does_not_report_earlier_problems_again() -> None:
    table = Table(WARN).play("5-5").play("5-1@W", seat=0).play("5-4@E", seat=1)
    assert irregular(table.feed(Undo(Seq(4)))) == []
    assert table.state.irregular == (3,)


def test_an_impossible_play_cannot_be_accepted() -> None:
    table = Table(WARN).play("5-5", "6-4@E")
    table.feed(ItStands(Seq(3)))
    assert len(table.game.layout.nodes) == 1
    assert table.state.irregular == (3,)


@pytest.mark.parametrize("event", [Undo(Seq(9)), Amend(Seq(9), NewHand()), ItStands(Seq(9)), Undo(Seq(-1))])
def test_only_existing_actions_can_be_changed(event: Event) -> None:
    table = Table(WARN).play("5-5")
    game = table.game
    table.feed(event)
    (refused,) = table.outcomes
    assert isinstance(refused, Irregular)
    assert refused.problem.kind is ProblemKind.NO_SUCH_ACTION
    assert table.game == game


def test_an_undone_action_cannot_be_amended() -> None:
    table = Table(WARN).play("5-5").feed(Undo(Seq(2)), Amend(Seq(2), Knock(A)))
    assert irregular(table) == ["there is no action 2 to change"]


def test_the_log_keeps_everything_and_replays_to_the_same_state() -> None:
    table = Table(WARN).play("5-5", "5-1@W").feed(Knock(A), Undo(Seq(4))).play("5-4@E", seat=1).feed(ItStands(Seq(6)))
    assert len(table.state.log) == 8
    assert replay(table.state.log) == table.state


def test_history_lists_the_actions_in_force_as_amended() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    played = entries(table.state)[3].action
    assert isinstance(played, Play)
    table.feed(Amend(Seq(3), replace(played, tile=Tile(5, 6))))
    lines = history(table.state)
    assert [line.entry.seq for line in lines] == [0, 1, 2, 3, 4]
    assert [outcome.points for line in lines for outcome in line.outcomes if isinstance(outcome, Scored)] == [10, 10]


def test_a_doubtful_restart_can_be_accepted() -> None:
    table = Table(WARN).play("5-5").feed(MatchStart(WARN, ("C", "D")), ItStands(Seq(3)))
    assert table.game.players == ("C", "D")
