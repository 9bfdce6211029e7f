"""Tests of the counters and timings of a game, and of its pace."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from engine import Adjust, Seat, Seq, Undo, profile
from tallybone.play.counts import Counts, MeanPace, MeasuredSitting, PaceMeter, PipelineStage, Times
from tallybone.session.inputs import Button, Press
from tallybone.session.sitting import opened
from tests.tallybone.in_question import asked
from tests.tallybone.serve.served import Blind
from vision.tracking.perception import Perception
from vision.tracking.watch import Frame

MS = 1_000_000
SECOND = 1000 * MS
TABLE = np.full((72, 128, 3), 90, np.uint8)


def measured_sitting(counts: Counts) -> MeasuredSitting:
    session, _ = opened(profile("block"), ("Ann", "Ben"))
    return MeasuredSitting(Perception(Blind()), session, counts)


def total(times: Times) -> int:
    return sum(times.within)


def test_every_picture_is_timed_and_only_settled_ones_are_read() -> None:
    counts = Counts()
    sitting = measured_sitting(counts)
    for t_ns in range(0, 2000 * MS, 100 * MS):
        sitting.feed(Frame(TABLE, t_ns), t_ns)
    assert counts.pictures_seen == 20
    assert total(counts.times[PipelineStage.SETTLE]) == total(counts.times[PipelineStage.REFEREE]) == 20
    assert 1 <= total(counts.times[PipelineStage.READ]) < 20
    assert total(counts.times[PipelineStage.PAGE]) == 0


def test_the_stages_of_a_picture_add_up_to_its_time() -> None:
    counts = Counts()
    sitting = measured_sitting(counts)
    began_s = perf_counter()
    for t_ns in range(0, 2000 * MS, 100 * MS):
        sitting.feed(Frame(TABLE, t_ns), t_ns)
    took_s = perf_counter() - began_s
    added_s = sum(times.total_s for times in counts.times.values())
    assert 0.5 * took_s < added_s <= took_s


def test_an_undo_counts_as_a_correction_and_an_adjustment_does_not() -> None:
    counts = Counts()
    sitting = measured_sitting(counts)
    sitting.feed(Adjust(Seat(0), 5, "given"), MS)
    assert (counts.inputs, counts.corrections) == (1, 0)
    sitting.feed(Undo(Seq(1)), 2 * MS)
    assert (counts.inputs, counts.corrections) == (2, 1)


def test_an_open_question_is_counted() -> None:
    counts = Counts()
    sitting = MeasuredSitting(Perception(Blind()), asked(), counts)
    sitting.feed(Press(Button.NEXT), 60 * SECOND)
    assert counts.questions == 0, "it was asked before"
    sitting.feed(Press(Button.TABLE), 61 * SECOND)
    assert counts.questions == 1


def pace_after(pace: PaceMeter, begin_s: int, seconds: int, *, given_per_s: int, read_per_s: int) -> MeanPace | None:
    """Return the pace of a steady camera and reader, 0.9 s behind."""
    mean = None
    for at_s in range(begin_s, begin_s + seconds):
        for _ in range(read_per_s):
            pace.count(900 * MS)
        mean = pace.at((at_s + 1) * SECOND, given_per_s * (at_s + 1))
    return mean


def test_a_machine_that_reads_too_few_pictures_is_too_slow() -> None:
    pace = PaceMeter(10.0)
    assert pace_after(pace, 0, 10, given_per_s=20, read_per_s=2) is None, "under ten seconds have passed"
    assert pace_after(pace, 10, 5, given_per_s=20, read_per_s=2) == MeanPace(2.0, 10.0, 0.9, is_too_slow=True)
    between = pace_after(pace, 15, 20, given_per_s=20, read_per_s=5)
    assert between == MeanPace(5.0, 10.0, 0.9, is_too_slow=True)
    assert pace_after(pace, 35, 20, given_per_s=20, read_per_s=7) == MeanPace(7.0, 10.0, 0.9, is_too_slow=False)
    assert pace_after(pace, 55, 20, given_per_s=20, read_per_s=5) == MeanPace(5.0, 10.0, 0.9, is_too_slow=False)


def test_reading_all_pictures_of_a_slow_camera_is_fast_enough() -> None:
    assert pace_after(PaceMeter(10.0), 0, 20, given_per_s=3, read_per_s=3) == MeanPace(3.0, 3.0, 0.9, is_too_slow=False)


def test_a_restarted_pace_is_measured_for_ten_seconds_first() -> None:
    pace = PaceMeter(10.0)
    pace_after(pace, 0, 15, given_per_s=10, read_per_s=1)
    pace.restart()
    assert pace_after(pace, 15, 10, given_per_s=10, read_per_s=1) is None
    assert pace_after(pace, 25, 1, given_per_s=10, read_per_s=1) is not None
