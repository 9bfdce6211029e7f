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
    return Refiner(load_network(path, shipped=_SHIPPED))
