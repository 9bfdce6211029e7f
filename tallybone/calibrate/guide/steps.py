"""Interface of the steps of a guided calibration: texts, drawn shapes, state and result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from calibration.errors import RefusedError
from engine.phrases import phrase
from tallybone.calibrate.scenes import AskedScene
from tallybone.store.calibration_file import Calibration
from vision.arrays import Image
from vision.reading import PointPx

GO_ON, AGAIN, SKIP = "go_on", "again", "skip"


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
        text: Text of the choice.
    """

    press: str
    text: str


class GuideStep(ABC):
    """A step of the guide, which runs until it is done or skipped.

    Attributes:
        name: Name of the step.
        scene: Required scene. None if the step does not use the camera.
        choices: Choices in addition to skipping.
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
        """Return the newest picture.

        Raises:
            RefusedError: If there is no picture yet.
        """
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
        name: Name of the step.
        outcome: Summary of the outcome. None if the step is not finished.
        note: Message about a file written next to the calibration, or "".
        is_skipped: Whether the step was skipped.
    """

    name: StepName
    outcome: str | None
    note: str = ""
    is_skipped: bool = False


@dataclass(frozen=True, slots=True)
class CourseView:
    """State of a guided calibration.

    Attributes:
        stage: Stage within the step.
        step: Current step. None at the end.
        steps: All steps, in order.
        todo: Instructions.
        seen: Current observations of the step, or warnings about its result.
        note: Message about a file written next to the calibration, or "".
        refused: Reason why the last request was rejected, or "".
        problem: Reason why there are no pictures, or None.
        choices: Choices of the user.
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
