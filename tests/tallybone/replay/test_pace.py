"""Tests of loading images ahead, and of the start time and the pace of a replay with a simulated clock."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tallybone.recording.format import Damage, Pictures
from tallybone.replay.command import ReplayClock, replay, replay_log
from tallybone.replay.run import Pace, ahead, at_pace, parse_time
from tallybone.sources.source import Item, Shot
from tests.tallybone.recorded_game import BEGINS_NS, SECOND, record_game, truth_reader
from vision.arrays import Image
from vision.image.picture import PictureError
from vision.tracking.settle import small_grey


def image(index: int, size_px: int = 8) -> Image:
    return np.full((size_px, size_px, 3), index, np.uint8)


def shot(index: int, load: Callable[[], Image] | None = None) -> Shot:
    return Shot(index, str(index), str(index), load or (lambda: image(index)), lambda: b"")


def broken() -> Image:
    raise PictureError("it is broken")


def test_items_keep_their_order_and_are_loaded_before_use() -> None:
    loaded: list[int] = []

    def load(index: int) -> Callable[[], Image]:
        def load_now() -> Image:
            loaded.append(index)
            return image(index)

        return load_now

    damage = Damage(1, 2, "lost")
    items: list[Item] = [shot(0, load(0)), damage, *(shot(index, load(index)) for index in range(1, 20))]
    received = []
    for item in ahead(iter(items), Pictures.SETTLED):
        if isinstance(item, Shot):
            assert item.t_ns in loaded
            received.append(int(item.load()[0, 0, 0]))
        else:
            assert item is damage
    assert received == loaded == list(range(20))


def test_an_image_error_is_raised_by_its_load_and_a_source_error_in_its_place() -> None:
    first, second, third = ahead(iter([shot(0), shot(1, broken), shot(2)]), Pictures.SETTLED)
    assert isinstance(first, Shot)
    assert isinstance(second, Shot)
    assert isinstance(third, Shot)
    with pytest.raises(PictureError, match="it is broken"):
        second.load()
    assert int(third.load()[0, 0, 0]) == 2

    def items() -> Iterator[Item]:
        yield shot(0)
        raise PictureError("no video")

    received = ahead(items(), Pictures.SETTLED)
    assert next(received) is not None
    with pytest.raises(PictureError, match="no video"):
        next(received)


def test_moving_images_include_the_reduced_grey_image() -> None:
    (moving,) = ahead(iter([shot(7)]), Pictures.MOVING)
    (settled,) = ahead(iter([shot(7)]), Pictures.SETTLED)
    assert isinstance(moving, Shot)
    assert isinstance(settled, Shot)
    assert moving.grey is not None
    assert np.array_equal(moving.grey, small_grey(image(7)))
    assert settled.grey is None


def test_the_queue_is_bounded_and_closing_ends_the_thread() -> None:
    requested: list[int] = []

    def items() -> Iterator[Item]:
        for index in range(1000):
            requested.append(index)
            yield shot(index, lambda: np.zeros((2048, 2048, 3), np.uint8))  # 12 MB of the 64 MB that may be queued

    received = ahead(items(), Pictures.SETTLED)
    for _ in range(3):
        next(received)
    received.close()
    assert len(requested) <= 3 + 5
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pictures")]


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
    assert len(list(at_pace(items, Pace(), clock.now_ns, clock.wait))) == 4
    assert clock.waited_s == [1.0]  # without a pace there is no wait


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
    logs = [io.StringIO(), io.StringIO()]
    for from_ns, out in zip((0, 8 * SECOND), logs, strict=True):
        replay_log(tmp_path / "a.mcap", from_ns=from_ns, out=out)
    whole, rest = (out.getvalue().splitlines() for out in logs)
    assert 2 < len(rest) < len(whole)
    assert rest == whole[-len(rest) :]


@pytest.mark.parametrize("text", ["", "1:60", "-1", "1:2:3", "x", "1:-1", ":5", "nan", "inf"])
def test_rejects_invalid_times(text: str) -> None:
    with pytest.raises(ValueError, match="expected minutes"):
        parse_time(text)
