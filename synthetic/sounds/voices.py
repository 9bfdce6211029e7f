"""Sounds at a table other than impacts: speech, thumps and air."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthetic.sounds.impacts import RATE_HZ

# First three formants of five vowels in Hz.
_VOWELS = ((700, 1200, 2600), (500, 1800, 2500), (300, 2200, 3000), (450, 850, 2400), (320, 800, 2300))


def speech(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return one to five random syllables of a consonant and a vowel, not normalised in loudness."""
    pitch_hz = rng.uniform(85, 260)
    parts = []
    for _ in range(int(rng.integers(1, 6))):
        parts.append(_consonant(rng))
        parts.append(_vowel(rng, pitch_hz * rng.uniform(0.85, 1.2)))
        parts.append(np.zeros(int(rng.uniform(0, 0.15) * RATE_HZ)))
    return np.concatenate(parts)


def _vowel(rng: np.random.Generator, pitch_hz: float) -> NDArray[np.float64]:
    count = int(rng.uniform(0.06, 0.3) * RATE_HZ)
    times_s = np.arange(count) / RATE_HZ
    turns = np.cumsum(np.full(count, pitch_hz) * (1 + 0.1 * np.sin(2 * np.pi * rng.uniform(1, 4) * times_s))) / RATE_HZ
    puffs = np.diff(np.floor(turns), prepend=0.0)
    spectrum = np.fft.rfft(puffs)
    hz = np.fft.rfftfreq(count, 1 / RATE_HZ)
    shape = np.zeros(len(hz))
    for centre_hz, share in zip(_VOWELS[int(rng.integers(len(_VOWELS)))], (1.0, 0.4, 0.15), strict=True):
        shape += share / (1 + ((hz - centre_hz * rng.uniform(0.9, 1.1)) / rng.uniform(40, 120)) ** 2)
    swell_s = rng.uniform(0.005, 0.04)
    swell = np.minimum(1, times_s / swell_s) * np.minimum(1, (times_s[-1] - times_s) / 0.04)
    vowel = np.fft.irfft(spectrum * shape, count) * swell
    return np.asarray(vowel / (np.abs(vowel).max() + 1e-12))


def _consonant(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a random burst (p, t, k), hiss (s, f) or empty array."""
    lasts_s = rng.choice([rng.uniform(0.004, 0.03), rng.uniform(0.04, 0.15), 0.0])
    count = int(lasts_s * RATE_HZ)
    if not count:
        return np.zeros(0)
    hiss = rng.normal(0, 1, count)
    coloured = np.convolve(hiss, [1, -rng.uniform(-0.9, 0.9)], mode="same") * np.hanning(count + 2)[1:-1]
    return np.asarray(coloured / np.abs(coloured).max() * rng.uniform(0.05, 0.7))


def thump(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return noise that swells and fades without an impact, as from a chair, a door or breath. Its peak is 1."""
    count = int(rng.uniform(0.04, 0.5) * RATE_HZ)
    spectrum = np.fft.rfft(rng.normal(0, 1, count))
    hz = np.maximum(np.fft.rfftfreq(count, 1 / RATE_HZ), 20.0)
    sound = np.fft.irfft(spectrum * hz ** -rng.uniform(0, 2.5), count)
    swells = int(rng.uniform(0.05, 0.6) * count) + 1
    times = np.arange(count)
    sound = sound * np.minimum(1, times / swells) * np.minimum(1, (count - times) / (0.3 * count))
    return np.asarray(sound / (np.abs(sound).max() + 1e-12))
