"""Tests of killing the process of a match repeatedly: all displayed scores are recorded, without duplicates."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from engine import Adjust, MatchStart, Seat, State, profile, replay
from tests.conftest import ROOT
from tests.tallybone.crash.disk import Tail, torn
from tests.tallybone.crash.faults import FaultTally, end_after_fault, follow_with_faults
from tests.tallybone.crash.game import Match, match_of, number_in, picture_of, scored, scored_on
from tests.tallybone.crash.life import Plan, run_match
from tests.tallybone.crash.points import is_over, state_in, wrong_with


def state_with(*points: int) -> State:
    adjustments = (Adjust(Seat(0), point, "given") for point in points)
    return replay((MatchStart(profile("bones"), ("Ann", "Ben")), *adjustments))


def problems_of(kept: State, *shown: int) -> list[str]:
    match = Match("bones", ("Ann", "Ben"), (), (), (), state_with(5, 10, 15))
    return list(wrong_with(match, kept, tuple((0, points) for points in shown)))


def run_bench(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "lab.bench.crash", "--folder", str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_match_is_the_same_despite_kills(tmp_path: Path) -> None:
    out = run_bench(tmp_path, "--points", "4", "--games", "allfives", "--seed", "3")
    assert "0 scores lost, changed or doubled" in out
    assert list(tmp_path.iterdir()) == []


def test_no_older_score_comes_back_unnoticed_after_faults_of_the_disk(tmp_path: Path) -> None:
    tally = FaultTally()
    for seed in (*range(1, 6), 613, 804, 892, 901, 915, 957):  # the last were wrong without the journal
        follow_with_faults(_empty(tmp_path / f"random-{seed}"), seed, tally)
    assert tally.silent == []
    assert tally.resumed > tally.warned > 0


def test_a_score_given_while_recording_failed_is_kept_at_an_orderly_end(tmp_path: Path) -> None:
    tally = FaultTally()
    for seed in range(1, 5):
        end_after_fault(_empty(tmp_path / str(seed)), seed, tally)
    assert tally.silent == []
    assert tally.resumed == 4


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_lost_changed_and_doubled_scores_are_found() -> None:
    assert scored(state_with(5, 10)) == ((0, 5), (0, 10))
    assert problems_of(state_with(5, 10, 15), 5, 10) == []
    assert "2 scores were shown, but 1 are kept" in problems_of(state_with(5), 5, 10)[0]
    assert "2 scores were shown" in problems_of(state_with(5, 15), 5, 10)[0]
    assert problems_of(state_with(5, 5, 10), 5) == ["what is kept is not what happened"]


@pytest.mark.slow
def test_a_finished_match_is_found(tmp_path: Path) -> None:
    match, screen = match_of("allfives", 3), tmp_path / "screen.jsonl"
    run_match(match, Plan(tmp_path, keep_bytes=10**12, shown=screen, disk=None, seed=1))
    state = state_in(tmp_path)
    assert is_over(state)
    assert list(wrong_with(match, state, scored_on(screen))) == []


def test_outcomes_of_a_power_cut_for_unsynced_data() -> None:
    data = bytes(range(1, 256)) * 20
    left = {tail: torn(data, tail, random.Random(1)) for tail in Tail}
    assert (left[Tail.LOST], left[Tail.KEPT]) == (b"", data)
    assert data.startswith(left[Tail.CUT])
    for tail in (Tail.LAST_BLOCK_ZERO, Tail.HOLES, Tail.NOISE):
        assert len(left[tail]) == len(data)
        assert left[tail] != data


@pytest.mark.parametrize("number", [0, 1, 87, 4095])
def test_a_picture_has_its_number(number: int) -> None:
    assert number_in(picture_of(number)) == number
