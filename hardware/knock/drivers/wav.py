"""A knock sensor that hears a WAV file as if it happened now: for demonstrations and for tests of a whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hardware.clock import Clock
from hardware.config.fields import NonEmpty
from hardware.knock.detector import KnockDetector
from hardware.knock.driver import KnockDriver
from hardware.knock.errors import WavError
from hardware.knock.heard import NS_PER_S, ClassifiedSound, SoundBlock
from hardware.knock.sensor import SensorLifecycle
from hardware.knock.wav import read_wav
from hardware.part_state import PartState
from hardware.pin_factory import OpenPins


class WavKnockSensor:
    """Plays a file once, at the pace of the clock, and hears what knocks in it.

    Args:
        path: The file.
        clock: Tells the time in ns on the clock of the game.
        detector: What listens, by default the shipped one.
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
        """A problem where the file is missing, no WAV file, or at its end."""
        return self._state

    def start(self) -> None:
        """Begin with the first sample now."""
        self._life.start()
        self._started_ns = self._clock()
        self._blocks = read_wav(self._path)
        self._next = self._take()

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return what was heard in the part of the file that is over by now."""
        self._life.require_open()
        heard: list[ClassifiedSound] = []
        while (block := self._next) is not None:
            lasts_ns = len(block.samples) * NS_PER_S // block.rate_hz
            if self._started_ns + block.t_ns + lasts_ns > self._clock():
                break
            heard += self._detector.feed(replace(block, t_ns=self._started_ns + block.t_ns))
            self._next = self._take()
        return tuple(heard)

    def close(self) -> None:
        """Stop playing."""
        self._life.end()
        self._next, self._blocks = None, iter(())

    def _take(self) -> SoundBlock | None:
        try:
            block = next(self._blocks, None)
        except (OSError, WavError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self._state = PartState(f"{self._path}: {why}")
            return None
        if block is None:
            self._state = PartState(f"{self._path}: at its end")
        return block


class WavSettings(KnockDriver):
    """A sound file, to try without a sensor."""

    driver: Literal["wav"]
    file: Annotated[NonEmpty, Field(description="the file")]

    def open(self, pins: OpenPins, clock: Clock, detector: Callable[[], KnockDetector]) -> WavKnockSensor:
        """Return the sensor."""
        return WavKnockSensor(Path(self.file), clock=clock, detector=detector())
