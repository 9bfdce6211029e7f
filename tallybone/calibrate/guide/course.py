"""Run a guided calibration from step to step, for a terminal or a page.

No call waits for input: `turn` processes the newest picture and sound, and `press` handles a decision of the user.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from calibration.errors import CalibrationError, RefusedError
from calibration.lens.model import LensSource
from engine.phrases import phrase
from hardware.clock import Clock
from hardware.knock.sensor import KnockError
from tallybone.calibrate.guide.camera_steps import LensStep, TableStep, ZonesStep
from tallybone.calibrate.guide.steps import (
    AGAIN,
    GO_ON,
    SKIP,
    CourseView,
    Drawn,
    GuideStep,
    Progress,
    Stage,
    StepName,
    StepResult,
    choices_at,
    words_at,
)
from tallybone.calibrate.guide.tile_steps import KnockStep, LearnedTile, LightStep, SetStep
from tallybone.calibrate.knock import sensor_for
from tallybone.calibrate.lens_and_table import ReadTiles, TableGiven
from tallybone.calibrate.look import CalibrationCamera
from tallybone.calibrate.zone_edit import EditableZone
from tallybone.store.calibration_file import Calibration, save_calibration
from vision.arrays import Image

_SEATS = 4
_KEPT, _SKIPPED = phrase("unchanged"), phrase("skipped")


@dataclass(frozen=True, slots=True)
class GuideSettings:
    """Settings of a guided calibration.

    Attributes:
        source: Camera, as for `calibrate.look.open_look`.
        into: Calibration file.
        seats: Number of seats. None for the previous number, or four.
        given: Options for measuring the table.
        microphone: Number or part of the name of a microphone, "any", or "simulated". None to skip knocks.
        asks_always: Whether users must accept every result, instead of only those with warnings.
    """

    source: str
    into: Path
    seats: int | None = None
    given: TableGiven = field(default_factory=TableGiven)
    microphone: str | None = None
    asks_always: bool = False


class GuideCourse:
    """A guided calibration. The result of each step is stored in the file as soon as it is accepted."""

    def __init__(
        self,
        settings: GuideSettings,
        look: CalibrationCamera,
        calibration: Calibration,
        read_tiles: ReadTiles,
        clock: Clock,
    ) -> None:
        """Start with the first step. The caller must close *look*."""
        self._settings, self._look, self._read_tiles, self._clock = settings, look, read_tiles, clock
        # Without a microphone there is no knock step.
        self._order = tuple(name for name in StepName if name is not StepName.KNOCK or settings.microphone is not None)
        self._outcomes: dict[StepName, Progress] = {}
        self.calibration = calibration
        self.image: Image | None = None
        self._at, self._stage = -1, Stage.OVER
        self._step: GuideStep | None = None
        self._result: StepResult | None = None
        self._refused = ""
        self._arrive(0)

    @property
    def is_over(self) -> bool:
        """True after the last step."""
        return self._stage is Stage.OVER

    @property
    def view(self) -> CourseView:
        """Current state for display."""
        name = None if self.is_over else self._order[self._at]
        steps = tuple(self._outcomes.get(step, Progress(step, None)) for step in self._order)
        todo, seen = words_at(self._stage, self._step, self._result)
        has_camera = self._step is None or self._step.scene is not None
        problem = self._look.problem if has_camera and not self.is_over else None
        note = "" if self._result is None else self._result.note
        choices = choices_at(self._stage, self._step, self._result, is_refused=bool(self._refused))
        return CourseView(self._stage, name, steps, todo, seen, note, self._refused, problem, choices)

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """Shapes of the result, or before it those detected in `image`, the newest picture."""
        if self._result is not None:
            return self._result.drawn
        return () if self._step is None else self._step.drawn

    @property
    def zones(self) -> tuple[EditableZone, ...]:
        """Zones that can currently be edited. Empty outside the zones step."""
        return self._step.editable if isinstance(self._step, ZonesStep) and self._stage is Stage.LOOKS else ()

    @property
    def tiles(self) -> tuple[LearnedTile, ...]:
        """Learned tiles, while they can be corrected. Empty otherwise."""
        return self._step.tiles if isinstance(self._step, SetStep) and self._stage is Stage.RESULT else ()

    def turn(self) -> None:
        """Process the newest picture and sound, or compute the result of the step. Must be called frequently.

        Raises:
            VisionError: If the models that read tiles cannot be loaded.
        """
        match self._stage:
            case Stage.BEFORE:
                self._take()
            case Stage.LOOKS:
                self._sense()
            case Stage.MEASURES:
                self._measure()
            case Stage.RESULT | Stage.OVER:
                pass

    def press(self, press: str) -> None:
        """Handle a decision of the user. Decisions that are not among the current choices are ignored."""
        if press not in [choice.press for choice in self.view.choices]:
            return
        self._refused = ""
        if press == SKIP:
            self._leave(Progress(self._order[self._at], _SKIPPED, is_skipped=True))
        elif press == AGAIN:
            self._enter()
        elif press == GO_ON and self._stage is Stage.BEFORE:
            self._leave(Progress(self._order[self._at], _KEPT))
        elif press == GO_ON and self._stage is Stage.RESULT:
            self._keep()
        elif press == GO_ON:
            self._stage = Stage.MEASURES
        elif self._step is not None:
            try:
                self._step.pressed(press)
            except (CalibrationError, KnockError) as error:
                self._refused = _words_of(error)

    def go_to(self, name: StepName) -> None:
        """Start a step, even if it was already done.

        Raises:
            RefusedError: If the step is not available.
        """
        if name not in self._order:
            raise RefusedError(phrase("this step needs a microphone"))
        self._at, self._refused = self._order.index(name), ""
        self._enter()

    def edit_zones(self, drawn: tuple[EditableZone, ...]) -> None:
        """Apply zones drawn by the user.

        Raises:
            RefusedError: If the drawn zones are invalid, or zones are not being calibrated.
        """
        if not isinstance(self._step, ZonesStep) or self._stage is not Stage.LOOKS:
            raise RefusedError(phrase("the current step does not calibrate zones"))
        self._step.edit(drawn)
        self._refused = ""

    def correct_tile(self, number: int, pips: tuple[int, int]) -> None:
        """Correct the label of a tile, and learn the set again.

        Raises:
            RefusedError: If there is no such tile or number, or tiles are not being calibrated.
        """
        if not isinstance(self._step, SetStep) or self._stage is not Stage.RESULT:
            raise RefusedError(phrase("the current step does not calibrate tiles"))
        self._step.correct(number, pips)
        self._result, self._stage = None, Stage.MEASURES

    def close(self) -> None:
        """Close the current step, if any."""
        if self._step is not None:
            self._step.close()
        self._step, self._result = None, None

    def _arrive(self, at: int) -> None:
        """Move to step number *at*, or to the end. Start the step unless the file already has its result."""
        self.close()
        self._at, self._refused = at, ""
        if at == len(self._order):
            self._stage = Stage.OVER
            return
        name, before = self._order[at], self.calibration
        is_guess = name is StepName.LENS and before.lens is not None and before.lens.source is LensSource.GUESS
        if getattr(before, name.value) is not None and not is_guess:
            self._stage = Stage.BEFORE
        else:
            self._enter()

    def _enter(self) -> None:
        """Start the current step from the beginning."""
        self.close()
        self._step = self._create_step(self._order[self._at])
        self._stage = Stage.LOOKS
        if self._step.scene is not None:
            self._look.present(self._step.scene)

    def _leave(self, progress: Progress) -> None:
        self._outcomes[progress.name] = progress
        self._arrive(self._at + 1)

    def _create_step(self, name: StepName) -> GuideStep:
        before, drawn, seats = self.calibration, self._settings.into.with_suffix(""), self._seats
        match name:
            case StepName.LENS:
                return LensStep(before)
            case StepName.TABLE:
                return TableStep(before, self._settings.given, self._read_tiles)
            case StepName.ZONES:
                return ZonesStep(before, seats, drawn)
            case StepName.LIGHT:
                self._look.hold_light()
                return LightStep(before, self._look, self._read_tiles, drawn)
            case StepName.SET:
                return SetStep(before, drawn)
            case StepName.KNOCK:
                sensor = sensor_for(self._settings.microphone or "any", seats, self._clock)
                return KnockStep(before, seats, sensor, self._clock)

    @property
    def _seats(self) -> int:
        zones = self.calibration.zones
        return self._settings.seats or (len(zones.seats) if zones is not None else 0) or _SEATS

    def _take(self) -> Image | None:
        image = self._look.take()
        if image is not None:
            self.image = image
        return image

    def _sense(self) -> None:
        """Pass the newest picture and sound to the step. Once it has enough of them, continue with its measurement."""
        step = self._step
        assert step is not None
        try:
            image = None if step.scene is None else self._take()
            if image is not None:
                step.see(image)
            step.listen()
        except CalibrationError as error:
            self._refused = _words_of(error)
        # After a rejection, measure again only on request.
        if step.is_enough and not self._refused:
            self._stage = Stage.MEASURES

    def _measure(self) -> None:
        assert self._step is not None
        try:
            self._result = self._step.result()
        except (CalibrationError, KnockError, OSError) as error:
            self._refused, self._stage = _words_of(error), Stage.LOOKS
            return
        if self._result is None:
            return
        self._stage = Stage.RESULT
        if not self._result.warnings and not self._settings.asks_always:
            self._keep()

    def _keep(self) -> None:
        """Store the result and continue with the next step. Stay at this step if the file cannot be written."""
        assert self._result is not None
        try:
            save_calibration(self._result.calibration, self._settings.into)
        except OSError as error:
            self._refused = _words_of(error)
            return
        self.calibration = self._result.calibration
        self._leave(Progress(self._order[self._at], self._result.text, self._result.note))


def _words_of(error: CalibrationError | KnockError | OSError) -> str:
    """Return the message of an error, as a translatable phrase if possible."""
    match error:
        case CalibrationError():
            return error.text
        case KnockError():
            return str(error)
        case _:
            return phrase("cannot save: {why}", why=error.strerror or str(error))
