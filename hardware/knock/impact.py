"""Description of an impact by numbers: spectrum, decay of each band, contacts, and preceding sound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Number of samples at 16 kHz that are used before (0.256 s) and after (0.12 s) the onset.
BEFORE, AFTER = 4_096, 1_920
_EVENT_BEFORE = 32
_LONG = 1_024
_EDGES_HZ = (30, 90, 150, 210, 280, 360, 450, 560, 700, 880, 1100, 1400, 1750, 2200, 2750, 3400, 4200, 5200, 6400, 7900)
_EARLY = 192
_EARLY_EDGES_HZ = (200, 400, 600, 850, 1150, 1500, 1900, 2400, 3000, 3700, 4500, 5500, 6600, 7900)
_FRAME, _HOP = 128, 64
_BROAD_HZ = (60, 450, 1000, 2000, 3400, 5200, 7900)
# Ranges of frames (4 ms apart) that are averaged: short at first, then longer.
_SPANS = ((0, 1), (1, 2), (2, 3), (3, 5), (5, 8), (8, 13), (13, 20), (20, 29))
_CONTACT_STEP = 16
_CONTACT_STEPS = 40
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
_LEAST = 1e-5

Row = NDArray[np.float32]


def describe_impacts(samples: NDArray[np.float32]) -> Row:
    """Return numbers that do not depend on loudness.

    Args:
        samples: Shape (..., BEFORE + AFTER), with the onset of each sound at index BEFORE.

    Returns:
        Shape (..., NUMBERS).
    """
    values = samples.astype(np.float64)
    event = values[..., BEFORE - _EVENT_BEFORE :]
    highest = np.abs(event).max(axis=-1, keepdims=True) + 1e-9
    event, earlier = event / highest, values[..., : BEFORE - _EVENT_BEFORE] / highest
    sharp = np.diff(event, n=2, prepend=event[..., :1], append=event[..., -1:])
    parts = (
        _spectrum(event, _LONG, _EDGES_HZ),
        _spectrum(event, _EARLY, _EARLY_EDGES_HZ),
        _decay(event),
        _contacts(sharp),
        _shape(event),
        _shape(sharp),
        _crossings(event),
        _context(earlier, event),
    )
    return np.concatenate(parts, axis=-1).astype(np.float32)


def _spectrum(event: NDArray[np.float64], length: int, edges_hz: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the log power share of each band in the first *length* samples."""
    window = np.concatenate([np.ones(length // 2), 0.5 + 0.5 * np.cos(np.linspace(0, np.pi, length // 2))])
    powers = np.abs(np.fft.rfft(event[..., :length] * window, 2 * length)) ** 2
    bands = np.add.reduceat(powers, _bins(edges_hz, 2 * length), axis=-1)[..., :-1]
    return np.asarray(np.log10(bands / (bands.sum(axis=-1, keepdims=True) + 1e-12) + _LEAST))


def _decay(event: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log powers of broad bands over time, relative to each band's maximum, then log shares of the maxima."""
    frames = np.lib.stride_tricks.sliding_window_view(event, _FRAME, axis=-1)[..., ::_HOP, :] * np.hanning(_FRAME)
    powers = np.abs(np.fft.rfft(frames, 2 * _FRAME, axis=-1)) ** 2
    bands = np.add.reduceat(powers, _bins(_BROAD_HZ, 2 * _FRAME), axis=-1)[..., :-1]
    spans = np.stack([bands[..., first:end, :].mean(axis=-2) for first, end in _SPANS], axis=-2)
    highest = spans.max(axis=-2, keepdims=True)
    relative = np.log10(spans / (highest + 1e-12) + 1e-4)
    maxima = highest[..., 0, :]
    shares = np.log10(maxima / (maxima.sum(axis=-1, keepdims=True) + 1e-12) + _LEAST)
    return np.concatenate([relative.reshape(*relative.shape[:-2], -1), shares], axis=-1)


def _contacts(sharp: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the envelope of high frequencies in steps of 2 ms, and the number of its peaks at three thresholds."""
    steps = sharp[..., : _CONTACT_STEP * _CONTACT_STEPS].reshape(*sharp.shape[:-1], _CONTACT_STEPS, _CONTACT_STEP)
    envelope = np.sqrt((steps**2).mean(axis=-1))
    envelope = envelope / (envelope.max(axis=-1, keepdims=True) + 1e-12)
    around = np.zeros((*envelope.shape[:-1], _CONTACT_STEPS + 4))
    around[..., 2:-2] = envelope
    valley = np.minimum(around[..., :-4], around[..., 4:])
    peaks = (envelope >= around[..., 1:-3]) & (envelope > around[..., 3:-1]) & (envelope > 2 * valley)
    counts = [(peaks & (envelope > share)).sum(axis=-1, dtype=np.float64) for share in (0.1, 0.2, 0.4)]
    pairs = np.sqrt((envelope.reshape(*envelope.shape[:-1], -1, 2) ** 2).mean(axis=-1))
    return np.concatenate([np.log10(pairs + 0.01), np.stack(counts, axis=-1)], axis=-1)


def _shape(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log times by which shares of the energy have arrived, and the log crest factor."""
    energy = np.cumsum(values**2, axis=-1)
    reached = np.stack([(energy < share * energy[..., -1:]).sum(axis=-1) for share in _SHARES], axis=-1)
    level = np.sqrt((values**2).mean(axis=-1, keepdims=True)) + 1e-9
    crest = np.abs(values).max(axis=-1, keepdims=True) / level
    return np.concatenate([np.log10((reached + 8) / 16), np.log10(crest + 1e-3)], axis=-1)


def _crossings(event: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the zero-crossing rates of the first 8, the next 24 and the next 64 ms, in kHz."""
    signs = event < 0  # Not np.signbit, which is True for the negative zero of floats.
    changes = signs[..., 1:] != signs[..., :-1]
    spans = ((_EVENT_BEFORE, 160), (160, 544), (544, 1_568))
    return np.stack([changes[..., first:end].mean(axis=-1) * 16 for first, end in spans], axis=-1)


def _context(earlier: NDArray[np.float64], event: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log levels and peaks before the onset relative to the sound, for four parts, full-band and high-pass."""
    rows = []
    for now, before in ((event, earlier), (np.diff(event, n=2), np.diff(earlier, n=2))):
        level = np.sqrt((now[..., : _LONG // 2] ** 2).mean(axis=-1, keepdims=True)) + 1e-9
        # Skips the last 25 ms, over which some audio codecs smear a following sound.
        parts = before[..., -4_060:-400].reshape(*before.shape[:-1], 4, -1)
        loudest = np.abs(now).max(axis=-1, keepdims=True) + 1e-9
        rows += [np.sqrt((parts**2).mean(axis=-1)) / level, np.abs(parts).max(axis=-1) / loudest]
    return np.asarray(np.log10(np.concatenate(rows, axis=-1) + 1e-3))


def _bins(edges_hz: tuple[int, ...], length: int) -> NDArray[np.int64]:
    return np.round(np.array(edges_hz) * length / 16_000).astype(np.int64)


NUMBERS = len(describe_impacts(np.zeros(BEFORE + AFTER, np.float32)))
