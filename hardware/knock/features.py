"""What is measured of a sudden sound: its colours, how each dies away, its contacts, and what was before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Of samples at 16 kHz around the first of a sound: a third of a second before, and what is looked at after it.
BEFORE, AFTER = 4_096, 1_920

_EVENT_BEFORE = 32
_LONG = 1_024
_EDGES_HZ = (30, 90, 150, 210, 280, 360, 450, 560, 700, 880, 1100, 1400, 1750, 2200, 2750, 3400, 4200, 5200, 6400, 7900)
_EARLY = 192
_EARLY_EDGES_HZ = (200, 400, 600, 850, 1150, 1500, 1900, 2400, 3000, 3700, 4500, 5500, 6600, 7900)
_FRAME, _HOP = 128, 64
_BROAD_HZ = (60, 450, 1000, 2000, 3400, 5200, 7900)
# Frames of 4 ms that are taken together: short at first, then longer.
_SPANS = ((0, 1), (1, 2), (2, 3), (3, 5), (5, 8), (8, 13), (13, 20), (20, 29))
_CONTACT_STEP = 16
_CONTACT_STEPS = 40
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
_LEAST = 1e-5

Row = NDArray[np.float32]


def measure(samples: NDArray[np.float32]) -> Row:
    """Return the features of one sound; how loud it is does not matter.

    Args:
        samples: Shape (BEFORE + AFTER,): the sound begins at BEFORE.

    Returns:
        Shape (FEATURES,).
    """
    values = samples.astype(np.float64)
    event = values[BEFORE - _EVENT_BEFORE :]
    event = event / (np.abs(event).max() + 1e-9)
    earlier = values[: BEFORE - _EVENT_BEFORE] / (np.abs(values[BEFORE - _EVENT_BEFORE :]).max() + 1e-9)
    sharp = np.diff(event, n=2, prepend=event[:1], append=event[-1:])
    parts = (
        _colours(event, _LONG, _EDGES_HZ),
        _colours(event, _EARLY, _EARLY_EDGES_HZ),
        _fading(event),
        _contacts(sharp),
        _shape(event),
        _shape(sharp),
        _crossings(event),
        _context(earlier, event),
    )
    return np.concatenate(parts).astype(np.float32)


def _colours(event: NDArray[np.float64], length: int, edges_hz: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the share of each band in the first samples, as logarithms."""
    window = np.concatenate([np.ones(length // 2), 0.5 + 0.5 * np.cos(np.linspace(0, np.pi, length // 2))])
    powers = np.abs(np.fft.rfft(event[:length] * window, 2 * length)) ** 2
    bands = np.add.reduceat(powers, _bins(edges_hz, 2 * length))[:-1]
    return np.asarray(np.log10(bands / (bands.sum() + 1e-12) + _LEAST))


def _fading(event: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the power of broad bands over time, each beside the highest of its band, as logarithms."""
    frames = np.lib.stride_tricks.sliding_window_view(event, _FRAME)[::_HOP] * np.hanning(_FRAME)
    powers = np.abs(np.fft.rfft(frames, 2 * _FRAME, axis=1)) ** 2
    bands = np.add.reduceat(powers, _bins(_BROAD_HZ, 2 * _FRAME), axis=1)[:, :-1]
    spans = np.stack([bands[first:end].mean(axis=0) for first, end in _SPANS])
    highest = spans.max(axis=0)
    own = np.log10(spans / (highest + 1e-12) + 1e-4).ravel()
    return np.concatenate([own, np.log10(highest / (highest.sum() + 1e-12) + _LEAST)])


def _contacts(sharp: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the envelope of the high tones by milliseconds, and how many contacts stand out of it."""
    steps = sharp[: _CONTACT_STEP * _CONTACT_STEPS].reshape(_CONTACT_STEPS, _CONTACT_STEP)
    envelope = np.sqrt((steps**2).mean(axis=1))
    envelope = envelope / (envelope.max() + 1e-12)
    padded = np.concatenate([[0.0, 0.0], envelope, [0.0, 0.0]])
    middle = padded[2:-2]
    peaks = (middle >= padded[1:-3]) & (middle > padded[3:-1]) & (middle > 2 * np.minimum(padded[:-4], padded[4:]))
    counts = [float((peaks & (middle > share)).sum()) for share in (0.1, 0.2, 0.4)]
    pairs = np.sqrt((envelope.reshape(-1, 2) ** 2).mean(axis=1))
    return np.concatenate([np.log10(pairs + 0.01), counts])


def _shape(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return when shares of the energy have come, as logarithms of milliseconds, and how peaked it is."""
    energy = np.cumsum(values**2)
    reached = np.searchsorted(energy, np.array(_SHARES) * energy[-1])
    peaked = np.abs(values).max() / (np.sqrt((values**2).mean()) + 1e-9)
    return np.append(np.log10((reached + 8) / 16), np.log10(peaked + 1e-3))


def _crossings(event: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how often the sound crosses zero in its first 8, the next 24 and the next 64 ms, in kHz."""
    signs = event < 0  # not the sign bit: floats know a negative zero, whole numbers do not
    changes = signs[1:] != signs[:-1]
    return np.array([changes[a:b].mean() * 16 for a, b in ((_EVENT_BEFORE, 160), (160, 544), (544, 1_568))], np.float64)


def _context(earlier: NDArray[np.float64], event: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how loud it was before, in parts of the last quarter second, in all tones and in high ones."""
    rows = []
    for now, before in ((event, earlier), (np.diff(event, n=2), np.diff(earlier, n=2))):
        level = np.sqrt((now[: _LONG // 2] ** 2).mean()) + 1e-9
        # The last 25 ms are left out: some recorders smear a sound over what was before it.
        parts = before[-4_060:-400].reshape(4, -1)
        rows += [np.sqrt((parts**2).mean(axis=1)) / level, np.abs(parts).max(axis=1) / (np.abs(now).max() + 1e-9)]
    return np.asarray(np.log10(np.concatenate(rows) + 1e-3))


def _bins(edges_hz: tuple[int, ...], length: int) -> NDArray[np.int64]:
    return np.round(np.array(edges_hz) * length / 16_000).astype(np.int64)


FEATURES = len(measure(np.zeros(BEFORE + AFTER, np.float32)))
