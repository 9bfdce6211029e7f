"""Run the loop of a live game: feed pictures and presses to the sitting, and show what follows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from engine import NewHand
from engine.phrases import Phrase, phrase
from hardware.clock import Clock
from tallybone.json_values import JsonValueError
from tallybone.play.counts import Counts, PaceMeter
from tallybone.play.crops import Cutter
from tallybone.play.news import News
from tallybone.play.recorder import Recorder
from tallybone.recording.evidence import Evidence
from tallybone.session.inputs import Answer, Button, Press, event_of
from tallybone.session.referee import Ambiguity
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Sitting, Step
from tallybone.sources.camera import Camera, FrameLimiter, PlayedCamera
from tallybone.sources.shots import Shot
from tallybone.sources.source import RecordedInput
from vision.arrays import Image
from vision.errors import VisionError
from vision.image.picture import decode_picture
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame

_NS_PER_S = 1_000_000_000
_TIMES_KEPT = 20

# Long enough to read a choice on a small display; later on a call is a call again.
SHOWN_NS = 20_000_000_000
ButtonMeaning: TypeAlias = Press | Answer | None


@dataclass(frozen=True, slots=True)
class LiveState:
    """The state of a live game at a moment.

    Attributes:
        session: Where the sitting stands.
        picture_px: Width and height of the camera's pictures.
        eye: The state of the camera and the eye, in words.
        recording: Where it is recorded, in words.
        is_healthy: Whether camera and recording need nobody's help.
        parts: The problem of each other part that does not work, and of a machine that is too slow, in words.
        view: The last view of the table; None before the first picture.
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


class Listener:
    """Follows a live game; a subclass overrides the methods that concern it."""

    __slots__ = ()

    def picture(self, jpeg: bytes, t_ns: int) -> None:
        """Take a picture that the game looks at, and when it was taken."""

    def happened(self, happened: Step) -> None:
        """Show announcements."""

    def evidence(self, one: Evidence) -> None:
        """Keep a crop of the picture from which a play or a question was read."""

    def goes_on(self, session: Session) -> None:
        """Show that a match goes on from where it was left."""

    def show(self, now: LiveState) -> None:
        """Show where the game stands; called often."""

    def note(self, words: str) -> None:
        """Show a note to the people at the table."""

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        """Show what to type next; "" for anything."""


@dataclass(frozen=True, slots=True)
class Listeners(Listener):
    """Several that follow a game, each told in this order."""

    each: tuple[Listener, ...]

    def picture(self, jpeg: bytes, t_ns: int) -> None:
        """Hand on a picture."""
        for one in self.each:
            one.picture(jpeg, t_ns)

    def happened(self, happened: Step) -> None:
        """Hand on announcements."""
        for one in self.each:
            one.happened(happened)

    def evidence(self, one: Evidence) -> None:
        """Hand on a crop."""
        for each in self.each:
            each.evidence(one)

    def goes_on(self, session: Session) -> None:
        """Hand on that a match goes on."""
        for one in self.each:
            one.goes_on(session)

    def show(self, now: LiveState) -> None:
        """Hand on where the game stands."""
        for one in self.each:
            one.show(now)

    def note(self, words: str) -> None:
        """Hand on a note."""
        for one in self.each:
            one.note(words)

    def typed(self, prompt: str, *, wants_help: bool) -> None:
        """Hand on what to type next."""
        for one in self.each:
            one.typed(prompt, wants_help=wants_help)


class Pressable:
    """The parts of a table as a game sees them: people press the virtual ones, and any can fail. Here are none."""

    @property
    def is_pressed(self) -> bool:
        """Whether something was just pressed and has not come yet."""
        return False

    @property
    def problems(self) -> dict[str, str]:
        """The problems of the parts that do not work as they should, by name."""
        return {}

    def pressed(self, item: ByHand) -> bool:
        """Press what *item* means; return whether that is possible there."""
        return False


class LiveGame:
    """Feeds a sitting, one thing at a time, and keeps all of it before it is fed or shown."""

    def __init__(
        self,
        camera: Camera,
        sitting: Sitting,
        recorder: Recorder,
        listener: Listener,
        *,
        clock: Clock,
        most_per_s: float,
        parts: Pressable | None = None,
        page: str = "",
        counts: Counts | None = None,
        is_endless: bool = False,
    ) -> None:
        """Play what comes from *camera*.

        Args:
            camera: The camera over the table.
            sitting: Follows the game.
            recorder: Keeps each input before it is fed, and its effects before they are shown.
            listener: Hears of all of it.
            clock: Monotonic, in nanoseconds.
            most_per_s: Most pictures a second that are looked at; twice as many while something moves.
            parts: The parts that simulated people press; by default none.
            page: Where the game can be looked at, in words; "" for nowhere.
            counts: The counters of this table.
            is_endless: Whether it goes on after the last picture until somebody ends it: it can still be corrected.
        """
        self._camera, self._sitting, self._recorder, self._listener = camera, sitting, recorder, listener
        self._clock, self._page, self._is_endless = clock, page, is_endless
        self._parts, self._counts = parts or Pressable(), counts or Counts()
        self._failing: frozenset[str] = frozenset()
        self._limiter, self._pace = FrameLimiter(most_per_s), PaceMeter(most_per_s)
        self._slow_words: Phrase | None = None
        self._t_ns = sitting.session.t_ns
        self._picture_px = (1280, 720)
        self._view: TableView | None = None
        self._pictures = camera.pictures
        self._taken_ns: deque[int] = deque(maxlen=_TIMES_KEPT)
        self._problem: str | None = None
        self._choosing = Choosing()
        self._news = News()
        self._cutter = Cutter(sitting.session)

    @property
    def session(self) -> Session:
        """Where the sitting stands."""
        return self._sitting.session

    def run(
        self, keys: Callable[[float], bool], is_stopped: Callable[[], bool], *, is_answerable: bool = False
    ) -> None:
        """Play until the game is stopped or has ended.

        It ends after the last picture and press. An open question keeps it running if somebody can answer.

        Args:
            keys: Waits up to so many seconds for keys, and does what they say; False when the game is left.
            is_stopped: Whether the program is told to end.
            is_answerable: Whether a page or a terminal can answer questions.
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
            words = self._ended(is_answerable=is_answerable or self._is_endless)
            if words != last_words:
                self._listener.note(words)
                last_words = words
            if not (self._is_endless or (question is not None and is_answerable)):
                return

    def _ended(self, *, is_answerable: bool) -> Phrase:
        """Return the last words of a game whose pictures have ended."""
        question = self.session.open_question
        if question is not None and is_answerable:
            return phrase("the pictures have ended: answer the question to get the result")
        if question is not None:
            return phrase("the pictures have ended, but a question is open: {words}", words=question.words)
        if any(isinstance(one, NewHand) for one in self.session.state.log):
            return phrase("the pictures have ended")
        return phrase("the pictures have ended, but no hand was dealt: try `tallybone replay`, which deals by itself")

    def look(self) -> bool:
        """Take the next thing from the camera, if it is time for it; return whether there was anything."""
        # A press comes first: until then all that comes later waits.
        due_ns = self._limiter.due_ns(is_moving=self._is_moving)
        given = None if self._parts.is_pressed else self._answered() or self._camera.take(due_ns)
        self._report_problem()
        self._measure()
        match given:
            case RecordedInput():
                return self._come(given)
            case Shot():
                before, self._pictures = self._pictures, self._camera.pictures
                self._counts.pictures_taken += self._pictures - before
                if self._is_due(given.t_ns):
                    self._see(given)
                return True
            case None:
                return False

    def _answered(self) -> RecordedInput | None:
        """Return what simulated players answer; None for nothing, or at a real table."""
        return self._camera.answer(self.session) if isinstance(self._camera, PlayedCamera) else None

    def show(self) -> None:
        """Show where the game stands; that a part fails or works again is noted once."""
        problems = self._parts.problems
        for part, words in problems.items():
            if part not in self._failing:
                self._listener.note(f"{part}: {words}")
        for part in sorted(self._failing - problems.keys()):
            self._listener.note(f"{part} works again")
        self._failing = frozenset(problems)
        self._listener.show(self.now)

    def pressed(self, item: ByHand, t_ns: int | None = None, *, is_held: bool = False) -> None:
        """Take an input at this table: a button may answer the question, or only show a choice."""
        at_ns = self._camera.now_ns() if t_ns is None else t_ns
        meant: ByHand | None = item
        if isinstance(item, Press):
            self._choosing, meant = self._choosing.after(item, self.session, at_ns, is_held=is_held)
        if meant is not None:
            self.came(meant, at_ns)

    def came(self, item: ByHand, t_ns: int | None = None, *, by: str = "") -> Step:
        """Take an input that came at *t_ns*, or now; return its effects.

        *by* is kept beside it: the person who gave it, "" if unknown.
        """
        self._t_ns = max(self._t_ns, self._camera.now_ns() if t_ns is None else t_ns)
        self._recorder.came(item, self._t_ns, by=by)
        happened = self._sitting.feed(item, self._t_ns)
        self._tell(happened)
        return happened

    def _come(self, given: RecordedInput) -> bool:
        """Take a recorded input; return whether it came, and is not pressed on a part first, to come from there.

        An input that cannot be understood is reported and left out.
        """
        try:
            item = given.load()
        except JsonValueError as error:
            self._listener.note(f"{given.where}: {error}")
            return True
        if self._parts.pressed(item):
            return False
        self.came(item, given.t_ns)
        return True

    @property
    def now(self) -> LiveState:
        """The state of the game just now."""
        is_lost = self._view is not None and self._view.lost is not None
        return LiveState(
            self.session,
            self._picture_px,
            self._eye,
            self._recorder.words,
            is_healthy=self._camera.problem is None and self._recorder.is_whole and not is_lost,
            parts=(*map(": ".join, self._parts.problems.items()), *filter(None, (self._slow_words,))),
            view=self._view,
            page=self._page,
            chosen=self._choosing.shown(self.session, self._camera.now_ns()),
        )

    def _is_due(self, t_ns: int) -> bool:
        """Return whether a picture is fed: none is older than what was, and no more than wanted."""
        if t_ns <= self._t_ns and self._view is not None:
            return False
        return self._limiter.is_due(t_ns, is_moving=self._is_moving)

    @property
    def _is_moving(self) -> bool:
        return self._view is not None and not self._view.is_settled

    def _see(self, shot: Shot) -> None:
        """Feed one picture; one that cannot be read is reported and left out."""
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
            happened = self._sitting.feed(Frame(image, self._t_ns), self._t_ns)
        except VisionError as error:
            self._listener.note(str(error))
            return
        self._view = happened.view
        self._pace.count(max(0, self._camera.now_ns() - shot.t_ns))
        for note in self._news.of(happened.view):
            self._listener.note(note.words)
        self._tell(happened, image)

    def _tell(self, happened: Step, image: Image | None = None) -> None:
        self._recorder.happened(happened)
        if happened.announcements:
            self._listener.happened(happened)
        for one in self._cutter.after(happened, image):
            self._recorder.evidence(one)
            self._listener.evidence(one)

    def _report_problem(self) -> None:
        """Report once that the camera gives nothing, and that it is back."""
        problem = self._camera.problem
        if problem != self._problem:
            self._listener.note(phrase("the camera is back") if problem is None else problem)
            self._problem = problem

    def _measure(self) -> None:
        """Measure the pace; report once that the machine is too slow, and that it is fast enough again."""
        if self._problem is not None:
            self._pace.restart()
        pace = self._counts.pace = self._pace.at(self._clock(), self._camera.pictures)
        was_slow, self._slow_words = self._slow_words is not None, None
        if pace is None:
            return
        if pace.is_too_slow:
            self._slow_words = pace.words
            if not was_slow:
                self._listener.note(pace.words)
        elif was_slow:
            self._listener.note(phrase("this machine is fast enough again"))

    @property
    def _eye(self) -> Phrase:
        if self._camera.problem is not None:
            return phrase("no camera")
        if self._view is None:
            return phrase("waiting for the camera")
        between = [later - earlier for earlier, later in pairwise(self._taken_ns)]
        state = eye_words(self._view)
        if not between:
            return state
        pace = f"{_NS_PER_S * len(between) / max(1, sum(between)):.0f}"
        return phrase("{pace} a second, {state}", pace=pace, state=state)


def eye_words(view: TableView) -> Phrase:
    """Return the state of the eye at the moment, in words."""
    if view.lost is not None:
        return phrase("LOST: put the camera back")
    if view.is_covered and view.is_settled:
        return phrase("a hand rests")
    return phrase("settled") if view.is_settled else phrase("moving")


@dataclass(frozen=True, slots=True)
class Choosing:
    """The choice of a question that is shown; this is no part of the game, only the answer is.

    Attributes:
        topic: Of the question; None where no choice is shown.
        choice: Its place among the choices.
        until_ns: When it is shown no more.
    """

    topic: str | None = None
    choice: int = 0
    until_ns: int = 0

    def shown(self, session: Session, t_ns: int) -> int | None:
        """Return the place of the choice that is shown; None where none is, or something else is asked now."""
        asked = _asked(session)
        is_shown = asked is not None and asked.topic == self.topic and t_ns < self.until_ns
        return self.choice if is_shown else None

    def after(
        self, press: Press, session: Session, t_ns: int, *, is_held: bool = False
    ) -> tuple[Choosing, ButtonMeaning]:
        """Return the choice that is shown after a press, and the meaning of the press; None for nothing more than that.

        Args:
            press: Which button was pressed.
            session: Where the sitting stands.
            t_ns: When.
            is_held: Whether the button was held: then `next` shows a choice also where it would deal or lead.
        """
        asked = _asked(session)
        if asked is None:
            return Choosing(), press
        shown = self.shown(session, t_ns)
        match press.button:
            case Button.NEXT if is_held or event_of(press, session.state) is None:
                following = 0 if shown is None else (shown + 1) % len(asked.choices)
                return Choosing(asked.topic, following, t_ns + SHOWN_NS), None
            case Button.CALL if shown is not None:
                return Choosing(), Answer(shown, asked.topic)
            case Button.STANDS:  # the referee puts the likeliest first
                return Choosing(), Answer(shown or 0, asked.topic)
            case _:
                return self, press


def choice_words(asked: Ambiguity, shown: int) -> Phrase:
    """Return a choice as a display shows it.

    >>> choice_words(Ambiguity(None, "is this the 5-4 or the 6-4?", holds_up=True, choices=("the 5-4", "the 6-4")), 1)
    '2/2 the 6-4? Call: yes. Next: another.'
    """
    count = len(asked.choices)
    if count == 1:
        return phrase("{choice}? Call: yes.", choice=asked.choices[shown])
    said = {"number": f"{shown + 1}/{count}", "choice": asked.choices[shown]}
    return phrase("{number} {choice}? Call: yes. Next: another.", **said)


def _asked(session: Session) -> Ambiguity | None:
    """Return the question that a button can answer."""
    asked = session.open_question
    return asked if asked is not None and asked.choices else None
