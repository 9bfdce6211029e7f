"""Features of a sudden sound: log mel spectrograms of the onset and of its context, and numbers on the impact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardware.knock import impact
from hardware.knock.onsets import RATE_HZ

# Number of samples at 16 kHz before (0.576 s) and after (0.448 s) the onset. They cover its neighbours in a series of
# knocks.
BEFORE, AFTER = 9_216, 7_168


@dataclass(frozen=True, slots=True)
class Patch:
    """A log mel spectrogram of part of a sound.

    Attributes:
        begin: First sample, relative to the first one of the sound.
        length: Samples per window.
        hop: Samples from one window to the next.
        frames: Number of windows.
        bands: Number of mel bands.
        low_hz: Lower edge of the lowest band. The highest band ends at 7.8 kHz.
        loudest_from: First frame in which the reference level, the loudest value, is sought.
    """

    begin: int
    length: int
    hop: int
    frames: int
    bands: int
    low_hz: float
    loudest_from: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Frames and bands."""
        return self.frames, self.bands


# 8 ms every 2 ms from 20 ms before the onset on, and 32 ms every 16 ms over the whole sound. The level of the second is
# relative to its loudest value from the onset on.
DETAIL = Patch(BEFORE - 320, 128, 32, 64, 24, 100.0)
CONTEXT = Patch(0, 512, 256, 63, 40, 50.0, loudest_from=34)
PATCHES = (DETAIL, CONTEXT)
_HIGHEST_HZ = 7_800.0
# Values are log10 of the power, 3 at the reference level, and at least 70 dB below it.
LOUDEST, LOWEST, HIGHEST = 3.0, -4.0, 5.0


def measure(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the features of sounds, which do not depend on loudness.

    Args:
        samples: Shape (..., BEFORE + AFTER), with the onset of each sound at index BEFORE.

    Returns:
        Shape (..., FEATURES): the values of `DETAIL`, then those of `CONTEXT`, each frame by frame, then the numbers of
        `hardware.knock.impact`.
    """
    values = np.asarray(samples, np.float32)
    if not values.size:
        return np.zeros((*values.shape[:-1], FEATURES), np.float32)
    rows = [_log_mel(values, patch).reshape(*values.shape[:-1], patch.frames * patch.bands) for patch in PATCHES]
    around = values[..., BEFORE - impact.BEFORE : BEFORE + impact.AFTER]
    return np.concatenate([*rows, impact.describe_impacts(around)], axis=-1)


def _log_mel(samples: NDArray[np.float32], patch: Patch) -> NDArray[np.float32]:
    """Return a spectrogram, shape (..., frames, bands)."""
    windows = np.lib.stride_tricks.sliding_window_view(samples[..., patch.begin :], patch.length, axis=-1)
    frames = windows[..., :: patch.hop, :][..., : patch.frames, :] * _WINDOWS[patch]
    powers = (np.abs(np.fft.rfft(frames, axis=-1)).astype(np.float32) ** 2) @ _FILTERS[patch]
    loudest = powers[..., patch.loudest_from :, :].max(axis=(-1, -2), keepdims=True) + np.float32(1e-10)
    relative = np.log10(powers / loudest + np.float32(1e-8)) + np.float32(LOUDEST)
    return np.asarray(np.clip(relative, LOWEST, HIGHEST), np.float32)


def band_centres_hz(patch: Patch) -> NDArray[np.float64]:
    """Return the centre frequency of each band, shape (bands,)."""
    return _band_edges_hz(patch)[1:-1]


def _band_edges_hz(patch: Patch) -> NDArray[np.float64]:
    """Return the lowest edge, the centres and the highest edge of the bands, equally spaced on the mel scale of HTK."""
    lowest, highest = (2595 * np.log10(1 + hz / 700) for hz in (patch.low_hz, _HIGHEST_HZ))
    return np.asarray(700 * (10 ** (np.linspace(lowest, highest, patch.bands + 2) / 2595) - 1))


def _mel_filters(patch: Patch) -> NDArray[np.float32]:
    """Return triangular filters of sum 1, shape (length / 2 + 1, bands)."""
    edges_hz = _band_edges_hz(patch)
    hz = np.fft.rfftfreq(patch.length, 1 / RATE_HZ)[:, None]
    low, centre, high = edges_hz[:-2], edges_hz[1:-1], edges_hz[2:]
    filters = np.maximum(0, np.minimum((hz - low) / (centre - low), (high - hz) / (high - centre)))
    # The lowest bands are narrower than the distance of two frequencies: they take the nearest one.
    nearest = np.abs(hz - centre).argmin(axis=0)
    is_empty = filters.sum(axis=0) < 1e-6
    filters[nearest[is_empty], np.flatnonzero(is_empty)] = 1
    return np.asarray(filters / filters.sum(axis=0), np.float32)


_FILTERS = {patch: _mel_filters(patch) for patch in PATCHES}
_WINDOWS = {patch: np.hanning(patch.length).astype(np.float32) for patch in PATCHES}
FEATURES = sum(patch.frames * patch.bands for patch in PATCHES) + impact.NUMBERS
