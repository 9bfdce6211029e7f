"""Classifier of sudden sounds, trained with torch and evaluated with numpy, and its features.

The features are log mel spectrograms of the onset and of its context, and numbers on the impact.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tokenize import TokenError
from zipfile import BadZipFile

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from hardware.knock.sensor import RATE_HZ, KnockModelError, Sound

# Number of samples at 16 kHz that are used before (0.256 s) and after (0.12 s) the onset.
_IMPACT_BEFORE = 4_096
_IMPACT_AFTER = 1_920
_EVENT_BEFORE = 32
_LONG = 1_024
_EDGES_HZ = (30, 90, 150, 210, 280, 360, 450, 560, 700, 880, 1100, 1400, 1750, 2200, 2750, 3400, 4200, 5200, 6400, 7900)
_EARLY = 192
_EARLY_EDGES_HZ = (200, 400, 600, 850, 1150, 1500, 1900, 2400, 3000, 3700, 4500, 5500, 6600, 7900)
_FRAME = 128
_HOP = 64
_BROAD_HZ = (60, 450, 1000, 2000, 3400, 5200, 7900)
# Ranges of frames (4 ms apart) that are averaged: short at first, then longer.
_SPANS = ((0, 1), (1, 2), (2, 3), (3, 5), (5, 8), (8, 13), (13, 20), (20, 29))
_CONTACT_STEP = 16
_CONTACT_STEPS = 40
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)
_LEAST = 1e-5

Row = NDArray[np.float32]


def describe_impacts(samples: NDArray[np.float32]) -> Row:
    """Return numbers that do not depend on loudness. Shape (..., NUMBERS).

    Args:
        samples: Shape (..., _IMPACT_BEFORE + _IMPACT_AFTER), with the onset of each sound at index _IMPACT_BEFORE.
    """
    values = samples.astype(np.float64)
    event = values[..., _IMPACT_BEFORE - _EVENT_BEFORE :]
    highest = np.abs(event).max(axis=-1, keepdims=True) + 1e-9
    event, earlier = event / highest, values[..., : _IMPACT_BEFORE - _EVENT_BEFORE] / highest
    sharp = np.diff(event, n=2, prepend=event[..., :1], append=event[..., -1:])
    # Zero-crossing rates of the first 8, the next 24 and the next 64 ms, in kHz.
    signs = event < 0  # Not np.signbit, which is True for the negative zero of floats.
    changes = signs[..., 1:] != signs[..., :-1]
    spans = ((_EVENT_BEFORE, 160), (160, 544), (544, 1_568))
    crossings = np.stack([changes[..., first:end].mean(axis=-1) * 16 for first, end in spans], axis=-1)
    parts = (
        _spectrum(event, _LONG, _EDGES_HZ),
        _spectrum(event, _EARLY, _EARLY_EDGES_HZ),
        _decay(event),
        _contacts(sharp),
        _shape(event),
        _shape(sharp),
        crossings,
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


NUMBERS = len(describe_impacts(np.zeros(_IMPACT_BEFORE + _IMPACT_AFTER, np.float32)))
# Number of samples at 16 kHz before (0.576 s) and after (0.448 s) the onset. They cover its neighbours in a series of
# knocks.
BEFORE = 9_216
AFTER = 7_168


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
LOUDEST = 3.0
LOWEST = -4.0
HIGHEST = 5.0


def measure(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the features of sounds, which do not depend on loudness.

    Args:
        samples: Shape (..., BEFORE + AFTER), with the onset of each sound at index BEFORE.

    Returns:
        Shape (..., FEATURES): the values of `DETAIL`, then those of `CONTEXT`, each frame by frame, then the numbers of
        `describe_impacts`.
    """
    values = np.asarray(samples, np.float32)
    if not values.size:
        return np.zeros((*values.shape[:-1], FEATURES), np.float32)
    rows = [_log_mel(values, patch).reshape(*values.shape[:-1], patch.frames * patch.bands) for patch in PATCHES]
    around = values[..., BEFORE - _IMPACT_BEFORE : BEFORE + _IMPACT_AFTER]
    return np.concatenate([*rows, describe_impacts(around)], axis=-1)


def _log_mel(samples: NDArray[np.float32], patch: Patch) -> NDArray[np.float32]:
    """Return a spectrogram, shape (..., frames, bands)."""
    windows = np.lib.stride_tricks.sliding_window_view(samples[..., patch.begin :], patch.length, axis=-1)
    frames = windows[..., :: patch.hop, :][..., : patch.frames, :] * _WINDOWS[patch]
    powers = (np.abs(np.fft.rfft(frames, axis=-1)).astype(np.float32) ** 2) @ _FILTERS[patch]
    loudest = powers[..., patch.loudest_from :, :].max(axis=(-1, -2), keepdims=True) + np.float32(1e-10)
    relative = np.log10(powers / loudest + np.float32(1e-8)) + np.float32(LOUDEST)
    return np.asarray(np.clip(relative, LOWEST, HIGHEST), np.float32)


def band_edges_hz(patch: Patch) -> NDArray[np.float64]:
    """Return the lowest edge, the centres and the highest edge of the bands, equally spaced on the mel scale of HTK."""
    lowest, highest = (2595 * np.log10(1 + hz / 700) for hz in (patch.low_hz, _HIGHEST_HZ))
    return np.asarray(700 * (10 ** (np.linspace(lowest, highest, patch.bands + 2) / 2595) - 1))


def _mel_filters(patch: Patch) -> NDArray[np.float32]:
    """Return triangular filters of sum 1, shape (length / 2 + 1, bands)."""
    edges_hz = band_edges_hz(patch)
    hz = np.fft.rfftfreq(patch.length, 1 / RATE_HZ)[:, None]
    low, centre, high = edges_hz[:-2], edges_hz[1:-1], edges_hz[2:]
    filters = np.maximum(0, np.minimum((hz - low) / (centre - low), (high - hz) / (high - centre)))
    # The lowest bands are narrower than the spacing of the frequencies: they take the nearest one.
    nearest = np.abs(hz - centre).argmin(axis=0)
    is_empty = filters.sum(axis=0) < 1e-6
    filters[nearest[is_empty], np.flatnonzero(is_empty)] = 1
    return np.asarray(filters / filters.sum(axis=0), np.float32)


_FILTERS = {patch: _mel_filters(patch) for patch in PATCHES}
_WINDOWS = {patch: np.hanning(patch.length).astype(np.float32) for patch in PATCHES}
FEATURES = sum(patch.frames * patch.bands for patch in PATCHES) + NUMBERS


FORMAT = "tallybone-knock"
VERSION = 3
SOUNDS = tuple(Sound)
_SHIPPED = "models/knock.npz"
# Features are centred for the network.
CENTRE = np.float32(1.5)
# Standardised numbers on the impact are clipped to this magnitude.
FARTHEST = 5.0
DENSE = ("impact", "hidden", "output")
# Raised by numpy and zipfile for damaged files. A flipped bit may also suggest an unknown compression method
# (NotImplementedError, a RuntimeError) or encryption (RuntimeError), or make the header of an array unreadable
# (SyntaxError, TokenError).
_UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RuntimeError,
    SyntaxError,
    TokenError,
    BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A convolution over frames and bands, followed by a ReLU.

    Attributes:
        weight: Shape (outputs, inputs, frames, bands).
        bias: Shape (outputs,).
        stride: Step in frames and bands. With a stride of 2, the input is padded by a row of zeros on each side.
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    stride: int

    def apply(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the outputs, shape (N, frames, bands, outputs), for inputs of shape (N, frames, bands, inputs)."""
        if self.stride > 1:
            count, frames, bands, inputs = values.shape
            padded = np.zeros((count, frames + 2, bands + 2, inputs), np.float32)  # np.pad takes as long as the layer
            padded[:, 1:-1, 1:-1] = values
            values = padded
        size = self.weight.shape[2:]
        windows = sliding_window_view(values, size, axis=(1, 2))[:, :: self.stride, :: self.stride]
        outputs = len(self.weight)
        sums = windows.reshape(-1, self.weight[0].size) @ self.weight.reshape(outputs, -1).T
        sums += self.bias
        return np.asarray(np.maximum(sums, 0, out=sums).reshape(*windows.shape[:3], outputs), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """A fully connected layer.

    Attributes:
        weight: Shape (inputs, outputs).
        bias: Shape (outputs,).
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]

    def apply(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sums, shape (N, outputs), for inputs of shape (N, inputs)."""
        return values @ self.weight + self.bias


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """What a table has learned: a linear correction of the log odds of a knock.

    Attributes:
        weights: Weight of each number of the embedding, shape (E,).
        bias: Constant term.
    """

    weights: NDArray[np.float32]
    bias: float


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A small convolutional network on two spectrograms. Its outputs are in the order of `SOUNDS`.

    Attributes:
        branches: Layers for the features of `DETAIL` and of `CONTEXT`.
        impact: Layer for the numbers on the impact, after subtracting *mean* and dividing by *scale*.
        mean, scale: Arrays that standardise these features.
        hidden: Layer that makes the embedding of E numbers.
        output: Last layer.
        others: Embeddings of modelled sounds that are no knocks, shape (M, E). Tables learn against them.
        min_knock: Minimum probability of a knock.
        notes: Notes on the training, with figures on held-out sounds.
        name: Checksum of the file, which identifies the embeddings.
        correction: What this table has learned, or None.
    """

    branches: tuple[tuple[Layer, ...], tuple[Layer, ...]]
    impact: Dense
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    hidden: Dense
    output: Dense
    others: NDArray[np.float32]
    min_knock: float
    notes: dict[str, object]
    name: str = ""
    correction: Correction | None = None

    def embed(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return a short description of sounds, shape (N, E), for features of shape (N, FEATURES)."""
        outputs, first = [], 0
        for patch, layers in zip(PATCHES, self.branches, strict=True):
            count = patch.frames * patch.bands
            values = features[:, first : first + count].reshape(-1, *patch.shape, 1) - CENTRE
            for layer in layers:
                values = layer.apply(values)
            outputs.append(values.reshape(len(values), -1))
            first += count
        # Numbers far outside the range of the training data carry no more information than its border.
        numbers = np.clip((features[:, first:] - self.mean) / self.scale, -FARTHEST, FARTHEST)
        outputs.append(np.maximum(self.impact.apply(numbers), 0))
        return np.asarray(np.maximum(self.hidden.apply(np.concatenate(outputs, axis=1)), 0), np.float32)

    def probabilities(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of each sound, shape (N, number of sounds), for embeddings of shape (N, E)."""
        values = self.output.apply(embeddings)
        if self.correction is not None:
            values[:, 0] += embeddings @ self.correction.weights + np.float32(self.correction.bias)
        values = np.exp(values - values.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(values / values.sum(axis=1, keepdims=True), np.float32)

    def decide(self, chances: NDArray[np.float32]) -> tuple[Sound, float]:
        """Return the most likely sound and its probability. A knock wins if and only if it reaches `min_knock`.

        Args:
            chances: Probabilities, shape (number of sounds,).
        """
        if chances[0] >= self.min_knock:
            return Sound.KNOCK, float(chances[0])
        other = 1 + int(chances[1:].argmax())
        return SOUNDS[other], float(chances[other])


def load_classifier(path: Path | None = None) -> Classifier:
    """Load a classifier, by default the shipped one.

    Raises:
        KnockModelError: If the file is unreadable, of another format or version, or has other sounds or features.
    """
    source = path if path is not None else resources.files("hardware").joinpath(_SHIPPED)
    try:
        with source.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return _classifier(str(source), stored)
    except KnockModelError:
        raise
    except _UNREADABLE as error:
        raise KnockModelError(f"{source}: not a readable file of the knock classifier ({error})") from error


def _classifier(source: str, stored: np.lib.npyio.NpzFile) -> Classifier:
    header = json.loads(stored["header"].tobytes())
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        actual = f"{header.get('format')} version {header.get('version')}"
        raise KnockModelError(f"{source}: expected {FORMAT} version {VERSION}, got {actual}")
    if header["sounds"] != [sound.value for sound in SOUNDS]:
        raise KnockModelError(f"{source}: expected the sounds {', '.join(SOUNDS)}, got {header['sounds']}")

    def array(key: str) -> NDArray[np.float32]:
        return np.asarray(stored[key], np.float32)

    def rounded(key: str) -> NDArray[np.float32]:
        return array(key) * array(f"{key} step")

    def pair(name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return rounded(f"{name} weight"), array(f"{name} bias")

    detail, context = (
        tuple(Layer(*pair(f"layer{at}{index}"), int(stride)) for index, stride in enumerate(strides))
        for at, strides in enumerate(header["strides"])
    )
    classifier = Classifier(
        (detail, context),
        Dense(*pair("impact")),
        array("mean"),
        array("scale"),
        Dense(*pair("hidden")),
        Dense(*pair("output")),
        rounded("others"),
        float(header["min_knock" if "min_knock" in header else "least_knock"]),  # its name before 0.3
        header["notes"],
        f"{zlib.crc32(b''.join(stored[key].tobytes() for key in sorted(stored.files))):08x}",
    )
    # Raises ValueError if the layers do not fit.
    classifier.probabilities(classifier.embed(np.zeros((1, FEATURES), np.float32)))
    return classifier
