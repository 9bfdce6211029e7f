"""Run `tallybone calibrate knock`: listen to quiet, tiles and knocks, at a table or in a recording."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from calibration.errors import CalibrationError, RefusedError
from calibration.knock.fit import CollectingDetector, JudgedSound, KnockCalibration, fit_knock
from hardware.clock import Clock
from hardware.knock.detector import KnockDetector
from hardware.knock.drivers.microphone import MicrophoneKnockSensor
from hardware.knock.errors import KnockError
from hardware.knock.heard import NS_PER_S
from hardware.knock.sensor import KnockSensor
from hardware.knock.wav import read_wav, with_trailing_silence
from tallybone.calibrate.known import about_knock
from tallybone.calibrate.scenes import TimetablePart, timetable
from tallybone.store.calibration_file import load_calibration, save_calibration
from tallybone.terminal import Output

MakeSensor: TypeAlias = Callable[[KnockDetector], KnockSensor]
"""Returns a sensor, not started, for the detector that listens to its sound."""
_POLL_S = 0.05
_SIMULATED = "simulated"


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
    """Learn how knocks sound at a table, and store it.

    Args:
        into: The calibration file.
        seats: How many knock, one after the other.
        wav: A recording that follows the timetable; otherwise a microphone listens now.
        device: Which microphone: its number or a part of its name.
        sensor: Makes the sensor, by default that microphone.
        clock: Monotonic, in nanoseconds.
        pause: Waits a number of seconds, by default of real time.
        output: Takes the instructions and the result.

    Returns:
        The exit code: 0, or 1 if knocks cannot be told from tiles, or nothing was heard.
    """
    output = output or Output("calibrate")
    parts = timetable(seats)
    try:
        before = load_calibration(into)
        if wav is not None:
            heard = _from_file(wav)
        else:
            made = sensor or (lambda detector: MicrophoneKnockSensor(clock=clock, device=device, detector=detector))
            heard = _at_table(made, parts, clock, pause or threading.Event().wait, output)
        kept = fitted(heard, parts)
        save_calibration(replace(before, knock=kept), into)
    except (CalibrationError, KnockError, OSError) as error:
        return output.complain(error)
    print_knock(kept, output)
    output.say(f"Written to {into}")
    return 0


def sensor_for(microphone: str, seats: int, clock: Clock) -> MakeSensor:
    """Return a maker of sensors: *microphone* is a number, a part of a name, "any", or "simulated"."""
    if microphone == _SIMULATED:
        from tallybone.calibrate.simulated import ModelledSensor, knock_sitting  # much to load

        return lambda detector: ModelledSensor(knock_sitting(1, seats), detector, clock)
    name = None if microphone == "any" else microphone
    device = int(name) if name is not None and name.isdecimal() else name
    return lambda detector: MicrophoneKnockSensor(clock=clock, device=device, detector=detector)


def print_knock(kept: KnockCalibration, output: Output) -> None:
    """Print how well knocks are told from tiles."""
    output.say(about_knock(kept))
    if kept.margin < 0:
        output.say("Attention: some tiles sound more like a knock than the weakest knock. The eye has to help.")
    if kept.brighter_db:
        how = "brighter" if kept.brighter_db > 0 else "duller"
        output.say(
            f"The microphone is {abs(kept.brighter_db):.0f} dB in each octave {how} than most: that is reckoned with."
        )
    if kept.strengths:
        loud = ", ".join(f"seat {at + 1} {strength:.2f}" for at, strength in enumerate(kept.strengths))
        output.say(f"How loud they were, of 1: {loud}.")


def _from_file(wav: Path) -> list[JudgedSound]:
    detector = CollectingDetector()
    for block in with_trailing_silence(read_wav(wav)):
        detector.feed(block)
    return list(detector.take())


def _at_table(
    made: MakeSensor, parts: tuple[TimetablePart, ...], clock: Clock, pause: Callable[[float], object], output: Output
) -> list[JudgedSound]:
    """Return the sounds of the whole timetable, times from its start."""
    told: TimetablePart | None = None
    with closing(Hearing(made, parts, clock)) as hearing:
        while not hearing.is_over:
            hearing.listen()
            if hearing.part is not told:
                told = hearing.part
                output.say(f"{told.words} ({told.to_s - told.from_s} seconds)")
            pause(_POLL_S)
    return hearing.heard


class Hearing:
    """Goes through the timetable with a sensor; starts at once."""

    def __init__(self, made: MakeSensor, parts: tuple[TimetablePart, ...], clock: Clock) -> None:
        """Start the sensor that *made* gives for a detector.

        Raises:
            KnockError: If it cannot be had.
        """
        self._parts, self._clock, self._detector = parts, clock, CollectingDetector()
        self.heard: list[JudgedSound] = []
        self._sensor = made(self._detector)
        self._sensor.start()
        self._began_ns = clock()

    @property
    def passed_s(self) -> float:
        """Seconds since the start."""
        return (self._clock() - self._began_ns) / NS_PER_S

    @property
    def part(self) -> TimetablePart:
        """The part of the timetable that it is time for."""
        return next((part for part in self._parts if self.passed_s < part.to_s), self._parts[-1])

    @property
    def is_over(self) -> bool:
        """Whether the last part is over, and its last sound heard."""
        return self.passed_s >= self._parts[-1].to_s + 1

    def listen(self) -> None:
        """Take the sounds since the last call.

        Raises:
            RefusedError: If the sensor fails; with the reason.
        """
        self._sensor.read()
        self.heard += [replace(one, t_ns=one.t_ns - self._began_ns) for one in self._detector.take()]
        problem = self._sensor.state.problem
        if problem is not None and not self.is_over:
            raise RefusedError(problem)

    def close(self) -> None:
        """Close the sensor."""
        self._sensor.close()


def fitted(heard: list[JudgedSound], parts: tuple[TimetablePart, ...]) -> KnockCalibration:
    """Return the calibration by sounds that follow a timetable.

    Raises:
        RefusedError: If there are not enough sounds.
    """
    quiet, tiles, *own = ([one for one in heard if part.from_s <= one.t_ns / NS_PER_S < part.to_s] for part in parts)
    return fit_knock(quiet, tiles, own)
