"""Pass a guided calibration between the thread that calibrates and the page's, as JSON-ready values.

Places are pixels of the picture with that number, x right and y down.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from calibration.errors import RefusedError
from engine.phrases import phrase
from hardware.clock import Clock
from tallybone.calibrate.guide.steps import Stage, StepName
from tallybone.calibrate.known import known_words
from tallybone.calibrate.zone_edit import EditableZone
from tallybone.plain_text import plain
from tallybone.web.actions import Refusal, Refused
from tallybone.web.feed import Desk
from vision.arrays import Image
from vision.reading import PointPx

if TYPE_CHECKING:
    from tallybone.calibrate.guide.course import GuideCourse

NOTHING = phrase("nothing is being calibrated")
_MOVED_ON = phrase("the calibration has moved on: look again")
# Five pictures a second are enough to hold a board still; a picture is kept until its viewers have asked for it.
_EVERY_NS = 200_000_000
_PICTURES_KEPT = 4


@dataclass(frozen=True, slots=True)
class PressedChoice:
    """A choice is made, by a person who has seen this step at this stage."""

    press: str
    step: StepName | None
    stage: Stage


@dataclass(frozen=True, slots=True)
class GoTo:
    """A step is done now."""

    step: StepName


@dataclass(frozen=True, slots=True)
class DrawZones:
    """Zones are drawn."""

    zones: tuple[EditableZone, ...]


@dataclass(frozen=True, slots=True)
class CorrectTile:
    """A tile that was learned has other pips."""

    number: int
    pips: tuple[int, int]


@dataclass(frozen=True, slots=True)
class EndCalibration:
    """The calibration ends; kept results stay."""


CalibrationWish: TypeAlias = PressedChoice | GoTo | DrawZones | CorrectTile | EndCalibration


class Calibrating:
    """A calibration that pages follow. It begins and ends in one thread, which calls `turn` again and again."""

    def __init__(self, clock: Clock) -> None:
        """Start with no course; *clock* is monotonic, in nanoseconds."""
        self._clock = clock
        self._course: GuideCourse | None = None
        self._camera = ""
        self._pictures: tuple[tuple[int, Image], ...] = ()
        self._number = self._shown_ns = 0
        self._version = 0
        self._asked_ns = clock()
        self.desk = Desk[CalibrationWish, None]()
        self.newest: CalibrationShown | None = None
        self.is_left = False
        self._ended = threading.Event()

    # Called by the thread of the calibration.

    def begin(self, course: GuideCourse, camera: str) -> None:
        """Let pages follow a course from now on; *camera* is the name of its camera."""
        self._course, self._camera = course, camera
        self.is_left, self._asked_ns = False, self._clock()
        self._ended.clear()
        self._publish(course)

    def turn(self) -> None:
        """Fulfil wishes, let the course look once, and show changes."""
        course = self._course
        for wanted in self.desk.came():
            outcome = Refused(Refusal.CHANGED, NOTHING) if course is None else _done(wanted.wish, course)
            self.is_left = self.is_left or isinstance(wanted.wish, EndCalibration)
            if course is not None:
                self._publish(course)
            wanted.answer(outcome)
        if course is None:
            return
        before = course.view.stage
        course.turn()
        if course.view.stage is not before or self._clock() - self._shown_ns >= _EVERY_NS:
            self._publish(course)

    def end(self) -> None:
        """Show nothing any more, and refuse the wishes that still wait."""
        self._course = self.newest = None
        self._pictures = ()
        self.turn()
        self._ended.set()

    @property
    def unwatched_ns(self) -> int:
        """For how long nobody has looked at it."""
        return self._clock() - self._asked_ns

    # Called by the page's thread.

    def look(self) -> CalibrationShown | None:
        """Return its state, None where there is none; to ask shows that somebody is there to decide."""
        self._asked_ns = self._clock()
        return self.newest

    def wait_for_end(self, within_s: float) -> bool:
        """Wait until it has ended; return whether it has."""
        return self._ended.wait(within_s)

    def picture(self, number: int) -> Image | None:
        """Return the picture with a number; None where it is not kept any more."""
        return next((image for known, image in self._pictures if known == number), None)

    def _publish(self, course: GuideCourse) -> None:
        self._shown_ns = self._clock()
        image = course.image
        if image is not None and (not self._pictures or self._pictures[-1][1] is not image):
            self._number += 1
            self._pictures = (*self._pictures[1 - _PICTURES_KEPT :], (self._number, image))
        shown = shown_of(course, self._camera, self._number, version=self._version + 1)
        if not shown.is_as(self.newest):
            self._version += 1
            self.newest = shown


def _done(wish: CalibrationWish, course: GuideCourse) -> Refused | None:
    """Fulfil a wish; return why it is refused."""
    try:
        match wish:
            case PressedChoice(press, step, stage):
                view = course.view
                if (view.step, view.stage) != (step, stage) or press not in [one.press for one in view.choices]:
                    return Refused(Refusal.CHANGED, _MOVED_ON)
                course.press(press)
            case GoTo(step):
                course.go_to(step)
            case DrawZones(zones):
                course.edit_zones(zones)
            case CorrectTile(number, pips):
                course.correct_tile(number, pips)
            case EndCalibration():
                pass
    except RefusedError as error:
        return Refused(Refusal.SENSELESS, plain(error.words))
    return None


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step, and what came of it: null for nothing yet."""

    name: str
    outcome: str | None
    skipped: bool


@dataclass(frozen=True, slots=True)
class ChoiceShown:
    """Something that can be decided now, and what happens then."""

    press: str
    words: str


@dataclass(frozen=True, slots=True)
class PictureShown:
    """The picture that everything is drawn over: ask for it by its number."""

    number: int
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class ShapeShown:
    """Something that was found: *kind* is corners, cell, marker, line, zone, tile or patch."""

    kind: str
    points: tuple[PointPx, ...]
    label: str
    good: bool


@dataclass(frozen=True, slots=True)
class ZoneDrawn:
    """A zone that can be changed; no corners where the picture does not show it."""

    name: str
    corners: tuple[PointPx, ...]


@dataclass(frozen=True, slots=True)
class TileTaken:
    """A tile that was learned and can be put right: what it was taken for, and whether that is in doubt.

    The tiles are the shapes of that kind, in the same order.
    """

    number: int
    pips: tuple[int, int]
    doubtful: bool


@dataclass(frozen=True, slots=True)
class CalibrationShown:
    """How a guided calibration stands; *version* rises with every change, *step* is null at the end.

    *stage* is before (the step was done another time), looks, measures, result or over; *seen* is what is seen now, or
    what is not good about a result; *known* is all that is known at the end.
    """

    version: int
    camera: str
    stage: str
    step: str | None
    steps: tuple[StepShown, ...]
    todo: tuple[str, ...]
    seen: tuple[str, ...]
    refused: str
    problem: str | None
    choices: tuple[ChoiceShown, ...]
    picture: PictureShown | None
    drawn: tuple[ShapeShown, ...]
    zones: tuple[ZoneDrawn, ...]
    tiles: tuple[TileTaken, ...]
    known: tuple[str, ...]

    def is_as(self, other: CalibrationShown | None) -> bool:
        """Return whether another one shows the same."""
        return other is not None and replace(self, version=other.version) == other


def shown_of(course: GuideCourse, camera: str, number: int, *, version: int) -> CalibrationShown:
    """Return what a page shows of a course.

    Args:
        course: The course.
        camera: The name of its camera.
        number: Of its newest picture.
        version: Of the returned state.
    """
    view = course.view
    return CalibrationShown(
        version=version,
        camera=plain(camera),
        stage=view.stage.value,
        step=None if view.step is None else view.step.value,
        steps=tuple(
            StepShown(one.name.value, None if one.outcome is None else plain(one.outcome), one.is_skipped)
            for one in view.steps
        ),
        todo=tuple(plain(words) for words in view.todo),
        seen=tuple(plain(words) for words in view.seen),
        refused=plain(view.refused),
        problem=None if view.problem is None else plain(view.problem),
        choices=tuple(ChoiceShown(one.press, one.words) for one in view.choices),
        picture=None if course.image is None else _picture(course.image, number),
        drawn=tuple(ShapeShown(one.kind.value, one.points_px, one.label, one.is_good) for one in course.drawn),
        zones=tuple(ZoneDrawn(zone.name, zone.corners_px) for zone in course.zones),
        tiles=tuple(TileTaken(tile.number, tile.pips, tile.is_doubtful) for tile in course.tiles),
        known=tuple(plain(words) for words in known_words(course.calibration)) if course.is_over else (),
    )


def _picture(image: Image, number: int) -> PictureShown:
    height_px, width_px = image.shape[:2]
    return PictureShown(number, width_px, height_px)
