"""Define the steps of a guided calibration: their words, the shapes they draw, their state and their result."""

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
    """What is calibrated, in the order of the guide."""

    LENS = "lens"
    TABLE = "table"
    ZONES = "zones"
    LIGHT = "light"
    SET = "set"
    KNOCK = "knock"


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step.

    Attributes:
        calibration: With the result in it.
        words: A summary.
        warnings: Weaknesses; a person may go on with them, or do the step again.
        drawn: The result over the last picture that the step has seen.
        note: A file that was written beside the calibration, for the person at this machine; "" for none.
    """

    calibration: Calibration
    words: str
    warnings: tuple[str, ...] = ()
    drawn: tuple[Drawn, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class GuideChoice:
    """A decision that a person may take.

    Attributes:
        press: Its name: `GO_ON`, `AGAIN`, `SKIP`, or a key that only this step knows.
        words: Its effect.
    """

    press: str
    words: str


class GuideStep(ABC):
    """A step that goes on until it is done, or a person skips it.

    Attributes:
        name: The part that it calibrates.
        scene: The scene that it has to see; None where it looks at nothing.
        choices: The decisions beside skipping it.
    """

    name: StepName
    scene: AskedScene | None
    choices: tuple[GuideChoice, ...]
    _image: Image | None = None

    @property
    @abstractmethod
    def todo(self) -> tuple[str, ...]:
        """The instructions."""

    @property
    @abstractmethod
    def seen(self) -> tuple[str, ...]:
        """What it sees at the moment, in sentences."""

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """The same, over the picture that it has seen last."""
        return ()

    @property
    def is_enough(self) -> bool:
        """Whether it can be finished without a key."""
        return False

    def see(self, image: Image) -> None:
        """Look at a picture."""
        self._image = image

    def listen(self) -> None:  # noqa: B027 - most steps hear nothing
        """Take the newest sounds; called often.

        Raises:
            RefusedError: If nothing can be heard; with the reason.
        """

    def pressed(self, key: str) -> None:  # noqa: B027 - most steps have no such key
        """Take a key that is a choice of its own.

        Raises:
            KnockError: If the sensor that it starts fails.
        """

    def close(self) -> None:  # noqa: B027 - most steps open nothing
        """Close all that it has opened."""

    @abstractmethod
    def result(self) -> StepResult | None:
        """Return the result; None while it is still worked out: the course asks again.

        Raises:
            RefusedError: If there is not enough for one; with a hint.
        """

    def _picture(self) -> Image:
        """Return the newest picture.

        Raises:
            RefusedError: If none has come yet.
        """
        if self._image is None:
            raise RefusedError(phrase("the camera has given no picture yet"))
        return self._image


class Kind(StrEnum):
    """The kind of a shape; all but corners and lines are closed outlines."""

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
        kind: Its kind.
        points_px: Its corners, or single points; x right, y down.
        label: The text beside it.
        is_good: Whether it is as it should be.
    """

    kind: Kind
    points_px: tuple[PointPx, ...]
    label: str = ""
    is_good: bool = True


def points_of(points: NDArray[np.float64] | Iterable[PointPx]) -> tuple[PointPx, ...]:
    """Return points, shape (N, 2), as plain numbers to a tenth of a pixel."""
    return tuple((round(float(x), 1), round(float(y), 1)) for x, y in points)


class Stage(StrEnum):
    """Where a course is within a step."""

    BEFORE = "before"
    """The step was done before: a person decides whether to do it again."""
    LOOKS = "looks"
    MEASURES = "measures"
    RESULT = "result"
    """There is a result: a person decides whether to keep it."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Progress:
    """A step, and its outcome, None for none yet; *note* names a file that was written beside the calibration."""

    name: StepName
    outcome: str | None
    note: str = ""
    is_skipped: bool = False


@dataclass(frozen=True, slots=True)
class CourseView:
    """How a course stands.

    Attributes:
        stage: Where it is within a step.
        step: Which step; None at the end.
        steps: All steps, in order.
        todo: The instructions.
        seen: What the step sees at the moment, or the weaknesses of its result.
        note: A file that was written beside the calibration; "" for none.
        refused: Why something was not done; "" for nothing.
        problem: Why there are no pictures, in words.
        choices: The decisions that a person may take.
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
    """Return the instructions, and what the step sees."""
    match stage:
        case Stage.BEFORE:
            return (phrase("This was done before."),), ()
        case Stage.RESULT if result is not None:
            grade = phrase("It could be better:") if result.warnings else phrase("That is good.")
            return (phrase("Found: {what}. {grade}", what=result.words, grade=grade),), result.warnings
        case Stage.LOOKS | Stage.MEASURES if step is not None:
            return step.todo, step.seen
        case _:
            return (), ()


def choices_at(
    stage: Stage, step: GuideStep | None, result: StepResult | None, *, is_refused: bool
) -> tuple[GuideChoice, ...]:
    """Return the decisions that a person may take."""
    again, skip = GuideChoice(AGAIN, phrase("again")), GuideChoice(SKIP, phrase("skip"))
    match stage:
        case Stage.BEFORE:
            return (GuideChoice(GO_ON, phrase("keep it")), again)
        case Stage.RESULT if result is not None:
            words = phrase("take it so") if result.warnings else phrase("keep it")
            return (GuideChoice(GO_ON, words), again, skip)
        case Stage.LOOKS if step is not None:
            return (*step.choices, *((again,) if is_refused else ()), skip)
        case Stage.MEASURES:
            return (skip,)
        case _:
            return ()
