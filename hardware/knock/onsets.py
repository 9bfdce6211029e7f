"""Detect onsets: level against a floor that follows the noise, in steps of two milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
STEP = 32
# Samples are looked at in portions of this length, whatever the blocks they came in: so the result is the same.
PORTION = 512

# So much louder than the floor, and than what still rings, a sound has to be: 9 dB and 6 dB.
_ABOVE_FLOOR, _ABOVE_RINGING = 8.0, 4.0
# So soon after a sound only a louder one (7 dB) is another, and then it is the one that counts.
_FAR_LOUDER = 5.0
# Below -66 dB of full scale nothing is heard: the last bits of a cheap converter.
_LEAST_POWER = 10**-6.6 / 2
# What rings after a sound hides what is 20 dB quieter for 100 ms: a table and its room ring down that fast.
_RINGS_ON = 10 ** (-2.0 * STEP / (0.100 * RATE_HZ))
# From here on a second sound is one of its own: the contacts of a tile are over, and nobody knocks faster.
_REFRACTORY_STEPS = round(0.070 * RATE_HZ / STEP)
# The floor doubles in a quarter of a second, and halves in 20 ms: it is the level between the sounds.
_RISES, _FALLS = 2 ** (STEP / (0.25 * RATE_HZ)), 0.5 ** (STEP / (0.020 * RATE_HZ))
# A share of low tones stays, so that a dull knock counts; hum and rumble lose 14 dB.
_EMPHASIS = 0.8


@dataclass(frozen=True, slots=True)
class Onset:
    """A sound begins.

    Attributes:
        step: Its first sample, to the step, counted from the first of the portion.
        replaces_last: The onset before was only what led up to this one: clothes, a breath, a hand that slides.
    """

    step: int
    replaces_last: bool


class OnsetFinder:
    """Finds where sounds begin in one stream; the caller gives each portion once, in order."""

    def __init__(self) -> None:
        self._last_sample = 0.0
        self._floor: float | None = None
        self._ringing = 0.0
        self._quiet_steps = _REFRACTORY_STEPS

    def feed(self, portion: NDArray[np.float32]) -> list[Onset]:
        """Return where sounds begin, in the order of time.

        Args:
            portion: Shape (PORTION,), the stream's next samples.
        """
        before = np.concatenate(([np.float32(self._last_sample)], portion[:-1]))
        self._last_sample = float(portion[-1])
        sharpened = portion - np.float32(_EMPHASIS) * before
        powers = (sharpened.reshape(-1, STEP) ** 2).mean(axis=1).tolist()
        found = []
        for index, power in enumerate(powers):
            is_late = self._quiet_steps >= _REFRACTORY_STEPS
            if self._begins(power, _ABOVE_RINGING if is_late else _FAR_LOUDER):
                found.append(Onset(index * STEP, replaces_last=not is_late))
        return found

    def _begins(self, power: float, above_ringing: float) -> bool:
        if self._floor is None:  # whatever sounds when the stream begins has begun before
            self._floor = self._ringing = max(_LEAST_POWER, power)
        begins = power > _ABOVE_FLOOR * self._floor and power > above_ringing * self._ringing
        self._quiet_steps = 0 if begins else self._quiet_steps + 1
        # Written out, because calls of min and max would take most of the detector's time.
        ringing, fallen, risen = self._ringing * _RINGS_ON, self._floor * _FALLS, self._floor * _RISES
        self._ringing = power if power > ringing else ringing
        floor = fallen if power < fallen else risen if power > risen else power
        self._floor = floor if floor > _LEAST_POWER else _LEAST_POWER
        return begins


def first_sample(around: NDArray[np.float32]) -> int:
    """Return where a sound begins in the samples around the step that it was found at.

    Args:
        around: Shape (N,), from some milliseconds before the step to some after it.

    Returns:
        The first sample whose sharpened value reaches a fifth of the highest.
    """
    sharpened = np.abs(np.diff(around, prepend=around[:1]))
    return int(np.argmax(sharpened >= 0.2 * sharpened.max()))
