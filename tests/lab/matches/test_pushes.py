"""Tests of simulated camera pushes and their ground truth."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine import Play
from lab.matches.items import FramePlan, Planned, TilesPlan, TrueEvent
from lab.matches.simulation import Simulation, simulation_settings
from lab.matches.stage import CameraPush, PushTime
from lab.render.motion import STRAIGHT
from tallybone.choices import Difficulty


def planned(*pushes: CameraPush) -> list[Planned]:
    settings = simulation_settings("block", players=2, seed=3, difficulty=Difficulty.EASY, plays=4, pushes=pushes)
    return list(Simulation(settings).plan())


@pytest.mark.parametrize("when", list(PushTime))
def test_a_push_occurs_during_its_play_and_persists(when: PushTime) -> None:
    items = planned(CameraPush(2, when, 30.0, -20.0, 2.5))
    shots = [(item.moment, index) for index, item in enumerate(items) if isinstance(item, FramePlan)]
    first = next(index for moment, index in shots if moment.bump != STRAIGHT)
    plays = [i for i, item in enumerate(items) if isinstance(item, TrueEvent) and isinstance(item.event, Play)]
    assert plays[0] < first < plays[1]
    assert {moment.bump for moment, index in shots if index >= first} == {(30.0, -20.0, 2.5)}
    has_hand = bool(next(moment for moment, index in shots if index == first).reaches)
    assert has_hand is (when is not PushTime.BEFORE)


def test_a_slow_slip_is_uniform_and_the_truth_precedes_each_frame() -> None:
    items = planned(CameraPush(1, PushTime.BEFORE, 12.0, 0.0, 0.0, seconds=3.0))
    expected = STRAIGHT
    bumps = []
    for item in items:
        if isinstance(item, TilesPlan):
            expected = item.bump
        elif isinstance(item, FramePlan):
            assert item.moment.bump == expected
            bumps.append(expected[0])
    steps = {round(later - earlier, 6) for earlier, later in pairwise(bumps)}
    assert steps == {0.0, 0.4}
    assert bumps[-1] == 12.0


def test_a_sitting_can_stop_after_some_plays() -> None:
    plays = [item for item in planned() if isinstance(item, TrueEvent) and isinstance(item.event, Play)]
    assert len(plays) == 4
