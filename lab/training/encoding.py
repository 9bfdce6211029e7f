"""Write the shipped classifiers, and encode poses as the networks predict them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardware.knock import classifier as knock_model
from hardware.knock.classifier import SOUNDS, Classifier, Dense, Layer
from vision.arrays import Points
from vision.networks import network as pip_model
from vision.networks.detector import STRIDE_PX, USUAL_U_PX, USUAL_V_PX
from vision.networks.network import PipClassifier
from vision.poses import Poses


def save_classifier(path: Path, classifier: Classifier) -> None:
    """Write a classifier to a compressed npz file with a JSON header. Omits the correction.

    Weights are rounded to 8 bits with a scale for each output, embeddings with a scale for each sound.
    """
    header = {
        "format": knock_model.FORMAT,
        "version": knock_model.VERSION,
        "sounds": [sound.value for sound in SOUNDS],
        "strides": [[layer.stride for layer in layers] for layers in classifier.branches],
        "min_knock": classifier.min_knock,
        "notes": classifier.notes,
    }
    named: dict[str, Layer | Dense] = {name: getattr(classifier, name) for name in knock_model.DENSE}
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


def save_pip_classifier(path: Path, classifier: PipClassifier) -> None:
    """Write a classifier to a compressed npz file with float16 arrays and a JSON header."""
    parameters = {"layers": len(classifier.weights), "sharpness": classifier.sharpness, "misread": classifier.misread}
    header = {"format": pip_model.FORMAT, "version": pip_model.VERSION, "notes": classifier.notes, "head": parameters}
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


def cells_of(points_px: Points) -> NDArray[np.intp]:
    """Return the column and row of the cell of each point in network pixels, shape (N, 2)."""
    return np.asarray(np.floor((points_px + 0.5) / STRIDE_PX), np.intp)


def encode_poses(poses: Poses, cells: NDArray[np.intp]) -> NDArray[np.float64]:
    """Encode poses in network pixels, shape (N, 6), relative to cells, (N, 2). Returns 8 channels, shape (N, 8)."""
    place = (poses[:, :2] + 0.5) / STRIDE_PX - cells - 0.5
    u, v = poses[:, 2:4], poses[:, 4:]
    lengths = np.column_stack([np.hypot(u[:, 0], u[:, 1]) / USUAL_U_PX, np.hypot(v[:, 0], v[:, 1]) / USUAL_V_PX])
    return np.column_stack([place, np.log(lengths), _double_angle(u), _double_angle(v)])


def _double_angle(axis: Points) -> Points:
    """Return cosine and sine of twice the angle of vectors, shape (N, 2). Opposite vectors have equal results."""
    angle = 2 * np.arctan2(axis[:, 1], axis[:, 0])
    return np.column_stack([np.cos(angle), np.sin(angle)])


def deltas_between(poses: Poses, targets: Poses) -> NDArray[np.float64]:
    """Return the *deltas* with which `move` turns *poses* into *targets*, shape (N, 6)."""
    axes = poses[:, 2:].reshape(-1, 2, 2)
    difference = (targets - poses).reshape(-1, 3, 2)
    return np.asarray((difference @ np.linalg.inv(axes)).reshape(-1, 6))
