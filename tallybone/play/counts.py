"""Count and time what a table does; any thread may read the numbers while the game runs."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from time import perf_counter

from engine import Amend, Insert, ItStands, Remove, Undo
from engine.phrases import Phrase, phrase
from tallybone.session.referee import Ambiguity
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, Step
from vision.arrays import Image
from vision.tracking.table_view import TableView
from vision.tracking.watch import Eye, Frame, Watch

BOUNDS_S = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Between these the times of a stage are counted: from a gate that saw nothing move to a read on the slowest Pi."""

_NS_PER_S = 1_000_000_000
# The pace is the mean over so many seconds, measured anew every second.
_PACE_S = 10
# Shares of the wanted pictures below which a machine is too slow, and above which it is fast enough again. At four
# pictures a second it takes half a second to notice that nothing moves, for which two pictures are needed.
_TOO_SLOW, _FAST_AGAIN = 0.4, 0.6
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


@dataclass(frozen=True, slots=True)
class MeanPace:
    """The pace at which a match reads pictures, over the last ten seconds.

    Attributes:
        read_per_s: Pictures that were read in a second.
        wanted_per_s: Pictures that the camera gave, or that are wanted if these are fewer.
        behind_s: Time from taking a picture to the end of its reading.
        is_too_slow: Whether too few are read.
    """

    read_per_s: float
    wanted_per_s: float
    behind_s: float
    is_too_slow: bool

    @property
    def words(self) -> Phrase:
        """The pace, in words."""
        read, wanted = f"{self.read_per_s:.1f}", f"{self.wanted_per_s:.0f}"
        if not self.is_too_slow:
            return phrase("{read} of {wanted} pictures a second are read", read=read, wanted=wanted)
        return phrase(
            "this machine is too slow: it reads {read} of {wanted} pictures a second and is {behind} s behind",
            read=read,
            wanted=wanted,
            behind=f"{self.behind_s:.1f}",
        )


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums at a moment: pictures that the camera gave and that were read, and how far behind each was."""

    t_ns: int
    given: int
    read: int
    behind_ns: int


class PaceMeter:
    """Measures how well a match keeps up with its camera."""

    def __init__(self, most_per_s: float) -> None:
        """Want *most_per_s* pictures a second, or all that the camera gives if these are fewer."""
        self._most_per_s = most_per_s
        self._sums: deque[_Sums] = deque(maxlen=_PACE_S + 1)
        self._read = self._behind_ns = 0
        self._mean: MeanPace | None = None

    def count(self, behind_ns: int) -> None:
        """Count a picture whose reading ended *behind_ns* after it was taken."""
        self._read += 1
        self._behind_ns += behind_ns

    def restart(self) -> None:
        """Begin again: the camera gives no pictures, which is not the fault of the machine."""
        self._sums.clear()
        self._mean = None

    def at(self, t_ns: int, given: int) -> MeanPace | None:
        """Return the pace at *t_ns*, when the camera has *given* so many pictures; None during the first seconds."""
        if not self._sums or t_ns - self._sums[-1].t_ns >= _NS_PER_S:
            self._sums.append(_Sums(t_ns, given, self._read, self._behind_ns))
            if len(self._sums) > _PACE_S:
                self._mean = self._mean_of(self._sums[0], self._sums[-1])
        return self._mean

    def _mean_of(self, first: _Sums, last: _Sums) -> MeanPace:
        seconds, read = (last.t_ns - first.t_ns) / _NS_PER_S, last.read - first.read
        wanted_per_s = min(self._most_per_s, (last.given - first.given) / seconds)
        behind_s = (last.behind_ns - first.behind_ns) / _NS_PER_S / max(1, read)
        least = _FAST_AGAIN if self._mean is not None and self._mean.is_too_slow else _TOO_SLOW
        is_too_slow = read / seconds < least * wanted_per_s
        return MeanPace(read / seconds, wanted_per_s, behind_s, is_too_slow)


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
        pace: Pace of the running match; None without one, and during its first seconds.
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
        counts.questions += sum(isinstance(one, Ambiguity) for one in happened.announcements)
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
