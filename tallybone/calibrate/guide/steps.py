"""Define the steps of a guided calibration: what each sees, the shapes it draws, its state and its result."""

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
    """What a step has found.

    Attributes:
        calibration: With that in it.
        words: What it is, in short.
        warnings: What is not as good as it should be; a person may go on with it, or do the step again.
        drawn: Where that is, over the last picture that the step has seen.
        note: What was written beside the calibration, for whoever sits at this machine; "" for nothing.
    """

    calibration: Calibration
    words: str
    warnings: tuple[str, ...] = ()
    drawn: tuple[Drawn, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class GuideChoice:
    """Something that somebody may decide.

    Attributes:
        press: What it is called: `GO_ON`, `AGAIN`, `SKIP`, or a key that only this step knows.
        words: What happens then.
    """

    press: str
    words: str


class GuideStep(ABC):
    """A step that goes on until it is done, or somebody skips it.

    Attributes:
        name: What it is for.
        scene: What has to be before the camera; None where it looks at nothing.
        choices: What can be decided beside skipping it.
    """

    name: StepName
    scene: AskedScene | None
    choices: tuple[GuideChoice, ...]
    _image: Image | None = None

    @property
    @abstractmethod
    def todo(self) -> tuple[str, ...]:
        """What to do."""

    @property
    @abstractmethod
    def seen(self) -> tuple[str, ...]:
        """What it sees at the moment."""

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """The same, over the picture that it has seen last."""
        return ()

    @property
    def is_enough(self) -> bool:
        """Whether it can be finished without anybody pressing a key."""
        return False

    def see(self, image: Image) -> None:
        """Look at a picture."""
        self._image = image

    def listen(self) -> None:  # noqa: B027 - most steps hear nothing
        """Hear what there is to hear; called often.

        Raises:
            RefusedError: If nothing can be heard; says why.
        """

    def pressed(self, key: str) -> None:  # noqa: B027 - most steps have no such key
        """Take a key that is a choice of its own.

        Raises:
            KnockError: If what it begins cannot be had.
        """

    def close(self) -> None:  # noqa: B027 - most steps open nothing
        """Let go what it has opened."""

    @abstractmethod
    def result(self) -> StepResult | None:
        """Return what was found; None while that is still worked out: it is asked again.

        Raises:
            RefusedError: If it is not enough; says what to do.
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
    """What a shape is; all but corners and lines are outlines, closed by themselves."""

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
        kind: What it is.
        points_px: Its corners, or points of their own; x right, y down.
        label: What is written at it.
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
    """The step was done another time: somebody says whether it is done again."""
    LOOKS = "looks"
    MEASURES = "measures"
    RESULT = "result"
    """Something was found: somebody says whether it is kept."""
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Progress:
    """A step, and what came of it, None for nothing yet; *note* says what was written beside the calibration."""

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
        todo: What to do.
        seen: What is seen at the moment, or what is not good about a result.
        note: What was written beside the calibration; "" for nothing.
        refused: Why something was not done; "" for nothing.
        problem: Why there are no pictures, in words.
        choices: What can be decided.
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
    """Return what to do, and what is seen."""
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
    """Return what can be decided."""
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
