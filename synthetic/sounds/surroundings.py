"""Random recording conditions between table and samples: room, microphone, noise, gain and clipping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synthetic.sounds.impacts import LENGTH, RATE_HZ, Spectrum, frequencies

Waveform = NDArray[np.float64]
"""A modelled sound of any loudness at 16 kHz: shape (N,), float64."""
_NOISE_LENGTH = 16_384


@dataclass(frozen=True, slots=True, eq=False)
class PlacedMicrophone:
    """A microphone at a position in a room.

    Attributes:
        response: Transfer function to the samples, including echoes.
        noise_db: Noise level relative to full scale, in dB.
        noise_slope: Exponent of the decrease of noise with frequency: 0 white, 1 pink, 2 brown.
        hum: Level of mains hum relative to the noise.
        smear_db: Level of the recorder's pre-echo relative to the peak, as from lossy compression. None without
            pre-echo.
        limit: Level of soft clipping as a share of full scale. 1 for hard clipping only.
    """

    response: Spectrum
    noise_db: float
    noise_slope: float
    hum: float
    smear_db: float | None
    limit: float


def draw_microphone(rng: np.random.Generator) -> PlacedMicrophone:
    """Return a random microphone in a random room, on the table or above it."""
    hz = np.maximum(frequencies(), 1.0)
    response = np.ones(len(hz), np.complex128)
    low_hz, high_hz = rng.uniform(20, 160), rng.uniform(5_500, 12_000)
    for _ in range(int(rng.integers(1, 3))):
        response = response * (1j * hz / low_hz) / (1 + 1j * hz / low_hz)
    response = response / (1 + (1j * hz / high_hz)) ** int(rng.integers(0, 3))
    # Cases and distances change the response by a few decibels, smoothly over octaves.
    octaves = np.log2(hz / 100)
    knots = np.arange(-2, 8, rng.uniform(0.6, 1.4))
    response = response * 10 ** (np.interp(octaves, knots, rng.normal(0, rng.uniform(0, 7), len(knots))) / 20)
    if rng.random() < 0.5:  # a microphone on the table picks up no echoes
        response = response * _echoes(rng)
    return PlacedMicrophone(
        response,
        noise_db=float(rng.uniform(-100, -45)),
        noise_slope=float(rng.uniform(0.3, 2.8)),
        hum=float(rng.choice([0.0, rng.uniform(0, 2)])),
        smear_db=float(rng.uniform(-48, -18)) if rng.random() < 0.5 else None,
        limit=float(rng.choice([1.0, rng.uniform(0.3, 0.95)])),
    )


def _echoes(rng: np.random.Generator) -> Spectrum:
    """Return the transfer function of a random room: direct sound and an exponentially decaying tail of noise."""
    times_s = np.arange(LENGTH) / RATE_HZ
    decay = np.exp(-6.9 * times_s / rng.uniform(0.15, 0.8))
    tail = rng.normal(0, 1, LENGTH) * decay * (times_s > rng.uniform(0.001, 0.012))
    tail = np.convolve(tail, np.ones(2) / 2, mode="same") if rng.random() < 0.7 else tail
    tail = tail / np.sqrt((tail**2).sum()) * 10 ** (rng.uniform(-45, -8) / 20)
    tail[0] += 1.0
    return np.asarray(np.fft.rfft(tail), np.complex128)


def add_pre_echo(rng: np.random.Generator, microphone: PlacedMicrophone, sound: Waveform, lead: int) -> Waveform:
    """Add the recorder's pre-echo to a sound, if it has any.

    Args:
        rng: Random generator.
        microphone: Microphone of the recorder.
        sound: Sound of shape (LENGTH,) that starts after *lead* samples.
        lead: Number of samples before the sound.
    """
    if microphone.smear_db is None:
        return sound
    phases = np.exp(2j * np.pi * rng.random(LENGTH // 2 + 1))
    echo = np.fft.irfft(np.abs(np.fft.rfft(sound)) * phases, LENGTH)[:lead]
    first = int(rng.integers(0, lead - 64))
    swell = np.where(np.arange(lead) >= first, np.linspace(0.2, 1, lead), 0)
    peak = np.abs(sound).max() * 10 ** (microphone.smear_db / 20)
    return np.concatenate([sound[:lead] + echo / (np.abs(echo).max() + 1e-12) * swell * peak, sound[lead:]])


def noise(rng: np.random.Generator, microphone: PlacedMicrophone, count: int) -> Waveform:
    """Return background noise and hum of a room, shape (count,)."""
    level = 10 ** (microphone.noise_db / 20)
    length = _NOISE_LENGTH  # one second, repeated; a length other than a power of two is ten times as slow
    spectrum = np.fft.rfft(rng.normal(0, 1, length))
    hz = np.maximum(np.fft.rfftfreq(length, 1 / RATE_HZ), 20.0)
    coloured = np.fft.irfft(spectrum * hz ** (-microphone.noise_slope / 2), length)
    sound = np.resize(coloured / coloured.std() * level, count)
    if microphone.hum:
        times_s, mains_hz = np.arange(count) / RATE_HZ, float(rng.choice([50, 60]))
        for harmonic in (1, 2, 3, 5):
            phase = rng.uniform(0, 2 * np.pi)
            sound += level * microphone.hum / harmonic * np.sin(2 * np.pi * mains_hz * harmonic * times_s + phase)
    return np.asarray(sound)


def digitize(sound: Waveform, microphone: PlacedMicrophone) -> NDArray[np.float32]:
    """Clip a sound softly or hard, and quantise it to 16 bits."""
    clipped = clip_softly(sound, limit=microphone.limit) if microphone.limit < 1 else sound
    return np.asarray(quantize(clipped, bits=16), np.float32)


def clip_softly(sound: Waveform, *, limit: float) -> Waveform:
    """Return a sound compressed smoothly to less than *limit*, a share of full scale above 0."""
    return np.asarray(limit * np.tanh(sound / limit))


def quantize(sound: Waveform, *, bits: int) -> Waveform:
    """Return a sound clipped at full scale and rounded to steps of *bits* bits, from 2 to 16."""
    steps = 1 << (bits - 1)
    return np.asarray(np.round(np.clip(sound, -1, 1) * (steps - 1)) / steps)
