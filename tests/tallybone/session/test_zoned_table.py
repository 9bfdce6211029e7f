"""Tests of whole games with zones: draws, hands, deals and leaders are recognised without input."""

from __future__ import annotations

import pytest

from engine import Draw, Irregular, Lead, NewHand, Play, ProblemKind, Reveal, profile
from tallybone.session.feeding import feed
from tallybone.session.session import Session
from tallybone.simulate.game_script import ScriptStep
from tests.tallybone.session.zoned_table import ZonedTable, ZoneFaults, ZoneFigures
from tests.tallybone.truth_eye import PLAYERS_OF
from vision.tracking.settle import EntrySide

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


class WrongHands(ZonedTable):
    """A table that also tests every play with another player's hand, and counts missing reports."""

    shown = unreported = 0

    def _see(self, steps: list[ScriptStep]) -> None:
        play = steps[0].event
        if isinstance(play, Play) and len(steps) == 1 and play.at is not None:
            self._reach(play, steps)
        super()._see(steps)

    def _reach(self, play: Play, steps: list[ScriptStep]) -> None:
        side = next(zone.side for seat, zone in enumerate(self.zones.seats) if seat != play.seat)
        tiles = list(self.reader.tiles)
        changes = self.reader.look(steps).changes
        self.t_ns += 1
        view = self.view(changes, (EntrySide(side, 1.0),))
        self.reader.tiles = tiles
        after, announcements = feed(self.session, view, t_ns=self.t_ns)
        self.shown += 1
        is_reported = any(
            isinstance(announcement, Irregular) and announcement.problem.kind is ProblemKind.WRONG_SEAT
            for announcement in announcements
        )
        self.unreported += not (is_reported or asks_for_player(after))


def asks_for_player(session: Session) -> bool:
    return any(
        question.ambiguity.words.startswith(("it was", "who led", "who played")) for question in session.questions
    )


@pytest.mark.slow
@pytest.mark.parametrize("is_clear", [False, True], ids=["reaching", "clearly wrong"])
def test_ten_percent_wrong_sides_cause_no_false_report(is_clear: bool) -> None:
    # Two wrong sides in a row that agree are taken for a pass that nobody heard.
    unreported = shown = 0
    for name in ("bones", "block", "twoset"):
        for seed in range(2):
            table = WrongHands(profile(name), seed, ZoneFaults(side_right=0.9, wrong_is_clear=is_clear))
            figures = table.run()
            assert isinstance(figures, ZoneFigures)
            assert figures.out_of_turn == 0
            assert figures.plays_right == figures.plays
            assert table.shown > 5
            unreported, shown = unreported + table.unreported, shown + table.shown
    assert unreported <= 0.05 * shown


def test_a_resumed_session_continues_identically() -> None:
    table = ZonedTable(profile("bones"), 5, FAULTS)
    table.run()
    session = Session(zones=table.zones)
    for at, (t_ns, event) in enumerate(table.inputs):
        if at % 7 == 0 and not session.heard:
            session = Session.resumed(session.state, session.places, t_ns=session.t_ns, zones=session.zones)
        session, _ = feed(session, event, t_ns=t_ns)
    assert session.state == table.session.state
