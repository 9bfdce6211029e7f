"""The loop of a live game: what a camera gives and what is pressed goes to the sitting, what follows to the display."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from engine.phrases import Phrase, phrase
from tallybone.json_values import JsonValueError
from tallybone.play.camera_news import CameraNews
from tallybone.play.live_answers import Choosing
from tallybone.play.recorder import Recorder
from tallybone.session.inputs import Press
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Happened, Sitting
from tallybone.sources.camera import Camera, Clock
from tallybone.sources.shots import Shot
from tallybone.sources.source import Given
from vision.errors import VisionError
from vision.picture import decode_picture
from vision.table_view import TableView
from vision.watch import Frame

_NS_PER_S = 1_000_000_000
# A picture may come a little before its time: cameras are not exact.
_EARLY = 0.2
_TIMES_KEPT = 20


@dataclass(frozen=True, slots=True)
class Now:
    """What a live game looks like at a moment.

    Attributes:
        session: Where it stands.
        picture_px: Width and height of the camera's pictures.
        eye: What the camera and the eye are doing, in words.
        recording: Where it is recorded, in words.
        is_healthy: Whether nobody has to do anything about the camera or the recording.
        parts: What is wrong with each other part of the table, in words.
        view: What the eye said last; None before the first picture.
        page: Where the game can be looked at, in words; "" for nowhere.
        chosen: Which choice of the question is shown, to be taken with a button; None for none.
    """

    session: Session
    picture_px: tuple[int, int]
    eye: str
    recording: str
    is_healthy: bool
    parts: tuple[str, ...] = ()
    view: TableView | None = None
    page: str = ""
    chosen: int | None = None


class Display(Protocol):
    """Where a live game is watched."""

    def happened(self, happened: Happened) -> None:
        """Show what has been said."""

    def goes_on(self, session: Session) -> None:
        """Show that a match goes on from where it was left."""

    def show(self, now: Now) -> None:
        """Show where the game stands; called often."""

    def note(self, words: str) -> None:
        """Show what the people at the table have to know."""

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        """Show what to type next; "" for anything."""


class LiveGame:
    """Feeds a sitting, one thing at a time, and keeps all of it before it is fed or shown."""

    def __init__(
        self, camera: Camera, sitting: Sitting, recorder: Recorder, display: Display, *, clock: Clock, most_per_s: float
    ) -> None:
        """Look through *camera* at most *most_per_s* times a second, and twice as often while something moves."""
        self._camera, self._sitting, self._recorder, self._display = camera, sitting, recorder, display
        self._clock = clock
        self._period_ns = round(_NS_PER_S / most_per_s)
        self._last_due_ns: int | None = None
        self._t_ns = sitting.session.t_ns
        self._picture_px = (1280, 720)
        self._view: TableView | None = None
        self._taken_ns: deque[int] = deque(maxlen=_TIMES_KEPT)
        self._problem: str | None = None
        self._choosing = Choosing()
        self._camera_news = CameraNews()

    @property
    def session(self) -> Session:
        """Where the sitting stands."""
        return self._sitting.session

    def run(self, keys: Callable[[float], bool], is_stopped: Callable[[], bool]) -> None:
        """Play until it is stopped or nothing will ever come.

        Args:
            keys: Waits up to so many seconds for keys, and does what they say; False when the game is left.
            is_stopped: Whether the program is told to end.
        """
        self._display.show(self.now)
        has_more = True
        while not is_stopped() and keys(0.0 if has_more else 0.01):
            has_more = self.look()
            self._display.show(self.now)
            if self._camera.is_over and not has_more:
                return

    def look(self) -> bool:
        """Take what the camera gives, if it is time for it; return whether there was anything."""
        given = self._camera.take()
        self._say_problem()
        if isinstance(given, Given):
            self._come(given)
        elif given is not None and self._is_due(given.t_ns):
            self._see(given)
        return given is not None

    def pressed(self, item: ByHand, t_ns: int | None = None, *, is_held: bool = False) -> None:
        """Take in what was pressed or said at this table: a button may answer what is asked, or only show a choice."""
        at_ns = self._camera.now_ns() if t_ns is None else t_ns
        meant: ByHand | None = item
        if isinstance(item, Press):
            self._choosing, meant = self._choosing.after(item, self.session, at_ns, is_held=is_held)
        if meant is not None:
            self.came(meant, at_ns)

    def came(self, item: ByHand, t_ns: int | None = None, *, by: str = "") -> Happened:
        """Take in what was pressed or said, now unless it is said when; return what followed.

        *by* is kept beside it: who said so, "" where nobody knows.
        """
        self._t_ns = max(self._t_ns, self._camera.now_ns() if t_ns is None else t_ns)
        self._recorder.came(item, self._t_ns, by=by)
        happened = self._sitting.feed(item, self._t_ns)
        self._tell(happened)
        return happened

    def _come(self, given: Given) -> None:
        """Take in what was recorded beside pictures; what cannot be understood is told and left out."""
        try:
            item = given.load()
        except JsonValueError as error:
            self._display.note(f"{given.where}: {error}")
            return
        self.came(item, given.t_ns)

    @property
    def now(self) -> Now:
        """What the game looks like."""
        is_kept = self._recorder.is_whole
        is_lost = self._view is not None and self._view.lost is not None
        is_healthy = self._camera.problem is None and is_kept and not is_lost
        chosen = self._choosing.shown(self.session, self._camera.now_ns())
        words = self._recorder.words
        return Now(self.session, self._picture_px, self._eye, words, is_healthy, view=self._view, chosen=chosen)

    def _is_due(self, t_ns: int) -> bool:
        """Return whether a picture is fed: none is older than what was, and no more than wanted."""
        if t_ns <= self._t_ns and self._last_due_ns is not None:
            return False
        is_moving = self._view is not None and not self._view.is_settled
        # The sooner the first picture of a table at rest is seen, the sooner the score is.
        period_ns = self._period_ns // 2 if is_moving else self._period_ns
        due_ns = t_ns if self._last_due_ns is None else self._last_due_ns + period_ns
        if t_ns < due_ns - _EARLY * period_ns:
            return False
        self._last_due_ns = max(due_ns, t_ns - period_ns // 2)
        return True

    def _see(self, shot: Shot) -> None:
        """Feed one picture; one that cannot be read is told and left out."""
        try:
            data = shot.jpeg()
            image = decode_picture(data, shot.where)
        except (VisionError, OSError) as error:
            self._display.note(str(error))
            return
        self._t_ns = max(self._t_ns, shot.t_ns)
        self._picture_px = (image.shape[1], image.shape[0])
        self._taken_ns.append(self._clock())
        self._recorder.frame(self._t_ns, data, shot.name or None)
        try:
            happened = self._sitting.feed(Frame(image, self._t_ns), self._t_ns)
        except VisionError as error:
            self._display.note(str(error))
            return
        self._view = happened.view
        news = self._camera_news.news(happened.view)
        if news is not None:
            self._display.note(news.words)
        self._tell(happened)

    def _tell(self, happened: Happened) -> None:
        self._recorder.happened(happened)
        if happened.said:
            self._display.happened(happened)

    def _say_problem(self) -> None:
        """Say once that the camera gives nothing, and that it is back."""
        problem = self._camera.problem
        if problem != self._problem:
            self._display.note(phrase("the camera is back") if problem is None else problem)
            self._problem = problem

    @property
    def _eye(self) -> Phrase:
        if self._camera.problem is not None:
            return phrase("no camera")
        if self._view is None:
            return phrase("waiting for the camera")
        between = [later - earlier for earlier, later in pairwise(self._taken_ns)]
        state = state_of(self._view)
        if not between:
            return state
        pace = f"{_NS_PER_S * len(between) / max(1, sum(between)):.0f}"
        return phrase("{pace} a second, {state}", pace=pace, state=state)


def state_of(view: TableView) -> Phrase:
    """Return what the eye makes of the table at the moment."""
    if view.lost is not None:
        return phrase("LOST: put the camera back")
    if view.is_covered and view.is_settled:
        return phrase("a hand rests")
    return phrase("settled") if view.is_settled else phrase("moving")
