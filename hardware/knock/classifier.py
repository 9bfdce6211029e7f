"""Classifier of sudden sounds, trained with scikit-learn and evaluated with numpy."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from hardware.knock.errors import KnockModelError
from hardware.knock.features import FEATURES
from hardware.knock.heard import Sound

FORMAT = "tallybone-knock"
VERSION = 1
SOUNDS = tuple(Sound)
_SHIPPED = "models/knock.npz"
# Raised by numpy and zipfile for damaged files. A flipped bit may also suggest an unknown compression method
# (NotImplementedError, a RuntimeError) or encryption (RuntimeError).
_UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RuntimeError,
    BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A multi-layer perceptron with ReLU activations. Its outputs are in the order of `SOUNDS`.

    Attributes:
        mean, scale: Arrays of shape (FEATURES,) that standardise the features.
        weights: Array of shape (inputs, outputs) for each layer.
        biases: Array of shape (outputs,) for each layer.
        least_knock: Minimum probability of a knock.
        notes: Notes on the training, with figures on held-out sounds.
        brighter_db: Spectral tilt of the microphone relative to those of the training data, in dB per octave. It is
            removed before features are measured.
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    least_knock: float
    notes: dict[str, object]
    brighter_db: float = 0.0

    def probabilities(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of each sound, shape (N, number of sounds), for features of shape (N, FEATURES)."""
        # Features far outside the range of the training data carry no more information than its border.
        values = np.clip((features - self.mean) / self.scale, -5, 5)
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if index:
                values = np.maximum(values, 0)
            values = values @ weight + bias
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
    """Write a classifier to a compressed npz file of float16 arrays with a JSON header. Omits `brighter_db`."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "sounds": [sound.value for sound in SOUNDS],
        "layers": len(classifier.weights),
        "least_knock": classifier.least_knock,
        "notes": classifier.notes,
    }
    arrays: dict[str, NDArray[np.generic]] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "mean": classifier.mean.astype(np.float16),
        "scale": classifier.scale.astype(np.float16),
    }
    for index, (weight, bias) in enumerate(zip(classifier.weights, classifier.biases, strict=True)):
        arrays |= {f"weight{index}": weight.astype(np.float16), f"bias{index}": bias.astype(np.float16)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


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

    count = int(header["layers"])
    mean = array("mean")
    if mean.shape != (FEATURES,):
        raise KnockModelError(f"{source}: expected {FEATURES} features, got {mean.shape}")
    return Classifier(
        mean,
        array("scale"),
        tuple(array(f"weight{i}") for i in range(count)),
        tuple(array(f"bias{i}") for i in range(count)),
        float(header["least_knock"]),
        header["notes"],
    )
