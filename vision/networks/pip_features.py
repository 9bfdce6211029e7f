"""Extract pip features from half tiles with a small convolutional network."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry.poses import Poses
from vision.image.pyramid import Level
from vision.networks.network import load_network
from vision.networks.patches import contrasts, half_grid, sample

_SHIPPED = "pip_features.onnx"
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
    return PipFeatures(load_network(path, shipped=_SHIPPED))
