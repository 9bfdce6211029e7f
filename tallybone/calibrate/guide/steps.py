"""What the steps of a guided calibration are: each looks or listens, says what it sees, and gives a result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tallybone.calibrate.guide.calibrate_drawn import Drawn
from tallybone.calibrate.look import Image, Scene
from tallybone.store.calibration_file import Calibration


class StepName(StrEnum):
    """What is calibrated, in the order of the guide."""

    LENS = "lens"
    TABLE = "table"
    ZONES = "zones"
    LIGHT = "light"
    SET = "set"
    KNOCK = "knock"


@dataclass(frozen=True, slots=True)
class Result:
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
class Choice:
    """Something that somebody may decide.

    Attributes:
        press: What it is called: `GO_ON`, `AGAIN`, `SKIP`, or a key that only this step knows.
        words: What happens then.
    """

    press: str
    words: str


GO_ON, AGAIN, SKIP = "go_on", "again", "skip"


class Step(Protocol):
    """A step that goes on until it is done, or somebody skips it."""

    @property
    def name(self) -> StepName:
        """What it is for."""

    @property
    def scene(self) -> Scene | None:
        """What has to be before the camera; None where it looks at nothing."""

    @property
    def todo(self) -> tuple[str, ...]:
        """What to do."""

    @property
    def seen(self) -> tuple[str, ...]:
        """What it sees at the moment."""

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """The same, over the picture that it has seen last."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What can be decided beside skipping it."""

    @property
    def is_enough(self) -> bool:
        """Whether it can be finished without anybody pressing a key."""

    def see(self, image: Image) -> None:
        """Look at a picture."""

    def listen(self) -> None:
        """Hear what there is to hear; called often.

        Raises:
            RefusedError: If nothing can be heard; says why.
        """

    def pressed(self, key: str) -> None:
        """Take a key that is a choice of its own.

        Raises:
            KnockError: If what it begins cannot be had.
        """

    def close(self) -> None:
        """Let go what it has opened."""

    def result(self) -> Result | None:
        """Return what was found; None while that is still worked out: it is asked again.

        Raises:
            RefusedError: If it is not enough; says what to do.
        """


class LookStep:
    """What steps have in common that only look: nothing to hear, to press or to let go."""

    is_enough = False
    drawn: tuple[Drawn, ...] = ()

    def listen(self) -> None:
        """Hear nothing."""

    def pressed(self, key: str) -> None:
        """Nothing to press."""

    def close(self) -> None:
        """Let nothing go."""
