"""Knock sensors: blocks of audio and classified sounds, the interface, life cycle, and sensors on a device."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardware.part import Clock, PartState

Samples: TypeAlias = NDArray[np.float32] | NDArray[np.int16]
"""Audio samples: shape (N,), float32 from -1 to 1, or int16."""

NS_PER_S = 1_000_000_000
RATE_HZ = 16_000
"""Rate at which sound is analysed."""
# Probability of a hit from which a sound that is not classified as a knock may still be a pass. It is then reported to
# the game, which asks the players if nothing else decides.
DOUBTFUL = 0.2
# Probability of a hit from which a table may learn from a sound, once the game shows what it was.
LEARNABLE = 0.1


class Sound(StrEnum):
    """Kind of a sudden sound at a table. Only KNOCK is a hit with the hand that counts as a pass."""

    KNOCK = "knock"
    FINGER = "finger"
    NAIL = "nail"
    NAIL_TIP = "nail tip"
    TILE = "tile"
    SLAM = "slam"
    SHUFFLE = "shuffle"
    GLASS = "glass"
    SPEECH = "speech"
    NOTHING = "nothing"
    CLAP = "clap"
    COUGH = "cough"
    CHAIR = "chair"
    DOOR = "door"
    KEYS = "keys"
    TYPING = "typing"


@dataclass(frozen=True, slots=True, eq=False)
class SoundBlock:
    """A block of audio.

    Attributes:
        samples: Shape (N,): float32 from -1 to 1, or int16. NaN and infinity are treated as silence.
        t_ns: Time of the first sample, on the clock of the game.
        rate_hz: Samples per second, from 4000 to 384000.
    """

    samples: Samples
    t_ns: int
    rate_hz: int = RATE_HZ

    def __post_init__(self) -> None:
        if self.samples.ndim != 1 or self.samples.dtype not in (np.float32, np.int16):
            actual = f"{self.samples.dtype} of shape {self.samples.shape}"
            raise ValueError(f"samples must be float32 or int16 of shape (N,), but got {actual}")
        if not 4_000 <= self.rate_hz <= 384_000:
            raise ValueError(f"rate_hz must be 4000 to 384000, but got {self.rate_hz}")

    @property
    def end_ns(self) -> int:
        """Time at which the last sample ends."""
        return self.t_ns + len(self.samples) * NS_PER_S // self.rate_hz

    def as_float(self) -> NDArray[np.float32]:
        """Return the samples as float32. NaN and infinity become silence."""
        if self.samples.dtype == np.int16:
            return np.asarray(self.samples / np.float32(32768), np.float32)
        return np.asarray(np.nan_to_num(self.samples, nan=0.0, posinf=0.0, neginf=0.0), np.float32)


@dataclass(frozen=True, slots=True)
class ClassifiedSound:
    """A sudden sound with its most likely kind.

    Attributes:
        t_ns: Time of the onset.
        seat: Seat from whose side the sound came. None if the sensor cannot determine the side.
        strength: Peak amplitude as a share of the sensor's full scale, from 0 to 1.
        confidence: Probability of *kind*, from 0 to 1.
        in_row: Position in a series of knocks: 1 for the first, 2 for the second, and so on. 0 for other sounds.
        hit: Probability that a hand hit the table to pass, whatever the kind, from 0 to 1. By default *confidence* for
            a knock, and 0 for other sounds.
        embedding: Description of the sound by the shipped classifier. None from sensors that do not record sound.
    """

    t_ns: int
    seat: int | None
    strength: float
    confidence: float
    kind: Sound = Sound.KNOCK
    in_row: int = 1
    hit: float = math.nan
    embedding: tuple[float, ...] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the ranges, and that *in_row* agrees with *kind*. Replace a missing *hit*."""
        if math.isnan(self.hit):
            object.__setattr__(self, "hit", self.confidence if self.kind is Sound.KNOCK else 0.0)
        for name, value in (("strength", self.strength), ("confidence", self.confidence), ("hit", self.hit)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be 0 to 1, but got {value}")
        if (self.in_row >= 1) != (self.kind is Sound.KNOCK):
            raise ValueError(f"a {self.kind} must be none or one in a row of knocks, but got in_row {self.in_row}")

    @property
    def may_be_pass(self) -> bool:
        """Whether the game considers the sound: a knock, or a doubtful sound."""
        return self.kind is Sound.KNOCK or self.hit >= DOUBTFUL

    @property
    def is_learnable(self) -> bool:
        """Whether a table may learn from the sound."""
        return self.embedding is not None and self.hit >= LEARNABLE


class KnockError(Exception):
    """Base class of knock sensor errors."""


class KnockModelError(KnockError, ValueError):
    """A classifier file cannot be used."""


class KnockSensorError(KnockError, OSError):
    """A sensor cannot be opened: the device, its driver or its library is missing. The message suggests a fix."""


class WavError(KnockError, ValueError):
    """A file is not a supported WAV file, or is truncated."""


# Delays before retrying a failed device.
_FIRST_WAIT_NS = NS_PER_S // 2
_LONGEST_WAIT_NS = 30 * NS_PER_S


class KnockSensor(Protocol):
    """Detects knocks. A missing or unplugged device is reported by `state`, and `read` tries to open it again."""

    @property
    def state(self) -> PartState:
        """State of the sensor."""

    def start(self) -> None:
        """Start listening. May be called only once.

        Raises:
            KnockSensorError: If the library of the sensor is not installed.
            KnockError: If the sensor was started before.
        """

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the sudden sounds since the last call, in chronological order, without waiting.

        Raises:
            KnockError: If the sensor is not started, or is closed.
        """

    def close(self) -> None:
        """Stop and release the device. Further calls do nothing."""


class SensorLifecycle:
    """Life cycle of a sensor. It is started once, can be read while open, and may be closed repeatedly."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_started = self._is_closed = False

    def start(self) -> None:
        """Mark the sensor as started.

        Raises:
            KnockError: If it was started or closed before.
        """
        if self._is_started or self._is_closed:
            raise KnockError(f"{self._name}: started again, but a sensor is started once")
        self._is_started = True

    def require_open(self) -> None:
        """Check that the sensor is open.

        Raises:
            KnockError: If it is not started, or is closed.
        """
        if not self._is_started or self._is_closed:
            raise KnockError(f"{self._name}: read, but it is {'closed' if self._is_closed else 'not started'}")

    def end(self) -> bool:
        """Mark the sensor as closed. Return True if it was open, so that the device must be released."""
        is_first = self._is_started and not self._is_closed
        self._is_closed = True
        return is_first


class SensorDevice(SensorLifecycle):
    """A sensor on a device, with its library, its state, and retries.

    The delay before a retry is half a second at first, doubled after each failure, and at most 30 s.

    Args:
        name: Name used in messages.
        clock: Clock of the game, in nanoseconds.
        library: Imports and returns the module that accesses the device.
        comes_with: Command that installs the library.
    """

    def __init__(self, name: str, *, clock: Clock, library: Callable[[], Any], comes_with: str) -> None:
        super().__init__(name)
        self.library: Any = None
        self.lost = 0
        self.problem: str | None = None
        self._clock, self._import_library, self._comes_with = clock, library, comes_with
        self._wait_ns = _FIRST_WAIT_NS
        self._not_before_ns: int | None = None

    @property
    def state(self) -> PartState:
        """State of the device."""
        return PartState(self.problem, lost=self.lost)

    def start(self) -> None:
        """Import the library and start the life cycle.

        Raises:
            KnockSensorError: If the library cannot be imported.
            KnockError: If the sensor was started or closed before.
        """
        if self.library is None:
            try:
                self.library = self._import_library()
            except (ImportError, OSError) as error:  # OSError if a shared library is missing
                raise KnockSensorError(f"{self._name}: {error}; it comes with: {self._comes_with}") from error
        super().start()

    def failed(self, problem: str) -> None:
        """Record a failure, described by *problem*, which delays the next try."""
        self.problem = problem
        self._not_before_ns = self._clock() + self._wait_ns
        self._wait_ns = min(2 * self._wait_ns, _LONGEST_WAIT_NS)

    def worked(self) -> None:
        """Record a success, which resets the delay."""
        self.problem, self._wait_ns, self._not_before_ns = None, _FIRST_WAIT_NS, None

    def is_due(self) -> bool:
        """Return True if the device should be tried now."""
        return self._not_before_ns is None or self._clock() >= self._not_before_ns


class VirtualKnock(SensorLifecycle):
    """A sensor that returns simulated knocks. Thread-safe."""

    state = PartState()

    def __init__(self) -> None:
        super().__init__("virtual knock sensor")
        self._lock = threading.Lock()
        self._waiting: deque[ClassifiedSound] = deque()

    def knock(self, t_ns: int, seat: int | None = None, *, strength: float = 0.5, confidence: float = 1.0) -> None:
        """Queue a knock, even before the sensor is started. *strength* and *confidence* are from 0 to 1."""
        with self._lock:
            self._waiting.append(ClassifiedSound(t_ns, seat, strength, confidence))

    def read(self) -> tuple[ClassifiedSound, ...]:
        """Return the queued knocks, in order of time."""
        self.require_open()
        with self._lock:
            knocks = tuple(sorted(self._waiting, key=lambda knock: knock.t_ns))
            self._waiting.clear()
        return knocks

    def close(self) -> None:
        """Close the sensor."""
        self.end()
