"""What is counted at a table: each number has one thread that adds to it, and any thread may read it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from enum import Enum

BOUNDS_S = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Between these the times of a stage are counted: from a gate that saw nothing move to a read on the slowest Pi."""


class Stage(Enum):
    """From a picture to a score on the page, step by step."""

    SETTLE = "settle"
    """Whether anything moves."""
    READ = "read"
    """Which tiles lie there; only of pictures on which nothing moves."""
    REFEREE = "referee"
    """What that means for the game."""
    PAGE = "page"
    """What the page shows of it."""


class Times:
    """How often something took how long."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.within = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0

    def add(self, seconds: float) -> None:
        """Take one more; it costs less than a microsecond."""
        self.within[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds


def _no_times() -> dict[Stage, Times]:
    return {stage: Times() for stage in Stage}


@dataclass(slots=True)
class Counts:
    """All that is counted since the table was started.

    Attributes:
        pictures_taken: What the camera of matches has given.
        pictures_seen: Those of them that were looked at; the others were dropped, for newer ones came.
        questions: What the table was asked, because the eye was in doubt.
        corrections: What was put right by hand: pips, places, missed and wrong plays, undo.
        inputs: What was pressed, heard or said by hand.
        times: How long each stage took.
        watchdog_feeds: How often systemd was told that the table lives.
    """

    pictures_taken: int = 0
    pictures_seen: int = 0
    questions: int = 0
    corrections: int = 0
    inputs: int = 0
    times: dict[Stage, Times] = field(default_factory=_no_times)
    watchdog_feeds: int = 0
