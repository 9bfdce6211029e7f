"""Counters and timings of a table. Any thread may read them while the game runs."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter

from engine import Amend, Insert, ItStands, Remove, Undo
from engine.phrases import Phrase, phrase
from tallybone.session.questions import Ambiguity
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, Step, UseSet
from vision.arrays import Image
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame, TableObserver, Watch

BOUNDS_S = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Upper bounds of the stage times' histogram, from a settle check without motion to a read on the slowest Pi."""

_NS_PER_S = 1_000_000_000
# Length of the window over which the pace is averaged, in seconds. The mean is updated every second.
_PACE_S = 10
# A machine is too slow if it reads less than the first share of the wanted pictures, and fast enough again at the
# second. Two pictures are needed to detect that nothing moves, which takes half a second at four pictures a second.
_TOO_SLOW = 0.4
_FAST_AGAIN = 0.6
_CORRECTIONS = (Undo, Amend, Insert, Remove, ItStands)


class PipelineStage(Enum):
    """Stages from a picture to the score on the page."""

    SETTLE = "settle"
    """Detection of motion."""
    READ = "read"
    """Reading of tiles, in settled pictures only."""
    REFEREE = "referee"
    """Inference of actions and score."""
    PAGE = "page"
    """Update of the page."""


class Times:
    """Histogram of durations, and their sum."""

    def __init__(self) -> None:
        self.within = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0

    def add(self, seconds: float) -> None:
        """Add a duration, in less than a microsecond."""
        self.within[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds


@dataclass(frozen=True, slots=True)
class MeanPace:
    """Mean pace of a match over the last ten seconds.

    Attributes:
        read_per_s: Pictures read per second.
        wanted_per_s: Pictures per second from the camera, or the configured maximum if the maximum is lower.
        behind_s: Mean time from the capture of a picture to the end of its processing.
    """

    read_per_s: float
    wanted_per_s: float
    behind_s: float
    is_too_slow: bool

    @property
    def text(self) -> Phrase:
        """The pace as text."""
        read, wanted = f"{self.read_per_s:.1f}", f"{self.wanted_per_s:.0f}"
        if not self.is_too_slow:
            return phrase("reading {read} of {wanted} pictures per second", read=read, wanted=wanted)
        return phrase(
            "this computer is too slow: it reads {read} of {wanted} pictures per second and is {behind} s behind",
            read=read,
            wanted=wanted,
            behind=f"{self.behind_s:.1f}",
        )


@dataclass(frozen=True, slots=True)
class _Sums:
    """Totals at *t_ns*: pictures from the camera, pictures read, and the summed delay of those."""

    t_ns: int
    given: int
    read: int
    behind_ns: int


class PaceMeter:
    """Measures if a match keeps up with its camera."""

    def __init__(self, max_per_s: float) -> None:
        """Expect *max_per_s* pictures a second to be read, or fewer if the camera gives fewer."""
        self._most_per_s = max_per_s
        self._sums: deque[_Sums] = deque(maxlen=_PACE_S + 1)
        self._read = self._behind_ns = 0
        self._mean: MeanPace | None = None

    def count(self, behind_ns: int) -> None:
        """Count a picture whose reading ended *behind_ns* after it was taken."""
        self._read += 1
        self._behind_ns += behind_ns

    def restart(self) -> None:
        """Discard the measurements, because the camera has failed and the machine is not to blame."""
        self._sums.clear()
        self._mean = None

    def at(self, t_ns: int, given: int) -> MeanPace | None:
        """Return the mean pace at *t_ns*, or None during the first ten seconds after a start or restart.

        *given* is the number of pictures from the camera so far.
        """
        if not self._sums or t_ns - self._sums[-1].t_ns >= _NS_PER_S:
            self._sums.append(_Sums(t_ns, given, self._read, self._behind_ns))
            if len(self._sums) > _PACE_S:
                first = self._sums[0]
                last = self._sums[-1]
                seconds, read = (last.t_ns - first.t_ns) / _NS_PER_S, last.read - first.read
                wanted_per_s = min(self._most_per_s, (last.given - first.given) / seconds)
                behind_s = (last.behind_ns - first.behind_ns) / _NS_PER_S / max(1, read)
                least = _FAST_AGAIN if self._mean is not None and self._mean.is_too_slow else _TOO_SLOW
                is_too_slow = read / seconds < least * wanted_per_s
                self._mean = MeanPace(read / seconds, wanted_per_s, behind_s, is_too_slow)
        return self._mean


@dataclass(slots=True)
class Counts:
    """Counters since the table was started.

    Attributes:
        pictures_seen: Pictures that were processed. The others could not be read, or were dropped in favour of newer
            ones.
        corrections: Corrections: amended, inserted, removed, accepted and undone actions.
        times: Durations of each stage.
        pace: Mean pace of the current match. None without a match, and during its first ten seconds.
    """

    pictures_taken: int = 0
    pictures_seen: int = 0
    questions: int = 0
    corrections: int = 0
    inputs: int = 0
    times: dict[PipelineStage, Times] = field(default_factory=lambda: {stage: Times() for stage in PipelineStage})
    watchdog_feeds: int = 0
    pace: MeanPace | None = None


class MeasuredSitting(Sitting):
    """Follows a sitting, and counts and times its inputs."""

    def __init__(self, reader: TableObserver, session: Session, counts: Counts, use: UseSet = lambda _: None) -> None:
        """Start from *session*, and read settled pictures with *reader*. *use* changes its tile set."""
        self._reader, self._counts = _MeasuredReader(reader), counts
        self._watch, self._looked_s = Watch(self._reader), 0.0
        super().__init__(self._timed_look, session, use)

    def feed(self, item: Frame | ByHand, t_ns: int) -> Step:
        """Process the next frame or other input, count and time it, and return its effects."""
        counts, reader = self._counts, self._reader
        reader.took_s, began_s = 0.0, perf_counter()
        step = super().feed(item, t_ns)
        if isinstance(item, Frame):
            counts.times[PipelineStage.REFEREE].add(perf_counter() - began_s - self._looked_s)
            counts.times[PipelineStage.SETTLE].add(self._looked_s - reader.took_s)
            if reader.took_s:
                counts.times[PipelineStage.READ].add(reader.took_s)
            counts.pictures_seen += 1
        else:
            counts.inputs += 1
        counts.questions += sum(isinstance(item, Ambiguity) for item in step.announcements)
        counts.corrections += sum(isinstance(event, _CORRECTIONS) for event in step.events)
        return step

    def _timed_look(self, frame: Frame) -> TableView:
        began_s = perf_counter()
        view = self._watch.feed(frame)
        self._looked_s = perf_counter() - began_s
        return view


class _MeasuredReader:
    """Reads settled pictures, and adds the time that reading takes to *took_s*."""

    def __init__(self, reader: TableObserver) -> None:
        self._reader = reader
        self.took_s = 0.0

    @property
    def view(self) -> TableView:
        return self._reader.view

    @property
    def is_unconfirmed(self) -> bool:
        return self._reader.is_unconfirmed

    @property
    def is_unsure(self) -> bool:
        return self._reader.is_unsure

    def feed(self, image: Image) -> TableView:
        return self._timed(self._reader.feed, image)

    def look_again(self, image: Image) -> TableView:
        return self._timed(self._reader.look_again, image)

    def _timed(self, look: Callable[[Image], TableView], image: Image) -> TableView:
        began_s = perf_counter()
        view = look(image)
        self.took_s += perf_counter() - began_s
        return view

    def is_aimed_elsewhere(self, image: Image) -> bool:
        return self._reader.is_aimed_elsewhere(image)
