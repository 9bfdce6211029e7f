"""Run `tallybone listen --live`: a meter in the terminal for a microphone, or a file played in real time."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live

from calibration.errors import CalibrationError
from hardware.knock.classifier import Classifier
from hardware.knock.drivers.microphone import MicrophoneKnockSensor, MicrophoneSettings
from hardware.knock.drivers.wav import AT_END, WavKnockSensor, WavSettings
from hardware.knock.heard import NS_PER_S
from hardware.knock.metering import MeteredSound, MeteringDetector
from hardware.knock.sensor import KnockError, KnockSensor
from hardware.knock.signal_quality import FAULT_ADVICE, SignalFault
from hardware.part_state import PartState
from tallybone.play.keys import Typed, keyboard_on
from tallybone.play.start import knocks_at
from tallybone.show.sound_meter import MAX_SOUNDS, MeterReading, draw_meter, pass_verdict, plain_sound
from tallybone.store.table_file import USUAL_CAMERA, load_table
from tallybone.terminal import Output, printable, quiet_libraries, stop_requested

# Redraw interval. Blocks of the microphone last 64 ms.
_TICK_S = 0.1
_LINE_NS = NS_PER_S
# Silence for a shorter time is the start of a microphone.
_MUTED_S = 2.0


@dataclass(frozen=True, slots=True)
class SoundSource:
    """A microphone or file to listen to.

    Attributes:
        name: Name shown to the user.
        open: Returns the sensor, not yet started, for a clock and a detector.
        classifier: Classifier of the table's calibration. None for the shipped one.
    """

    name: str
    open: Callable[[Callable[[], int], MeteringDetector], KnockSensor]
    classifier: Classifier | None = None


class LiveListener(Protocol):
    """Shows what is heard."""

    def heard(self, sound: MeteredSound, reading: MeterReading) -> None:
        """Show a sound. *reading* already contains it."""

    def measured(self, reading: MeterReading) -> None:
        """Show the levels."""


def file_source(path: Path) -> SoundSource:
    """Return a WAV file as a source that is played in real time."""
    return SoundSource(path.name, lambda clock, detector: WavKnockSensor(path, clock=clock, detector=detector))


def microphone_source(device: str | None, config: Path | None) -> SoundSource:
    """Return a microphone: *device*, or that of table.toml, or the system's default if table.toml has no knock sensor.

    Raises:
        KnockError: If table.toml has a knock sensor that records no sound.
        TableFileError: If table.toml is invalid.
        CalibrationError: If the stored calibration is damaged.
        OSError: If a file cannot be read.
    """
    table = load_table(config)
    part = table.hardware.knock
    knocks = knocks_at(table.camera or USUAL_CAMERA, None, os.environ, Path.home())
    if knocks is not None and knocks.problems:
        raise CalibrationError(knocks.problems[0])
    classifier = None if knocks is None else knocks.classifier()
    if device is not None:
        number = int(device) if device.isascii() and device.isdecimal() else device
        return _microphone(f"microphone {device}", number, classifier)
    if part is None:
        return _microphone("default microphone (none in table.toml)", None, classifier)
    if isinstance(part, MicrophoneSettings):
        name = "default microphone" if part.device is None else f"microphone {part.device}"
        return _microphone(name, part.device, classifier)
    if isinstance(part, WavSettings):
        return file_source(Path(part.file))
    raise KnockError(
        f"table.toml: [hardware.knock] is {part.driver}, which records no sound: name a microphone with --device"
    )


def _microphone(name: str, device: int | str | None, classifier: Classifier | None) -> SoundSource:
    return SoundSource(
        name,
        lambda clock, detector: MicrophoneKnockSensor(clock=clock, device=device, detector=detector),
        classifier,
    )


def listen_live(
    source: SoundSource,
    *,
    as_json: bool = False,
    out: TextIO | None = None,
    err: TextIO | None = None,
    clock: Callable[[], int] = time.monotonic_ns,
    keyboard: Typed | None = None,
) -> int:
    """Show what a microphone hears until Ctrl-C, q or the end of a file.

    Args:
        source: The microphone or file.
        as_json: Print a line of JSON per sound and a line with the level per second, instead of the meter.
        out: Receives the meter, by default stdout. Without a terminal, a line of text per sound.
        err: Receives errors, by default stderr.
        clock: Monotonic, in nanoseconds.
        keyboard: Keys, by default those of stdin.

    Returns:
        The exit code: 0, or 1 if the microphone cannot be opened or the file cannot be read completely.
    """
    output = Output.of("listen", out, err)
    console, problem = output.console, ""
    detector = MeteringDetector(source.classifier)
    sensor = source.open(clock, detector)
    keys = nullcontext(keyboard) if keyboard is not None else keyboard_on(sys.stdin.fileno())
    try:
        # PortAudio writes warnings to stderr, which would corrupt the meter.
        with quiet_libraries(), stop_requested() as stop, keys as typed:
            sensor.start()
            problem = _opening_problem(sensor.state)
            if not problem:
                with _listener_for(console, output, as_json=as_json) as listener:
                    run = _LiveRun(source.name, sensor, detector, clock, listener)
                    while not run.is_over and not stop.is_requested and "q" not in typed.pressed(_TICK_S).lower():
                        run.step()
                    problem = run.end()
    except KnockError as error:  # the library is not installed
        problem = str(error)
    finally:
        sensor.close()
    return output.complain(problem + _remedy(problem, sensor)) if problem else 0


def _opening_problem(state: PartState) -> str:
    """Return the problem of a sensor that was just started, or "". A file without sound is at its end."""
    return "" if state.problem is None or state.problem.endswith(AT_END) else state.problem


def _remedy(problem: str, sensor: KnockSensor) -> str:
    """Return advice on a microphone that cannot be opened, or "". Only one program can use most microphones."""
    if not isinstance(sensor, MicrophoneKnockSensor) or "cannot be opened" not in problem:
        return ""
    if any(word in problem.lower() for word in ("busy", "in use", "unavailable")):
        return "; end the game that uses it: sudo systemctl stop tallybone"
    return "; list the microphones: arecord -l"


class _LiveRun:
    """Reads a sensor step by step and passes the results to a listener."""

    def __init__(
        self,
        name: str,
        sensor: KnockSensor,
        detector: MeteringDetector,
        clock: Callable[[], int],
        listener: LiveListener,
    ) -> None:
        self._name, self._sensor, self._detector = name, sensor, detector
        self._clock, self._listener = clock, listener
        self._started_ns = clock()
        self._sounds: deque[MeteredSound] = deque(maxlen=MAX_SOUNDS)
        self._is_file = isinstance(sensor, WavKnockSensor)

    @property
    def is_over(self) -> bool:
        """True if a file has ended."""
        return self._is_file and self._sensor.state.problem is not None

    def step(self) -> None:
        """Read the sounds since the last step, and show them."""
        self._sensor.read()
        self._show()

    def end(self) -> str:
        """Show the sounds at the end of a file. Return the reason why it could not be read completely, or ""."""
        if not self.is_over:
            return ""
        self._detector.finish()
        self._show()
        return _opening_problem(self._sensor.state)

    def _show(self) -> None:
        for heard in self._detector.take_metered():
            self._sounds.appendleft(heard)
            self._listener.heard(heard, self._reading())
        self._listener.measured(self._reading())

    def _reading(self) -> MeterReading:
        detector = self._detector
        return MeterReading(
            self._name,
            self._clock(),
            self._started_ns,
            detector.level_db,
            detector.peak_db,
            detector.noise_db,
            tuple(self._sounds),
            self._faults(),
            self._sensor.state.lost,
            self._warnings(),
        )

    def _faults(self) -> tuple[SignalFault, ...]:
        """Return the faults of the last ten seconds. A microphone that has just started is not muted."""
        quality = self._detector.quality
        if quality is None or (quality.is_muted and quality.duration_s < _MUTED_S):
            return ()
        return quality.faults()

    def _warnings(self) -> tuple[str, ...]:
        """Return the faults of the device and of the signal. The end of a file is none."""
        state = self._sensor.state
        text = [] if self._is_file or state.problem is None else [state.problem]
        if state.lost:
            text.append(f"the driver lost sound {state.lost} times: the computer is busy or the USB hub is weak")
        if state.warning is not None:
            text.append(state.warning)
        text += [FAULT_ADVICE[fault] for fault in self._faults()]
        return tuple(dict.fromkeys(text))


@contextmanager
def _listener_for(console: Console, output: Output, *, as_json: bool) -> Iterator[LiveListener]:
    if as_json:
        yield _JsonListener(output)
    elif console.is_terminal and not console.is_dumb_terminal:
        with Live(console=console, auto_refresh=False, screen=True) as live:
            screen = _ScreenListener(live)
            yield screen
        if screen.last is not None:
            columns, rows = console.size
            console.print(draw_meter(screen.last, columns, rows - 2))  # with the prompt below it
    else:
        yield _PlainListener(output)


class _ScreenListener:
    """Redraws the meter."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self.last: MeterReading | None = None

    def heard(self, sound: MeteredSound, reading: MeterReading) -> None:
        """Do nothing: `measured` follows."""

    def measured(self, reading: MeterReading) -> None:
        """Redraw."""
        self.last = reading
        self._live.update(draw_meter(reading, *self._live.console.size), refresh=True)


class _PlainListener:
    """Prints a line for each sound and each new warning."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._warned: tuple[str, ...] = ()

    def heard(self, sound: MeteredSound, reading: MeterReading) -> None:
        """Print a sound."""
        self._output.write(plain_sound(sound, reading.started_ns))

    def measured(self, reading: MeterReading) -> None:
        """Print the warnings if they have changed."""
        for text in reading.warnings:
            if text not in self._warned:
                self._output.write(printable(f"! {text}"))
        self._warned = reading.warnings


class _JsonListener:
    """Prints a line of JSON for each sound, and one with the level for each second."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._next_ns: int | None = None

    def heard(self, sound: MeteredSound, reading: MeterReading) -> None:
        """Print a sound."""
        heard = sound.sound
        self._write(
            event="sound",
            t_s=round((heard.t_ns - reading.started_ns) / NS_PER_S, 4),
            kind=heard.kind.value,
            confidence=round(heard.confidence, 4),
            hit=round(heard.hit, 4),
            strength=round(heard.strength, 4),
            above_noise_db=round(sound.above_noise_db, 1),
            clipped=sound.is_clipped,
            verdict=pass_verdict(sound),
        )

    def measured(self, reading: MeterReading) -> None:
        """Print the level, once per second."""
        if self._next_ns is None:
            self._next_ns = reading.started_ns + _LINE_NS
        if reading.now_ns < self._next_ns or reading.level_db is None:
            return
        self._next_ns += _LINE_NS * (1 + (reading.now_ns - self._next_ns) // _LINE_NS)
        self._write(
            event="level",
            t_s=round((reading.now_ns - reading.started_ns) / NS_PER_S, 1),
            level_db=_rounded_db(reading.level_db),
            peak_db=_rounded_db(reading.peak_db),
            noise_db=_rounded_db(reading.noise_db),
            lost=reading.lost,
            faults=[fault.value for fault in reading.faults],
            warnings=list(reading.warnings),
        )

    def _write(self, **values: object) -> None:
        self._output.write(json.dumps(values))


def _rounded_db(level_db: float | None) -> float | None:
    return None if level_db is None else round(level_db, 1)
