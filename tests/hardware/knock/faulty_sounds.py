"""Faults of microphones, applied to modelled sound: clipping, gates, dropped samples, 8 bits and telephone sound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardware.knock.sensor import Sound
from lab.sounds.devices import apply_response
from tests.hardware.knock.sounds import RATE_HZ, with_hits

Signal = NDArray[np.float32]
KNOCKS_S = (0.4, 1.0, 1.6)


def at_16_bits(samples: Signal) -> Signal:
    """Round samples like a 16-bit converter, which clips at full scale."""
    return np.asarray(np.round(np.clip(samples, -1, 1) * 32767) / 32768, np.float32)


def knocks(times_s: tuple[float, ...] = KNOCKS_S, *, seed: int = 3, peak: float = 0.4, noise_db: float = -60) -> Signal:
    """Return knocks in white room noise, as a good microphone records them."""
    samples = with_hits(Sound.KNOCK, times_s, seed=seed, peak=peak)
    noise = np.random.default_rng([5, seed]).normal(0, 10 ** (noise_db / 20), len(samples))
    return at_16_bits(samples + noise.astype(np.float32))


def clipped(samples: Signal, *, gain: float = 6.0, ceiling: float = 1.0) -> Signal:
    """Amplify and clip at a ceiling, which may be below full scale."""
    return at_16_bits(np.clip(samples * gain, -ceiling, ceiling))


def gated(samples: Signal, *, by_db: float = 40.0, hold_s: float = 0.15, opens_db: float = -40.0) -> Signal:
    """Attenuate everything except loud sound and a while after it. 200 dB stands for digital silence."""
    count, closed = RATE_HZ // 100, 0.0 if by_db >= 200 else 10 ** (-by_db / 20)
    gain, held, parts = closed, 0, []
    for first in range(0, len(samples), count):
        part = samples[first : first + count]
        held = round(hold_s * 100) if np.abs(part).max() > 10 ** (opens_db / 20) else held - 1
        wanted = max(1.0 if held > 0 else closed, gain - 0.5)
        parts.append(part * np.linspace(gain, wanted, len(part)))
        gain = wanted
    return at_16_bits(np.concatenate(parts))


def with_gaps(samples: Signal, *times_s: float, gap_s: float = 0.016) -> Signal:
    """Replace sound by zeros, as drivers do for dropped samples."""
    gapped = samples.copy()
    for t_s in times_s:
        gapped[round(t_s * RATE_HZ) : round((t_s + gap_s) * RATE_HZ)] = 0
    return gapped


def at_8_bits(samples: Signal) -> Signal:
    """Round samples to 8 bits."""
    return np.asarray(np.round(samples * 128) / 128, np.float32)


def telephone(samples: Signal) -> Signal:
    """Remove everything above 3.4 kHz, as an 8 kHz microphone does."""
    return at_16_bits(apply_response(samples, lambda hz: np.where(hz > 3_500, -90.0, 0.0)))
