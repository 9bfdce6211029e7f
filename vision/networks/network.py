"""Small convolutional networks for proposed tiles and for halves, loaded from ONNX files with checksums."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import ModelError
from vision.geometry.odds import softmax
from vision.geometry.poses import Poses, swap_halves
from vision.image.pyramid import Level
from vision.networks.patches import contrasts, half_grid, sample, tile_grid

_CHECKSUM = ".sha256"


def load_network(path: Path | None, *, shipped: str) -> cv2.dnn.Net:
    """Load a network from a file, or from the package.

    A checksum file, as written by `write_checksum`, must be beside the network. OpenCV does not notice damaged weights,
    so tiles would be misread silently.

    Args:
        path: ONNX file. None for the one in the package.
        shipped: Name of the file in the package.

    Raises:
        ModelError: If the file or its checksum is missing, or the file is damaged or not a network.
    """
    folder = resources.files("vision").joinpath("models") if path is None else path.parent
    name = shipped if path is None else path.name
    source = folder.joinpath(name)
    # In OpenCV 5 these networks take 0.7 of the time with the classic engine. It can only be selected for files: for
    # bytes OpenCV ignores the setting.
    engine = {"engine": cv2.dnn.ENGINE_CLASSIC} if hasattr(cv2.dnn, "ENGINE_CLASSIC") else {}
    try:
        expected = folder.joinpath(name + _CHECKSUM).read_text(encoding="ascii").partition(" ")[0]
        actual = _sha256(source.read_bytes())
        if actual != expected:
            raise ModelError(
                f"{source}: the file is damaged: expected SHA-256 {expected}, but got {actual}; reinstall Tallybone"
            )
        with resources.as_file(source) as file:
            return cv2.dnn.readNetFromONNX(str(file), **engine)
    except (OSError, UnicodeDecodeError, cv2.error) as error:
        raise ModelError(f"{source}: not a readable network ({error})") from error


def write_checksum(network: Path) -> None:
    """Write the checksum of a network to a file beside it, in the format of `sha256sum`."""
    line = f"{_sha256(network.read_bytes())}  {network.name}\n"
    network.with_name(network.name + _CHECKSUM).write_text(line, encoding="ascii")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# Number of features per half.
FEATURES = 64
# Side in samples of a small three-channel image of each half. The image adds colour, which the network ignores.
_PICTURE = 8
PICTURE_FEATURES = 3 * _PICTURE**2


class PipFeatures:
    """Pip feature extractor. Not thread-safe."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Use a network trained by `synthetic.training.pip_features.fit`."""
        self._network = network

    def describe(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float32]:
        """Return the features of both halves of tiles, computed in one batch.

        Args:
            levels: Pyramid of the image.
            poses: Tiles, shape (N, 6).

        Returns:
            Shape (2 * N, FEATURES): half 0 of every tile, then half 1.
        """
        return self._features(_half_patches(levels, poses))

    def describe_with_pictures(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float32]:
        """Return the features of `describe`, followed by a small contrast image of each half.

        Args:
            levels: Pyramid of the image.
            poses: Tiles, shape (N, 6).

        Returns:
            Shape (2 * N, FEATURES + PICTURE_FEATURES).
        """
        patches = _half_patches(levels, poses)
        cell = patches.shape[2] // _PICTURE
        small = patches.reshape(len(patches), 3, _PICTURE, cell, _PICTURE, cell).mean(axis=(3, 5))
        return np.concatenate([self._features(patches), small.reshape(len(patches), PICTURE_FEATURES)], axis=1)

    def _features(self, patches: NDArray[np.float32]) -> NDArray[np.float32]:
        if not len(patches):
            return np.empty((0, FEATURES), np.float32)
        self._network.setInput(patches)
        return np.asarray(self._network.forward(), np.float32)


def _half_patches(levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float32]:
    """Return the input of the network, shape (2 * N, 3, rows, columns): half 0 of every tile, then half 1."""
    grids = (half_grid(0), half_grid(1))
    return np.concatenate([contrasts(sample(levels, poses, grid), grid) for grid in grids])


def load_pip_features(path: Path | None = None) -> PipFeatures:
    """Load the extractor from a file, by default the one in the package.

    Raises:
        ModelError: If the file is missing, damaged or not a network.
    """
    return PipFeatures(load_network(path, shipped="pip_features.onnx"))


# Classes: no tile, face up, face down.
NOTHING, UP, DOWN = 0, 1, 2
CLASSES = 3
# Outputs: a score per class, then the deltas for `vision.geometry.poses.move`, in tenths of half-axes.
OUTPUTS = CLASSES + 6
CORRECTION = 0.1


class Refiner:
    """Scores and corrects tile poses. Not thread-safe."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Use a network trained by `synthetic.training.refiner.fit`."""
        self._network = network

    def look(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score proposed poses and predict corrections, in one batch.

        Args:
            levels: Pyramid of the image.
            poses: Proposed tiles, shape (N, 6).

        Returns:
            Probabilities of the classes no tile, face up and face down, shape (N, 3), and deltas for
            `vision.geometry.poses.move`, shape (N, 6).
        """
        if not len(poses):
            return np.empty((0, CLASSES)), np.empty((0, 6))
        grid = tile_grid()
        self._network.setInput(contrasts(sample(levels, poses, grid), grid))
        outputs = np.asarray(self._network.forward(), np.float64)
        return softmax(outputs[:, :CLASSES]), outputs[:, CLASSES:] * CORRECTION


def load_refiner(path: Path | None = None) -> Refiner:
    """Load the refiner from a file, by default the one in the package.

    Raises:
        ModelError: If the file is missing, damaged or not a network.
    """
    return Refiner(load_network(path, shipped="refiner.onnx"))


# Samples per row, and sides of the half that they span: 40 samples per side, against 27 for the pip classifier.
SIZE, SPAN = 48, 1.2
_NUMBERS = 19


class HardCaseClassifier:
    """Classifier for difficult halves. Not thread-safe."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Use a network trained by `synthetic.training.hard_pips.fit`."""
        self._network = network

    def logs(self, levels: tuple[Level, ...], poses: Poses, halves: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the log probabilities of 0 to 18 pips, computed in one batch.

        Args:
            levels: Pyramid of the image.
            poses: Tiles, shape (N, 6).
            halves: Half of each tile to classify, 0 or 1, shape (N,).

        Returns:
            Shape (N, 19).
        """
        if not len(poses):
            return np.empty((0, _NUMBERS))
        first = np.where(halves[:, None] == 0, poses, swap_halves(poses))
        grid = half_grid(0, size=SIZE, span=SPAN)
        self._network.setInput(contrasts(sample(levels, first, grid), grid))
        outputs = np.asarray(self._network.forward(), np.float64)
        outputs -= outputs.max(axis=1, keepdims=True)
        return np.asarray(outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True)))


def load_hard_case_classifier(path: Path | None = None) -> HardCaseClassifier:
    """Load the classifier from a file, by default the one in the package.

    Raises:
        ModelError: If the file is missing, damaged or not a network.
    """
    return HardCaseClassifier(load_network(path, shipped="hard_cases.onnx"))
