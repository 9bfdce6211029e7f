"""Input and output of the knock detector: blocks of audio, and classified sounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Samples: TypeAlias = NDArray[np.float32] | NDArray[np.int16]
"""Audio samples: shape (N,), float32 from -1 to 1, or int16."""

NS_PER_S = 1_000_000_000
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
    rate_hz: int = 16_000

    def __post_init__(self) -> None:
        """Check type, shape and rate."""
        if self.samples.ndim != 1 or self.samples.dtype not in (np.float32, np.int16):
            actual = f"{self.samples.dtype} of shape {self.samples.shape}"
            raise ValueError(f"samples must be float32 or int16 of shape (N,), but got {actual}")
        if not 4_000 <= self.rate_hz <= 384_000:
            raise ValueError(f"rate_hz must be 4000 to 384000, but got {self.rate_hz}")


@dataclass(frozen=True, slots=True)
class ClassifiedSound:
    """A sudden sound with its most likely kind.

    Attributes:
        t_ns: Time of the onset.
        seat: Seat from whose side the sound came. None if the sensor cannot determine the side.
        strength: Peak amplitude as a share of the sensor's full scale, from 0 to 1.
        confidence: Probability of *kind*, from 0 to 1.
        kind: Most likely kind.
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
