"""What a page shows of a guided calibration: frozen values whose fields are the JSON that OpenAPI describes.

Places are pixels of the picture with that number, x right and y down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tallybone.calibrate.guide.steps import PointPx
from tallybone.calibrate.lens_and_table import known_words
from tallybone.calibrate.look import Image
from tallybone.plain_text import plain

if TYPE_CHECKING:
    from tallybone.calibrate.guide.course import Course


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


def shown_of(course: Course, camera: str, number: int, *, version: int) -> CalibrationShown:
    """Return what a page shows of a course.

    Args:
        course: How it stands.
        camera: What it is called.
        number: Of its newest picture.
        version: What this is known by.
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
