"""Tests of inferred actions: marked until the players confirm, accept, amend or remove them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import (
    Amend,
    Confirmed,
    Event,
    Inferred,
    Insert,
    ItStands,
    Knock,
    Play,
    Remove,
    Seat,
    Seq,
    Undo,
    apply,
    entries,
    format_record,
    parse_record,
    play_record,
    problem_with,
    record_of,
    replay,
)
from engine.rules.options import BONES
from engine.rules.rules import LeadRule
from tests.engine.table import Table

RULES = replace(BONES, lead_first=LeadRule.LOT_ANY)
# The first play is action 2, the others are 3 and 4.
PLAYS = ("5-5", "5-1@W", "5-4@E")


def played(*events: Event) -> Table:
    return Table(RULES).play(*PLAYS).feed(*events)


def marked(table: Table) -> tuple[Seq, ...]:
    """Return the marks of the state, after checking them against its entries."""
    of_entries = tuple(entry.seq for entry in entries(table.state) if entry.inferred)
    assert table.state.inferred == of_entries
    assert table.state.is_provisional == bool(of_entries)
    assert replay(table.state.log) == table.state
    return of_entries


def test_inferring_an_action_only_marks_it() -> None:
    before = played()
    assert marked(before) == ()
    table = played(Inferred((Seq(4), Seq(3))))
    assert marked(table) == (3, 4)
    assert table.outcomes == ()
    assert replace(table.state, log=before.state.log, inferred=()) == before.state


def test_marks_persist_during_play() -> None:
    table = played(Inferred((Seq(3),))).feed(Knock(Seat(1)))
    assert marked(table) == (3,)


def test_confirmed_actions_lose_their_marks() -> None:
    table = played(Inferred((Seq(2), Seq(3), Seq(4))), Confirmed((Seq(2), Seq(4))))
    assert marked(table) == (3,)
    assert table.outcomes == ()
    assert marked(table.feed(Confirmed((Seq(3),)))) == ()


def test_later_marks_add_to_earlier_ones() -> None:
    assert marked(played(Inferred((Seq(4),)), Inferred((Seq(2),)))) == (2, 4)


def test_accepting_an_action_confirms_it() -> None:
    assert marked(played(Inferred((Seq(3), Seq(4))), ItStands(Seq(3)))) == (4,)


def test_amending_an_action_confirms_it() -> None:
    table = played(Inferred((Seq(3), Seq(4))))
    right = entries(table.state)[4].action
    assert marked(table.feed(Amend(Seq(4), right))) == (3,)


@pytest.mark.parametrize("event", [Remove(Seq(4)), Undo(Seq(4))])
def test_removing_an_action_removes_its_mark(event: Event) -> None:
    table = played(Inferred((Seq(3), Seq(4))))
    last = entries(table.state)[-1].action
    assert marked(table.feed(event)) == (3,)
    assert marked(table.feed(last)) == (3,), "the same action, now observed"


def test_an_inserted_action_is_marked_in_its_place() -> None:
    table = played(Insert(Seq(3), Knock(Seat(1))))
    inserted = Seq(5)
    assert marked(table.feed(Inferred((Seq(4), inserted, Seq(2))))) == (2, inserted, 4)


@pytest.mark.parametrize("mark", [Inferred, Confirmed])
def test_actions_not_in_force_are_ignored(mark: type[Inferred | Confirmed]) -> None:
    table = played(Undo(Seq(4)))
    before = table.state
    event = mark((Seq(4), Seq(5), Seq(6), Seq(-1), Seq(99)))
    assert problem_with(before, event) is None
    after, outcomes = apply(before, event)
    assert outcomes == ()
    assert after == replace(before, log=before.log.with_item(event))


def test_actions_after_a_mark_keep_log_indexes_as_ids() -> None:
    table = played(Inferred((Seq(3),)))
    table.play("1-1@W", seat=1)
    assert entries(table.state)[-1].seq == 6
    assert table.node("1-1") == 6


def test_a_record_of_a_match_with_marks_has_the_same_points() -> None:
    table = played(Inferred((Seq(3), Seq(4))))
    text = format_record(record_of(table.state))
    assert text == format_record(record_of(played().state)), "a game record has no marks"
    result = play_record(parse_record(text)).result
    assert result.totals == table.totals
    assert isinstance(entries(table.state)[-1].action, Play)
