"""Modelled recordings of a table, for tests and benchmarks: hits of every kind at known times, speech and noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardware.knock.sensor import Sound
from lab.sounds.scenes import LEAD, SoundEvent, SoundScene, TableModes, hit, plain_table, shuffle_of
from lab.sounds.signals import LENGTH, RATE_HZ, PlacedMicrophone, Waveform, clip_softly, draw_microphone, quantize

_NOISE_LENGTH = 16_384
# First three formants of five vowels in Hz.
_VOWELS = ((700, 1200, 2600), (500, 1800, 2500), (300, 2200, 3000), (450, 850, 2400), (320, 800, 2300))
# Shares of sounds at a table, with knocks and similar sounds more frequent than in a game.
MIXED_SHARES = {
    Sound.KNOCK: 0.26,
    Sound.FINGER: 0.12,
    Sound.NAIL: 0.12,
    Sound.NAIL_TIP: 0.12,
    Sound.TILE: 0.14,
    Sound.SLAM: 0.12,
    Sound.SHUFFLE: 0.04,
    Sound.GLASS: 0.06,
    Sound.SPEECH: 0.04,
    Sound.NOTHING: 0.02,
}
# Shares of sounds in a game without knocks.
WITHOUT_KNOCKS = {
    Sound.TILE: 0.50,
    Sound.SLAM: 0.20,
    Sound.SHUFFLE: 0.08,
    Sound.GLASS: 0.08,
    Sound.SPEECH: 0.08,
    Sound.NOTHING: 0.06,
}
_GAP_S = (0.45, 0.9)
_DOUBLE_SHARE, _DOUBLE_GAP_S = 0.3, (0.13, 0.4)
_FIRST_S = 0.5


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


def draw_scene(
    rng: np.random.Generator,
    *,
    events: int,
    shares_of: Mapping[Sound, float] = MIXED_SHARES,
    draw_table: Callable[[np.random.Generator], TableModes] = plain_table,
) -> SoundScene:
    """Return a random recording at a random table in a random room.

    Args:
        rng: Random generator.
        events: Number of events.
        shares_of: Relative frequency of each kind of sound.
        draw_table: Draws the table. `random_table` adds sandwiches, covers, cavities and loose parts.
    """
    table, microphone = draw_table(rng), draw_microphone(rng)
    kinds = list(shares_of)
    shares = np.array(list(shares_of.values()))
    chosen = [kinds[int(i)] for i in rng.choice(len(kinds), events, p=shares / shares.sum())]
    sounding: list[_Sounding] = []
    t_s = _FIRST_S
    for kind in chosen:
        sounding += _sounds_of(rng, kind, t_s, table, microphone)
        t_s = sounding[-1].event.until_s + rng.uniform(*_GAP_S)
    return _recorded(rng, sounding, t_s, microphone)


def scene_of(rng: np.random.Generator, happens: Sequence[tuple[Sound, float]], *, lasts_s: float) -> SoundScene:
    """Return a recording of given events at a random table in a random room.

    Args:
        rng: Random generator.
        happens: Kinds of sounds and their times in seconds, from 0.1 on.
        lasts_s: Length of the recording.
    """
    table, microphone = plain_table(rng), draw_microphone(rng)
    sounding = [sound for kind, t_s in happens for sound in _sounds_of(rng, kind, t_s, table, microphone)]
    return _recorded(rng, sounding, lasts_s, microphone)


@dataclass(frozen=True, slots=True, eq=False)
class _Sounding:
    """An event and its samples at their final loudness, shape (N,). The event starts after LEAD samples."""

    event: SoundEvent
    samples: NDArray[np.float64]


def _sounds_of(
    rng: np.random.Generator, kind: Sound, t_s: float, table: TableModes, microphone: PlacedMicrophone
) -> Iterator[_Sounding]:
    """Yield the sounds of an event at *t_s*."""
    peak = _loudness(rng, kind, microphone)
    for begin_s, unscaled in _event(rng, kind, table, microphone):
        sound = unscaled / (np.abs(unscaled).max() + 1e-12) * peak
        yield _Sounding(SoundEvent(kind, t_s + begin_s, t_s + begin_s + _lasts_s(sound)), sound)


def _recorded(
    rng: np.random.Generator, sounding: Sequence[_Sounding], lasts_s: float, microphone: PlacedMicrophone
) -> SoundScene:
    """Mix sounds with background noise and digitize the result."""
    samples = noise(rng, microphone, round(lasts_s * RATE_HZ) + 2 * LENGTH)
    for sound in sounding:
        first = round(sound.event.t_s * RATE_HZ) - LEAD
        samples[first : first + len(sound.samples)] += sound.samples[: max(0, len(samples) - first)]
    recorded = digitize(samples[: round(lasts_s * RATE_HZ)], microphone)
    return SoundScene(recorded, tuple(sound.event for sound in sounding))


def _event(
    rng: np.random.Generator, kind: Sound, table: TableModes, microphone: PlacedMicrophone
) -> list[tuple[float, NDArray[np.float64]]]:
    """Return the sounds of an event, each with its start in seconds. Some knocks are double."""
    match kind:
        case Sound.SHUFFLE:
            return [(0.0, shuffle_of(rng, table, microphone))]
        case Sound.SPEECH:
            return [(0.0, speech(rng))]
        case Sound.NOTHING:
            return [(0.0, thump(rng))]
        case Sound.KNOCK if rng.random() < _DOUBLE_SHARE:
            gap_s = float(rng.uniform(*_DOUBLE_GAP_S))
            return [(index * gap_s, hit(rng, kind, table, microphone)) for index in range(2)]
        case _:
            return [(0.0, hit(rng, kind, table, microphone))]


def _loudness(rng: np.random.Generator, kind: Sound, microphone: PlacedMicrophone) -> float:
    """Return a random peak as a share of full scale. Peaks above 1 are clipped later."""
    low_db, high_db = {Sound.SLAM: (-18.0, 10.0), Sound.SPEECH: (-36.0, -6.0)}.get(kind, (-26.0, 3.0))
    above_noise_db = microphone.noise_db + 24  # quieter sounds would be inaudible
    return float(10 ** (rng.uniform(max(low_db, min(above_noise_db, -8.0)), high_db) / 20))


def _lasts_s(sound: NDArray[np.float64]) -> float:
    """Return the last time at which a sound exceeds 2 % of its peak, from its first sample."""
    return float(np.flatnonzero(np.abs(sound) > 0.02 * np.abs(sound).max())[-1] + 1) / RATE_HZ


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
