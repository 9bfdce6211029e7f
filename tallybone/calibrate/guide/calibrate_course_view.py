"""How a guided calibration stands, as plain values that a terminal or a page shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.phrases import phrase
from tallybone.calibrate.guide.steps import AGAIN, GO_ON, SKIP, Choice, Result, Step, StepName


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
    choices: tuple[Choice, ...]


def words_at(stage: Stage, step: Step | None, result: Result | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
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


def choices_at(stage: Stage, step: Step | None, result: Result | None, *, is_refused: bool) -> tuple[Choice, ...]:
    """Return what can be decided."""
    again, skip = Choice(AGAIN, phrase("again")), Choice(SKIP, phrase("skip"))
    match stage:
        case Stage.BEFORE:
            return (Choice(GO_ON, phrase("keep it")), again)
        case Stage.RESULT if result is not None:
            words = phrase("take it so") if result.warnings else phrase("keep it")
            return (Choice(GO_ON, words), again, skip)
        case Stage.LOOKS if step is not None:
            return (*step.choices, *((again,) if is_refused else ()), skip)
        case Stage.MEASURES:
            return (skip,)
        case _:
            return ()
