"""Exchange the state and requests of a guided calibration between its thread and the page's thread.

Points are in pixels of the image shown, x to the right and y down.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from calibration import RefusedError
from engine.phrases import phrase
from hardware.part import Clock
from tallybone.calibrate.guide.steps import EditableZone, Stage, StepName
from tallybone.calibrate.known import calibration_texts
from tallybone.plain_text import plain
from tallybone.web.live.actions import Refusal, Refused
from tallybone.web.live.feed import Desk
from vision.arrays import Image
from vision.reading import PointPx

if TYPE_CHECKING:
    from tallybone.calibrate.guide.course import GuideCourse


NOTHING = phrase("no calibration is running")
_MOVED_ON = phrase("the calibration has moved on: check again")
# Minimum time between two published images. Five a second are enough feedback for holding a board still. Viewers first
# get the number of an image, and then fetch the image.
_EVERY_NS = 200_000_000
_PICTURES_KEPT = 4


@dataclass(frozen=True, slots=True)
class PressedChoice:
    """Request to make a choice that was offered at this step and stage."""

    press: str
    step: StepName | None
    stage: Stage


@dataclass(frozen=True, slots=True)
class GoTo:
    """Request to go to a step."""

    step: StepName


@dataclass(frozen=True, slots=True)
class DrawZones:
    """Request to set drawn zones."""

    zones: tuple[EditableZone, ...]


@dataclass(frozen=True, slots=True)
class CorrectTile:
    """Request to correct the pips of a learned tile."""

    number: int
    pips: tuple[int, int]


@dataclass(frozen=True, slots=True)
class EndCalibration:
    """Request to end the calibration. Stored results are kept."""


CalibrationWish: TypeAlias = PressedChoice | GoTo | DrawZones | CorrectTile | EndCalibration


class Calibrating:
    """A calibration that pages can follow. One thread begins and ends the calibration, and calls `turn` repeatedly."""

    def __init__(self, clock: Clock) -> None:
        """Start without a course. *clock* is monotonic, in nanoseconds."""
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
        """Publish a course. *camera* is the name of its camera."""
        self._course, self._camera = course, camera
        self.is_left, self._asked_ns = False, self._clock()
        self._ended.clear()
        self._publish(course)

    def turn(self) -> None:
        """Process pending requests and the next image, and publish changes.

        Images are published every 0.2 s at most.
        """
        course = self._course
        for wanted in self.desk.pending():
            outcome = Refused(Refusal.CHANGED, NOTHING) if course is None else _done(wanted.request, course)
            self.is_left = self.is_left or isinstance(wanted.request, EndCalibration)
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
        """Stop publishing, refuse pending requests, and wake `wait_for_end`."""
        self._course = self.newest = None
        self._pictures = ()
        self.turn()
        self._ended.set()

    @property
    def unwatched_ns(self) -> int:
        """Time since the state was last polled, in nanoseconds."""
        return self._clock() - self._asked_ns

    # Called by the page's thread.

    def look(self) -> CalibrationShown | None:
        """Return the state, or None without a calibration. Polling keeps the calibration alive."""
        self._asked_ns = self._clock()
        return self.newest

    def wait_for_end(self, within_s: float) -> bool:
        """Wait up to *within_s* seconds for the end of the calibration. Return True if it has ended."""
        return self._ended.wait(within_s)

    def picture(self, number: int) -> Image | None:
        """Return the image with this number, or None if it is not among the last _PICTURES_KEPT."""
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


def _done(request: CalibrationWish, course: GuideCourse) -> Refused | None:
    """Handle a request. Return a refusal, or None if it was carried out."""
    try:
        match request:
            case PressedChoice(press, step, stage):
                view = course.view
                if (view.step, view.stage) != (step, stage) or press not in [choice.press for choice in view.choices]:
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
        return Refused(Refusal.SENSELESS, plain(error.text))
    return None


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step and its outcome, null if it is not done."""

    name: str
    outcome: str | None
    skipped: bool


@dataclass(frozen=True, slots=True)
class ChoiceShown:
    """A possible choice, and its effect."""

    press: str
    text: str


@dataclass(frozen=True, slots=True)
class PictureShown:
    """The background image. Fetch it by its number."""

    number: int
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class ShapeShown:
    """A detected object. *kind* is corners, cell, marker, line, zone, tile or patch."""

    kind: str
    points: tuple[PointPx, ...]
    label: str
    good: bool


@dataclass(frozen=True, slots=True)
class ZoneDrawn:
    """An editable zone. No corners if it is outside the image."""

    name: str
    corners: tuple[PointPx, ...]


@dataclass(frozen=True, slots=True)
class TileTaken:
    """A learned tile that can be corrected: its numbers, and whether they are doubtful.

    The order is that of the shapes of kind tile.
    """

    number: int
    pips: tuple[int, int]
    doubtful: bool


@dataclass(frozen=True, slots=True)
class CalibrationShown:
    """State of a guided calibration. *version* increases with every change. *step* is null at the end.

    *stage* is before (the step was done earlier), looks, measures, result or over. *seen* describes the current image,
    or the problems of a result. *known* lists everything calibrated at the end.
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
        """Return True if another state differs only in its version."""
        return other is not None and replace(self, version=other.version) == other


def shown_of(course: GuideCourse, camera: str, number: int, *, version: int) -> CalibrationShown:
    """Return the state of a course for the page."""
    view = course.view
    return CalibrationShown(
        version=version,
        camera=plain(camera),
        stage=view.stage.value,
        step=None if view.step is None else view.step.value,
        steps=tuple(
            StepShown(step.name.value, None if step.outcome is None else plain(step.outcome), step.is_skipped)
            for step in view.steps
        ),
        todo=tuple(plain(text) for text in view.todo),
        seen=tuple(plain(text) for text in view.seen),
        refused=plain(view.refused),
        problem=None if view.problem is None else plain(view.problem),
        choices=tuple(ChoiceShown(choice.press, choice.text) for choice in view.choices),
        picture=None if course.image is None else _picture(course.image, number),
        drawn=tuple(ShapeShown(each.kind.value, each.points_px, each.label, each.is_good) for each in course.drawn),
        zones=tuple(ZoneDrawn(zone.name, zone.corners_px) for zone in course.zones),
        tiles=tuple(TileTaken(tile.number, tile.pips, tile.is_doubtful) for tile in course.tiles),
        known=tuple(plain(text) for text in calibration_texts(course.calibration)) if course.is_over else (),
    )


def _picture(image: Image, number: int) -> PictureShown:
    height_px, width_px = image.shape[:2]
    return PictureShown(number, width_px, height_px)
