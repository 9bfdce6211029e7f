"""docs/reference/rules.md 5.3: undo, amend and "it stands" are replays of the log."""

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
    return [outcome.problem.words for outcome in table.outcomes if isinstance(outcome, Irregular)]


def count_and_irregular(table: Table) -> tuple[int, tuple[Seq, ...]]:
    return len(table.game.layout.nodes), table.state.irregular


def test_undo_takes_the_last_action_back() -> None:
    table = Table(WARN).play("5-5", "5-1@W")
    before = table.game
    table.play("5-4@E")
    assert table.totals == (15, 0)
    table.feed(Undo(entries(table.state)[-1].seq))
    assert table.game == before
    assert table.outcomes[0] == Revised((15, 0), (10, 0))
    assert isinstance(table.outcomes[-1], Turn)


def test_undo_takes_back_all_that_came_after() -> None:
    table = Table(WARN)
    before = table.game
    table.play("5-5", "5-1@W", "5-4@E").feed(Undo(Seq(2)))
    assert table.game == before
    assert table.totals == (0, 0)


def test_play_goes_on_after_an_undo_under_new_names() -> None:
    table = Table(WARN).play("5-5", "5-1@W").feed(Undo(Seq(3))).play("5-4@W")
    assert [(node.id, str(node.tile)) for node in table.game.layout.nodes] == [(2, "5-5"), (5, "5-4")]


def test_even_the_start_can_be_undone() -> None:
    table = Table(WARN).feed(Undo(Seq(0)))
    assert table.state.game is None
    assert entries(table.state) == ()


def test_a_misread_tile_is_amended_and_all_later_scores_follow() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    assert table.totals == (15, 0)
    played = entries(table.state)[3].action
    assert isinstance(played, Play)
    table.feed(Amend(Seq(3), replace(played, tile=Tile(5, 6))))
    assert table.totals == (20, 0)  # 6 + 4
    assert table.outcomes[0] == Revised((15, 0), (20, 0))
    assert str(table.count) == "6 + 4 = 10"


def test_what_lies_on_an_amended_tile_stays_where_it_is() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    table.feed(Play(B, Tile(1, 3), table.end("W").spot, inner=1))
    played = entries(table.state)[3].action
    assert isinstance(played, Play)
    table.feed(Amend(Seq(3), replace(played, tile=Tile(5, 6))))
    assert irregular(table) == ["3-1 does not fit there, that end needs a 6"]
    assert str(table.count) == "3 + 4 = 7"


def test_a_tile_moved_to_another_arm_takes_what_lies_on_it_along() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "1-3@W")
    played = entries(table.state)[3].action
    assert isinstance(played, Play)
    east = table.end("E").spot
    table.feed(Amend(Seq(3), replace(played, at=east)))
    assert irregular(table) == []
    assert (table.end("E").number, table.end("W").number) == (3, 5)


def test_the_first_tile_keeps_its_sides_when_a_misread_number_changes() -> None:
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


def test_an_amended_play_that_no_longer_stands_leaves_the_rest_in_the_record() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "1-3@W")
    right = entries(table.state)[3].action
    table.feed(Amend(Seq(3), Knock(B)))
    assert "3-1: the tile it should touch is not on the table" in irregular(table)
    assert count_and_irregular(table) == (1, (3, 4))  # the knock came too early
    table.feed(Amend(Seq(3), right))
    assert count_and_irregular(table) == (3, ())


def test_a_refused_play_stands_when_the_table_says_so() -> None:
    table = Table(STRICT).play("5-5", "5-1@W")
    table.play("5-2@5-5:N")
    assert count_and_irregular(table) == (2, (4,))
    table.feed(ItStands(Seq(4)))
    assert count_and_irregular(table) == (3, ())
    assert irregular(table) == []


def test_a_doubtful_action_stands_when_the_table_says_so() -> None:
    table = Table(WARN).play("5-5").feed(Redeal(RedealReason.MISDEAL))
    assert count_and_irregular(table) == (1, (3,))
    table.feed(ItStands(Seq(3)))
    assert count_and_irregular(table) == (0, ())
    assert table.totals == (0, 0)


def test_what_stood_under_protest_is_accepted_and_forgotten() -> None:
    table = Table(WARN).play("5-5").play("5-1@W", seat=0)
    game = table.game
    assert count_and_irregular(table) == (2, (3,))
    table.feed(ItStands(Seq(3)))
    assert count_and_irregular(table) == (2, ())
    assert table.game == game


def test_a_correction_repeats_no_older_complaint() -> None:
    table = Table(WARN).play("5-5").play("5-1@W", seat=0).play("5-4@E", seat=1)
    assert irregular(table.feed(Undo(Seq(4)))) == []
    assert table.state.irregular == (3,)


def test_the_impossible_does_not_stand_whoever_says_so() -> None:
    table = Table(WARN).play("5-5", "6-4@E")
    table.feed(ItStands(Seq(3)))
    assert len(table.game.layout.nodes) == 1
    assert table.state.irregular == (3,)


@pytest.mark.parametrize("event", [Undo(Seq(9)), Amend(Seq(9), NewHand()), ItStands(Seq(9)), Undo(Seq(-1))])
def test_only_what_happened_can_be_changed(event: Event) -> None:
    table = Table(WARN).play("5-5")
    game = table.game
    table.feed(event)
    (refused,) = table.outcomes
    assert isinstance(refused, Irregular)
    assert refused.problem.kind is ProblemKind.NO_SUCH_ACTION
    assert table.game == game


def test_what_was_undone_cannot_be_amended() -> None:
    table = Table(WARN).play("5-5").feed(Undo(Seq(2)), Amend(Seq(2), Knock(A)))
    assert irregular(table) == ["there is no action 2 to change"]


def test_the_log_keeps_everything_and_replays_to_the_same_state() -> None:
    table = Table(WARN).play("5-5", "5-1@W").feed(Knock(A), Undo(Seq(4))).play("5-4@E", seat=1).feed(ItStands(Seq(6)))
    assert len(table.state.log) == 8
    assert replay(table.state.log) == table.state


def test_history_tells_each_action_in_force_as_it_is_now() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    played = entries(table.state)[3].action
    assert isinstance(played, Play)
    table.feed(Amend(Seq(3), replace(played, tile=Tile(5, 6))))
    told = history(table.state)
    assert [one.entry.seq for one in told] == [0, 1, 2, 3, 4]
    assert [o.points for one in told for o in one.outcomes if isinstance(o, Scored)] == [10, 10]


def test_a_match_can_be_restarted_after_doubt() -> None:
    table = Table(WARN).play("5-5").feed(MatchStart(WARN, ("C", "D")), ItStands(Seq(3)))
    assert table.game.players == ("C", "D")
