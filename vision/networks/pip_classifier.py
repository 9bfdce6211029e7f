"""Pip classifier: a small multi-layer perceptron as plain arrays, trained by scikit-learn and evaluated by numpy."""

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
class PipClassifier:
    """A multi-layer perceptron with ReLU between its layers.

    Attributes:
        mean, scale: Shape (F,), how features are standardised.
        weights: One (I, O) array a layer.
        biases: One (O,) array a layer.
        sharpness: The last layer is multiplied with it before the softmax, so that probabilities are calibrated.
        misread: Share of what it sees of which it knows nothing however sure it seems: spread over all classes.
        notes: How it was trained: seed, number of pictures, held-out figures.
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    sharpness: float = 1.0
    misread: float = 0.0
    notes: dict[str, object] = field(default_factory=dict)

    def outputs(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the last layer for features of shape (N, F), shape (N, O)."""
        values = (features - self.mean) / self.scale
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if index:
                values = np.maximum(values, 0)
            values = values @ weight + bias
        return np.asarray(values, np.float32)

    def probabilities(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the softmax over classes for features of shape (N, F), shape (N, O)."""
        return self.chances(self.outputs(features))

    def chances(self, outputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities that outputs stand for, shape (N, O)."""
        values = outputs * self.sharpness
        values = np.exp(values - values.max(axis=1, keepdims=True, initial=-np.inf))
        values = values / values.sum(axis=1, keepdims=True)
        return np.asarray(values * (1 - self.misread) + self.misread / outputs.shape[1], np.float32)


def save_pip_classifier(path: Path, head: PipClassifier) -> None:
    """Write a head as a compressed npz file of float16 arrays with a JSON header."""
    said = {"layers": len(head.weights), "sharpness": head.sharpness, "misread": head.misread}
    header = {"format": FORMAT, "version": VERSION, "notes": head.notes, "head": said}
    arrays: dict[str, NDArray[np.generic]] = {
        "mean": head.mean.astype(np.float16),
        "scale": head.scale.astype(np.float16),
    }
    for index, (weight, bias) in enumerate(zip(head.weights, head.biases, strict=True)):
        arrays |= {f"weight{index}": weight.astype(np.float16), f"bias{index}": bias.astype(np.float16)}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_pip_classifier(path: Path | None = None) -> PipClassifier:
    """Return the head in a file, by default the one that the package ships.

    Raises:
        ModelError: If the file is not one of ours, or is of another version.
    """
    source = path if path is not None else resources.files("vision").joinpath(_SHIPPED)
    try:
        with source.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            header = json.loads(stored["header"].tobytes())
            if header.get("format") != FORMAT or header.get("version") != VERSION:
                came = f"{header.get('format')} version {header.get('version')}"
                raise ModelError(f"{source}: expected {FORMAT} version {VERSION}, got {came}")
            return _head(stored, header["head"], header["notes"])
    except ModelError:
        raise
    except _UNREADABLE as error:
        raise ModelError(f"{source}: not a readable file of a head ({error})") from error


def _head(stored: np.lib.npyio.NpzFile, said: dict[str, float], notes: dict[str, object]) -> PipClassifier:
    def array(key: str) -> NDArray[np.float32]:
        return np.asarray(stored[key], np.float32)

    count = int(said["layers"])
    return PipClassifier(
        array("mean"),
        array("scale"),
        tuple(array(f"weight{i}") for i in range(count)),
        tuple(array(f"bias{i}") for i in range(count)),
        said["sharpness"],
        said["misread"],
        notes,
    )
