"""Tests of docs/reference/rules.md 5.3: undo, amend and "it stands" replay the log."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import BONES
from engine.rules.rules import LeadRule
from tests.engine.table import Table
from tests.engine.table import text as irregular

A, B = engine.Seat(0), engine.Seat(1)
WARN = replace(engine.BONES, lead_first=engine.LeadRule.LOT_ANY)
STRICT = replace(WARN, policy=engine.Policy.STRICT)


def count_and_irregular(table: Table) -> tuple[int, tuple[engine.Seq, ...]]:
    return len(table.game.layout.nodes), table.state.irregular


def test_undo_reverts_an_action_and_all_later_ones() -> None:
    table = Table(WARN).play("5-5", "5-1@W")
    before = table.game
    table.play("5-4@E")
    assert table.totals == (15, 0)
    table.feed(engine.Undo(engine.entries(table.state)[-1].seq))
    assert table.game == before
    assert table.outcomes[0] == engine.Revised((15, 0), (10, 0))
    assert isinstance(table.outcomes[-1], engine.Turn)
    table = Table(WARN)
    before = table.game
    table.play("5-5", "5-1@W", "5-4@E").feed(engine.Undo(engine.Seq(2)))
    assert table.game == before
    assert table.totals == (0, 0)
    table = Table(WARN).play("5-5", "5-1@W").feed(engine.Undo(engine.Seq(3))).play("5-4@W")
    assert [(node.id, str(node.tile)) for node in table.game.layout.nodes] == [(2, "5-5"), (5, "5-4")]
    table = Table(WARN).feed(engine.Undo(engine.Seq(0)))
    assert table.state.game is None
    assert engine.entries(table.state) == ()
    table = Table(WARN).play("5-5").feed(engine.Undo(engine.Seq(2)), engine.Amend(engine.Seq(2), engine.Knock(A)))
    assert irregular(table) == ["there is no action 2 to change"]


def test_amending_a_misread_tile_updates_later_scores_and_joined_tiles() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    assert table.totals == (15, 0)
    played = engine.entries(table.state)[3].action
    assert isinstance(played, engine.Play)
    table.feed(engine.Amend(engine.Seq(3), replace(played, tile=engine.Tile(5, 6))))
    assert table.totals == (20, 0)  # 6 + 4
    assert table.outcomes[0] == engine.Revised((15, 0), (20, 0))
    assert str(table.count) == "6 + 4 = 10"
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    table.feed(engine.Play(B, engine.Tile(1, 3), table.end("W").spot, inner=1))
    played = engine.entries(table.state)[3].action
    assert isinstance(played, engine.Play)
    table.feed(engine.Amend(engine.Seq(3), replace(played, tile=engine.Tile(5, 6))))
    assert irregular(table) == ["the 3-1 does not fit there: that end needs a 6"]
    assert str(table.count) == "3 + 4 = 7"
    table = Table(WARN).play("5-5", "5-1@W", "5-4@E")
    played = engine.entries(table.state)[3].action
    assert isinstance(played, engine.Play)
    table.feed(engine.Amend(engine.Seq(3), replace(played, tile=engine.Tile(5, 6))))
    lines = engine.history(table.state)
    assert [line.entry.seq for line in lines] == [0, 1, 2, 3, 4]
    assert [outcome.points for line in lines for outcome in line.outcomes if isinstance(outcome, engine.Scored)] == [
        10,
        10,
    ]


def test_moving_a_tile_also_moves_the_tiles_joined_to_it() -> None:
    table = Table(WARN).play("5-5", "5-1@W", "1-3@W")
    played = engine.entries(table.state)[3].action
    assert isinstance(played, engine.Play)
    east = table.end("E").spot
    table.feed(engine.Amend(engine.Seq(3), replace(played, at=east)))
    assert irregular(table) == []
    assert (table.end("E").number, table.end("W").number) == (3, 5)
    table = Table(WARN).play("3-5", "3-6@W")
    played = engine.entries(table.state)[2].action
    assert isinstance(played, engine.Play)
    table.feed(engine.Amend(engine.Seq(2), replace(played, tile=engine.Tile(2, 3))))
    assert irregular(table) == []
    assert (table.end("W").number, table.end("E").number) == (6, 2)


def test_a_wrong_seat_or_kind_of_action_is_amended() -> None:
    table = Table(WARN).play("5-5", "5-0@E")
    played = engine.entries(table.state)[2].action
    assert isinstance(played, engine.Play)
    table.feed(engine.Amend(engine.Seq(2), replace(played, seat=B)))
    assert table.totals == (0, 20)
    table = Table(WARN).play("5-5").feed(engine.Knock(B))
    table.feed(engine.Amend(engine.Seq(3), engine.Draw(B)))
    assert (table.hand.boneyard, table.hand.turn, table.state.irregular) == (13, B, ())
    table = Table(WARN).play("5-5", "5-1@W", "1-3@W")
    right = engine.entries(table.state)[3].action
    table.feed(engine.Amend(engine.Seq(3), engine.Knock(B)))
    assert "3-1: the tile it should touch is not on the table" in irregular(table)
    assert count_and_irregular(table) == (1, (3, 4))  # the knock was premature
    table.feed(engine.Amend(engine.Seq(3), right))
    assert count_and_irregular(table) == (3, ())


def test_a_refused_doubtful_or_reported_action_can_be_accepted() -> None:
    table = Table(STRICT).play("5-5", "5-1@W")
    table.play("5-2@5-5:N")
    assert count_and_irregular(table) == (2, (4,))
    table.feed(engine.ItStands(engine.Seq(4)))
    assert count_and_irregular(table) == (3, ())
    assert irregular(table) == []
    table = Table(WARN).play("5-5").feed(engine.Redeal(engine.RedealReason.MISDEAL))
    assert count_and_irregular(table) == (1, (3,))
    table.feed(engine.ItStands(engine.Seq(3)))
    assert count_and_irregular(table) == (0, ())
    assert table.totals == (0, 0)
    table = Table(WARN).play("5-5").play("5-1@W", seat=0)
    game = table.game
    assert count_and_irregular(table) == (2, (3,))
    table.feed(engine.ItStands(engine.Seq(3)))
    assert count_and_irregular(table) == (2, ())
    assert table.game == game
    table = Table(WARN).play("5-5").feed(engine.MatchStart(WARN, ("C", "D")), engine.ItStands(engine.Seq(3)))
    assert table.game.players == ("C", "D")
    table = Table(WARN).play("5-5", "6-4@E")
    table.feed(engine.ItStands(engine.Seq(3)))
    assert len(table.game.layout.nodes) == 1
    assert table.state.irregular == (3,)
    table = Table(WARN).play("5-5").play("5-1@W", seat=0).play("5-4@E", seat=1)
    assert irregular(table.feed(engine.Undo(engine.Seq(4)))) == []
    assert table.state.irregular == (3,)


@pytest.mark.parametrize(
    "event",
    [
        engine.Undo(engine.Seq(9)),
        engine.Amend(engine.Seq(9), engine.NewHand()),
        engine.ItStands(engine.Seq(9)),
        engine.Undo(engine.Seq(-1)),
    ],
)
def test_only_existing_actions_can_be_changed(event: engine.Event) -> None:
    table = Table(WARN).play("5-5")
    game = table.game
    table.feed(event)
    (refused,) = table.outcomes
    assert isinstance(refused, engine.Irregular)
    assert refused.problem.kind is engine.ProblemKind.NO_SUCH_ACTION
    assert table.game == game


def test_the_log_keeps_everything_and_replays_to_the_same_state() -> None:
    table = (
        Table(WARN)
        .play("5-5", "5-1@W")
        .feed(engine.Knock(A), engine.Undo(engine.Seq(4)))
        .play("5-4@E", seat=1)
        .feed(engine.ItStands(engine.Seq(6)))
    )
    assert len(table.state.log) == 8
    assert engine.replay(table.state.log) == table.state


RULES = replace(BONES, lead_first=LeadRule.LOT_ANY)
# The first play is action 2, the others are 3 and 4.
PLAYS = ("5-5", "5-1@W", "5-4@E")


def played(*events: engine.Event) -> Table:
    return Table(RULES).play(*PLAYS).feed(*events)


def marked(table: Table) -> tuple[engine.Seq, ...]:
    """Return the marks of the state, after checking them against its entries."""
    of_entries = tuple(entry.seq for entry in engine.entries(table.state) if entry.inferred)
    assert table.state.inferred == of_entries
    assert table.state.is_provisional == bool(of_entries)
    assert engine.replay(table.state.log) == table.state
    return of_entries


def test_inferring_an_action_only_marks_it() -> None:
    before = played()
    assert marked(before) == ()
    table = played(engine.Inferred((engine.Seq(4), engine.Seq(3))))
    assert marked(table) == (3, 4)
    assert table.outcomes == ()
    assert replace(table.state, log=before.state.log, inferred=()) == before.state
    table = played(engine.Inferred((engine.Seq(3),))).feed(engine.Knock(engine.Seat(1)))
    assert marked(table) == (3,)
    assert marked(played(engine.Inferred((engine.Seq(4),)), engine.Inferred((engine.Seq(2),)))) == (2, 4)
    table = played(engine.Inferred((engine.Seq(3),)))
    table.play("1-1@W", seat=1)
    assert engine.entries(table.state)[-1].seq == 6
    assert table.node("1-1") == 6


def test_a_confirmed_accepted_or_amended_action_loses_its_mark() -> None:
    table = played(
        engine.Inferred((engine.Seq(2), engine.Seq(3), engine.Seq(4))), engine.Confirmed((engine.Seq(2), engine.Seq(4)))
    )
    assert marked(table) == (3,)
    assert table.outcomes == ()
    assert marked(table.feed(engine.Confirmed((engine.Seq(3),)))) == ()
    assert marked(played(engine.Inferred((engine.Seq(3), engine.Seq(4))), engine.ItStands(engine.Seq(3)))) == (4,)
    table = played(engine.Inferred((engine.Seq(3), engine.Seq(4))))
    right = engine.entries(table.state)[4].action
    assert marked(table.feed(engine.Amend(engine.Seq(4), right))) == (3,)


@pytest.mark.parametrize("event", [engine.Remove(engine.Seq(4)), engine.Undo(engine.Seq(4))])
def test_removing_an_action_removes_its_mark(event: engine.Event) -> None:
    table = played(engine.Inferred((engine.Seq(3), engine.Seq(4))))
    last = engine.entries(table.state)[-1].action
    assert marked(table.feed(event)) == (3,)
    assert marked(table.feed(last)) == (3,), "the same action, now observed"


def test_an_inserted_action_is_marked_in_its_place() -> None:
    table = played(engine.Insert(engine.Seq(3), engine.Knock(engine.Seat(1))))
    inserted = engine.Seq(5)
    assert marked(table.feed(engine.Inferred((engine.Seq(4), inserted, engine.Seq(2))))) == (2, inserted, 4)


@pytest.mark.parametrize("mark", [engine.Inferred, engine.Confirmed])
def test_actions_not_in_force_are_ignored(mark: type[engine.Inferred | engine.Confirmed]) -> None:
    table = played(engine.Undo(engine.Seq(4)))
    before = table.state
    event = mark((engine.Seq(4), engine.Seq(5), engine.Seq(6), engine.Seq(-1), engine.Seq(99)))
    assert engine.problem_with(before, event) is None
    after, outcomes = engine.apply(before, event)
    assert outcomes == ()
    assert after == replace(before, log=before.log.with_item(event))


def test_a_record_of_a_match_with_marks_has_the_same_points() -> None:
    table = played(engine.Inferred((engine.Seq(3), engine.Seq(4))))
    text = engine.format_record(engine.record_of(table.state))
    assert text == engine.format_record(engine.record_of(played().state)), "a game record has no marks"
    result = engine.play_record(engine.parse_record(text)).result
    assert result.totals == table.totals
    assert isinstance(engine.entries(table.state)[-1].action, engine.Play)
