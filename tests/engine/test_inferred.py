"""Tests of inferred actions: marked until the players confirm, accept, amend or remove them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import engine
from engine.rules.options import BONES
from engine.rules.rules import LeadRule
from tests.engine.table import Table

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
