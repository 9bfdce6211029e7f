"""Classify pip features with a small multi-layer perceptron, trained by scikit-learn and evaluated by numpy."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from vision.errors import ModelError

FORMAT = "tallybone-head"
VERSION = 4
_SHIPPED = "models/pips.npz"
# Exceptions that numpy and zipfile raise for damaged files. A flipped bit can also suggest an unknown compression
# method (NotImplementedError) or encryption (RuntimeError).
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
class PipClassifier:
    """A multi-layer perceptron with ReLU activations.

    Attributes:
        mean, scale: Standardisation of the features, shape (F,).
        weights: An array of shape (I, O) for each layer.
        biases: An array of shape (O,) for each layer.
        sharpness: Inverse softmax temperature, for calibrated probabilities.
        misread: Share of probability spread evenly over all classes, for errors that do not show in the outputs.
        notes: Training details: seed, number of images, held-out results.
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    sharpness: float = 1.0
    misread: float = 0.0
    notes: dict[str, object] = field(default_factory=dict)

    def outputs(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the outputs of the last layer, shape (N, O), for features of shape (N, F)."""
        values = (features - self.mean) / self.scale
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if index:
                values = np.maximum(values, 0)
            values = values @ weight + bias
        return np.asarray(values, np.float32)

    def probabilities(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return class probabilities, shape (N, O), for features of shape (N, F)."""
        return self.chances(self.outputs(features))

    def chances(self, outputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return calibrated class probabilities, shape (N, O), for outputs of the last layer."""
        values = outputs * self.sharpness
        values = np.exp(values - values.max(axis=1, keepdims=True, initial=-np.inf))
        values = values / values.sum(axis=1, keepdims=True)
        return np.asarray(values * (1 - self.misread) + self.misread / outputs.shape[1], np.float32)


def save_pip_classifier(path: Path, classifier: PipClassifier) -> None:
    """Write a classifier to a compressed npz file with float16 arrays and a JSON header."""
    parameters = {"layers": len(classifier.weights), "sharpness": classifier.sharpness, "misread": classifier.misread}
    header = {"format": FORMAT, "version": VERSION, "notes": classifier.notes, "head": parameters}
    arrays: dict[str, NDArray[np.generic]] = {
        "mean": classifier.mean.astype(np.float16),
        "scale": classifier.scale.astype(np.float16),
    }
    for index, (weight, bias) in enumerate(zip(classifier.weights, classifier.biases, strict=True)):
        arrays |= {f"weight{index}": weight.astype(np.float16), f"bias{index}": bias.astype(np.float16)}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_pip_classifier(path: Path | None = None) -> PipClassifier:
    """Load a classifier from a file, by default the one in the package.

    Raises:
        ModelError: If the file is missing, damaged, or of another format or version.
    """
    source = path if path is not None else resources.files("vision").joinpath(_SHIPPED)
    try:
        with source.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            header = json.loads(stored["header"].tobytes())
            if header.get("format") != FORMAT or header.get("version") != VERSION:
                actual = f"{header.get('format')} version {header.get('version')}"
                raise ModelError(f"{source}: expected {FORMAT} version {VERSION}, got {actual}")
            return _from_arrays(stored, header["head"], header["notes"])
    except ModelError:
        raise
    except _UNREADABLE as error:
        raise ModelError(f"{source}: not a readable pip classifier ({error})") from error


def _from_arrays(stored: np.lib.npyio.NpzFile, parameters: dict[str, float], notes: dict[str, object]) -> PipClassifier:
    def array(key: str) -> NDArray[np.float32]:
        return np.asarray(stored[key], np.float32)

    count = int(parameters["layers"])
    return PipClassifier(
        array("mean"),
        array("scale"),
        tuple(array(f"weight{i}") for i in range(count)),
        tuple(array(f"bias{i}") for i in range(count)),
        parameters["sharpness"],
        parameters["misread"],
        notes,
    )
