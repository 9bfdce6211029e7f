"""Run `tallybone calibrate knock`: record silence, tiles and knocks, or read them from a file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from calibration import CalibrationError, RefusedError
from calibration.knock import CollectingDetector, KnockCalibration, fit_knock
from hardware.knock.detector import KnockDetector
from hardware.knock.drivers.microphone import MicrophoneKnockSensor
from hardware.knock.drivers.wav import read_wav, with_trailing_silence
from hardware.knock.sensor import NS_PER_S, ClassifiedSound, KnockError, KnockSensor
from hardware.part import Clock
from tallybone.calibrate.known import about_knock
from tallybone.calibrate.look import TimetablePart, timetable
from tallybone.laboratory import SIMULATED, SIMULATIONS, from_lab
from tallybone.store.calibration_file import load_calibration, save_calibration
from tallybone.store.learned_file import learned_path
from tallybone.terminal import Output

MakeSensor: TypeAlias = Callable[[KnockDetector], KnockSensor]
"""Function that creates a sensor, not yet started, that feeds its sound to a detector."""
_POLL_S = 0.05


def calibrate_knock(
    into: Path,
    seats: int,
    *,
    wav: Path | None = None,
    device: int | str | None = None,
    sensor: MakeSensor | None = None,
    clock: Clock = time.monotonic_ns,
    pause: Callable[[float], object] | None = None,
    output: Output | None = None,
) -> int:
    """Calibrate the knocks at a table, and store the result. The exit code is 0, or 1 if the calibration failed.

    Args:
        into: Calibration file.
        seats: Number of seats, which knock one after the other.
        wav: Sound file that follows the timetable. None to record with a microphone now.
        device: Number of the microphone, or part of its name.
        sensor: Creates the sensor, by default for that microphone.
        clock: Monotonic clock in nanoseconds.
        pause: Sleep function that takes seconds, by default in real time.
        output: Output for instructions and result.
    """
    output = output or Output("calibrate")
    parts = timetable(seats)
    try:
        before = load_calibration(into)
        if wav is not None:
            detector = CollectingDetector()
            for block in with_trailing_silence(read_wav(wav)):
                detector.feed(block)
            sounds = list(detector.take())
        else:
            make = sensor or (lambda detector: MicrophoneKnockSensor(clock=clock, device=device, detector=detector))
            sounds = _record(make, parts, clock, pause or threading.Event().wait, output)
        result = fit_timetable(sounds, parts)
        save_calibration(replace(before, knock=result), into)
    except (CalibrationError, KnockError, OSError) as error:
        return output.complain(error)
    print_knock(result, output)
    output.say(f"Written to {into}")
    return 0


def forget_knocks(calibration: Path, *, output: Output | None = None) -> int:
    """Delete what the table with this calibration file has learned in matches. Return the exit code, 0 or 1."""
    output = output or Output("calibrate")
    path = learned_path(calibration)
    try:
        is_known = path.exists()
        path.unlink(missing_ok=True)
    except OSError as error:
        return output.complain(error)
    output.say(f"Deleted {path}: knocks learned in matches." if is_known else "No knocks were learned in matches.")
    return 0


def sensor_for(microphone: str, seats: int, clock: Clock) -> MakeSensor:
    """Return a function that creates sensors. *microphone* is a number, part of a name, "any", or "simulated"."""
    if microphone == SIMULATED:
        simulate = from_lab(SIMULATIONS, "knocks", wanted="a simulated microphone")
        return lambda detector: simulate(detector, seats=seats, clock=clock)
    name = None if microphone == "any" else microphone
    device = int(name) if name is not None and name.isdecimal() else name
    return lambda detector: MicrophoneKnockSensor(clock=clock, device=device, detector=detector)


def print_knock(result: KnockCalibration, output: Output) -> None:
    """Print the accuracy of knock detection, and the properties of the microphone."""
    output.say(about_knock(result))
    if result.margin < 0:
        output.say(
            "Warning: some tile sounds resemble a knock more than the weakest knock does, so the camera must confirm"
            " passes."
        )
    if result.strengths:
        loud = ", ".join(f"seat {at + 1} {strength:.2f}" for at, strength in enumerate(result.strengths))
        output.say(f"Loudness, 0 to 1: {loud}.")


def _record(
    make: MakeSensor, parts: tuple[TimetablePart, ...], clock: Clock, pause: Callable[[float], object], output: Output
) -> list[ClassifiedSound]:
    """Print the instructions of the timetable when they are due, and return its sounds, with times since its start."""
    announced: TimetablePart | None = None
    with closing(Hearing(make, parts, clock)) as hearing:
        while not hearing.is_over:
            hearing.listen()
            if hearing.part is not announced:
                announced = hearing.part
                output.say(f"{announced.text} ({announced.to_s - announced.from_s} seconds)")
            pause(_POLL_S)
    return hearing.heard


class Hearing:
    """Records sounds during the timetable, which starts immediately."""

    def __init__(self, make: MakeSensor, parts: tuple[TimetablePart, ...], clock: Clock) -> None:
        """Create a sensor with *make*, and start it.

        Raises:
            KnockError: If the sensor cannot be started.
        """
        self._parts, self._clock, self._detector = parts, clock, CollectingDetector()
        self.heard: list[ClassifiedSound] = []
        self._sensor = make(self._detector)
        self._sensor.start()
        self._began_ns = clock()

    @property
    def passed_s(self) -> float:
        """Seconds since the start."""
        return (self._clock() - self._began_ns) / NS_PER_S

    @property
    def part(self) -> TimetablePart:
        """Current part of the timetable, or the last one at the end."""
        return next((part for part in self._parts if self.passed_s < part.to_s), self._parts[-1])

    @property
    def is_over(self) -> bool:
        """True from a second after the end of the last part, when all of its sounds have been processed."""
        return self.passed_s >= self._parts[-1].to_s + 1

    def listen(self) -> None:
        """Append the sounds since the last call to `heard`.

        Raises:
            RefusedError: If the sensor has a problem before the end. The message is the problem.
        """
        self._sensor.read()
        self.heard += [replace(sound, t_ns=sound.t_ns - self._began_ns) for sound in self._detector.take()]
        problem = self._sensor.state.problem
        if problem is not None and not self.is_over:
            raise RefusedError(problem)

    def close(self) -> None:
        """Close the sensor."""
        self._sensor.close()


def fit_timetable(sounds: list[ClassifiedSound], parts: tuple[TimetablePart, ...]) -> KnockCalibration:
    """Fit the knock calibration to sounds that follow a timetable. Sounds between its parts are ignored.

    Raises:
        RefusedError: If the sounds are insufficient, or knocks and tiles are not separable.
    """
    quiet, tiles, *seats = (
        [sound for sound in sounds if part.from_s <= sound.t_ns / NS_PER_S < part.to_s] for part in parts
    )
    return fit_knock(quiet, tiles, seats)
