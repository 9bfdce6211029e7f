"""Score and correct proposed tiles with a small convolutional network."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry.odds import softmax
from vision.geometry.poses import Poses
from vision.image.pyramid import Level
from vision.networks.network import load_network
from vision.networks.patches import contrasts, sample, tile_grid

_SHIPPED = "refiner.onnx"
# What something can be.
NOTHING, UP, DOWN = 0, 1, 2
CLASSES = 3
# What the network says: a number for each class, then what `vision.geometry.poses.move` needs, in tenths of half-axes.
OUTPUTS = CLASSES + 6
CORRECTION = 0.1


class Refiner:
    """The trained network; one picture at a time, from one thread."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Take a network that was trained by `synthetic.training.refiner.fit`."""
        self._network = network

    def look(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what is at some poses, all in one batch.

        Args:
            levels: Pyramid of the picture.
            poses: Shape (N, 6), where tiles may be.

        Returns:
            The probabilities of nothing, face up and face down, (N, 3), and the corrections of the outlines for
            `vision.geometry.poses.move`, (N, 6).
        """
        if not len(poses):
            return np.empty((0, CLASSES)), np.empty((0, 6))
        grid = tile_grid()
        self._network.setInput(contrasts(sample(levels, poses, grid), grid))
        said = np.asarray(self._network.forward(), np.float64)
        return softmax(said[:, :CLASSES]), said[:, CLASSES:] * CORRECTION


def load_refiner(path: Path | None = None) -> Refiner:
    """Return the network in a file, by default the one that the package ships.

    Raises:
        ModelError: If the file is not such a network.
    """
    return Refiner(load_network(path, shipped=_SHIPPED))
