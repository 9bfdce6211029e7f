"""Frequency responses of microphones: tilt, bends and band limits, as gains over frequency."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardware.knock.tone import octaves
from synthetic.sounds.impacts import RATE_HZ

# Decibels at frequencies in Hz, both of shape (F,).
Response: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_BEND_OCTAVES = 0.35


def tilted(db_per_octave: float) -> Response:
    """Return the response of a microphone that is brighter by this in each octave; duller where it is below 0."""
    return lambda hz: db_per_octave * octaves(hz)


def bent(at_hz: float, by_db: float) -> Response:
    """Return the response of one that hears half an octave around a frequency louder, or less loud below 0."""
    return lambda hz: by_db * np.exp(-(((octaves(hz) - np.log2(at_hz / 1_000)) / _BEND_OCTAVES) ** 2))


def without_above(from_hz: float) -> Response:
    """Return the response of one that hears nothing above a frequency: 24 dB less in each octave."""
    return lambda hz: -10 * np.log10(1 + (hz / from_hz) ** 8)


def without_below(to_hz: float) -> Response:
    """Return the response of one that hears nothing below a frequency: 12 dB less in each octave."""
    return lambda hz: -20 * np.log10(1 + (to_hz / np.maximum(hz, 1.0)) ** 2)


def heard_through(samples: NDArray[np.float32], response: Response) -> NDArray[np.float32]:
    """Return a recording as another microphone hears it, at the same time and with the same peak.

    Args:
        samples: Shape (N,), at 16 kHz.
        response: Of the other microphone, beside that of the first.
    """
    # Longer by what rings on, so that it does not come in at the begin; another length takes ten times as long.
    count = 1 << (len(samples) + RATE_HZ // 2 - 1).bit_length()
    gains_db = response(np.asarray(np.fft.rfftfreq(count, 1 / RATE_HZ)))
    heard = np.fft.irfft(np.fft.rfft(samples, count) * 10 ** (gains_db / 20), count)[: len(samples)]
    return np.asarray(heard * (np.abs(samples).max() / max(1e-12, float(np.abs(heard).max()))), np.float32)
