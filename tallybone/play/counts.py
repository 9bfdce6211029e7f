"""Count and time what a table does; any thread may read the numbers while the game runs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter

from engine import Amend, Insert, ItStands, Remove, Undo
from tallybone.session.referee import Unclear
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, Step
from vision.arrays import Image
from vision.table_view import TableView
from vision.watch import Eye, Frame, Watch

BOUNDS_S = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Between these the times of a stage are counted: from a gate that saw nothing move to a read on the slowest Pi."""

_CORRECTIONS = (Undo, Amend, Insert, Remove, ItStands)


class PipelineStage(Enum):
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


@dataclass(slots=True)
class Counts:
    """All that is counted since the table was started.

    Attributes:
        pictures_taken: Pictures that the camera of matches has given.
        pictures_seen: Those of them that were looked at; the others were dropped, for newer ones came.
        questions: Questions to the table, because the eye was in doubt.
        corrections: Corrections by hand: pips, places, missed and wrong plays, undo.
        inputs: Presses, knocks and inputs by hand.
        times: How long each stage took.
        watchdog_feeds: How often systemd was told that the table lives.
    """

    pictures_taken: int = 0
    pictures_seen: int = 0
    questions: int = 0
    corrections: int = 0
    inputs: int = 0
    times: dict[PipelineStage, Times] = field(default_factory=lambda: {stage: Times() for stage in PipelineStage})
    watchdog_feeds: int = 0


class MeasuredSitting(Sitting):
    """Follows one sitting, and counts and times what comes in."""

    def __init__(self, eye: Eye, session: Session, counts: Counts) -> None:
        """Start where *session* stands; settled pictures are read by *eye*."""
        self._eye, self._counts = _MeasuredEye(eye), counts
        self._watch, self._looked_s = Watch(self._eye), 0.0
        super().__init__(self._timed_look, session)

    def feed(self, item: Frame | ByHand, t_ns: int) -> Step:
        """Take the next frame or input."""
        counts, eye = self._counts, self._eye
        eye.took_s, began_s = 0.0, perf_counter()
        happened = super().feed(item, t_ns)
        if isinstance(item, Frame):
            counts.times[PipelineStage.REFEREE].add(perf_counter() - began_s - self._looked_s)
            counts.times[PipelineStage.SETTLE].add(self._looked_s - eye.took_s)
            if eye.took_s:
                counts.times[PipelineStage.READ].add(eye.took_s)
            counts.pictures_seen += 1
        else:
            counts.inputs += 1
        counts.questions += sum(isinstance(one, Unclear) for one in happened.said)
        counts.corrections += sum(isinstance(one, _CORRECTIONS) for one in happened.events)
        return happened

    def _timed_look(self, frame: Frame) -> TableView:
        began_s = perf_counter()
        view = self._watch.feed(frame)
        self._looked_s = perf_counter() - began_s
        return view


class _MeasuredEye:
    """Reads settled pictures, and says how long the last of them took."""

    def __init__(self, eye: Eye) -> None:
        self._eye = eye
        self.took_s = 0.0

    @property
    def view(self) -> TableView:
        return self._eye.view

    @property
    def is_unconfirmed(self) -> bool:
        return self._eye.is_unconfirmed

    @property
    def is_unsure(self) -> bool:
        return self._eye.is_unsure

    def feed(self, image: Image) -> TableView:
        return self._timed(self._eye.feed, image)

    def look_again(self, image: Image) -> TableView:
        return self._timed(self._eye.look_again, image)

    def _timed(self, look: Callable[[Image], TableView], image: Image) -> TableView:
        began_s = perf_counter()
        view = look(image)
        self.took_s += perf_counter() - began_s
        return view

    def is_aimed_elsewhere(self, image: Image) -> bool:
        return self._eye.is_aimed_elsewhere(image)
