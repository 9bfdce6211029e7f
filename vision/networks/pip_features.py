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
# How many numbers the network says of a half.
FEATURES = 64
# So many samples are the side of a small picture of a half, in three channels: what the network, for which all colours
# are alike, does not say.
_PICTURE = 8
PICTURE_FEATURES = 3 * _PICTURE**2


class PipFeatures:
    """The trained network; one picture at a time, from one thread."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Take a network that was trained by `synthetic.training.pip_features.fit`."""
        self._network = network

    def describe(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float32]:
        """Return what the halves of tiles look like, all in one batch.

        Args:
            levels: Pyramid of the picture.
            poses: Shape (N, 6), tiles.

        Returns:
            Shape (2 * N, FEATURES): half 0 of every tile, then half 1.
        """
        return self._said(_seen(levels, poses))

    def describe_with_pictures(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float32]:
        """Return what `describe` does, and behind it how each half differs in colour from its face, place by place.

        Args:
            levels: Pyramid of the picture.
            poses: Shape (N, 6), tiles.

        Returns:
            Shape (2 * N, FEATURES + PICTURE_FEATURES).
        """
        seen = _seen(levels, poses)
        cell = seen.shape[2] // _PICTURE
        small = seen.reshape(len(seen), 3, _PICTURE, cell, _PICTURE, cell).mean(axis=(3, 5))
        return np.concatenate([self._said(seen), small.reshape(len(seen), PICTURE_FEATURES)], axis=1)

    def _said(self, seen: NDArray[np.float32]) -> NDArray[np.float32]:
        if not len(seen):
            return np.empty((0, FEATURES), np.float32)
        self._network.setInput(seen)
        return np.asarray(self._network.forward(), np.float32)


def _seen(levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float32]:
    """Return the halves as the network looks at them, shape (2 * N, 3, rows, columns): half 0 of every tile first."""
    grids = (half_grid(0), half_grid(1))
    return np.concatenate([contrasts(sample(levels, poses, grid), grid) for grid in grids])


def load_pip_features(path: Path | None = None) -> PipFeatures:
    """Return the network in a file, by default the one that the package ships.

    Raises:
        ModelError: If the file is not such a network.
    """
    return PipFeatures(load_network(path, shipped=_SHIPPED))
