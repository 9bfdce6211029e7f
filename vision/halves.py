"""Looks at the halves of tiles with a small convolutional network: a few numbers that tell their pips apart."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.network import load_network
from vision.patches import contrasts, half_grid, sample
from vision.poses import Poses
from vision.pyramid import Level

_SHIPPED = "halves.onnx"
# How many numbers the network says of a half.
FEATURES = 64


class HalfNetwork:
    """The trained network; one picture at a time, from one thread."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Take a network that was trained by `vision.training.half_fit`."""
        self._network = network

    def describe(self, levels: tuple[Level, ...], poses: Poses) -> NDArray[np.float32]:
        """Return what the halves of tiles look like, all in one batch.

        Args:
            levels: Pyramid of the picture.
            poses: Shape (N, 6), tiles.

        Returns:
            Shape (2 * N, FEATURES): half 0 of every tile, then half 1.
        """
        if not len(poses):
            return np.empty((0, FEATURES), np.float32)
        grids = (half_grid(0), half_grid(1))
        seen = np.concatenate([contrasts(sample(levels, poses, grid), grid) for grid in grids])
        self._network.setInput(seen)
        return np.asarray(self._network.forward(), np.float32)


def load_halves(path: Path | None = None) -> HalfNetwork:
    """Return the network in a file, by default the one that the package ships.

    Raises:
        ModelError: If the file is not such a network.
    """
    return HalfNetwork(load_network(path, shipped=_SHIPPED))
