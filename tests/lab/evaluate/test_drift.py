"""Tests of a game with camera bumps: detection, alignment and the score."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from lab.commands import simulate
from lab.evaluate.session_report import Figures
from lab.evaluate.sessions import SessionJudged, judge_session
from lab.matches.simulation import simulation_settings
from lab.matches.stage import CameraPush, PushTime
from tallybone.choices import Difficulty


def judged(path: Path, *pushes: CameraPush) -> SessionJudged:
    settings = simulation_settings(
        "draw", players=2, seed=12, look="classic-felt", difficulty=Difficulty.EASY, plays=5, pushes=pushes
    )
    assert simulate(path, settings, out=StringIO()) == 0
    return judge_session(path)


@pytest.mark.slow
def test_a_bump_during_a_play_is_detected_and_costs_nothing(tmp_path: Path) -> None:
    session = judged(tmp_path / "a.mcap", CameraPush(2, PushTime.LAYING, 24.0, -14.0, 1.5))
    figures = Figures.of([session])
    assert (figures.wholly_right, figures.plays, figures.spare, figures.unflagged) == (5, 5, 0, 0)
    straight, bumped = session.camera
    assert straight.aim.is_straight
    assert not bumped.aim.is_straight
    assert bumped.error_px < 1.5
    assert {observation.lost for observation in session.camera} == {None}


@pytest.mark.slow
def test_a_large_push_suspends_the_game_until_the_camera_is_back(tmp_path: Path) -> None:
    away = CameraPush(2, PushTime.BEFORE, 120.0, -70.0, 0.0)  # the boneyard is at the top right
    session = judged(tmp_path / "a.mcap", away, CameraPush(4, PushTime.BEFORE, 1.0, 1.0, 0.1))
    message = [observation.lost for observation in session.camera]
    assert any(text is not None and "put it back" in text for text in message)
    assert message[-1] is None
    assert session.camera[-1].error_px < 1.5
    assert Figures.of([session]).unflagged == 0
