"""From when on a replay is printed, and at which pace it runs: by a clock that only the test turns."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tallybone.replay.command import ReplayClock, replay, replay_log
from tallybone.replay.pace import Pace, at_pace, parse_time
from tallybone.sources.source import Item
from tests.tallybone.recorded_game import BEGINS_NS, SECOND, eye, record_game
from tests.tallybone.replay.test_ahead import shot


class TurnedClock(ReplayClock):
    """A clock that goes on only while somebody waits, and while the eye looks."""

    def __init__(self) -> None:
        self.t_ns, self.waited_s = 77 * SECOND, list[float]()

    def now_ns(self) -> int:
        return self.t_ns

    def wait(self, seconds: float) -> None:
        self.waited_s.append(round(seconds, 6))
        self.t_ns += round(seconds * SECOND)


def test_items_wait_for_their_time_at_the_pace_that_is_wanted() -> None:
    clock = TurnedClock()
    items: list[Item] = [shot(BEGINS_NS + at * SECOND) for at in (0, 1, 3)]
    came = [(one, clock.t_ns) for one in at_pace(items, Pace(speed=2), clock.now_ns, clock.wait)]
    assert [one for one, _ in came] == items
    assert clock.waited_s == [0.5, 1.0]


def test_time_that_the_eye_took_is_not_waited_again() -> None:
    clock = TurnedClock()
    items: list[Item] = [shot(at * SECOND) for at in (0, 1, 2, 3)]
    for one in at_pace(items, Pace(speed=1), clock.now_ns, clock.wait):
        clock.t_ns += 1_500_000_000 if one is items[0] else 0
    assert clock.waited_s == [0.5, 1.0]


def test_what_came_before_is_fed_at_once() -> None:
    clock = TurnedClock()
    items: list[Item] = [shot(at * SECOND) for at in (0, 10, 20, 21)]
    assert list(at_pace(items, Pace(from_ns=20 * SECOND, speed=1), clock.now_ns, clock.wait)) == items
    assert clock.waited_s == [1.0]


def test_without_a_pace_nothing_waits() -> None:
    clock = TurnedClock()
    assert len(list(at_pace([shot(0), shot(SECOND)], Pace(), clock.now_ns, clock.wait))) == 2
    assert clock.waited_s == []


def test_only_what_happens_from_then_on_is_printed_and_the_result_is_of_all(tmp_path: Path) -> None:
    record_game(tmp_path / "a.mcap")

    def lines(pace: Pace) -> list[str]:
        out, clock = io.StringIO(), TurnedClock()
        assert replay(tmp_path / "a.mcap", pace=pace, as_json=True, perception=eye(), clock=clock, out=out) == 0
        return out.getvalue().splitlines()

    everything, later = lines(Pace()), lines(Pace(from_ns=8 * SECOND, speed=1))
    assert 3 < len(later) < len(everything)
    assert later == everything[-len(later) :]
    assert json.loads(later[0])["t_ns"] == BEGINS_NS + 8 * SECOND
    assert json.loads(everything[-len(later) - 1])["t_ns"] < BEGINS_NS + 8 * SECOND


def test_a_log_is_printed_from_some_time_on_too(tmp_path: Path) -> None:
    record_game(tmp_path / "a.mcap")
    said = []
    for from_ns in (0, 8 * SECOND):
        out = io.StringIO()
        replay_log(tmp_path / "a.mcap", from_ns=from_ns, out=out)
        said.append(out.getvalue().splitlines())
    assert 2 < len(said[1]) < len(said[0])
    assert said[1] == said[0][-len(said[1]) :]


@pytest.mark.parametrize("text", ["", "1:60", "-1", "1:2:3", "x", "1:-1", ":5", "nan", "inf"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected minutes"):
        parse_time(text)
