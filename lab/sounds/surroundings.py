"""Random recording conditions between table and samples: room, microphone, noise, gain, clipping, and other sounds.

Everyday sounds recorded in Debian packages are mixed with the models for training. None has knocks or dominoes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hardware.knock.detector import PORTION, Stream
from hardware.knock.sensor import SoundBlock
from lab.packages import Collection, files_of, require_packages
from lab.sounds.impacts import LENGTH, RATE_HZ, Spectrum, frequencies

Waveform = NDArray[np.float64]
"""A modelled sound of any loudness at 16 kHz: shape (N,), float64."""


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


def clip_softly(sound: Waveform, *, limit: float) -> Waveform:
    """Return a sound compressed smoothly to less than *limit*, a share of full scale above 0."""
    return np.asarray(limit * np.tanh(sound / limit))


def quantize(sound: Waveform, *, bits: int) -> Waveform:
    """Return a sound clipped at full scale and rounded to steps of *bits* bits, from 2 to 16."""
    steps = 1 << (bits - 1)
    return np.asarray(np.round(np.clip(sound, -1, 1) * (steps - 1)) / steps)


# Speech in three languages by telephone voices (CC-BY-SA 3.0) and in 25 by amateurs (GPL-2+), a keyboard (GPL-2+),
# steps, digging, doors and machines (CC-BY-SA 3.0), and music (CC0).
COLLECTIONS: Mapping[str, tuple[Collection, ...]] = MappingProxyType(
    {
        "speech": (
            Collection("asterisk-core-sounds-en-wav", "asterisk/sounds/en_US_f_Allison/**/*.wav"),
            Collection("asterisk-core-sounds-fr-wav", "asterisk/sounds/fr_CA_f_June/**/*.wav"),
            Collection("asterisk-core-sounds-ru-wav", "asterisk/sounds/ru_RU_f_IvrvoiceRU/**/*.wav"),
            Collection("klettres-data", "klettres/*/*/*.ogg"),
            Collection("klettres-data", "klettres/*/*/*.ogg"),
        ),
        "typing": (Collection("bucklespring-data", "buckle/wav/*.wav"),),
        "others": (
            Collection("minetest-data", "games/minetest/games/minetest_game/mods/*/sounds/*.ogg"),
            Collection("redeclipse-data", "games/redeclipse/data/sounds/**/*.ogg"),
            Collection("sonic-pi-samples", "sonic-pi/samples/loop_*.flac"),
        ),
    }
)
"""Collections of each group of everyday sounds. One that occurs twice is drawn twice as often."""
_LONGEST_S = 3.0
# Keys are struck one after the other, at these distances.
_KEYS, _KEY_GAP_S = (2, 9), (0.06, 0.35)


def require_library(root: Path) -> None:
    """Check that all collections are below *root*.

    Raises:
        MissingPackagesError: If packages are missing.
    """
    require_packages(root, (part for parts in COLLECTIONS.values() for part in parts), "sounds")


def recorded_sound(rng: np.random.Generator, root: Path, group: str) -> Waveform:
    """Return a random recorded sound of a group, up to 3 s long, with a peak of 1.

    Args:
        rng: Random generator.
        root: Folder below which the packages are installed, usually `/usr/share`.
        group: Group in `COLLECTIONS`.
    """
    if group != "typing":
        return _drawn(rng, root, group)
    gaps_s = rng.uniform(*_KEY_GAP_S, int(rng.integers(*_KEYS)))
    starts = np.append(0, np.cumsum(gaps_s) * RATE_HZ).astype(int)
    keys = [_drawn(rng, root, group) * rng.uniform(0.4, 1.0) for _ in starts]
    total = np.zeros(max(start + len(key) for start, key in zip(starts, keys, strict=True)))
    for start, key in zip(starts, keys, strict=True):
        total[start : start + len(key)] += key
    return np.asarray(total / np.abs(total).max())


def _drawn(rng: np.random.Generator, root: Path, group: str) -> Waveform:
    collections = COLLECTIONS[group]
    files = files_of(root, collections[int(rng.integers(len(collections)))])
    sound = read_sound(files[int(rng.integers(len(files)))])
    if not sound.any():  # a file for a language that has no such word
        return _drawn(rng, root, group)
    longest = round(_LONGEST_S * RATE_HZ)
    # Include the loudest moment, because some files have long pauses.
    begin = max(0, int(np.abs(sound).argmax()) - int(rng.integers(longest)))
    part = sound[begin : begin + longest].astype(np.float64)
    return np.asarray(part / np.abs(part).max())


@lru_cache(maxsize=4096)
def read_sound(path: Path) -> NDArray[np.float32]:
    """Return the samples of a WAV, Ogg or FLAC file at 16 kHz, mixed to one channel, shape (N,)."""
    import soundfile

    samples, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
    padded = np.pad(samples.mean(axis=1), (0, 2 * PORTION * -(-rate_hz // RATE_HZ)))
    return np.concatenate([portion.samples for portion in Stream().feed(SoundBlock(padded, 0, rate_hz))])
