"""Tests of game figures: points, knocks and draws, per hand and per player."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import profile
from tallybone.replay.figures import BestPlay, GameFigures, PaidFigures, figures_of
from tests.tallybone.recorded_games import record_game
from tests.tallybone.replay.test_recorded_game import load_game
from tests.tallybone.truth_eye import game_of


@pytest.fixture(scope="module")
def bones(tmp_path_factory: pytest.TempPathFactory) -> GameFigures:
    """Return the figures of two hands of bones."""
    path = tmp_path_factory.mktemp("bones") / "a.mcap"
    session = record_game(path, hands=2)
    found = figures_of(load_game(path))
    assert found.paid[-1].totals == game_of(session).totals
    return found


def test_the_first_plays_have_their_points(bones: GameFigures) -> None:
    assert bones.paid[:2] == (PaidFigures(4000, 1, (10, 0)), PaidFigures(7000, 1, (10, 5)))


def test_hands_sum_to_the_totals(bones: GameFigures) -> None:
    assert [hand.number for hand in bones.hands] == [1, 2]
    for seat in range(2):
        assert sum(hand.points[seat] for hand in bones.hands) == bones.paid[-1].totals[seat]
    assert bones.hands[0].winner is not None


def test_the_best_plays_come_first(bones: GameFigures) -> None:
    points = [play.points for play in bones.best]
    assert points == sorted(points, reverse=True)
    assert 0 < len(points) <= 10
    assert BestPlay(4000, 1, 0, "5-5", 10) in bones.best


def test_draws_and_knocks_are_counted(tmp_path: Path) -> None:
    session = record_game(tmp_path / "a.mcap", 3, rules=profile("draw"))
    found = figures_of(load_game(tmp_path / "a.mcap"))
    log = [type(event).__name__ for event in session.state.log]
    assert sum(sum(hand.plays) for hand in found.hands) == log.count("Play")
    assert sum(sum(hand.knocks) for hand in found.hands) == log.count("Knock")
    assert sum(sum(hand.draws) for hand in found.hands) >= log.count("Draw") > 0
