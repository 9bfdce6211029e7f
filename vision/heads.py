"""Small neural heads as plain arrays: what scikit-learn trained, evaluated with numpy alone."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from vision.errors import ModelError

FORMAT = "tallybone-heads"
VERSION = 3
_SHIPPED = "models/reader.npz"
# The classes of the face head.
NOTHING, UP, DOWN = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A multi-layer perceptron with ReLU between its layers.

    Attributes:
        mean, scale: Shape (F,), how features are standardised.
        weights: One (I, O) array a layer.
        biases: One (O,) array a layer.
        sharpness: The last layer is multiplied with it before the softmax, so that probabilities are calibrated.
        misread: Share of what it sees of which it knows nothing however sure it seems: spread over all classes.
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    sharpness: float = 1.0
    misread: float = 0.0

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


@dataclass(frozen=True, slots=True, eq=False)
class ReaderHeads:
    """The heads of the reader.

    Attributes:
        face: Classes nothing, face up, face down, on whole tiles.
        pose: What `vision.poses.move` needs to put a tile's outline right, on whole tiles.
        pips: Classes 0 to 18, on what `vision.halves.HalfNetwork` says of halves.
        notes: How they were trained: seed, number of pictures, held-out figures.
    """

    face: Head
    pose: Head
    pips: Head
    notes: dict[str, object]


def save_heads(path: Path, heads: ReaderHeads) -> None:
    """Write heads as a compressed npz file of float16 arrays with a JSON header."""
    header: dict[str, object] = {"format": FORMAT, "version": VERSION, "notes": heads.notes, "heads": {}}
    arrays: dict[str, NDArray[np.generic]] = {}
    layers: dict[str, object] = {}
    for name, head in (("face", heads.face), ("pose", heads.pose), ("pips", heads.pips)):
        layers[name] = {"layers": len(head.weights), "sharpness": head.sharpness, "misread": head.misread}
        arrays |= {f"{name}.mean": head.mean.astype(np.float16), f"{name}.scale": head.scale.astype(np.float16)}
        for index, (weight, bias) in enumerate(zip(head.weights, head.biases, strict=True)):
            arrays |= {
                f"{name}.weight{index}": weight.astype(np.float16),
                f"{name}.bias{index}": bias.astype(np.float16),
            }
    header["heads"] = layers
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load_heads(path: Path | None = None) -> ReaderHeads:
    """Return the heads in a file, by default those that the package ships.

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
            heads = {name: _head(stored, name, said) for name, said in header["heads"].items()}
            return ReaderHeads(heads["face"], heads["pose"], heads["pips"], header["notes"])
    except ModelError:
        raise
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, BadZipFile, zlib.error) as error:
        raise ModelError(f"{source}: not a readable file of reader heads ({error})") from error


def _head(stored: np.lib.npyio.NpzFile, name: str, said: dict[str, float]) -> Head:
    def array(key: str) -> NDArray[np.float32]:
        return np.asarray(stored[f"{name}.{key}"], np.float32)

    count = int(said["layers"])
    return Head(
        array("mean"),
        array("scale"),
        tuple(array(f"weight{i}") for i in range(count)),
        tuple(array(f"bias{i}") for i in range(count)),
        said["sharpness"],
        said["misread"],
    )
