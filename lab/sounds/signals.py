"""Building blocks of modelled sounds: pulses, noise, ringing modes and mixing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardware.knock.detector import PORTION, Stream
from hardware.knock.sensor import SoundBlock
from lab.packages import Collection, files_of, require_packages

# Force spectra of impacts on a table by a hand, a finger, a tile or a glass, and the rhythm of knocks.


RATE_HZ = 16_000
# Samples per modelled sound. Half a second covers the decay after a hit.
LENGTH = 8192

Spectrum = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Impact:
    """A single contact of an object with the table.

    Attributes:
        at_s: Start, relative to the first contact.
        lasts_s: Duration of the contact. It is longer, and sounds duller, for soft and heavy objects.
        push: Impulse, relative to the other contacts of the sound.
        softness: Pulse shape, from 0 (half sine, close to steel on steel) to 1 (rounder, as for skin).
    """

    at_s: float
    lasts_s: float
    push: float
    softness: float = 0.5


@cache
def frequencies() -> NDArray[np.float64]:
    """Return the frequencies of a spectrum in Hz, shape (LENGTH / 2 + 1,)."""
    return np.asarray(np.fft.rfftfreq(LENGTH, 1 / RATE_HZ), np.float64)


def force(impacts: list[Impact]) -> Spectrum:
    """Return the force spectrum of all *impacts*, computed analytically so that short pulses do not alias."""
    total = np.zeros(len(frequencies()), np.complex128)
    for impact in impacts:
        turns = frequencies() * impact.lasts_s
        below = 1 - turns**2
        safe = np.where(np.abs(below) < 1e-6, 1.0, below)
        pulse = impact.softness * np.where(np.abs(below) < 1e-6, 0.5, np.sinc(turns) / safe) + (
            1 - impact.softness
        ) * _half_sine(turns)
        total += impact.push * pulse * np.exp(-2j * np.pi * frequencies() * (impact.at_s + impact.lasts_s / 2))
    return total


def _half_sine(turns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the spectrum of a centred half sine of area 1. *turns* is frequency times duration."""
    below = 1 - 4 * turns**2
    safe = np.where(np.abs(below) < 1e-6, 1.0, below)
    return np.where(np.abs(below) < 1e-6, np.pi / 4, np.cos(np.pi * turns) / safe)


def knuckle(rng: np.random.Generator) -> list[Impact]:
    """Return a random knock: bone under thin skin with the weight of a hand, sometimes two knuckles or a bounce."""
    lasts_s = float(np.exp(rng.uniform(np.log(0.0005), np.log(0.0035))))
    impacts = [Impact(0.0, lasts_s, 1.0, rng.uniform(0.4, 1.0))]
    if rng.random() < 0.8:  # a short peak, because bone stiffens under pressure
        # Skin softens even the peak.
        peak_s, push = rng.uniform(0.0004, 0.0010), float(np.exp(rng.uniform(-3.5, 0.0)))
        impacts.append(Impact(rng.uniform(0, lasts_s), peak_s, push, rng.uniform(0.5, 1.0)))
    if rng.random() < 0.35:  # a second knuckle lands slightly later
        impacts.append(Impact(rng.uniform(0.0003, 0.004), lasts_s * rng.uniform(0.8, 1.3), rng.uniform(0.2, 0.9), 0.8))
    if rng.random() < 0.7:  # the hand follows, joint by joint
        push = float(np.exp(rng.uniform(-2.3, 1.2)))
        impacts.append(Impact(rng.uniform(0.0, 0.006), rng.uniform(0.003, 0.012), push, 1.0))
    if rng.random() < 0.15:
        impacts.append(Impact(rng.uniform(0.012, 0.04), lasts_s * 1.3, rng.uniform(0.05, 0.25), 0.9))
    return impacts


def struck_again(rng: np.random.Generator, impacts: list[Impact]) -> list[Impact]:
    """Return the contacts of the next hit by the same hand: times, durations and impulses vary by about 15 %."""
    return [
        replace(
            impact,
            at_s=impact.at_s * rng.lognormal(0, 0.15),
            lasts_s=impact.lasts_s * rng.lognormal(0, 0.12),
            push=impact.push * rng.lognormal(0, 0.15),
        )
        for impact in impacts
    ]


def palm(rng: np.random.Generator) -> list[Impact]:
    """Return a random slap with the flat hand: skin of palm and fingers within 8 ms, then the weight of the hand.

    The skin lands in two to five patches of 0.4 to 4 ms each. The hand presses for 6 to 25 ms.
    """
    skin_s = float(np.exp(rng.uniform(np.log(0.0004), np.log(0.004))))
    spread_s = rng.uniform(0.0005, 0.008)
    impacts = [Impact(0.0, skin_s, 1.0, rng.uniform(0.4, 1.0))]
    for _ in range(int(rng.integers(1, 5))):
        lasts_s = skin_s * rng.uniform(0.6, 1.8)
        impacts.append(Impact(rng.uniform(0, spread_s), lasts_s, rng.uniform(0.1, 1.0), rng.uniform(0.5, 1.0)))
    push = float(np.exp(rng.uniform(-1.0, 2.0)))
    impacts.append(Impact(rng.uniform(0.0, 0.005), rng.uniform(0.006, 0.025), push, 1.0))
    return impacts


def fist(rng: np.random.Generator) -> list[Impact]:
    """Return a random thump with the side or the knuckles of a fist: a soft contact of 3 to 15 ms with great weight.

    The arm follows for 10 to 40 ms. Bone below the skin adds a harder peak to some thumps.
    """
    lasts_s = float(np.exp(rng.uniform(np.log(0.003), np.log(0.015))))
    impacts = [Impact(0.0, lasts_s, 1.0, rng.uniform(0.6, 1.0))]
    if rng.random() < 0.6:
        push = float(np.exp(rng.uniform(-4.5, -0.7)))
        impacts.append(Impact(rng.uniform(0, lasts_s / 2), rng.uniform(0.0008, 0.003), push, rng.uniform(0.6, 1.0)))
    if rng.random() < 0.7:
        push = float(np.exp(rng.uniform(-1.5, 1.0)))
        impacts.append(Impact(rng.uniform(0.001, 0.01), rng.uniform(0.010, 0.040), push, 1.0))
    if rng.random() < 0.1:
        impacts.append(Impact(rng.uniform(0.03, 0.08), lasts_s * 1.3, rng.uniform(0.05, 0.3), 0.9))
    return impacts


def knock_times(rng: np.random.Generator, *, count: int | None = None) -> list[float]:
    """Return the times in seconds of one to five knocks, or of *count* knocks, in a series, from 0 on.

    45 % of the series have one knock, 35 % two, and 20 % three to five. The gaps of 0.12 to 0.5 s vary by 10 % within a
    series, as in human tapping.
    """
    if count is None:
        count = int(rng.choice([1, 2, 3, 4, 5], p=[0.45, 0.35, 0.10, 0.06, 0.04]))
    gap_s = float(np.exp(rng.uniform(np.log(0.12), np.log(0.5))))
    gaps_s = gap_s * np.clip(rng.normal(1, 0.1, count - 1), 0.7, 1.3)
    return [0.0, *(float(t_s) for t_s in np.cumsum(gaps_s))]


def finger_pad(rng: np.random.Generator) -> list[Impact]:
    """Return a random tap with a fingertip: long and dull, often with a slap of skin at the start."""
    impacts = [Impact(0.0, rng.uniform(0.005, 0.016), 1.0, rng.uniform(0.7, 1.0))]
    if rng.random() < 0.7:
        push = float(np.exp(rng.uniform(-6.0, -2.5)))
        impacts.append(Impact(0.0, rng.uniform(0.0003, 0.002), push, rng.uniform(0.5, 1.0)))
    return impacts


def nail(rng: np.random.Generator) -> list[Impact]:
    """Return a random tap with the flat of a nail: a short, hard contact with little weight."""
    impacts = [Impact(0.0, rng.uniform(0.0001, 0.0004), 1.0, rng.uniform(0.0, 0.6))]
    if rng.random() < 0.4:  # the finger behind the nail
        push = float(np.exp(rng.uniform(-2.3, 0.0)))
        impacts.append(Impact(rng.uniform(0.0, 0.003), rng.uniform(0.002, 0.008), push, 1.0))
    if rng.random() < 0.3:
        impacts.append(Impact(rng.uniform(0.002, 0.009), rng.uniform(0.0002, 0.0005), rng.uniform(0.1, 0.6), 0.5))
    return impacts


def nail_tip(rng: np.random.Generator) -> list[Impact]:
    """Return a random tap with the edge of a nail, followed by the weight of the finger."""
    impacts = [Impact(0.0, rng.uniform(0.00006, 0.0003), rng.uniform(0.05, 0.5), rng.uniform(0.0, 0.5))]
    impacts.append(
        Impact(rng.uniform(0.0, 0.003), rng.uniform(0.002, 0.008), rng.uniform(0.2, 1.0), rng.uniform(0.5, 1.0))
    )
    return impacts


def tile(rng: np.random.Generator) -> list[Impact]:
    """Return the impacts of a tile put down: two to six clicks as it settles, 1 to 18 ms apart."""
    count = int(rng.integers(2, 7))
    contact_s = rng.uniform(0.0001, 0.0005)
    gaps_s = np.cumsum(rng.uniform(0.002, 0.012, count) * rng.uniform(0.5, 1.5))
    pushes = rng.uniform(0.1, 1.0, count) * 0.85 ** np.arange(count)
    times_s = np.concatenate([[0.0], gaps_s[:-1]])
    return [
        Impact(float(at_s), contact_s * rng.uniform(0.6, 1.6), float(push), rng.uniform(0, 0.5))
        for at_s, push in zip(times_s, pushes, strict=True)
    ]


def slam(rng: np.random.Generator) -> list[Impact]:
    """Return the impacts of a slammed tile: hard impacts close together, usually followed by the hand."""
    impacts = [Impact(0.0, rng.uniform(0.0001, 0.0004), 1.0, rng.uniform(0, 0.4))]
    for _ in range(int(rng.integers(1, 6))):
        at_s = rng.uniform(0.0008, 0.02)
        impacts.append(Impact(at_s, rng.uniform(0.0001, 0.0005), rng.uniform(0.2, 1.0), rng.uniform(0, 0.4)))
    if rng.random() < 0.8:
        impacts.append(Impact(rng.uniform(0, 0.008), rng.uniform(0.002, 0.012), rng.uniform(0.5, 5.0), 1.0))
    return impacts


def shuffle(rng: np.random.Generator, *, lasts_s: float) -> list[Impact]:
    """Return the impacts of tiles being shuffled for *lasts_s*: 15 to 90 clicks per second."""
    count = max(3, int(lasts_s * rng.uniform(15, 90)))
    times_s = np.sort(rng.uniform(0, lasts_s, count))
    pushes = rng.lognormal(0, 0.9, count)
    return [
        Impact(float(at_s), rng.uniform(0.00008, 0.0004), float(push), rng.uniform(0, 0.5))
        for at_s, push in zip(times_s, pushes, strict=True)
    ]


def glass(rng: np.random.Generator) -> list[Impact]:
    """Return the impacts of a glass or cup put down, as its base rocks briefly."""
    count = int(rng.integers(1, 6))
    lasts_s = rng.uniform(0.0002, 0.0008)
    times_s = np.concatenate([[0.0], np.cumsum(rng.uniform(0.006, 0.03, count))])
    return [
        Impact(float(at_s), lasts_s, float(rng.uniform(0.3, 1.0) * 0.7**index), rng.uniform(0, 0.5))
        for index, at_s in enumerate(times_s)
    ]


# Random recording conditions between table and samples: room, microphone, noise, gain, clipping, and other sounds.
#
# Everyday sounds recorded in Debian packages are mixed with the models for training. None has knocks or dominoes.


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
        times_s = np.arange(LENGTH) / RATE_HZ
        decay = np.exp(-6.9 * times_s / rng.uniform(0.15, 0.8))
        tail = rng.normal(0, 1, LENGTH) * decay * (times_s > rng.uniform(0.001, 0.012))
        tail = np.convolve(tail, np.ones(2) / 2, mode="same") if rng.random() < 0.7 else tail
        tail = tail / np.sqrt((tail**2).sum()) * 10 ** (rng.uniform(-45, -8) / 20)
        tail[0] += 1.0
        response = response * np.asarray(np.fft.rfft(tail), np.complex128)
    return PlacedMicrophone(
        response,
        noise_db=float(rng.uniform(-100, -45)),
        noise_slope=float(rng.uniform(0.3, 2.8)),
        hum=float(rng.choice([0.0, rng.uniform(0, 2)])),
        smear_db=float(rng.uniform(-48, -18)) if rng.random() < 0.5 else None,
        limit=float(rng.choice([1.0, rng.uniform(0.3, 0.95)])),
    )


def add_pre_echo(rng: np.random.Generator, microphone: PlacedMicrophone, sound: Waveform, lead: int) -> Waveform:
    """Add the recorder's pre-echo to a sound, if it has any.

    Args:
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
_KEYS = (2, 9)
_KEY_GAP_S = (0.06, 0.35)


def require_library(root: Path) -> None:
    """Check that all collections are below *root*.

    Raises:
        MissingPackagesError: If packages are missing.
    """
    require_packages(root, (part for parts in COLLECTIONS.values() for part in parts), "sounds")


def recorded_sound(rng: np.random.Generator, root: Path, group: str) -> Waveform:
    """Return a random recorded sound of a group, up to 3 s long, with a peak of 1.

    Args:
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


# Powers of each mode are split into coarse and fine steps, to sum all modes with a single matrix product.
_FINE = 64
# Longest sound and the fade of longer ones, in samples.
_LONGEST = 4 * RATE_HZ
_FADE = 400
# Length of the impulse response of `colour`, in samples.
_COLOUR_LENGTH = 1024


def uniform_log(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a random number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def samples_of(seconds: float) -> int:
    """Return a duration in samples, at least 1."""
    return max(1, round(seconds * RATE_HZ))


def normalized(sound: Waveform) -> Waveform:
    """Scale a sound to a peak of 1, without its constant part and the silence after it (below -80 dB), at most 4 s."""
    centred = sound[:_LONGEST].copy()
    if len(sound) > _LONGEST:
        centred[-_FADE:] *= np.linspace(1, 0, _FADE)
    if abs(centred.sum()) > 1e-3 * np.abs(centred).sum():
        # The pad of 0.1 s keeps the decay of the filter from wrapping around.
        length = fast_length(len(centred) + RATE_HZ // 10)
        delay = np.exp(-2j * np.pi * np.arange(length // 2 + 1) / length)
        gains = (1 - delay) / (1 - np.exp(-2 * np.pi * 15 / RATE_HZ) * delay)
        centred = np.asarray(np.fft.irfft(np.fft.rfft(centred, length) * gains, length)[: len(centred)])
    peak = np.abs(centred).max() + 1e-12
    last = int(np.flatnonzero(np.abs(centred) > 1e-4 * peak)[-1]) if peak > 1e-9 else 0
    cut = centred[: last + 1]
    return np.asarray(cut / (np.abs(cut).max() + 1e-12))


def overlay(parts: Sequence[tuple[float, Waveform]]) -> Waveform:
    """Add sounds that start at given times in seconds, from 0 on."""
    starts = [round(at_s * RATE_HZ) for at_s, _ in parts]
    total = np.zeros(max(start + len(sound) for start, (_, sound) in zip(starts, parts, strict=True)))
    for start, (_, sound) in zip(starts, parts, strict=True):
        total[start : start + len(sound)] += sound
    return total


def pulses(times_s: ArrayLike, pushes: ArrayLike, lasts_s: ArrayLike, *, total_s: float) -> Waveform:
    """Return a train of force pulses shaped as a squared sine, the force of a soft contact.

    Args:
        times_s: Start of each pulse in seconds, shape (M,).
        pushes: Impulse of each pulse, shape (M,) or a single one.
        lasts_s: Duration of each pulse in seconds, shape (M,) or a single one. At least 1.2 samples are used.
        total_s: Duration of the train. Later parts are cut off.
    """
    starts = np.atleast_1d(np.asarray(times_s, np.float64)) * RATE_HZ
    widths = np.broadcast_to(np.maximum(np.asarray(lasts_s, np.float64) * RATE_HZ, 1.2), starts.shape)
    heights = np.broadcast_to(np.asarray(pushes, np.float64), starts.shape) / widths
    count = samples_of(total_s)
    if not len(starts):
        return np.zeros(count)
    at = np.floor(starts).astype(np.int64)[:, None] + np.arange(int(widths.max()) + 2)
    phase = (at - starts[:, None]) / widths[:, None]
    force = np.where((phase > 0) & (phase < 1), np.sin(np.pi * phase) ** 2, 0.0) * heights[:, None]
    is_inside = (at >= 0) & (at < count)
    return np.asarray(np.bincount(at[is_inside], force[is_inside], count), np.float64)


def ringing(
    modes_hz: NDArray[np.float64], decays: NDArray[np.float64], gains: NDArray[np.float64], *, count: int
) -> Waveform:
    """Return the sum of modes excited at the same time, shape (count,).

    Args:
        modes_hz: Frequency of each mode, shape (K,).
        decays: Decay rate of each mode in 1/s, shape (K,).
        gains: Amplitude of each mode, shape (K,).
    """
    turn = (2j * np.pi * modes_hz - decays) / RATE_HZ
    fine = _powers(np.exp(turn), _FINE)
    coarse = _powers(np.exp(_FINE * turn), -(-count // _FINE)) * gains.astype(np.float32)
    # Half the work of a product of complex numbers, because only its imaginary part is needed.
    imaginary = np.hstack([coarse.real, coarse.imag]) @ np.hstack([fine.imag, fine.real]).T
    return np.asarray(imaginary.ravel()[:count], np.float64)


def _powers(values: NDArray[np.complex128], count: int) -> NDArray[np.complex64]:
    """Return the powers 0 to *count* - 1 of each value, shape (count, K)."""
    rows = np.ones((count, len(values)), np.complex64)
    done, factor = 1, values
    while done < count:  # doubling: powers n to 2n - 1 are powers 0 to n - 1 times power n
        more = min(done, count - done)
        np.multiply(rows[:more], factor.astype(np.complex64), out=rows[done : done + more])
        done, factor = done + more, factor * factor
    return rows


def convolve(excitation: Waveform, response: Waveform) -> Waveform:
    """Return the response of a linear system to an excitation, shape (len(excitation) + len(response) - 1,)."""
    count = len(excitation) + len(response) - 1
    length = fast_length(count)
    spectrum = np.fft.rfft(excitation, length) * np.fft.rfft(response, length)
    # Inverse transforms take a third of the time in single precision, whose noise is 120 dB or more below the peak.
    return np.asarray(np.fft.irfft(spectrum.astype(np.complex64), length)[:count], np.float64)


def fast_length(count: int) -> int:
    """Return a length for fast Fourier transforms: a power of two, or three quarters of one."""
    power = 1 << max(3, (count - 1).bit_length())
    return power * 3 // 4 if count <= power * 3 // 4 else power


def band_noise(
    rng: np.random.Generator, count: int, *, low_hz: float = 20.0, high_hz: float = 8000.0, slope: float = 0.0
) -> Waveform:
    """Return Gaussian noise in a band with an RMS of 1.

    Args:
        low_hz: Lower edge of the band. Below it, the noise falls by 12 dB per octave.
        high_hz: Upper edge of the band. Above it, the noise falls by 12 dB per octave.
        slope: Exponent of the decrease of power with frequency: 0 white, 1 pink, 2 brown.
    """
    length = fast_length(count)
    hz = np.maximum(np.fft.rfftfreq(length, 1 / RATE_HZ), 10.0)
    gains = hz ** (-slope / 2) / ((1 + (low_hz / hz) ** 2) * (1 + (hz / high_hz) ** 2))
    gains = (gains * np.sqrt(length / 2 / (gains**2).mean())).astype(np.float32)
    spectrum = np.empty(len(hz), np.complex64)
    spectrum.real = rng.standard_normal(len(hz), np.float32) * gains
    spectrum.imag = rng.standard_normal(len(hz), np.float32) * gains
    return np.asarray(np.fft.irfft(spectrum, length)[:count], np.float64)


def wander(rng: np.random.Generator, count: int, *, rate_hz: float) -> Waveform:
    """Return a smooth random curve with values of about -1 to 1 and *rate_hz* knots per second, shape (count,)."""
    knots = rng.standard_normal(int(count / RATE_HZ * rate_hz) + 3) * 0.6
    return np.interp(np.arange(count) * rate_hz / RATE_HZ + rng.uniform(0, 1), np.arange(len(knots)), knots)


def colour(rng: np.random.Generator, sound: Waveform, *, spread_db: float) -> Waveform:
    """Filter a sound by a random smooth frequency response of minimum phase, which keeps onsets sharp.

    Bodies, cases and surroundings of a source change its spectrum by a few decibels per octave. The phase is computed
    from the gains by the real cepstrum (Oppenheim and Schafer, Discrete-Time Signal Processing, chapter 13).

    Args:
        spread_db: Standard deviation of the gain at each knot. Knots are 0.6 to 1.4 octaves apart.
    """
    hz = np.maximum(np.fft.rfftfreq(_COLOUR_LENGTH, 1 / RATE_HZ), 20.0)
    knots = np.arange(-3, 8, rng.uniform(0.6, 1.4))
    gains_db = np.interp(np.log2(hz / 100), knots, rng.normal(0, spread_db, len(knots)))
    cepstrum = np.fft.irfft(gains_db * np.log(10) / 20, _COLOUR_LENGTH)
    cepstrum[1 : _COLOUR_LENGTH // 2] *= 2
    cepstrum[_COLOUR_LENGTH // 2 + 1 :] = 0
    response = np.fft.irfft(np.exp(np.fft.rfft(cepstrum)), _COLOUR_LENGTH)
    return convolve(sound, response[: _COLOUR_LENGTH // 2])


def panel(
    rng: np.random.Generator,
    *,
    from_hz: float,
    to_hz: float,
    count: int,
    loss: tuple[float, float],
    tilt: float = 0.0,
    lasts_s: float = 0.4,
) -> Waveform:
    """Return the impulse response of a plate: modes spread evenly over frequency, as plates have them.

    Args:
        loss: Minimum and maximum loss factor (share of energy lost per radian).
    """
    modes_hz = np.sort(np.append(rng.uniform(from_hz, to_hz, max(0, count - 1)), from_hz * rng.uniform(1, 1.3)))
    decays = np.pi * modes_hz * uniform_log(rng, *loss) * rng.lognormal(0, 0.3, len(modes_hz)) + rng.uniform(3, 20)
    gains = rng.normal(0, 1, len(modes_hz)) * (modes_hz / from_hz) ** tilt
    rings = ringing(modes_hz, decays, gains, count=samples_of(lasts_s))
    # Air does not carry a constant pressure: balance the response by an opposite push that fades within 1 to 4 ms.
    fade = np.exp(-np.arange(len(rings)) * uniform_log(rng, 250, 1000) / RATE_HZ)
    balanced = rings - fade * rings.sum() / fade.sum()
    # Modes that still ring at the end fade instead of ending with a click.
    last = len(balanced) // 3
    balanced[-last:] *= np.cos(np.linspace(0, np.pi / 2, last)) ** 2
    return levelled(balanced)


def levelled(sound: Waveform) -> Waveform:
    """Scale a sound to an energy of 1."""
    return np.asarray(sound / (np.sqrt((sound**2).sum()) + 1e-12))


def burst(
    rng: np.random.Generator, *, rise_s: float, decay_s: float, low_hz: float = 100.0, high_hz: float = 8000.0
) -> Waveform:
    """Return noise that rises within *rise_s* and falls by a factor e every *decay_s*, cut off at -60 dB."""
    count = samples_of(rise_s + 7 * decay_s)
    times_s = np.arange(count) / RATE_HZ
    swell = np.minimum(1, (times_s + 1 / RATE_HZ) / max(rise_s, 1 / RATE_HZ))
    return (
        band_noise(rng, count, low_hz=low_hz, high_hz=high_hz)
        * swell
        * np.exp(-np.maximum(0, times_s - rise_s) / decay_s)
    )


def thuds(
    rng: np.random.Generator, times_s: NDArray[np.float64], pushes: NDArray[np.float64], *, lasts_s: float
) -> Waveform:
    """Return the forces of a soft or heavy object that hits something hard, and of harder points on it, if any.

    Args:
        times_s: Start of each hit, shape (M,).
        pushes: Impulse of each hit, shape (M,).
        lasts_s: Mean duration of the soft contacts. Hard ones last 0.1 to 1 ms and have up to 30 % of the impulse.
    """
    total_s = float(times_s.max()) + 2 * lasts_s + 0.01
    force = pulses(times_s, pushes, lasts_s * rng.uniform(0.7, 1.4, len(times_s)), total_s=total_s)
    if rng.random() < 0.7:
        hard_s = times_s + rng.uniform(0, lasts_s, len(times_s))
        shares = uniform_log(rng, 0.003, 0.3) * rng.lognormal(0, 0.5, len(times_s))
        force += pulses(hard_s, pushes * shares, uniform_log(rng, 0.0001, 0.001), total_s=total_s)
    return force


def rhythm(rng: np.random.Generator, *, count: int, gap_s: float, jitter: float) -> NDArray[np.float64]:
    """Return *count* times from 0 on whose gaps vary by the share *jitter*."""
    gaps_s = gap_s * np.maximum(0.2, rng.normal(1, jitter, count - 1))
    return np.concatenate([[0.0], np.cumsum(gaps_s)])


def bounces(
    rng: np.random.Generator, *, gap_s: float, restitution: float, most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the times and relative impulses of a bouncing or rocking object.

    Each flight lasts *restitution* times the one before, and so does the speed of the impact (Newton's law of
    restitution). Uneven objects vary from it by about a fifth.
    """
    shrink = np.cumprod(np.concatenate([[1.0], np.full(most - 1, restitution) * rng.normal(1, 0.08, most - 1)]))
    gaps_s = gap_s * shrink[:-1] * np.maximum(0.2, rng.normal(1, 0.1, most - 1))
    is_flight = gaps_s > 0.002
    times_s = np.concatenate([[0.0], np.cumsum(gaps_s[is_flight])])
    return times_s, np.concatenate([[1.0], shrink[1:][is_flight] * rng.lognormal(0, 0.25, int(is_flight.sum()))])
