"""A knock sensor that plays a WAV file in real time, for demonstrations and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hardware.clock import Clock
from hardware.config.part import NonEmpty
from hardware.knock.detector import KnockDetector
from hardware.knock.driver import KnockDriver
from hardware.knock.heard import NS_PER_S, ClassifiedSound, SoundBlock
from hardware.knock.sensor import SensorLifecycle, WavError
from hardware.knock.wav import read_wav
from hardware.libraries.pin_factory import OpenPins
from hardware.part_state import PartState

AT_END = "at its end"
"""End of the problem of a file that was played completely."""


class WavKnockSensor:
    """Detects knocks in a file that is played once, at the pace of the clock.

    Args:
        path: Path of the file.
        clock: Clock of the game, in nanoseconds.
        detector: Knock detector, by default with the shipped classifier.
    """

    def __init__(self, path: Path, *, clock: Clock, detector: KnockDetector | None = None) -> None:
        self._path, self._clock = path, clock
        self._detector = detector or KnockDetector()
        self._life = SensorLifecycle(f"file {path.name}")
        self._state = PartState()
        self._blocks: Iterator[SoundBlock] = iter(())
        self._next: SoundBlock | None = None
        self._started_ns = 0

    @property
    def state(self) -> PartState:
        """State of the sensor, with a problem if the file cannot be read or has ended."""
        return self._state

    def start(self) -> None:
        """Start playing now."""
        self._life.start()
        self._started_ns = self._clock()
        self._blocks = read_wav(self._path)
        self._next = self._read_block()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the sounds in the blocks that have ended since the last call."""
        self._life.require_open()
        sounds: list[ClassifiedSound] = []
        while (block := self._next) is not None:
            duration_ns = len(block.samples) * NS_PER_S // block.rate_hz
            if self._started_ns + block.t_ns + duration_ns > self._clock():
                break
            sounds += self._detector.feed(replace(block, t_ns=self._started_ns + block.t_ns))
            self._next = self._read_block()
        return tuple(sounds)

    def close(self) -> None:
        """Stop playing."""
        self._life.end()
        self._next, self._blocks = None, iter(())

    def _read_block(self) -> SoundBlock | None:
        try:
            block = next(self._blocks, None)
        except (OSError, WavError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._state = PartState(f"{self._path}: {reason}")
            return None
        if block is None:
            self._state = PartState(f"{self._path}: {AT_END}")
        return block


class WavSettings(KnockDriver):
    """A sound file, to try without a sensor."""

    driver: Literal["wav"]
    file: Annotated[NonEmpty, Field(description="the file")]

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> WavKnockSensor:
        """Return the sensor, not yet started."""
        return WavKnockSensor(Path(self.file), clock=clock, detector=detector())
