"""Main loop of a live game: feed pictures and inputs to the sitting, record them, and show the results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from operator import sub
from typing import TypeAlias

from engine import Call, Decline, Draw, Knock, NewHand
from engine.phrases import Phrase, phrase
from hardware.camera.device import CameraTurn
from hardware.part import Clock
from tallybone.json_values import JsonValueError
from tallybone.play.counts import Counts, PaceMeter
from tallybone.play.keys import Choosing
from tallybone.play.learning import Learning, Teaching
from tallybone.play.recorder import Cutter, Recorder
from tallybone.recording.resume import Evidence
from tallybone.session.inputs import Press
from tallybone.session.observations import Zones
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, Step
from tallybone.sources.camera import Camera, FrameLimiter, PlayedCamera
from tallybone.sources.source import RecordedInput, Shot
from vision import VisionError
from vision.arrays import Image
from vision.image.picture import decode_picture
from vision.reader.custom_set import RecordedSet
from vision.reading import Face, SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment
from vision.tracking.table_view import TableView
from vision.tracking.tracks import in_place_of
from vision.tracking.watch import Frame

_FOUND = phrase("the table is recognized again")
_BACK = phrase("the camera is back in its original position")
# Minimum movement of a corner of the picture since the last report for the camera to be reported as moved.
_REPORTED_PX = 2.0
# Above this share of the original view outside the current picture, the players are asked to put the camera back.
_MUCH_UNSEEN = 0.05
_GRID = (36, 64)
# Maximum number of unreadable objects that are remembered, to ask about each only once.
_MAX_ASKED = 100
# The orientation is judged as soon as there are this many face-down tiles: nearly all are in the boneyard's zone.
_MIN_FACE_DOWN = 5
_UPRIGHT = 0.5
_TURNED = 0.8
_ORIENTATIONS = tuple(CameraTurn(rotate, flip) for flip in (False, True) for rotate in (0, 180, 90, 270))
WHAT_IS_THIS = phrase("is this a tile? It cannot be read: move it a little, or take it away")


@dataclass(frozen=True, slots=True)
class CameraNote:
    """A note about the camera."""

    event: str
    text: str
    aim: Alignment


class CameraNews:
    """Detects movements and losses of the camera pose."""

    def __init__(self) -> None:
        self._is_lost = False
        self._reported = STRAIGHT_ON

    def news(self, view: TableView | None) -> CameraNote | None:
        """Return a note if the camera pose was lost, found again or shifted in a view of the table, or None."""
        if view is None:
            return None
        if (view.lost is not None) != self._is_lost:
            self._is_lost = not self._is_lost
            return CameraNote(
                "lost" if self._is_lost else "found", _FOUND if view.lost is None else Phrase(view.lost), view.aim
            )
        if view.lost is not None or view.size_px is None:
            return None
        if view.aim.farthest_px(self._reported, view.size_px) < _REPORTED_PX:
            return None
        self._reported = view.aim
        return CameraNote("shifted", words_of(view.aim, view.size_px), view.aim)


def words_of(aim: Alignment, size_px: tuple[int, int]) -> str:
    """Describe the movement of the camera since the start, or its return to the original position.

    >>> words_of(Alignment((1.0, 0.0, 12.0, 0.0, 1.0, -5.0)), (1280, 720))
    'the camera moved by 13 pixels; positions were corrected, the game goes on'
    """
    if aim.farthest_px(STRAIGHT_ON, size_px) < _REPORTED_PX:
        return _BACK
    moved = phrase("the camera moved by {pixels} pixels", pixels=f"{aim.shift_px(size_px):.0f}")
    if abs(aim.degrees) >= 0.05:
        degrees = f"{abs(aim.degrees):.1f}"
        moved = phrase("{moved} and rotated by {degrees} degrees", moved=moved, degrees=degrees)
    text = phrase("{moved}; positions were corrected, the game goes on", moved=moved)
    if aim.unseen(_GRID, size_px[0] / _GRID[1]).mean() <= _MUCH_UNSEEN:
        return text
    return phrase("{words}; part of the table is out of view: put the camera back when you can", words=text)


@dataclass(frozen=True, slots=True)
class UnsureNote:
    """A question about an object that looks like a tile but cannot be read."""

    tile: SeenTile

    @property
    def text(self) -> str:
        """Text for the players."""
        return WHAT_IS_THIS


Note: TypeAlias = CameraNote | UnsureNote


class News:
    """Detects all news beside the game."""

    def __init__(self) -> None:
        self._camera = CameraNews()
        self._asked: deque[SeenTile] = deque(maxlen=_MAX_ASKED)
        self._is_judged = False

    def of(self, view: TableView | None, zones: Zones | None = None) -> tuple[Note, ...]:
        """Return the new notes about a view of the table. Objects that cannot be read are noted once for each place.

        *zones* are those of the table, or None.
        """
        turned, camera = self._turned(view, zones), self._camera.news(view)
        new = () if view is None else tuple(tile for tile in view.unsure if in_place_of(tile, self._asked) is None)
        self._asked.extend(new)
        return (*(note for note in (turned, camera) if note is not None), *(UnsureNote(tile) for tile in new))

    def _turned(self, view: TableView | None, zones: Zones | None) -> CameraNote | None:
        """Return a note if the boneyard is where it would be in a turned or mirrored picture, once."""
        if self._is_judged or view is None or zones is None:
            return None
        found = orientation_of(view, zones)
        self._is_judged = found is not None
        return None if found is None or found == CameraTurn() else CameraNote("turned", words_to(found), view.aim)


def orientation_of(view: TableView, zones: Zones) -> CameraTurn | None:
    """Return the correction that moves the face-down tiles to the boneyard's zone, or None if that is unclear.

    A corner remains ambiguous between a rotation and a mirroring. Of two equal candidates, the one that leaves the
    picture wider than high is preferred, because cameras give such pictures.
    """
    if zones.boneyard is None or view.size_px is None:
        return None
    width_px, height_px = view.size_px
    shares = [(x / width_px, y / height_px) for x, y in (t.center_px for t in view.tiles if t.face is Face.DOWN)]
    if len(shares) < _MIN_FACE_DOWN:
        return None

    def inside(orientation: CameraTurn) -> float:
        return sum(zones.is_boneyard(*_turned_share(share, orientation)) for share in shares) / len(shares)

    if inside(CameraTurn()) >= _UPRIGHT:
        return CameraTurn()

    def fit(orientation: CameraTurn) -> tuple[float, bool]:
        return inside(orientation), (width_px > height_px) == (orientation.rotate in (0, 180))

    best = max(_ORIENTATIONS, key=fit)
    return best if inside(best) >= _TURNED else None


def _turned_share(share: tuple[float, float], orientation: CameraTurn) -> tuple[float, float]:
    x, y = share
    x = 1 - x if orientation.flip else x
    return {0: (x, y), 90: (1 - y, x), 180: (1 - x, 1 - y), 270: (y, 1 - x)}[orientation.rotate]


def words_to(orientation: CameraTurn) -> str:
    """Describe a turned or mirrored camera, and the setting that corrects it."""
    rotate = orientation.rotate
    turned = phrase("turned by {degrees} degrees", degrees=str(360 - rotate))
    mirrored = phrase("mirrored and turned") if rotate else phrase("mirrored")
    settings = [("rotate", str(rotate), f"--rotate {rotate}")] if rotate else []
    settings += [("flip", "true", "--flip")] if orientation.flip else []
    return phrase(
        "the camera sees the table {seen}, compared with its zones: set {keys} in [camera] of table.toml, or play with"
        " --camera SOURCE{options} (replay: {flags}). If the picture is upright, move the boneyard to its zone",
        seen=mirrored if orientation.flip else turned,
        keys=", ".join(f"{key} = {value}" for key, value, _ in settings),
        options="".join(f",{key}={value}" for key, value, _ in settings).replace("flip=true", "flip=yes"),
        flags=" ".join(flag for _, _, flag in settings),
    )


_NS_PER_S = 1_000_000_000
_MAX_TIMES = 20
# Equal presses of one seat within this time are one: a bouncing button, or a finger that taps twice.
_DOUBLE_PRESS_NS = 500_000_000


@dataclass(frozen=True, slots=True)
class LiveState:
    """State of a live game, for displays.

    Attributes:
        is_healthy: Whether camera and recording work.
        parts: Problems of the other parts, and of a machine that is too slow, as text.
        view: Last view of the table, or None before the first readable picture.
        page: Address of the page, as text. "" if there is none.
        chosen: Index of the choice that is shown, to be confirmed with a button. None if no choice is shown.
        own_set: Custom tile set with which pictures are read, or None.
    """

    session: Session
    picture_px: tuple[int, int]
    reader: str
    recording: str
    is_healthy: bool
    parts: tuple[str, ...] = ()
    view: TableView | None = None
    page: str = ""
    chosen: int | None = None
    own_set: RecordedSet | None = None


class Listener:
    """Callbacks of a live game. Subclasses override those that they need."""

    __slots__ = ()

    def picture(self, jpeg: bytes, t_ns: int) -> None:
        """Receive a picture, possibly unreadable, before it is processed, and its time."""

    def happened(self, step: Step) -> None:
        """Receive a step with announcements."""

    def evidence(self, evidence: Evidence) -> None:
        """Receive the crop of the picture that led to a play or question."""

    def continues(self, session: Session) -> None:
        """Receive the session of a resumed match."""

    def show(self, now: LiveState) -> None:
        """Show the state of the game. Called after every input, and up to 100 times a second without any."""

    def note(self, text: str) -> None:
        """Show a note to the players."""

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        """Show a prompt for the next key, or the help. *prompt* is "" if any key is possible."""


@dataclass(frozen=True, slots=True)
class Listeners(Listener):
    """Calls several listeners in order."""

    each: tuple[Listener, ...]

    def picture(self, jpeg: bytes, t_ns: int) -> None:
        """Forward a picture."""
        for listener in self.each:
            listener.picture(jpeg, t_ns)

    def happened(self, step: Step) -> None:
        """Forward a step with announcements."""
        for listener in self.each:
            listener.happened(step)

    def evidence(self, evidence: Evidence) -> None:
        """Forward a crop."""
        for listener in self.each:
            listener.evidence(evidence)

    def continues(self, session: Session) -> None:
        """Forward the session of a resumed match."""
        for listener in self.each:
            listener.continues(session)

    def show(self, now: LiveState) -> None:
        """Forward the state of the game."""
        for listener in self.each:
            listener.show(now)

    def note(self, text: str) -> None:
        """Forward a note."""
        for listener in self.each:
            listener.note(text)

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        """Forward a prompt or the request for help."""
        for listener in self.each:
            listener.typed(prompt, wants_help=wants_help)


class Pressable:
    """Parts of a table whose buttons a game can simulate, and their problems. This base class has no parts."""

    @property
    def is_pressed(self) -> bool:
        """True from a simulated press until an input is read or a short delay has passed. Later items wait."""
        return False

    @property
    def problems(self) -> dict[str, str]:
        """Problems of the failing parts, by name."""
        return {}

    def pressed(self, item: ByHand) -> bool:
        """Press the virtual part for *item*. Return False if there is no such part."""
        return False


class LiveGame:
    """Feeds a sitting, and records each input before it is fed and each result before it is shown."""

    def __init__(
        self,
        camera: Camera,
        sitting: Sitting,
        recorder: Recorder,
        listener: Listener,
        *,
        clock: Clock,
        max_per_s: float,
        parts: Pressable | None = None,
        page: str = "",
        counts: Counts | None = None,
        is_endless: bool = False,
        learning: Learning | None = None,
        teaching: Teaching | None = None,
        own_set: RecordedSet | None = None,
    ) -> None:
        """Create a game that takes its pictures from *camera*.

        Args:
            camera: The camera over the table.
            sitting: Follows the game.
            recorder: Records inputs and results.
            listener: Receives pictures, results and states.
            clock: Monotonic clock, in nanoseconds.
            max_per_s: Maximum number of pictures per second to process. During motion, twice as many are processed.
            parts: Parts that simulated players press. By default none.
            page: Address of the page, as text. "" if there is none.
            counts: Counters of the table.
            is_endless: Whether the game continues after the last picture until a person ends it, for corrections.
            learning: Learns the knocks of the table from the match, or None.
            teaching: Learns the tiles of the table from corrections, or None.
            own_set: Custom tile set at the start, or None.
        """
        self._camera, self._sitting, self._recorder, self._listener = camera, sitting, recorder, listener
        self._clock, self._page, self._is_endless = clock, page, is_endless
        self._parts, self._counts, self._learning = parts or Pressable(), counts or Counts(), learning
        self._teaching, self._own_set = teaching, own_set
        self._failing: frozenset[str] = frozenset()
        self._limiter, self._pace = FrameLimiter(max_per_s), PaceMeter(max_per_s)
        self._slow_text: Phrase | None = None
        self._t_ns = sitting.session.t_ns
        self._picture_px = (1280, 720)
        self._view: TableView | None = None
        self._pictures = camera.pictures
        self._taken_ns: deque[int] = deque(maxlen=_MAX_TIMES)
        self._problem: str | None = None
        self._choosing = Choosing()
        self._pressed: tuple[ByHand | None, int, int] = None, 0, 0
        self._news, self._cutter = News(), Cutter(sitting.session)

    @property
    def session(self) -> Session:
        """Current session of the sitting."""
        return self._sitting.session

    def run(
        self, keys: Callable[[float], bool], is_stopped: Callable[[], bool], *, is_answerable: bool = False
    ) -> None:
        """Run until the game is stopped or ends.

        The game ends after the last picture and press, unless it is endless. An open question keeps the game running if
        a page or terminal can answer questions.

        Args:
            keys: Waits for keys, up to a number of seconds, and handles them. Returns False to leave the game.
            is_stopped: Returns True if the program should exit.
            is_answerable: Whether a page or terminal can answer questions.
        """
        try:
            self._run(keys, is_stopped, is_answerable=is_answerable)
        finally:
            self._counts.pace = None

    def _run(self, keys: Callable[[float], bool], is_stopped: Callable[[], bool], *, is_answerable: bool) -> None:
        self.show()
        has_more, last_words = True, None
        while not is_stopped() and keys(0.0 if has_more else 0.01):
            has_more = self.look()
            self.show()
            if has_more or self._parts.is_pressed or not self._camera.is_over:
                continue
            question = self.session.open_question
            text = self._ended(is_answerable=is_answerable or self._is_endless)
            if text != last_words:
                self._listener.note(text)
                last_words = text
            if not (self._is_endless or (question is not None and is_answerable)):
                return

    def _ended(self, *, is_answerable: bool) -> Phrase:
        """Return the note for a game whose pictures have ended."""
        question = self.session.open_question
        if question is not None and is_answerable:
            return phrase("the video has ended: answer the question to get the result")
        if question is not None:
            return phrase("the video has ended with an open question: {words}", words=question.text)
        if any(isinstance(event, NewHand) for event in self.session.state.log):
            return phrase("the video has ended")
        return phrase("the video has ended, but no hand was dealt: try `tallybone replay`, which detects deals")

    def look(self) -> bool:
        """Process the next item from the camera if it is due. Return True if the camera may have more items at once."""
        # While a simulated press is pending, later items wait.
        due_ns = self._limiter.due_ns(is_moving=self._is_moving)
        item = None if self._parts.is_pressed else self._answered() or self._camera.take(due_ns)
        # Report once that the camera fails, and once that it works again.
        problem = self._camera.problem
        if problem != self._problem:
            self._listener.note(phrase("the camera is back") if problem is None else problem)
            self._problem = problem
        self._measure()
        match item:
            case RecordedInput():
                return self._feed_recorded(item)
            case Shot():
                before, self._pictures = self._pictures, self._camera.pictures
                self._counts.pictures_taken += self._pictures - before
                is_new = item.t_ns > self._t_ns or self._view is None
                if is_new and self._limiter.is_due(item.t_ns, is_moving=self._is_moving):
                    self._see(item)
                return True
            case None:
                return False

    def _answered(self) -> RecordedInput | None:
        """Return the answer of simulated players to an open question, or None."""
        return self._camera.answer(self.session) if isinstance(self._camera, PlayedCamera) else None

    def show(self) -> None:
        """Show the state of the game. When a part fails or works again, add a note once."""
        problems = self._parts.problems
        for part, text in problems.items():
            if part not in self._failing:
                self._listener.note(f"{part}: {text}")
        for part in sorted(self._failing - problems.keys()):
            self._listener.note(f"{part} works again")
        self._failing = frozenset(problems)
        self._listener.show(self.now)

    def pressed(self, item: ByHand, t_ns: int | None = None, *, is_held: bool = False) -> None:
        """Process an input from parts or keys. If a question is open, a button may answer it or only show a choice."""
        at_ns = self._camera.now_ns() if t_ns is None else t_ns
        intended: ByHand | None = item
        if isinstance(item, Press):
            self._choosing, intended = self._choosing.after(item, self.session, at_ns, is_held=is_held)
        if intended is not None:
            self.feed(intended, at_ns)

    def feed(self, item: ByHand, t_ns: int | None = None, *, by: str = "") -> Step:
        """Record an input, feed it to the sitting, and return its effects: none for the second of a double press.

        Args:
            item: The input.
            t_ns: Its time in nanoseconds of the camera's clock. None for now.
            by: Name of its author for the recording, "" if unknown.
        """
        self._t_ns = max(self._t_ns, self._camera.now_ns() if t_ns is None else t_ns)
        if isinstance(item, Press | Call | Knock | Draw | Decline) and item.seat is not None:
            # A film that has ended stops the time of the camera.
            (last, *before_ns), now_ns = self._pressed, (self._t_ns, self._clock())
            if last == item and max(map(sub, now_ns, before_ns)) < _DOUBLE_PRESS_NS:
                return Step(self._t_ns, self.session)
            self._pressed = item, *now_ns
        self._recorder.input(item, self._t_ns, by=by)
        if isinstance(item, RecordedSet):
            self._own_set = item
        step = self._sitting.feed(item, self._t_ns)
        self._publish(step)
        return step

    def _feed_recorded(self, recorded: RecordedInput) -> bool:
        """Process a recorded input. Return False if it was pressed on a virtual part and will be read from there."""
        # An input that cannot be parsed is reported and left out.
        try:
            item = recorded.load()
        except JsonValueError as error:
            self._listener.note(f"{recorded.where}: {error}")
            return True
        if self._parts.pressed(item):
            return False
        self.feed(item, recorded.t_ns)
        return True

    @property
    def now(self) -> LiveState:
        """Current state of the game."""
        is_lost = self._view is not None and self._view.lost is not None
        return LiveState(
            self.session,
            self._picture_px,
            self._reader,
            self._recorder.text,
            is_healthy=self._camera.problem is None and self._recorder.is_whole and not is_lost,
            parts=(*map(": ".join, self._parts.problems.items()), *filter(None, (self._slow_text,))),
            view=self._view,
            page=self._page,
            chosen=self._choosing.shown(self.session, self._camera.now_ns()),
            own_set=self._own_set,
        )

    @property
    def _is_moving(self) -> bool:
        return self._view is not None and not self._view.is_settled

    def _see(self, shot: Shot) -> None:
        """Record a picture and feed it to the sitting. A picture that cannot be read is reported and left out."""
        try:
            data = shot.jpeg()
            self._listener.picture(data, shot.t_ns)
            image = decode_picture(data, shot.where)
        except (VisionError, OSError) as error:
            self._listener.note(str(error))
            return
        self._t_ns = max(self._t_ns, shot.t_ns)
        self._picture_px = (image.shape[1], image.shape[0])
        self._taken_ns.append(self._clock())
        self._recorder.frame(self._t_ns, data, shot.name or None)
        try:
            step = self._sitting.feed(Frame(image, self._t_ns), self._t_ns)
        except VisionError as error:
            self._listener.note(str(error))
            return
        self._view = step.view
        self._pace.count(max(0, self._camera.now_ns() - shot.t_ns))
        for note in self._news.of(step.view, step.session.zones):
            self._listener.note(note.text)
        self._publish(step, image)

    def _publish(self, step: Step, image: Image | None = None) -> None:
        """Record the effects of an input, then show them."""
        self._recorder.happened(step)
        if step.announcements:
            self._listener.happened(step)
        if self._learning is not None:
            self._learning.after(step)
        for evidence in self._cutter.after(step, image):
            self._recorder.evidence(evidence)
            self._listener.evidence(evidence)
        if self._teaching is not None:
            taught = self._teaching.after(step, image)
            for text in taught.notes:
                self._listener.note(text)
            if taught.own_set is not None:
                self.feed(taught.own_set)

    def _measure(self) -> None:
        """Measure the pace. Report each change to too slow, and back to fast enough, once."""
        if self._problem is not None:
            self._pace.restart()
        pace = self._counts.pace = self._pace.at(self._clock(), self._camera.pictures)
        was_slow, self._slow_text = self._slow_text is not None, None
        if pace is None:
            return
        if pace.is_too_slow:
            self._slow_text = pace.text
            if not was_slow:
                self._listener.note(pace.text)
        elif was_slow:
            self._listener.note(phrase("this computer is fast enough again"))

    @property
    def _reader(self) -> Phrase:
        if self._camera.problem is not None:
            return phrase("no camera")
        if self._view is None:
            return phrase("waiting for the camera")
        between = [later - earlier for earlier, later in pairwise(self._taken_ns)]
        state = view_text(self._view)
        if not between:
            return state
        pace = f"{_NS_PER_S * len(between) / max(1, sum(between)):.0f}"
        return phrase("{pace} per second, {state}", pace=pace, state=state)


def view_text(view: TableView) -> Phrase:
    """Return the status of a view as text: lost, a hand in view (if settled), settled or moving."""
    if view.lost is not None:
        return phrase("TABLE LOST: put the camera back")
    if view.is_covered and view.is_settled:
        return phrase("a hand is in view")
    return phrase("settled") if view.is_settled else phrase("moving")
