"""Lead a guided calibration from step to step, at a terminal or on a page.

It never waits: `turn` looks once, `press` takes a decision.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from calibration.errors import CalibrationError, RefusedError
from calibration.lens.model import LensSource
from engine.phrases import phrase
from hardware.clock import Clock
from hardware.knock.errors import KnockError
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
from tallybone.calibrate.look import Onlooker
from tallybone.calibrate.zone_edit import EditableZone
from tallybone.store.calibration_file import Calibration, save_calibration
from vision.arrays import Image

_SEATS = 4
_KEPT, _SKIPPED = phrase("as it was"), phrase("skipped")


@dataclass(frozen=True, slots=True)
class GuideSettings:
    """The camera of a guided calibration, its file, and facts about the table.

    Attributes:
        source: The camera, as `calibrate.look.open_look` takes it.
        into: The calibration file.
        seats: Number of seats; None for as many as before, or four.
        given: Facts about tiles and print.
        microphone: Its number or a part of its name, "any", or "simulated"; None for a table that hears no knocks.
        asks_always: Whether every result has to be accepted, and not only one that could be better.
    """

    source: str
    into: Path
    seats: int | None = None
    given: TableGiven = field(default_factory=TableGiven)
    microphone: str | None = None
    asks_always: bool = False


class GuideCourse:
    """Goes from step to step; the result of each is stored in the file as soon as it is accepted."""

    def __init__(
        self, settings: GuideSettings, look: Onlooker, calibration: Calibration, read_tiles: ReadTiles, clock: Clock
    ) -> None:
        """Start with the first step; the caller closes *look*."""
        self._settings, self._look, self._read_tiles, self._clock = settings, look, read_tiles, clock
        # A table that hears no knocks has no such step.
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
        """Whether the last step is behind it."""
        return self._stage is Stage.OVER

    @property
    def view(self) -> CourseView:
        """How it stands now."""
        name = None if self.is_over else self._order[self._at]
        steps = tuple(self._outcomes.get(one, Progress(one, None)) for one in self._order)
        todo, seen = words_at(self._stage, self._step, self._result)
        has_camera = self._step is None or self._step.scene is not None
        problem = self._look.problem if has_camera and not self.is_over else None
        note = "" if self._result is None else self._result.note
        choices = choices_at(self._stage, self._step, self._result, is_refused=bool(self._refused))
        return CourseView(self._stage, name, steps, todo, seen, note, self._refused, problem, choices)

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """The shapes that were found in `image`, the newest picture."""
        if self._result is not None:
            return self._result.drawn
        return () if self._step is None else self._step.drawn

    @property
    def zones(self) -> tuple[EditableZone, ...]:
        """The zones that can be changed in the picture now."""
        return self._step.editable if isinstance(self._step, ZonesStep) and self._stage is Stage.LOOKS else ()

    @property
    def tiles(self) -> tuple[LearnedTile, ...]:
        """The tiles that were learned, as long as they can be corrected."""
        return self._step.tiles if isinstance(self._step, SetStep) and self._stage is Stage.RESULT else ()

    def turn(self) -> None:
        """Look and listen once, or measure; called often.

        Raises:
            VisionError: If tiles cannot be read.
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
        """Take a decision; one that is no choice now changes nothing."""
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
        """Do a step now, whatever was done before.

        Raises:
            RefusedError: If this table has no such step.
        """
        if name not in self._order:
            raise RefusedError(phrase("without a microphone there is no such step"))
        self._at, self._refused = self._order.index(name), ""
        self._enter()

    def edit_zones(self, drawn: tuple[EditableZone, ...]) -> None:
        """Take zones that a person has drawn.

        Raises:
            RefusedError: If they cannot be, or the step is another.
        """
        if not isinstance(self._step, ZonesStep) or self._stage is not Stage.LOOKS:
            raise RefusedError(phrase("zones are not what is calibrated now"))
        self._step.edit(drawn)
        self._refused = ""

    def correct_tile(self, number: int, pips: tuple[int, int]) -> None:
        """Learn the set again, with the pips of one tile corrected.

        Raises:
            RefusedError: If there is no such tile, or the step is another.
        """
        if not isinstance(self._step, SetStep) or self._stage is not Stage.RESULT:
            raise RefusedError(phrase("tiles are not what is calibrated now"))
        self._step.correct(number, pips)
        self._result, self._stage = None, Stage.MEASURES

    def close(self) -> None:
        """Close the step."""
        if self._step is not None:
            self._step.close()
        self._step, self._result = None, None

    def _arrive(self, at: int) -> None:
        """Come to a step, or to the end."""
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
        """Do the step from its start."""
        self.close()
        self._step = self._made(self._order[self._at])
        self._stage = Stage.LOOKS
        if self._step.scene is not None:
            self._look.present(self._step.scene)

    def _leave(self, progress: Progress) -> None:
        self._outcomes[progress.name] = progress
        self._arrive(self._at + 1)

    def _made(self, name: StepName) -> GuideStep:
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
        """Let the step look and listen; measure as soon as it is enough."""
        step = self._step
        assert step is not None
        try:
            image = None if step.scene is None else self._take()
            if image is not None:
                step.see(image)
            step.listen()
        except CalibrationError as error:
            self._refused = _words_of(error)
        # After a refusal it measures again only when a person asks for it.
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
        """Store the result, and go on; wait where it cannot be written."""
        assert self._result is not None
        try:
            save_calibration(self._result.calibration, self._settings.into)
        except OSError as error:
            self._refused = _words_of(error)
            return
        self.calibration = self._result.calibration
        self._leave(Progress(self._order[self._at], self._result.words, self._result.note))


def _words_of(error: CalibrationError | KnockError | OSError) -> str:
    """Return the words of an error, as the phrase that it was made with if there is one."""
    match error:
        case CalibrationError():
            return error.words
        case KnockError():
            return str(error)
        case _:
            return phrase("it cannot be written: {why}", why=error.strerror or str(error))
