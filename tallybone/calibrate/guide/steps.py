"""Steps of a guided calibration: their interface with texts, drawn shapes, state and result, and the zones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration import RefusedError
from calibration.lens.lens import Lens
from calibration.sheets.prints import MAT_HEIGHT_MM, MAT_WIDTH_MM
from calibration.table.table import Table
from calibration.table.zones import OutlineMm, TableZones, ZoneSource, seen_part
from engine.phrases import phrase
from tallybone.calibrate.known import zone_name
from tallybone.calibrate.look import AskedScene
from tallybone.store.calibration_file import Calibration
from vision.arrays import Image, Points
from vision.reading import PointPx

GO_ON = "go_on"
AGAIN = "again"
SKIP = "skip"


class StepName(StrEnum):
    """Steps in the order of the guide. Each is named after the part that it calibrates."""

    LENS = "lens"
    TABLE = "table"
    ZONES = "zones"
    LIGHT = "light"
    SET = "set"
    KNOCK = "knock"


@dataclass(frozen=True, slots=True)
class StepResult:
    """Result of a step.

    Attributes:
        calibration: Calibration including the result.
        text: Summary.
        warnings: Weaknesses of the result. The user may accept them, or repeat the step.
        drawn: Shapes of the result for the last picture.
        note: Message about a file written next to the calibration, or "".
    """

    calibration: Calibration
    text: str
    warnings: tuple[str, ...] = ()
    drawn: tuple[Drawn, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class GuideChoice:
    """A choice offered to the user.

    Attributes:
        press: Name of the choice: `GO_ON`, `AGAIN`, `SKIP`, or a key of the step.
    """

    press: str
    text: str


class GuideStep(ABC):
    """A step of the guide, which runs until it is done or skipped.

    Attributes:
        scene: Required scene. None if the step does not use the camera.
    """

    name: StepName
    scene: AskedScene | None
    choices: tuple[GuideChoice, ...]
    _image: Image | None = None

    @property
    @abstractmethod
    def todo(self) -> tuple[str, ...]:
        """Instructions for the user."""

    @property
    @abstractmethod
    def seen(self) -> tuple[str, ...]:
        """Current observations in sentences."""

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """Current observations as shapes for the last picture."""
        return ()

    @property
    def is_enough(self) -> bool:
        """True if the step can finish without a decision of the user."""
        return False

    def see(self, image: Image) -> None:
        """Process a picture."""
        self._image = image

    def listen(self) -> None:  # noqa: B027 - most steps do not listen
        """Process the newest sounds. Called frequently.

        Raises:
            RefusedError: If the sensor has a problem. The message is the problem.
        """

    def pressed(self, key: str) -> None:  # noqa: B027 - most steps have no keys
        """Handle a key of the step.

        Raises:
            KnockError: If the key starts a sensor that fails.
        """

    def close(self) -> None:  # noqa: B027 - most steps open nothing
        """Release all resources."""

    @abstractmethod
    def result(self) -> StepResult | None:
        """Return the result, or None while it is being computed.

        Raises:
            RefusedError: If there is not enough data. The message includes a hint.
        """

    def _picture(self) -> Image:
        if self._image is None:
            raise RefusedError(phrase("there is no camera picture yet"))
        return self._image


class Kind(StrEnum):
    """Kind of a shape. All except corners and lines are closed outlines."""

    CORNERS = "corners"
    CELL = "cell"
    MARKER = "marker"
    LINE = "line"
    ZONE = "zone"
    TILE = "tile"
    PATCH = "patch"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A shape over a picture.

    Attributes:
        kind: Kind of the shape.
        points_px: Corners or points, x right, y down.
        label: Text next to the shape.
        is_good: False to mark a problem.
    """

    kind: Kind
    points_px: tuple[PointPx, ...]
    label: str = ""
    is_good: bool = True


def points_of(points: NDArray[np.float64] | Iterable[PointPx]) -> tuple[PointPx, ...]:
    """Return points of shape (N, 2) as tuples, rounded to a tenth of a pixel."""
    return tuple((round(float(x), 1), round(float(y), 1)) for x, y in points)


class Stage(StrEnum):
    """Stage within a step."""

    BEFORE = "before"
    """The step was done before. The user decides whether to repeat it."""
    LOOKS = "looks"
    MEASURES = "measures"
    RESULT = "result"
    """There is a result. The user decides whether to keep it."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Progress:
    """Outcome of a step.

    Attributes:
        outcome: Summary of the outcome. None if the step is not finished.
        note: Message about a file written next to the calibration, or "".
    """

    name: StepName
    outcome: str | None
    note: str = ""
    is_skipped: bool = False


@dataclass(frozen=True, slots=True)
class CourseView:
    """State of a guided calibration.

    Attributes:
        step: Current step. None at the end.
        steps: All steps, in order.
        todo: Instructions.
        seen: Current observations of the step, or warnings about its result.
        note: Message about a file written next to the calibration, or "".
        refused: Reason why the last request was rejected, or "".
        problem: Reason why there are no pictures, or None.
    """

    stage: Stage
    step: StepName | None
    steps: tuple[Progress, ...]
    todo: tuple[str, ...]
    seen: tuple[str, ...]
    note: str
    refused: str
    problem: str | None
    choices: tuple[GuideChoice, ...]


def words_at(
    stage: Stage, step: GuideStep | None, result: StepResult | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the instructions and the observations to show at a stage of a step."""
    match stage:
        case Stage.BEFORE:
            return (phrase("Already calibrated."),), ()
        case Stage.RESULT if result is not None:
            grade = phrase("Usable, but:") if result.warnings else phrase("Good.")
            return (phrase("Result: {what}. {grade}", what=result.text, grade=grade),), result.warnings
        case Stage.LOOKS | Stage.MEASURES if step is not None:
            return step.todo, step.seen
        case _:
            return (), ()


def choices_at(
    stage: Stage, step: GuideStep | None, result: StepResult | None, *, is_refused: bool
) -> tuple[GuideChoice, ...]:
    """Return the current choices of the user."""
    again, skip = GuideChoice(AGAIN, phrase("repeat")), GuideChoice(SKIP, phrase("skip"))
    match stage:
        case Stage.BEFORE:
            return (GuideChoice(GO_ON, phrase("keep")), again)
        case Stage.RESULT if result is not None:
            text = phrase("save anyway") if result.warnings else phrase("save")
            return (GuideChoice(GO_ON, text), again, skip)
        case Stage.LOOKS if step is not None:
            return (*step.choices, *((again,) if is_refused else ()), skip)
        case Stage.MEASURES:
            return (skip,)
        case _:
            return ()


MAX_CORNERS = 24
# Maximum distance of a corner from the centre of the table. More distant points are too near to the horizon.
_FARTHEST_MM = 4000.0
# Maximum error when nearly collinear corners are removed from zones that were clipped at the border of the picture.
_LINE_MM = 3.0
_HALVINGS = 12


@dataclass(frozen=True, slots=True)
class EditableZone:
    """A zone in the picture: its name as in `TableZones.named`, and its corners."""

    name: str
    corners_px: tuple[PointPx, ...]


def editable(zones: TableZones, table: Table, lens: Lens) -> tuple[EditableZone, ...]:
    """Return the zones with their editable corners, clipped to the picture.

    Zones outside the picture have no corners.
    """
    drawn = []
    for name, outline in zones.named():
        part = seen_part(outline, table, lens)
        if part != outline and len(part) > 2:
            flat = np.array(part, np.float32).reshape(-1, 1, 2)
            part = tuple((float(x), float(y)) for x, y in cv2.approxPolyDP(flat, _LINE_MM, closed=True)[:, 0])
        corners = () if len(part) < 3 else points_of(_in_picture(part, table, lens))
        drawn.append(EditableZone(name, corners))
    return tuple(drawn)


def with_zones(zones: TableZones, drawn: tuple[EditableZone, ...], table: Table, lens: Lens) -> TableZones:
    """Return the zones with the drawn ones replaced. All other zones are unchanged, including their invisible parts.

    Raises:
        RefusedError: If a zone is unknown or invalid.
    """
    known = [name for name, _ in zones.named()]
    for zone in drawn:
        if zone.name not in known:
            raise RefusedError(f"unknown zone {zone.name}")
    given = {zone.name: _on_table(zone, table, lens) for zone in drawn}
    outlines = {name: given.get(name, outline) for name, outline in zones.named()}
    seats = tuple(outlines[name] for name in known if name.startswith("seat"))
    try:
        return replace(
            zones,
            source=ZoneSource.GIVEN if given else zones.source,
            seats=seats,
            boneyard=outlines.get("boneyard"),
            layout=outlines.get("layout"),
        )
    except ValueError as error:
        raise RefusedError(str(error)) from None


def size_seen(table: Table, lens: Lens) -> tuple[float, float]:
    """Return width and depth in millimetres of the largest visible rectangle with the mat's centre and proportions."""
    least, most = 0.0, _FARTHEST_MM
    for _ in range(_HALVINGS):
        width_mm = (least + most) / 2
        x_mm, y_mm = width_mm / 2, width_mm / 2 * MAT_HEIGHT_MM / MAT_WIDTH_MM
        outline = ((-x_mm, y_mm), (x_mm, y_mm), (x_mm, -y_mm), (-x_mm, -y_mm))
        points = _in_picture(outline, table, lens)
        is_inside = bool(((points >= 0) & (points < (lens.width_px, lens.height_px))).all())
        # Distortion can map points far outside the picture into it, as can projection of points behind the camera.
        is_visible = is_inside and bool(np.allclose(table.tops_to_table(points, lens), outline, atol=1.0))
        least, most = (width_mm, most) if is_visible else (least, width_mm)
    return least, least * MAT_HEIGHT_MM / MAT_WIDTH_MM


def _in_picture(outline: OutlineMm, table: Table, lens: Lens) -> Points:
    return table.to_picture(np.array(outline, np.float64), lens, height_mm=table.thickness_mm)


def _on_table(zone: EditableZone, table: Table, lens: Lens) -> OutlineMm:
    """Return the outline of a drawn zone in millimetres."""
    if not 3 <= len(zone.corners_px) <= MAX_CORNERS:
        raise RefusedError(phrase("{zone}: use 3 to {most} corners", zone=zone_name(zone.name), most=MAX_CORNERS))
    drawn = np.array(zone.corners_px, np.float64)
    # Edges that are not adjacent may not cross.
    count = len(drawn)
    edges = [(drawn[at], drawn[(at + 1) % count]) for at in range(count)]
    crosses_itself = any(
        _cross(*edges[first], *edges[second])
        for first in range(count)
        for second in range(first + 2, count)
        if (second + 1) % count != first
    )
    if crosses_itself:
        raise RefusedError(phrase("{zone}: its edges cross each other", zone=zone_name(zone.name)))
    flat = table.tops_to_table(drawn, lens)
    # Pixels above the horizon map to points behind the camera.
    spots = np.column_stack([flat, np.full(len(flat), table.thickness_mm)])
    depth_mm = spots @ np.array(table.axes).reshape(3, 3)[:, 2] + table.origin_mm[2]
    if not (np.isfinite(depth_mm).all() and (depth_mm > 0).all()) or np.abs(flat).max() > _FARTHEST_MM:
        raise RefusedError(phrase("{zone}: a corner is off the table", zone=zone_name(zone.name)))
    return tuple((float(x), float(y)) for x, y in flat)


def _cross(a: Points, b: Points, c: Points, d: Points) -> bool:
    """Return True if the segment from a to b crosses the one from c to d."""

    def side(p: Points, q: Points, r: Points) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
