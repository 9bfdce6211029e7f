"""Classify halves that the pip classifier finds difficult, with a larger network."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry.poses import Poses, swap_halves
from vision.image.pyramid import Level
from vision.networks.network import load_network
from vision.networks.patches import contrasts, half_grid, sample

_SHIPPED = "hard_cases.onnx"
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
    return HardCaseClassifier(load_network(path, shipped=_SHIPPED))
