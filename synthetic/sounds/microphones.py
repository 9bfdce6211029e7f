"""Frequency responses of microphones: tilt, peaks and band limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardware.knock.tone import octaves
from synthetic.sounds.impacts import RATE_HZ

Response: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Maps frequencies in Hz to gains in dB, both of shape (F,)."""

_BEND_OCTAVES = 0.35


def tilted(db_per_octave: float) -> Response:
    """Return a response with a constant slope. Positive values sound brighter, negative values duller."""
    return lambda hz: db_per_octave * octaves(hz)


def peaking(at_hz: float, by_db: float) -> Response:
    """Return a response with a peak of *by_db* at *at_hz*, about half an octave wide. Negative values give a dip."""
    return lambda hz: by_db * np.exp(-(((octaves(hz) - np.log2(at_hz / 1_000)) / _BEND_OCTAVES) ** 2))


def low_pass(from_hz: float) -> Response:
    """Return a low-pass response that falls by 24 dB per octave above *from_hz*."""
    return lambda hz: -10 * np.log10(1 + (hz / from_hz) ** 8)


def high_pass(to_hz: float) -> Response:
    """Return a high-pass response that falls by 12 dB per octave below *to_hz*."""
    return lambda hz: -20 * np.log10(1 + (to_hz / np.maximum(hz, 1.0)) ** 2)


def apply_response(samples: NDArray[np.float32], response: Response) -> NDArray[np.float32]:
    """Filter a recording with a *response*, without delay and with the same peak.

    Args:
        samples: Recording at 16 kHz, shape (N,).
        response: Response of another microphone relative to the recording's.
    """
    # Pad by half a second to keep the decay from wrapping around. A power of two is ten times as fast as other lengths.
    count = 1 << (len(samples) + RATE_HZ // 2 - 1).bit_length()
    gains_db = response(np.asarray(np.fft.rfftfreq(count, 1 / RATE_HZ)))
    filtered = np.fft.irfft(np.fft.rfft(samples, count) * 10 ** (gains_db / 20), count)[: len(samples)]
    return np.asarray(filtered * (np.abs(samples).max() / max(1e-12, float(np.abs(filtered).max()))), np.float32)
