"""Frequency responses of microphones: tilt, peaks and band limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.signals import fast_length
from synthetic.sounds.surroundings import Waveform

Response: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Maps frequencies in Hz to gains in dB, both of shape (F,)."""

_BEND_OCTAVES = 0.35
# Responses are constant below the lowest frequency, as those of microphones are not straight lines there.
_LOWEST_HZ, _MIDDLE_HZ = 60.0, 1_000.0
# Lowest gain of a response. Real devices have noise and leaks instead of silence.
_LEAST_DB = -60.0


def octaves(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return frequencies in octaves above 1 kHz. Frequencies below 60 Hz are treated as 60 Hz."""
    return np.asarray(np.log2(np.maximum(hz, _LOWEST_HZ) / _MIDDLE_HZ))


def tilted(db_per_octave: float) -> Response:
    """Return a response with a constant slope. Positive values sound brighter, negative values duller."""
    return lambda hz: db_per_octave * octaves(hz)


def peaking(at_hz: float, by_db: float, *, width_octaves: float = _BEND_OCTAVES) -> Response:
    """Return a response with a Gaussian peak of *by_db* at *at_hz*. Negative values give a dip.

    Args:
        at_hz: Centre of the peak, from 60 Hz.
        by_db: Gain at the centre.
        width_octaves: Distance from the centre at which the gain falls to a third (1/e).
    """
    return lambda hz: by_db * np.exp(-(((octaves(hz) - np.log2(at_hz / 1_000)) / width_octaves) ** 2))


def low_pass(from_hz: float, *, order: int = 4) -> Response:
    """Return a Butterworth low-pass response that falls by 6 dB per octave and order above *from_hz*."""
    return lambda hz: -10 * np.log10(1 + (hz / from_hz) ** (2 * order))


def high_pass(to_hz: float, *, order: int = 2) -> Response:
    """Return a Butterworth high-pass response that falls by 6 dB per octave and order below *to_hz*."""
    return lambda hz: -10 * np.log10(1 + (to_hz / np.maximum(hz, 1.0)) ** (2 * order))


def combined(*responses: Response) -> Response:
    """Return the response of devices in series, at least -60 dB."""
    return lambda hz: np.maximum(_LEAST_DB, np.sum([response(hz) for response in responses], axis=0))


def filtered(sound: Waveform, response: Response) -> Waveform:
    """Return a sound after a *response* without phase, so that it is not delayed, shape (N,)."""
    # Pad by half a second to keep the decay from wrapping around.
    count = fast_length(len(sound) + RATE_HZ // 2)
    gains_db = response(np.asarray(np.fft.rfftfreq(count, 1 / RATE_HZ)))
    return np.asarray(np.fft.irfft(np.fft.rfft(sound, count) * 10 ** (gains_db / 20), count)[: len(sound)])


def apply_response(samples: NDArray[np.float32], response: Response) -> NDArray[np.float32]:
    """Filter a recording with a *response*, without delay and with the same peak.

    Args:
        samples: Recording at 16 kHz, shape (N,).
        response: Response of another microphone relative to the recording's.
    """
    sound = filtered(np.asarray(samples, np.float64), response)
    return np.asarray(sound * (np.abs(samples).max() / max(1e-12, float(np.abs(sound).max()))), np.float32)
