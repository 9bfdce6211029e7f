"""Classify halves that the pip classifier finds difficult, with a larger network."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry.poses import Poses, turned_round
from vision.image.pyramid import Level
from vision.networks.network import load_network
from vision.networks.patches import contrasts, half_grid, sample

_SHIPPED = "hard_cases.onnx"
# What it sees of a half: samples to a row, and sides of the half that they cover; 40 samples to a side, where the first
# look has 27.
SIZE, SPAN = 48, 1.2
_NUMBERS = 19


class HardCaseClassifier:
    """The trained network; one picture at a time, from one thread."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Take a network that was trained by `synthetic.training.hard_pips.fit`."""
        self._network = network

    def logs(self, levels: tuple[Level, ...], poses: Poses, halves: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of 0 to 18 pips on halves of tiles, all in one batch.

        Args:
            levels: Pyramid of the picture.
            poses: Shape (N, 6), tiles.
            halves: Shape (N,), 0 or 1: which half of each.

        Returns:
            Shape (N, 19).
        """
        if not len(poses):
            return np.empty((0, _NUMBERS))
        first = np.where(halves[:, None] == 0, poses, turned_round(poses))
        grid = half_grid(0, size=SIZE, span=SPAN)
        self._network.setInput(contrasts(sample(levels, first, grid), grid))
        said = np.asarray(self._network.forward(), np.float64)
        said -= said.max(axis=1, keepdims=True)
        return np.asarray(said - np.log(np.exp(said).sum(axis=1, keepdims=True)))


def load_hard_case_classifier(path: Path | None = None) -> HardCaseClassifier:
    """Return the network in a file, by default the one that the package ships.

    Raises:
        ModelError: If the file is not such a network.
    """
    return HardCaseClassifier(load_network(path, shipped=_SHIPPED))
