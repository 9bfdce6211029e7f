"""Classifier of sudden sounds, trained with torch and evaluated with numpy."""

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

from hardware.knock.features import FEATURES, PATCHES
from hardware.knock.heard import Sound
from hardware.knock.sensor import KnockModelError

FORMAT = "tallybone-knock"
VERSION = 3
SOUNDS = tuple(Sound)
_SHIPPED = "models/knock.npz"
# Features are centred for the network.
CENTRE = np.float32(1.5)
# Standardised numbers on the impact are clipped to this magnitude.
FARTHEST = 5.0
_DENSE = ("impact", "hidden", "output")
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
        mean, scale: Arrays that standardise these numbers.
        hidden: Layer that makes the embedding of E numbers.
        output: Last layer.
        others: Embeddings of modelled sounds that are no knocks, shape (M, E). Tables learn against them.
        least_knock: Minimum probability of a knock.
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
    least_knock: float
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
        """Return the most likely sound and its probability. A knock wins if and only if it reaches `least_knock`.

        Args:
            chances: Probabilities, shape (number of sounds,).
        """
        if chances[0] >= self.least_knock:
            return Sound.KNOCK, float(chances[0])
        other = 1 + int(chances[1:].argmax())
        return SOUNDS[other], float(chances[other])


def save_classifier(path: Path, classifier: Classifier) -> None:
    """Write a classifier to a compressed npz file with a JSON header. Omits the correction.

    Weights are rounded to 8 bits with a scale for each output, embeddings with a scale for each sound.
    """
    header = {
        "format": FORMAT,
        "version": VERSION,
        "sounds": [sound.value for sound in SOUNDS],
        "strides": [[layer.stride for layer in layers] for layers in classifier.branches],
        "least_knock": classifier.least_knock,
        "notes": classifier.notes,
    }
    named: dict[str, Layer | Dense] = {name: getattr(classifier, name) for name in _DENSE}
    for at, layers in enumerate(classifier.branches):
        named |= {f"layer{at}{index}": layer for index, layer in enumerate(layers)}
    arrays: dict[str, NDArray[np.generic]] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "mean": classifier.mean.astype(np.float16),
        "scale": classifier.scale.astype(np.float16),
        **_rounded("others", classifier.others, axes=(1,)),
    }
    for name, layer in named.items():
        arrays |= _rounded(f"{name} weight", layer.weight, axes=(1, 2, 3) if isinstance(layer, Layer) else (0,))
        arrays[f"{name} bias"] = layer.bias.astype(np.float16)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _rounded(name: str, values: NDArray[np.float32], *, axes: tuple[int, ...]) -> dict[str, NDArray[np.generic]]:
    """Return values as 8-bit integers and their steps, which are the same along *axes*."""
    steps = np.maximum(np.abs(values).max(axis=axes, keepdims=True, initial=0) / 127, np.float32(1e-12))
    return {name: np.round(values / steps).astype(np.int8), f"{name} step": steps.astype(np.float32)}


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
        float(header["least_knock"]),
        header["notes"],
        f"{zlib.crc32(b''.join(stored[key].tobytes() for key in sorted(stored.files))):08x}",
    )
    # Raises ValueError if the layers do not fit.
    classifier.probabilities(classifier.embed(np.zeros((1, FEATURES), np.float32)))
    return classifier
