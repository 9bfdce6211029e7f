"""Tests of whole games with zones: draws, hands, deals and leaders are recognised without input."""

from __future__ import annotations

import pytest

from engine import Draw, Lead, NewHand, NodeId, Play, Reveal, State, entries, profile
from lab.matches.game_script import paths_of
from tallybone.session.feeding import feed
from tallybone.session.session import Session
from tests.tallybone.session.zoned_table import ZonedTable, ZoneFaults, ZoneFigures
from tests.tallybone.truth_eye import PLAYERS_OF

FAULTS = ZoneFaults(unsure=0.03, nudged=0.1, miscounted=0.05, pushed=0.1, side_right=0.95)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLAYERS_OF))
def test_a_faultless_reader_finds_draws_hands_and_deals_without_questions(name: str) -> None:
    table = ZonedTable(profile(name), 1, ZoneFaults(), hands=2)
    figures = table.run()
    assert figures.plays_right == figures.plays > 10
    assert figures.questions == []
    assert figures.is_right_at_end
    pressed = [event for _, event in table.inputs if isinstance(event, NewHand | Lead | Draw | Reveal)]
    assert pressed == []
    kinds = [type(event) for event in table.session.state.log]
    assert kinds.count(NewHand) == sum(isinstance(step.event, NewHand) for step in table.steps)
    assert Reveal in kinds
    assert (Draw in kinds) is (name != "block")


@pytest.mark.parametrize("name", sorted(PLAYERS_OF))
def test_a_faulty_reader_gives_the_right_result(name: str) -> None:
    figures = ZonedTable(profile(name), 3, FAULTS, hands=1).run()
    assert figures.plays_right == figures.plays
    assert figures.is_right_at_end


@pytest.mark.parametrize("is_clear", [False, True], ids=["reaching", "clearly wrong"])
@pytest.mark.parametrize("name", ["bones", "block", "twoset"])
def test_ten_percent_wrong_sides_cause_no_false_report(name: str, *, is_clear: bool) -> None:
    table = ZonedTable(profile(name), 1, ZoneFaults(side_right=0.9, wrong_is_clear=is_clear))
    figures = table.run()
    assert isinstance(figures, ZoneFigures)
    assert figures.out_of_turn == 0
    assert figures.plays_right == figures.plays
    seats = [
        [entry.action.seat for entry in entries(state) if isinstance(entry.action, Play)]
        for state in (table.session.state, table.steps[-1].state)
    ]
    assert seats[0] == seats[1]


def test_a_match_resumed_many_times_has_the_same_result() -> None:
    table = ZonedTable(profile("bones"), 5, FAULTS)
    table.run()
    session = Session(zones=table.zones)
    for at, (t_ns, event) in enumerate(table.inputs):
        if at % 7 == 0 and not session.heard:
            session = Session.resumed(session.state, session.places, t_ns=session.t_ns, zones=session.zones)
        session, _ = feed(session, event, t_ns=t_ns)
    results = [
        (
            [
                (entry.action.seat, *paths[NodeId(entry.seq)])
                for entry in entries(state)
                if isinstance(entry.action, Play)
            ],
            totals(state),
        )
        for state in (session.state, table.session.state)
        for paths in [paths_of(state)]
    ]
    assert results[0] == results[1]


def totals(state: State) -> tuple[int, ...]:
    assert state.game is not None
    return state.game.totals
