"""Tests of whole games with a noisy reader: every play is found, and no wrong score is unreported."""

from __future__ import annotations

import pytest

from engine import profile
from tallybone.session.feeding import feed
from tallybone.session.session import Session
from tests.tallybone.session.noisy_table import Faults, NoisyTable
from tests.tallybone.truth_eye import PLAYERS_OF

UNSURE = Faults(unsure=0.06, nudged=0.1)
MANY = Faults(unsure=0.02, at_once=0.15)
WRONG = Faults(unsure=0.03, wrong=0.01)


@pytest.mark.parametrize("name", sorted(PLAYERS_OF))
def test_a_perfect_reader_needs_no_questions(name: str) -> None:
    figures = NoisyTable(profile(name), 1, Faults()).run()
    assert figures.plays_right == figures.plays > 5
    assert figures.questions == []
    assert figures.is_right_at_end


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLAYERS_OF))
@pytest.mark.parametrize("faults", [UNSURE, MANY], ids=["unsure", "many"])
def test_uncertain_readings_raise_questions_and_the_score_is_right(name: str, faults: Faults) -> None:
    figures = NoisyTable(profile(name), 2, faults).run()
    assert figures.plays_right == figures.plays
    assert figures.is_right_at_end
    assert len(figures.questions) < 0.2 * figures.plays + 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bones", "cutthroat", "super"])
def test_confident_misreadings_never_lead_to_an_unreported_wrong_score(name: str) -> None:
    for seed in (0, 2):
        figures = NoisyTable(profile(name), seed, WRONG).run()
        assert figures.is_right_at_end or figures.is_flagged_at_end


def replayed(table: NoisyTable, halfway: int) -> Session:
    """Return the session after the inputs of a game, with a restart before one of them. 0 is no restart."""
    session = Session()
    for at, (t_ns, event) in enumerate(table.inputs):
        if 0 < halfway <= at and not (session.heard or session.pressed):
            session, halfway = Session.resumed(session.state, session.places, t_ns=session.t_ns), 0
        session, announcements = feed(session, event, t_ns=t_ns)
        assert halfway or at >= len(table.inputs) // 2 or repr(announcements) == repr(table.announcements[at])
    return session


def test_a_replay_is_identical_and_a_restart_keeps_the_totals() -> None:
    table = NoisyTable(profile("cutthroat"), 3, Faults(unsure=0.08, at_once=0.1, nudged=0.1))
    table.run()
    again = replayed(table, 0)
    assert (repr(again.state), repr(again.places)) == (repr(table.session.state), repr(table.session.places))
    resumed = replayed(table, len(table.inputs) // 2)
    assert resumed.state.game is not None
    assert table.session.state.game is not None
    assert resumed.state.game.totals == table.session.state.game.totals or resumed.is_provisional
