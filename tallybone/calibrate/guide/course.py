"""Run a guided calibration from step to step, for a terminal or a page.

No call waits for input: `turn` processes the newest picture and sound, and `press` handles a decision of the user.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

from calibration import CalibrationError, RefusedError
from calibration.lens.lens import LensSource
from calibration.table.picture import LightMeasurement, Trouble
from calibration.tiles.learning import LearningResult, draw_tiles, smallest_set
from calibration.tiles.tile_set import LearnedSet
from engine.phrases import Phrase, listed, phrase, plural
from hardware.camera.device import Light
from hardware.knock.sensor import NS_PER_S, KnockError
from hardware.part import Clock
from tallybone.calibrate.guide.camera_steps import LensStep, TableStep, ZonesStep
from tallybone.calibrate.guide.steps import (
    AGAIN,
    GO_ON,
    SKIP,
    CourseView,
    Drawn,
    EditableZone,
    GuideChoice,
    GuideStep,
    Kind,
    Progress,
    Stage,
    StepName,
    StepResult,
    choices_at,
    points_of,
    words_at,
)
from tallybone.calibrate.knock import Hearing, MakeSensor, fit_timetable, sensor_for
from tallybone.calibrate.lens_and_table import ReadTiles, TableGiven, look_at_light, write_drawn
from tallybone.calibrate.look import AskedScene, CalibrationCamera, timetable
from tallybone.calibrate.tile_set import SetLearning, TilePips, set_to_store
from tallybone.show.reading import draw_light
from tallybone.store.calibration_file import Calibration, save_calibration
from vision.arrays import Image
from vision.poses import corners

_MAX_NAMED = 12

_LISTEN = "l"
_LIGHTS = {
    Light.FREE: phrase("automatic"),
    Light.SETTLING: phrase("adjusting"),
    Light.HELD: phrase("locked"),
    Light.CANNOT_BE_HELD: phrase("cannot be locked"),
}
# Number of corners of a drawn circle.
_ROUND = 16


@dataclass(frozen=True, slots=True)
class LearnedTile:
    """A learned tile: its number from 1, its label, and whether the label is doubtful."""

    number: int
    pips: TilePips
    is_doubtful: bool


class SetStep(GuideStep):
    """Learns the set from the newest picture when the user asks for it."""

    name, scene = StepName.SET, AskedScene.SET
    choices = (GuideChoice(GO_ON, phrase("learn the tiles")),)

    def __init__(self, before: Calibration, folder: Path) -> None:
        """Add the set to *before*. An overview of the tiles is drawn into *folder*."""
        self._before, self._folder = before, folder
        self._learning: SetLearning | None = None
        self._hand_labels: dict[int, TilePips] = {}
        self.tiles: tuple[LearnedTile, ...] = ()

    todo = (
        phrase("Lay out all your tiles face up in even light, in any order, with a little space between them."),
        phrase("Take your hands away."),
    )

    @property
    def seen(self) -> tuple[str, ...]:
        """Progress of the learning in per cent. Empty before it starts."""
        if self._learning is None:
            return ()
        return (phrase("Learning your tiles: {percent} %.", percent=f"{100 * self._learning.share:.0f}"),)

    def result(self) -> StepResult | None:
        """Return the learned set, or None while learning is in progress."""
        image = self._picture()
        if self._learning is None:
            self._learning = SetLearning(image)
            self._learning.begin(self._hand_labels)
        try:
            learned = self._learning.learned()
        except RefusedError:
            self.close()
            raise
        return None if learned is None else self._step_result(learned, image)

    def correct(self, number: int, pips: TilePips) -> None:
        """Correct the label of a tile, and learn again.

        Raises:
            RefusedError: If there is no such tile, or the set has no such number.
        """
        if self._learning is None or number not in [tile.number for tile in self.tiles]:
            raise RefusedError(phrase("there is no tile {number}", number=number))
        highest = max(smallest_set(len(self.tiles)), *(max(tile.pips) for tile in self.tiles))
        if max(pips) > highest:
            raise RefusedError(
                phrase("this set has no {pips}: its highest number is {highest}", pips=max(pips), highest=highest)
            )
        self._hand_labels[number - 1] = pips
        self.tiles = ()
        self._learning.begin(self._hand_labels)

    def close(self) -> None:
        """Stop learning."""
        if self._learning is not None:
            self._learning.close()
            self._learning = None

    def _step_result(self, learned: LearningResult, image: Image) -> StepResult:
        self.tiles = tuple(
            LearnedTile(at + 1, (first, second), at in learned.doubtful)
            for at, (first, second) in enumerate(learned.pips.tolist())
        )
        stored = set_to_store(learned, image, self._before)
        note = f"drawn into {write_drawn(self._folder, 'set.png', draw_tiles(learned))}"
        after = replace(self._before, set=stored)
        return StepResult(
            after, _text(stored), tuple(_warnings(stored, learned, self.tiles)), self._shapes(learned), note
        )

    def _shapes(self, learned: LearningResult) -> tuple[Drawn, ...]:
        # The labels of doubtful tiles include the tile's number.
        outlines = corners(learned.seen[0].poses)
        return tuple(
            Drawn(Kind.TILE, points_of(outline), _label(tile), is_good=not tile.is_doubtful)
            for tile, outline in zip(self.tiles, outlines, strict=True)
        )


def _label(tile: LearnedTile) -> str:
    pips = _named(tile.pips)
    return f"{tile.number}: {pips}?" if tile.is_doubtful else pips


def _text(stored: LearnedSet) -> Phrase:
    before, after = (f"{100 * share:.1f}" for share in stored.misread)
    if stored.weights:
        better = phrase(
            "misread halves in worse light: {before} % as shipped, {after} % after learning",
            before=before,
            after=after,
        )
    elif stored.is_too_doubtful:
        better = phrase(
            "too many are unsure, so nothing was learned: correct them, or use better light; if your tiles show"
            " symbols instead of pips, enter the value of each double"
        )
    else:
        better = phrase(
            "learning did not help and is not used: misread halves in worse light: {after} %, {before} % as shipped",
            before=before,
            after=after,
        )
    return phrase(
        "{tiles} tiles of a set to double-{highest}; {better}",
        tiles=len(stored.tiles),
        highest=stored.max_pips,
        better=better,
    )


def _warnings(stored: LearnedSet, learned: LearningResult, tiles: tuple[LearnedTile, ...]) -> list[Phrase]:
    warnings = [] if stored.is_too_doubtful else _about_tiles(stored, tiles)
    backs = sum(picture.backs for picture in learned.seen)
    if backs:
        turn = plural(
            "1 tile is face down: turn it over to learn it too.",
            "{number} tiles are face down: turn them over to learn them too.",
            number=backs,
        )
        warnings.append(turn)
    return warnings


def _about_tiles(stored: LearnedSet, tiles: tuple[LearnedTile, ...]) -> list[Phrase]:
    warnings, count = [], stored.count
    doubtful = [tile for tile in tiles if tile.is_doubtful]
    if doubtful:
        labels = listed(
            phrase("{number} (read as {tile})", number=tile.number, tile=_named(tile.pips)) for tile in doubtful
        )
        warnings.append(phrase("Unsure: {tiles}. Correct them on the page.", tiles=labels))
    if count.missing:
        warnings.append(_missing(count.missing))
    if count.twice:
        warnings.append(phrase("Found twice: {tiles}.", tiles=listed(_named(pair[::-1]) for pair in count.twice)))
    shown = {pips for tile in tiles for pips in tile.pips}
    unseen = [str(number) for number, rgb in enumerate(stored.look.pips_rgb, 1) if rgb is None and number in shown]
    if unseen:
        pale = phrase(
            "Low contrast between pips and face: {numbers}. Use more light, or light from the side.",
            numbers=listed(unseen),
        )
        warnings.append(pale)
    return warnings


def _missing(pairs: tuple[TilePips, ...]) -> Phrase:
    named = listed(_named(pair[::-1]) for pair in pairs[:_MAX_NAMED])
    more = len(pairs) - _MAX_NAMED
    if more > 0:
        return phrase("Missing: {tiles} and {more} more.", tiles=named, more=more)
    return phrase("Missing: {tiles}.", tiles=named)


def _named(pips: TilePips) -> str:
    return f"{pips[0]}-{pips[1]}"


class LightStep(GuideStep):
    """Locks the camera's exposure and white balance, and checks that all pips are visible."""

    name, scene = StepName.LIGHT, AskedScene.TILES
    choices = (GuideChoice(GO_ON, phrase("measure")),)

    def __init__(self, before: Calibration, look: CalibrationCamera, read_tiles: ReadTiles, folder: Path) -> None:
        """Use the camera *look*. An annotated picture is drawn into *folder* if there are warnings."""
        self._before, self._look, self._read_tiles, self._folder = before, look, read_tiles, folder

    todo = (phrase("Switch on the light you play in, and lay tiles face up all over the table."),)

    @property
    def seen(self) -> tuple[str, ...]:
        """Report whether the camera has locked exposure and white balance, as a line of text."""
        return (phrase("Exposure and white balance: {state}.", state=_LIGHTS[self._look.light]),)

    def result(self) -> StepResult:
        """Return the measured light.

        Raises:
            RefusedError: If there is no picture, or it shows neither tiles nor markers.
        """
        image = self._picture()
        seen = look_at_light(image, self._read_tiles(image), self._look)
        if seen.kept.contrast is None:
            raise RefusedError(phrase("no tiles or markers are visible: lay tiles face up on the table"))
        note = ""
        if seen.found.warnings:
            note = f"drawn into {write_drawn(self._folder, 'light.png', draw_light(image, seen.found))}"
        low, high = seen.kept.contrast
        text = phrase("{low} to {high} grey levels between face and pips", low=f"{low:.0f}", high=f"{high:.0f}")
        return StepResult(
            replace(self._before, light=seen.kept), text, seen.found.warnings, _shapes_of(seen.found), note
        )


def _shapes_of(found: LightMeasurement) -> tuple[Drawn, ...]:
    """Return the outlines of tiles and markers, with poorly lit ones flagged, and the patches of glare."""
    spots = [(spot, found.trouble_at(spot)) for spot in found.samples]
    tiles = [
        Drawn(Kind.TILE, points_of(spot.corners_px), "" if trouble is None else trouble.value, is_good=trouble is None)
        for spot, trouble in spots
    ]
    patches = [
        Drawn(Kind.PATCH, points_of(_circle(x_px, y_px, radius_px)), Trouble.GLARE.value, is_good=False)
        for x_px, y_px, radius_px in found.patches
    ]
    return (*tiles, *patches)


def _circle(x_px: float, y_px: float, radius_px: float) -> list[tuple[float, float]]:
    angles = [math.tau * at / _ROUND for at in range(_ROUND)]
    return [(x_px + radius_px * math.cos(angle), y_px + radius_px * math.sin(angle)) for angle in angles]


class KnockStep(GuideStep):
    """Records sounds during the timetable: silence, then tiles, then knocks of each seat."""

    name, scene = StepName.KNOCK, None
    choices = (GuideChoice(_LISTEN, phrase("start listening")),)

    def __init__(self, before: Calibration, seats: int, make: MakeSensor, clock: Clock) -> None:
        """Listen with a sensor created by *make*."""
        self._before, self._make, self._clock = before, make, clock
        self._parts = timetable(seats)
        self._hearing: Hearing | None = None

    @property
    def todo(self) -> tuple[str, ...]:
        """Instruction for the current part."""
        if self._hearing is None:
            duration_s = self._parts[-1].to_s
            ready = phrase(
                "Have the tiles ready. Listening takes {seconds} seconds; follow the instructions.", seconds=duration_s
            )
            return (ready,)
        return (self._hearing.part.text,)

    @property
    def seen(self) -> tuple[str, ...]:
        """Remaining time of the current part of the timetable, and number of sounds heard in it."""
        if self._hearing is None:
            return ()
        part, passed_s = self._hearing.part, self._hearing.passed_s
        if passed_s < part.from_s:
            return (phrase("Get ready."),)
        count = sum(part.from_s <= sound.t_ns / NS_PER_S < part.to_s for sound in self._hearing.heard)
        more_s = max(0, round(part.to_s - passed_s))
        return (phrase("{seconds} seconds left, {sounds} sounds heard.", seconds=more_s, sounds=count),)

    @property
    def is_enough(self) -> bool:
        """True at the end of the timetable."""
        return self._hearing is not None and self._hearing.is_over

    def listen(self) -> None:
        """Collect the newest sounds. Close the sensor if it fails."""
        if self._hearing is None:
            return
        try:
            self._hearing.listen()
        except RefusedError:
            self.close()
            raise

    def pressed(self, key: str) -> None:
        """Start the timetable from the beginning, if *key* is the one for listening."""
        if key == _LISTEN:
            self.close()
            self._hearing = Hearing(self._make, self._parts, self._clock)

    def result(self) -> StepResult:
        """Return the knock calibration.

        Raises:
            RefusedError: If the timetable has not ended, or the calibration fails.
        """
        hearing = self._hearing
        if hearing is None or not hearing.is_over:
            raise RefusedError(phrase("listening has not finished"))
        self.close()
        calibration = fit_timetable(hearing.heard, self._parts)
        text = phrase(
            "{found} of {knocks} knocks detected, {passed} of {tiles} tile sounds mistaken for knocks",
            found=calibration.found,
            knocks=calibration.knocks,
            passed=calibration.passed,
            tiles=calibration.tiles,
        )
        warnings = (
            (phrase("Some tile sounds resemble a knock more than the weakest knock does."),)
            if calibration.margin < 0
            else ()
        )
        return StepResult(replace(self._before, knock=calibration), text, warnings)

    def close(self) -> None:
        """Close the sensor."""
        if self._hearing is not None:
            self._hearing.close()
            self._hearing = None


_SEATS = 4
_KEPT = phrase("unchanged")
_SKIPPED = phrase("skipped")


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
                self._refused = _error_text(error)

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
            self._refused = _error_text(error)
        # After a rejection, measure again only on request.
        if step.is_enough and not self._refused:
            self._stage = Stage.MEASURES

    def _measure(self) -> None:
        assert self._step is not None
        try:
            self._result = self._step.result()
        except (CalibrationError, KnockError, OSError) as error:
            self._refused, self._stage = _error_text(error), Stage.LOOKS
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
            self._refused = _error_text(error)
            return
        self.calibration = self._result.calibration
        self._leave(Progress(self._order[self._at], self._result.text, self._result.note))


def _error_text(error: CalibrationError | KnockError | OSError) -> str:
    """Return the message of an error, as a translatable phrase if possible."""
    match error:
        case CalibrationError():
            return error.text
        case KnockError():
            return str(error)
        case _:
            return phrase("cannot save: {why}", why=error.strerror or str(error))
