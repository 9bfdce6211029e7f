"""Input and output of the knock detector: blocks of sound, and classified sounds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Samples: TypeAlias = NDArray[np.float32] | NDArray[np.int16]
"""Samples of a microphone: shape (N,), float32 from -1 to 1, or int16."""

NS_PER_S = 1_000_000_000


class Sound(StrEnum):
    """What makes a sudden sound at a table; only the first is a knock."""

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


@dataclass(frozen=True, slots=True, eq=False)
class SoundBlock:
    """Some sound.

    Attributes:
        samples: Shape (N,): float32 from -1 to 1, or int16. NaN and infinity count as silence.
        t_ns: When the first sample was taken, on the clock of the game.
        rate_hz: Samples in a second, 4000 to 384000.
    """

    samples: Samples
    t_ns: int
    rate_hz: int = 16_000

    def __post_init__(self) -> None:
        """Refuse what is no sound."""
        if self.samples.ndim != 1 or self.samples.dtype not in (np.float32, np.int16):
            came = f"{self.samples.dtype} of shape {self.samples.shape}"
            raise ValueError(f"samples must be float32 or int16 of shape (N,), but got {came}")
        if not 4_000 <= self.rate_hz <= 384_000:
            raise ValueError(f"rate_hz must be 4000 to 384000, but got {self.rate_hz}")


@dataclass(frozen=True, slots=True)
class ClassifiedSound:
    """A sudden sound, and what it most likely is.

    Attributes:
        t_ns: When it began.
        seat: Whose side of the table it came from; None where the sensor cannot tell.
        strength: Its highest peak, as a share of the loudest that the sensor can hear, 0 to 1.
        confidence: How likely it is what *kind* says, 0 to 1.
        kind: What it is.
        in_row: 1, or 2 for the second knock of a double knock, and so on; 0 for what is no knock.
    """

    t_ns: int
    seat: int | None
    strength: float
    confidence: float
    kind: Sound = Sound.KNOCK
    in_row: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name, value in (("strength", self.strength), ("confidence", self.confidence)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be 0 to 1, but got {value}")
        if (self.in_row >= 1) != (self.kind is Sound.KNOCK):
            raise ValueError(f"a {self.kind} must be none or one in a row of knocks, but got in_row {self.in_row}")
