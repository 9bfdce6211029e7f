"""Remove the spectral tilt of a microphone from a sound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardware.knock.onsets import RATE_HZ

# The tilt is constant below the lowest frequency, as the response of microphones is not a straight line there.
_LOWEST_HZ, _MIDDLE_HZ = 60.0, 1_000.0
_LENGTH = 8_192


def octaves(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return frequencies in octaves above 1 kHz. Frequencies below 60 Hz are treated as 60 Hz."""
    return np.asarray(np.log2(np.maximum(hz, _LOWEST_HZ) / _MIDDLE_HZ))


def without_tilt(samples: NDArray[np.float32], brighter_db: float) -> NDArray[np.float32]:
    """Return sounds with the spectral tilt of the microphone removed.

    Args:
        samples: Samples at 16 kHz, shape (..., N) with N up to 8192.
        brighter_db: Spectral tilt in dB per octave. Negative for a microphone that is duller than most.

    Returns:
        Filtered samples of the same shape. *samples* itself if the tilt is 0.

    Raises:
        ValueError: If N exceeds 8192.
    """
    count = samples.shape[-1]
    if count > _LENGTH:
        raise ValueError(f"samples must be up to {_LENGTH}, but got {count}")
    if brighter_db == 0:
        return samples
    gains_db = -brighter_db * octaves(np.asarray(np.fft.rfftfreq(_LENGTH, 1 / RATE_HZ)))
    spectra = np.fft.rfft(samples, _LENGTH) * 10 ** (gains_db / 20)
    return np.asarray(np.fft.irfft(spectra, _LENGTH)[..., :count], np.float32)
