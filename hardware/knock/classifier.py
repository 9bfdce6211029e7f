"""The classifier of sudden sounds as plain arrays: what scikit-learn trained, evaluated with numpy alone."""

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
# What numpy and zipfile raise for bytes that are none of theirs, or that the checksums within do not fit: a flipped bit
# may also ask for a way of packing that nobody knows (NotImplementedError), or for a password (RuntimeError).
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
    """A multi-layer perceptron with ReLU between its layers; its outputs are the sounds in their order.

    Attributes:
        mean, scale: Shape (FEATURES,), how features are standardised.
        weights: One (I, O) array a layer.
        biases: One (O,) array a layer.
        least_knock: A sound is a knock from this probability on.
        notes: How it was trained, and its figures on sound kept back.
        brighter_db: By how much in each octave the microphone is brighter than those learned from: sounds are measured
            without that.
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    least_knock: float
    notes: dict[str, object]
    brighter_db: float = 0.0

    def probabilities(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return how likely each sound is for features of shape (N, FEATURES), shape (N, number of sounds)."""
        # What lies far outside of all that was learned says no more than what lies at its border.
        values = np.clip((features - self.mean) / self.scale, -5, 5)
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if index:
                values = np.maximum(values, 0)
            values = values @ weight + bias
        values = np.exp(values - values.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(values / values.sum(axis=1, keepdims=True), np.float32)

    def decide(self, chances: NDArray[np.float32]) -> tuple[Sound, float]:
        """Return what a sound is, and how likely it is that.

        Args:
            chances: Shape (number of sounds,), its probabilities.
        """
        if chances[0] >= self.least_knock:
            return Sound.KNOCK, float(chances[0])
        other = 1 + int(chances[1:].argmax())
        return SOUNDS[other], float(chances[other])


def save_classifier(path: Path, classifier: Classifier) -> None:
    """Write a classifier as a compressed npz file of float16 arrays with a JSON header."""
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
    """Return the classifier in a file, by default the one that the package ships.

    Raises:
        KnockModelError: If the file is not one of ours, or is of another version.
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
        came = f"{header.get('format')} version {header.get('version')}"
        raise KnockModelError(f"{source}: expected {FORMAT} version {VERSION}, got {came}")
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
