"""The camera is pushed when it was asked for, and the truth says where it points."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine import Play
from synthetic.render.motion import STRAIGHT
from tallybone.choices import Difficulty
from tallybone.simulate.items import FramePlan, Planned, TilesPlan, TrueEvent
from tallybone.simulate.pushes import CameraPush, PushTime
from tallybone.simulate.simulation import Simulation, simulation_settings


def planned(*pushes: CameraPush) -> list[Planned]:
    wishes = simulation_settings("block", players=2, seed=3, difficulty=Difficulty.EASY, plays=4, pushes=pushes)
    return list(Simulation(wishes).plan())


@pytest.mark.parametrize("when", list(PushTime))
def test_a_push_comes_with_its_play_and_the_camera_stays_so(when: PushTime) -> None:
    items = planned(CameraPush(2, when, 30.0, -20.0, 2.5))
    shots = [(one.moment, at) for at, one in enumerate(items) if isinstance(one, FramePlan)]
    first = next(at for moment, at in shots if moment.bump != STRAIGHT)
    plays = [at for at, one in enumerate(items) if isinstance(one, TrueEvent) and isinstance(one.event, Play)]
    assert plays[0] < first < plays[1]
    assert {moment.bump for moment, at in shots if at >= first} == {(30.0, -20.0, 2.5)}
    has_hand = bool(next(moment for moment, at in shots if at == first).reaches)
    assert has_hand is (when is not PushTime.BEFORE)


def test_a_slow_slip_goes_evenly_and_is_told_before_each_frame() -> None:
    items = planned(CameraPush(1, PushTime.BEFORE, 12.0, 0.0, 0.0, seconds=3.0))
    told = STRAIGHT
    bumps = []
    for one in items:
        if isinstance(one, TilesPlan):
            told = one.bump
        elif isinstance(one, FramePlan):
            assert one.moment.bump == told
            bumps.append(told[0])
    steps = {round(later - earlier, 6) for earlier, later in pairwise(bumps)}
    assert steps == {0.0, 0.4}
    assert bumps[-1] == 12.0


def test_a_sitting_can_be_left_after_some_plays() -> None:
    plays = [one for one in planned() if isinstance(one, TrueEvent) and isinstance(one.event, Play)]
    assert len(plays) == 4
