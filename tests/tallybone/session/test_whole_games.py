"""Tests of whole games: with faults of the reader and the players, restarts, and mistakes in what is entered."""

from __future__ import annotations

import pytest

import engine
from lab.matches.game_script import ScriptStep, paths_of
from tallybone.session.course import reversal_events
from tallybone.session.feeding import feed
from tallybone.session.session import Session
from tests.tallybone.session.simulated_table import Faults, ZonedTable, plays_of
from tests.tallybone.truth_eye import PLAYERS_OF, game_of

FAULTS = Faults(unsure=0.03, nudged=0.1, miscounted=0.05, pushed=0.1, side_right=0.95)
UNSURE = Faults(unsure=0.06, nudged=0.1)
MANY = Faults(unsure=0.02, at_once=0.15)
WRONG = Faults(unsure=0.03, wrong=0.01)
SLOW_GAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name in ("super", "twoset") else name for name in sorted(PLAYERS_OF)
]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLAYERS_OF))
def test_a_faultless_reader_finds_draws_hands_and_deals_without_questions(name: str) -> None:
    table = ZonedTable(engine.profile(name), 1, hands=2)
    figures = table.run()
    assert figures.plays_right == figures.plays > 10
    assert figures.questions == []
    assert figures.is_right_at_end
    entered = (engine.NewHand, engine.Lead, engine.Draw, engine.Reveal)
    assert [event for _, event in table.inputs if isinstance(event, entered)] == []
    kinds = [type(event) for event in table.session.state.log]
    assert kinds.count(engine.NewHand) == sum(isinstance(step.event, engine.NewHand) for step in table.steps)
    assert engine.Reveal in kinds
    assert (engine.Draw in kinds) is (name != "block")


@pytest.mark.parametrize("name", SLOW_GAMES)
def test_a_faulty_reader_gives_the_right_result(name: str) -> None:
    figures = ZonedTable(engine.profile(name), 3, FAULTS).run()
    assert figures.plays_right == figures.plays
    assert figures.is_right_at_end


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "faults"), [("bones", UNSURE), ("draw", MANY), ("cutthroat", UNSURE), ("super", MANY), ("twoset", UNSURE)]
)
def test_uncertain_readings_raise_questions_and_the_score_is_right(name: str, faults: Faults) -> None:
    figures = ZonedTable(engine.profile(name), 2, faults).run()
    assert figures.plays_right == figures.plays
    assert figures.is_right_at_end
    assert len(figures.questions) < 0.2 * figures.plays + 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bones", "cutthroat", "super"])
def test_confident_misreadings_never_lead_to_an_unreported_wrong_score(name: str) -> None:
    assert ZonedTable(engine.profile(name), 2, WRONG).run().is_right_or_marked


@pytest.mark.parametrize("is_clear", [False, True], ids=["reaching", "clearly wrong"])
@pytest.mark.parametrize("name", ["bones", "block", pytest.param("twoset", marks=pytest.mark.slow)])
def test_ten_percent_wrong_sides_cause_no_false_report(name: str, *, is_clear: bool) -> None:
    table = ZonedTable(engine.profile(name), 1, Faults(side_right=0.9, wrong_is_clear=is_clear))
    figures = table.run()
    assert figures.out_of_turn == 0
    assert figures.plays_right == figures.plays
    assert [play.seat for play in plays_of(table.session.state)] == [play.seat for play in plays_of(table.truth)]


def test_a_replay_is_identical_and_many_restarts_change_no_result() -> None:
    table = ZonedTable(engine.profile("bones"), 5, FAULTS)
    table.run()
    again = resumed = Session(zones=table.zones)
    for at, (t_ns, event) in enumerate(table.inputs):
        again, announcements = feed(again, event, t_ns=t_ns)
        assert repr(announcements) == repr(table.announcements[at])
        if at % 7 == 0 and not resumed.heard:
            resumed = Session.resumed(resumed.state, resumed.places, t_ns=resumed.t_ns, zones=resumed.zones)
        resumed, _ = feed(resumed, event, t_ns=t_ns)
    assert (repr(again.state), repr(again.places)) == (repr(table.session.state), repr(table.session.places))
    results = [
        (
            [
                (entry.action.seat, *paths_of(state)[engine.NodeId(entry.seq)])
                for entry in engine.entries(state)
                if isinstance(entry.action, engine.Play)
            ],
            game_of(state).totals,
        )
        for state in (resumed.state, table.session.state)
    ]
    assert results[0] == results[1]


class MistakenTable(ZonedTable):
    """A game with entries that are refused: a deal after three plays of a hand, and a misdeal after five."""

    def _see(self, steps: list[ScriptStep]) -> None:
        super()._see(steps)
        mistakes: dict[int, engine.Event] = {3: engine.NewHand(), 5: engine.Redeal(engine.RedealReason.MISDEAL)}
        if (laid := len(game_of(self.session.state).layout.nodes)) in mistakes:
            self.feed(mistakes[laid], 2.0)
            self._answer(steps[-1])


@pytest.mark.parametrize("name", [name for name in SLOW_GAMES if name != "cutthroat"])
def test_refused_presses_change_nothing(name: str) -> None:
    figures = MistakenTable(engine.profile(name), 1).run()
    assert figures.plays_right == figures.plays
    assert figures.is_right_at_end


class RemovingTable(ZonedTable):
    """Two hands. In the second, a play of the first is removed and put back."""

    is_removed = False

    def _see(self, steps: list[ScriptStep]) -> None:
        super()._see(steps)
        state = self.session.state
        laid = len(game_of(state).layout.nodes)
        plays = [entry.seq for entry in engine.entries(state) if isinstance(entry.action, engine.Play)]
        if not self.is_removed and laid >= 2 and len(plays) > laid:
            self.is_removed = True
            self.feed(engine.Remove(engine.Seq(int(self.rng.choice(plays[:-laid])))), 2.0)
            for event in reversal_events(self.session.state, len(state.log)):
                self.feed(event, 2.0)


@pytest.mark.parametrize("name", [name for name in SLOW_GAMES if name in ("bones", "draw", "allfives")])
def test_a_play_of_a_finished_hand_is_removed_and_put_back(name: str) -> None:
    table = RemovingTable(engine.profile(name), 1, hands=2)
    assert table.run().is_right_at_end
    assert table.is_removed
