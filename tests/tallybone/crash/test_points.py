"""Whoever follows a match may die at any moment, again and again: all that was shown is there, and nothing twice."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from engine import Adjust, MatchStart, Seat, State, profile, replay
from tests.tallybone.crash.disk import Tail, torn
from tests.tallybone.crash.game import Match, match_of, number_in, picture_of, scored, scored_on
from tests.tallybone.crash.life import Plan, live
from tests.tallybone.crash.points import is_over, state_in, wrong_with

BENCH = Path(__file__).parents[3] / "benchmarks" / "bench_crash.py"


def ended(*points: int) -> State:
    given = (Adjust(Seat(0), one, "given") for one in points)
    return replay((MatchStart(profile("bones"), ("Ann", "Ben")), *given))


def wrong(kept: State, *shown: int) -> list[str]:
    match = Match("bones", ("Ann", "Ben"), (), (), (), ended(5, 10, 15))
    return list(wrong_with(match, kept, tuple((0, one) for one in shown)))


def died(folder: Path, *wishes: str) -> str:
    command = [sys.executable, str(BENCH), "--folder", str(folder), *wishes]
    done = subprocess.run(command, capture_output=True, text=True, cwd=BENCH.parents[1])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_match_through_a_few_deaths_is_what_it_would_have_been(tmp_path: Path) -> None:
    said = died(tmp_path, "--points", "8", "--games", "allfives", "--seed", "3")
    assert "0 scores lost, changed or doubled" in said
    assert list(tmp_path.iterdir()) == []


def test_a_score_that_is_lost_changed_or_doubled_is_found() -> None:
    assert scored(ended(5, 10)) == ((0, 5), (0, 10))
    assert wrong(ended(5, 10, 15), 5, 10) == []
    assert "2 scores were shown, but 1 are kept" in wrong(ended(5), 5, 10)[0]
    assert "2 scores were shown" in wrong(ended(5, 15), 5, 10)[0]
    assert wrong(ended(5, 5, 10), 5) == ["what is kept is not what happened"]


def test_a_match_that_is_over_is_found_though_nobody_goes_on_with_it(tmp_path: Path) -> None:
    match, screen = match_of("allfives", 3), tmp_path / "screen.jsonl"
    live(match, Plan(tmp_path, keep_bytes=10**12, shown=screen, disk=None, seed=1))
    state = state_in(tmp_path)
    assert is_over(state)
    assert list(wrong_with(match, state, scored_on(screen))) == []


def test_of_what_was_not_synced_a_power_cut_leaves_anything() -> None:
    data = bytes(range(1, 256)) * 20
    left = {tail: torn(data, tail, random.Random(1)) for tail in Tail}
    assert (left[Tail.LOST], left[Tail.KEPT]) == (b"", data)
    assert data.startswith(left[Tail.CUT])
    for tail in (Tail.LAST_BLOCK_ZERO, Tail.HOLES, Tail.NOISE):
        assert len(left[tail]) == len(data)
        assert left[tail] != data


@pytest.mark.parametrize("number", [0, 1, 87, 4095])
def test_a_picture_says_its_number(number: int) -> None:
    assert number_in(picture_of(number)) == number
