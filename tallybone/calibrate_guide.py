"""`tallybone calibrate guide`: one step after the other with somebody at the table, kept as soon as each is done."""

from __future__ import annotations

import sys
import time
from collections import deque
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TextIO

from rich.console import Console

from calibration.errors import CalibrationError
from calibration.lens import LensSource
from hardware.camera.device import Clock
from hardware.camera.open_device import is_device
from hardware.knock.errors import KnockError
from hardware.knock.microphone import MicrophoneKnockSensor
from tallybone.calibrate_command import ReadTiles, TableGiven, Talk, shipped_eye
from tallybone.calibrate_kept import say_calibration
from tallybone.calibrate_knock import MakeSensor
from tallybone.calibrate_lens_step import LensStep
from tallybone.calibrate_look import Onlooker, open_look
from tallybone.calibrate_screen import Board, Screen, screen_on
from tallybone.calibrate_sense_steps import KnockStep, LightStep
from tallybone.calibrate_steps import Result, Step, StepName
from tallybone.calibrate_table_steps import TableStep, ZonesStep
from tallybone.calibration_file import Calibration, load_calibration, save_calibration
from tallybone.keyboard import keyboard_on
from vision.errors import VisionError

_SEATS = 4
_SIMULATED = "simulated"
_WAIT_S = 0.02
_GO_ON, _SKIP, _AGAIN, _LEAVE = "\n\r ", "s", "a", "q"


class Keys(Protocol):
    """What somebody types."""

    @property
    def is_over(self) -> bool:
        """Whether no key will ever come."""

    def pressed(self, wait_s: float) -> str:
        """Return the keys that were pressed since the last call, after up to so many seconds."""


class Leaves(Exception):  # noqa: N818 - somebody's wish, no error
    """Somebody has typed q, or can type no more."""


@dataclass(frozen=True, slots=True)
class GuideWish:
    """What a guided calibration is asked for.

    Attributes:
        source: The camera, as `calibrate_look.open_look` takes it.
        into: The calibration file.
        seats: How many seats there are; None for as many as before, or four.
        given: What is said about tiles and print.
        microphone: Its number or a part of its name, "any", or "simulated"; None for a table that hears no knocks.
    """

    source: str
    into: Path
    seats: int | None = None
    given: TableGiven = field(default_factory=TableGiven)
    microphone: str | None = None


def guide_through(
    wish: GuideWish,
    *,
    keys: Keys | None = None,
    read_tiles: ReadTiles | None = None,
    clock: Clock = time.monotonic_ns,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Lead somebody through the calibration, from where it stopped the last time.

    Args:
        wish: What is calibrated.
        keys: What is typed, by default at the terminal.
        read_tiles: What finds tiles, by default the shipped eye.
        clock: Monotonic, in nanoseconds.
        out: Where it is shown, by default stdout.
        err: Where errors go, by default stderr.

    Returns:
        The exit code: 0, also where it is left before the end, or 1 if camera or file cannot be used.
    """
    talk = Talk(out or sys.stdout, err or sys.stderr)
    console = Console(file=talk.out, highlight=False)
    try:
        calibration = load_calibration(wish.into)
        look = open_look(wish.source, clock)
        try:
            typing = keyboard_on(sys.stdin.fileno()) if keys is None else nullcontext(keys)
            with screen_on(console) as screen, typing as typed:
                guide = _Guide(wish, look, screen, typed, read_tiles or shipped_eye, clock)
                calibration = guide.run(calibration)
        finally:
            look.close()
    except (CalibrationError, VisionError, OSError) as error:
        return talk.complain(str(error))
    say_calibration(calibration, talk)
    if not wish.into.exists():
        talk.say("Nothing was kept.")
        return 0
    play = f"--camera {wish.source}" if is_device(wish.source) else f"--calibration {wish.into}"
    talk.say(f"Kept in {wish.into}. Play with it: tallybone play {play}")
    return 0


class _Guide:
    """Goes from step to step."""

    def __init__(
        self, wish: GuideWish, look: Onlooker, screen: Screen, keys: Keys, read_tiles: ReadTiles, clock: Clock
    ) -> None:
        self._wish, self._look, self._screen, self._keys, self._read_tiles = wish, look, screen, keys, read_tiles
        self._clock = clock
        # A table that hears no knocks has no such step.
        self._order = tuple(name for name in StepName if name is not StepName.KNOCK or wish.microphone is not None)
        self._typed: deque[str] = deque()
        self._done: list[tuple[str, str]] = []

    def run(self, calibration: Calibration) -> Calibration:
        """Return the calibration with all that was done."""
        try:
            for name in self._order:
                calibration = self._step(name, calibration)
        except Leaves:
            pass
        return calibration

    def _step(self, name: StepName, before: Calibration) -> Calibration:
        """Do a step until it is done or skipped, and keep what came of it."""
        is_guess = name is StepName.LENS and before.lens is not None and before.lens.source is LensSource.GUESS
        if getattr(before, name.value) is not None and not is_guess and not self._is_again(name):
            self._done.append((name.value, "as it was"))
            return before
        while True:
            result = self._measured(self._made(name, before))
            if result is None:
                self._done.append((name.value, "skipped"))
                return before
            if not result.warnings or self._is_taken(name, result):
                save_calibration(result.calibration, self._wish.into)
                self._done.append((name.value, result.words))
                return result.calibration

    def _made(self, name: StepName, before: Calibration) -> Step:
        drawn = self._wish.into.with_suffix("")
        match name:
            case StepName.LENS:
                return LensStep(before)
            case StepName.TABLE:
                return TableStep(before, self._wish.given, self._read_tiles)
            case StepName.ZONES:
                return ZonesStep(before, self._seats(before), drawn)
            case StepName.LIGHT:
                self._look.hold_light()
                return LightStep(before, self._look, self._read_tiles, drawn)
            case StepName.KNOCK:
                return KnockStep(
                    before, self._seats(before), _sensor(self._wish, self._seats(before), self._clock), self._clock
                )

    def _seats(self, before: Calibration) -> int:
        return self._wish.seats or (len(before.zones.seats) if before.zones is not None else 0) or _SEATS

    def _measured(self, step: Step) -> Result | None:
        """Let a step look until it is enough or Enter is pressed; None if it is skipped."""
        with closing(step):
            return self._looked(step)

    def _looked(self, step: Step) -> Result | None:
        refused = ""
        if step.scene is not None:
            self._look.present(step.scene)
        keys = f"{step.keys}   s: skip   q: end"
        while True:
            try:
                self._sense(step)
            except CalibrationError as error:
                refused = str(error)
            problem = None if step.scene is None else self._look.problem
            seen = step.seen if problem is None else (problem,)
            self._show(step.name, step.todo, (*seen, *([f"Not yet: {refused}."] if refused else [])), keys)
            key = self._key()
            if key == _SKIP:
                return None
            try:
                if key and key not in _GO_ON:
                    refused = ""
                    step.pressed(key)
                if step.is_enough or (key and key in _GO_ON):
                    return step.result()
            except (CalibrationError, KnockError) as error:
                refused = str(error)

    def _sense(self, step: Step) -> None:
        """Let a step look and listen.

        Raises:
            CalibrationError: If it can hear nothing.
        """
        image = None if step.scene is None else self._look.take()
        if image is not None:
            step.see(image)
        step.listen()

    def _is_again(self, name: StepName) -> bool:
        """Return whether somebody wants to do a step again that was done before."""
        todo = ("This was done before. Enter keeps it, a does it again.",)
        return self._asked(name, todo, (), _GO_ON + _AGAIN, "Enter: keep it   a: again   q: end") == _AGAIN

    def _is_taken(self, name: StepName, result: Result) -> bool:
        """Return whether somebody takes a result that is not quite good."""
        todo = (f"{result.words}. It could be better:",)
        keys = "a: again   Enter: take it so   q: end"
        return self._asked(name, todo, result.warnings, _GO_ON + _AGAIN, keys) != _AGAIN

    def _asked(self, name: StepName, todo: tuple[str, ...], seen: tuple[str, ...], wanted: str, keys: str) -> str:
        while True:
            self._show(name, todo, seen, keys)
            key = self._key()
            if key and key in wanted:
                return key

    def _show(self, name: StepName, todo: tuple[str, ...], seen: tuple[str, ...], keys: str) -> None:
        waiting = self._order[self._order.index(name) + 1 :]
        title = f"Calibration of {self._wish.source}, step {self._order.index(name) + 1} of {len(self._order)}"
        self._screen.show(Board(title, tuple(self._done), name.value, todo, seen, tuple(waiting), keys))

    def _key(self) -> str:
        """Return the next key, "" for none.

        Raises:
            Leaves: If it is q, or no key will ever come.
        """
        if not self._typed:
            self._typed.extend(self._keys.pressed(_WAIT_S).lower())
        if not self._typed:
            if self._keys.is_over:
                raise Leaves
            return ""
        key = self._typed.popleft()
        if key == _LEAVE:
            raise Leaves
        return key


def _sensor(wish: GuideWish, seats: int, clock: Clock) -> MakeSensor:
    """Return what makes the sensor that is wished."""
    if wish.microphone == _SIMULATED:
        from tallybone.calibrate_sound import ModelledSensor, knock_sitting

        return lambda detector: ModelledSensor(knock_sitting(1, seats), detector, clock)
    name = None if wish.microphone in (None, "any") else wish.microphone
    device = int(name) if name is not None and name.isdecimal() else name
    return lambda detector: MicrophoneKnockSensor(clock=clock, device=device, detector=detector)
