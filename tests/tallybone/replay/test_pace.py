"""Tests of the start time and the pace of a replay, with a simulated clock."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tallybone.replay.command import ReplayClock, replay, replay_log
from tallybone.replay.run import Pace, at_pace, parse_time
from tallybone.sources.source import Item
from tests.tallybone.recorded_game import BEGINS_NS, SECOND, record_game, truth_reader
from tests.tallybone.replay.test_ahead import shot


class SimulatedClock(ReplayClock):
    """A clock that advances only while the replay waits, or when a test sets it."""

    def __init__(self) -> None:
        self.t_ns, self.waited_s = 77 * SECOND, list[float]()

    def now_ns(self) -> int:
        return self.t_ns

    def wait(self, seconds: float) -> None:
        self.waited_s.append(round(seconds, 6))
        self.t_ns += round(seconds * SECOND)


def test_items_wait_for_their_time_at_the_given_pace() -> None:
    clock = SimulatedClock()
    items: list[Item] = [shot(BEGINS_NS + second * SECOND) for second in (0, 1, 3)]
    received = [(item, clock.t_ns) for item in at_pace(items, Pace(speed=2), clock.now_ns, clock.wait)]
    assert [item for item, _ in received] == items
    assert clock.waited_s == [0.5, 1.0]


def test_reading_time_counts_towards_the_wait() -> None:
    clock = SimulatedClock()
    items: list[Item] = [shot(second * SECOND) for second in (0, 1, 2, 3)]
    for item in at_pace(items, Pace(speed=1), clock.now_ns, clock.wait):
        clock.t_ns += 1_500_000_000 if item is items[0] else 0
    assert clock.waited_s == [0.5, 1.0]


def test_items_before_the_start_time_are_fed_at_once() -> None:
    clock = SimulatedClock()
    items: list[Item] = [shot(second * SECOND) for second in (0, 10, 20, 21)]
    assert list(at_pace(items, Pace(from_ns=20 * SECOND, speed=1), clock.now_ns, clock.wait)) == items
    assert clock.waited_s == [1.0]


def test_without_a_pace_there_is_no_wait() -> None:
    clock = SimulatedClock()
    assert len(list(at_pace([shot(0), shot(SECOND)], Pace(), clock.now_ns, clock.wait))) == 2
    assert clock.waited_s == []


def test_prints_only_events_after_the_start_time_but_the_full_result(tmp_path: Path) -> None:
    record_game(tmp_path / "a.mcap")

    def lines(pace: Pace) -> list[str]:
        out, clock = io.StringIO(), SimulatedClock()
        assert (
            replay(tmp_path / "a.mcap", pace=pace, as_json=True, perception=truth_reader(), clock=clock, out=out) == 0
        )
        return out.getvalue().splitlines()

    all_lines, later = lines(Pace()), lines(Pace(from_ns=8 * SECOND, speed=1))
    assert 3 < len(later) < len(all_lines)
    assert later == all_lines[-len(later) :]
    assert json.loads(later[0])["t_ns"] == BEGINS_NS + 8 * SECOND
    assert json.loads(all_lines[-len(later) - 1])["t_ns"] < BEGINS_NS + 8 * SECOND


def test_a_log_also_starts_at_the_given_time(tmp_path: Path) -> None:
    record_game(tmp_path / "a.mcap")
    outputs = []
    for from_ns in (0, 8 * SECOND):
        out = io.StringIO()
        replay_log(tmp_path / "a.mcap", from_ns=from_ns, out=out)
        outputs.append(out.getvalue().splitlines())
    assert 2 < len(outputs[1]) < len(outputs[0])
    assert outputs[1] == outputs[0][-len(outputs[1]) :]


@pytest.mark.parametrize("text", ["", "1:60", "-1", "1:2:3", "x", "1:-1", ":5", "nan", "inf"])
def test_rejects_invalid_times(text: str) -> None:
    with pytest.raises(ValueError, match="expected minutes"):
        parse_time(text)
