"""A sound without the tilt of its microphone, which hears each octave so much louder or quieter than the one below."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardware.knock.onsets import RATE_HZ

# Below this no tilt goes on: no microphone hears more and more of what is lower and lower.
_LOWEST_HZ, _MIDDLE_HZ = 60.0, 1_000.0
_LENGTH = 8_192


def octaves(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many octaves frequencies lie above 1 kHz; what lies below 60 Hz counts as 60 Hz."""
    return np.asarray(np.log2(np.maximum(hz, _LOWEST_HZ) / _MIDDLE_HZ))


def without_tilt(samples: NDArray[np.float32], brighter_db: float) -> NDArray[np.float32]:
    """Return sounds as a microphone would hear them that is not so bright.

    Args:
        samples: Shape (..., N) with N up to 8192, at 16 kHz.
        brighter_db: By so many decibels in each octave; below 0 where the microphone is duller than most.

    Returns:
        The same shape.

    Raises:
        ValueError: If there are more samples.
    """
    count = samples.shape[-1]
    if count > _LENGTH:
        raise ValueError(f"samples must be up to {_LENGTH}, but got {count}")
    if brighter_db == 0:
        return samples
    gains_db = -brighter_db * octaves(np.asarray(np.fft.rfftfreq(_LENGTH, 1 / RATE_HZ)))
    spectra = np.fft.rfft(samples, _LENGTH) * 10 ** (gains_db / 20)
    return np.asarray(np.fft.irfft(spectra, _LENGTH)[..., :count], np.float32)
