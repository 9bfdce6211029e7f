"""Small convolutional networks for proposed tiles and for halves, and a classifier of pip features.

Networks are loaded from ONNX files with checksums. Their input are rectified patches, with colours normalised to
contrasts with the tile face. The pip classifier is a small multi-layer perceptron, trained by scikit-learn and
evaluated by numpy.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from zipfile import BadZipFile

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import ModelError
from vision.arrays import Image, Points, softmax
from vision.image.picture import Level
from vision.poses import Poses, sides_px, swap_halves

# Scale of the logarithmic contrast, as differences in Lab. Black against white is 100.
_SMALL_DIFFERENCE = 6.0
_LARGE_DIFFERENCE = 120.0
# In 8-bit Lab, OpenCV scales lightness to 0 to 255, but not a and b.
_LAB_SCALES = (100 / 255, 1.0, 1.0)
_MAX_ROWS = 30000  # cv2.remap is limited to 32767 rows.
# If more than _BURNT_OUT of a patch is saturated in a brightened image, its gain is reduced until only that share of
# its samples is brighter than _BRIGHT_ENOUGH.
_BURNT_OUT = 0.01
_BRIGHT_ENOUGH = 250


@dataclass(frozen=True, slots=True, eq=False)
class PatchGrid:
    """Sampling grid of a patch.

    Attributes:
        uv: Sample points in units of the tile's half-axes, shape (rows * columns, 2).
        rows, columns: Size of the patch.
        face: True for points well within the face of the tile or half, where its colour is measured, shape
            (rows * columns,).
        step: Distance between samples, in sides of a half.
    """

    uv: Points
    rows: int
    columns: int
    face: NDArray[np.bool_]
    step: float


def _grid(low: tuple[float, float], high: tuple[float, float], rows: int, columns: int) -> Points:
    """Return the cell centres of a grid over u (columns) and v (rows), shape (rows * columns, 2)."""
    u = low[0] + (np.arange(columns) + 0.5) / columns * (high[0] - low[0])
    v = low[1] + (np.arange(rows) + 0.5) / rows * (high[1] - low[1])
    return np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)


@cache
def tile_grid() -> PatchGrid:
    """Return a grid that covers a tile and a margin of 0.4 sides, with 14 samples per side."""
    rows, columns = 24, 40
    uv = _grid((-40 / 28, -24 / 14), (40 / 28, 24 / 14), rows, columns)
    return PatchGrid(uv, rows, columns, _within(uv, 0.94, 0.88), 1 / 14)


@cache
def half_grid(half: int, *, size: int = 32, span: float = 1.2) -> PatchGrid:
    """Return a grid that covers half 0 or 1, rotated so that the bar is at its right edge.

    A *span* of 1 covers exactly the half.
    """
    uv = _grid((-0.5 - span / 2, -span), (-0.5 + span / 2, span), size, size)
    face = _within(uv - np.array([-0.5, 0.0]), 0.42, 0.84)
    return PatchGrid(uv if half == 0 else -uv, size, size, face, span / size)


def _within(uv: Points, max_u: float, max_v: float) -> NDArray[np.bool_]:
    """Return a mask of the points inside a rectangle around the origin."""
    return np.asarray((np.abs(uv[:, 0]) < max_u) & (np.abs(uv[:, 1]) < max_v))


def sample(levels: tuple[Level, ...], poses: Poses, grid: PatchGrid) -> Image:
    """Sample patches from an image.

    Args:
        levels: Pyramid of the image, finest first.
        poses: Shape (N, 6), in full-resolution pixels.
        grid: Sampling grid.

    Returns:
        Shape (N, rows * columns, 3), BGR. Points outside the image have the colour of the nearest border pixel.
    """
    step_px = sides_px(poses) * grid.step
    scales = np.array([level.scale for level in levels])
    # Use the coarsest level whose pixels are not larger than the step. A finer one would cause aliasing.
    chosen = np.clip(np.searchsorted(scales, step_px, side="right") - 1, 0, len(levels) - 1)
    basis = np.vstack([np.ones(len(grid.uv)), grid.uv.T]).astype(np.float32)
    patches = _sampled([level.image for level in levels], levels, chosen, poses, basis)
    taken = [level.as_taken for level in levels if level.as_taken is not None]
    if len(taken) == len(levels):
        overexposed = np.nonzero((patches.max(axis=2) == 255).mean(axis=1) > _BURNT_OUT)[0]
        dim = _sampled(taken, levels, chosen[overexposed], poses[overexposed], basis)
        # Brighten as far as possible without saturation.
        brightest = np.quantile(dim.max(axis=2), 1 - _BURNT_OUT, axis=1, method="nearest").astype(np.float32)
        gains = np.maximum(_BRIGHT_ENOUGH / np.maximum(brightest, 1), 1)
        patches[overexposed] = np.minimum(np.rint(dim * gains[:, None, None]), patches[overexposed]).astype(np.uint8)
    return patches


def _sampled(
    images: Sequence[Image],
    levels: tuple[Level, ...],
    chosen: NDArray[np.intp],
    poses: Poses,
    basis: NDArray[np.float32],
) -> Image:
    """Sample each patch from the image of its level."""
    patches = np.empty((len(poses), basis.shape[1], 3), np.uint8)
    for index, (image, level) in enumerate(zip(images, levels, strict=True)):
        rows = np.nonzero(chosen == index)[0]
        for start in range(0, len(rows), _MAX_ROWS):
            part = rows[start : start + _MAX_ROWS]
            patches[part] = _remapped(image, level, poses[part], basis)
    return patches


def _remapped(image: Image, level: Level, poses: Poses, basis: NDArray[np.float32]) -> Image:
    """Sample colours at centre + u * half-axis + v * half-axis. The rows of *basis* are 1, u and v."""
    scale_x, scale_y = level.scale_xy
    center = level.from_full(poses[:, :2])
    x = np.column_stack([center[:, 0], poses[:, 2] / scale_x, poses[:, 4] / scale_x])
    y = np.column_stack([center[:, 1], poses[:, 3] / scale_y, poses[:, 5] / scale_y])
    # Unlike @, einsum gives results that do not depend on the number of tiles or the machine, down to the last digit.
    map_x, map_y = (np.einsum("nk,km->nm", axis.astype(np.float32), basis) for axis in (x, y))
    return np.asarray(cv2.remap(image, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def contrasts(patches: Image, grid: PatchGrid) -> NDArray[np.float32]:
    """Return the contrast of patches with the colour of the tile face.

    Args:
        patches: Shape (N, rows * columns, 3), BGR.
        grid: Grid with which they were sampled.

    Returns:
        Shape (N, 3, rows, columns): signed differences in lightness (1 for white on black), green-red and blue-yellow.
        The scale is logarithmic, so that pale pips are visible too.
    """
    if not len(patches):
        return np.empty((0, 3, grid.rows, grid.columns), np.float32)
    shape = (len(patches), grid.rows, grid.columns)
    scale = np.float32(1 / np.log1p(_LARGE_DIFFERENCE / _SMALL_DIFFERENCE))
    channels = []
    for difference in _from_face(patches, grid):
        # A logarithmic scale from 0 to 1. np.log1p would take five times as long.
        logarithmic = np.log(1 + np.abs(difference) * np.float32(1 / _SMALL_DIFFERENCE)) * scale
        channels.append(np.copysign(logarithmic, difference).reshape(shape))
    return np.stack(channels, axis=1)


def _from_face(patches: Image, grid: PatchGrid) -> tuple[NDArray[np.float32], ...]:
    """Return the differences from the median colour of the face in L, a and b, shape (N, rows * columns) each."""
    lab = cv2.cvtColor(patches, cv2.COLOR_BGR2LAB)
    within = np.flatnonzero(grid.face)
    differences = []
    for channel, scale in enumerate(_LAB_SCALES):
        values = np.ascontiguousarray(lab[..., channel])
        # The median. np.partition takes half the time for int32 as for bytes, and a quarter of the time of a sort.
        face = np.partition(values[:, within].astype(np.int32), len(within) // 2, axis=1)[:, len(within) // 2]
        differences.append(np.subtract(values, face[:, None], dtype=np.float32) * np.float32(scale))
    return tuple(differences)


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
        """Use a network trained by `lab.training.networks`."""
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
NOTHING = 0
UP = 1
DOWN = 2
CLASSES = 3
# Outputs: a score per class, then the deltas for `vision.poses.move`, in tenths of half-axes.
OUTPUTS = CLASSES + 6
CORRECTION = 0.1


class Refiner:
    """Scores and corrects tile poses. Not thread-safe."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Use a network trained by `lab.training.networks`."""
        self._network = network

    def look(self, levels: tuple[Level, ...], poses: Poses) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score proposed poses and predict corrections, in one batch.

        Args:
            levels: Pyramid of the image.
            poses: Proposed tiles, shape (N, 6).

        Returns:
            Probabilities of the classes no tile, face up and face down, shape (N, 3), and deltas for
            `vision.poses.move`, shape (N, 6).
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
SIZE = 48
SPAN = 1.2
_NUMBERS = 19


class HardCaseClassifier:
    """Classifier for difficult halves. Not thread-safe."""

    def __init__(self, network: cv2.dnn.Net) -> None:
        """Use a network trained by `lab.training.networks`."""
        self._network = network

    def logs(self, levels: tuple[Level, ...], poses: Poses, halves: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the log probabilities of 0 to 18 pips, computed in one batch. Shape (N, 19).

        Args:
            levels: Pyramid of the image.
            poses: Tiles, shape (N, 6).
            halves: Half of each tile to classify, 0 or 1, shape (N,).
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


FORMAT = "tallybone-head"
VERSION = 4
_SHIPPED = "models/pips.npz"
# Exceptions that numpy and zipfile raise for damaged files. A flipped bit can also suggest an unknown compression
# method (NotImplementedError) or encryption (RuntimeError).
_UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RuntimeError,
    BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True, eq=False)
class PipClassifier:
    """A multi-layer perceptron with ReLU activations.

    Attributes:
        mean, scale: Standardisation of the features, shape (F,).
        weights: An array of shape (I, O) for each layer.
        biases: An array of shape (O,) for each layer.
        sharpness: Inverse softmax temperature, for calibrated probabilities.
        misread: Share of probability spread evenly over all classes, for errors that do not show in the outputs.
        notes: Training details: seed, number of images, held-out results.
    """

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: tuple[NDArray[np.float32], ...]
    biases: tuple[NDArray[np.float32], ...]
    sharpness: float = 1.0
    misread: float = 0.0
    notes: dict[str, object] = field(default_factory=dict)

    def outputs(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the outputs of the last layer, shape (N, O), for features of shape (N, F)."""
        values = (features - self.mean) / self.scale
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if index:
                values = np.maximum(values, 0)
            values = values @ weight + bias
        return np.asarray(values, np.float32)

    def probabilities(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return class probabilities, shape (N, O), for features of shape (N, F)."""
        return self.chances(self.outputs(features))

    def chances(self, outputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return calibrated class probabilities, shape (N, O), for outputs of the last layer."""
        values = outputs * self.sharpness
        values = np.exp(values - values.max(axis=1, keepdims=True, initial=-np.inf))
        values = values / values.sum(axis=1, keepdims=True)
        return np.asarray(values * (1 - self.misread) + self.misread / outputs.shape[1], np.float32)


def load_pip_classifier(path: Path | None = None) -> PipClassifier:
    """Load a classifier from a file, by default the one in the package.

    Raises:
        ModelError: If the file is missing, damaged, or of another format or version.
    """
    source = path if path is not None else resources.files("vision").joinpath(_SHIPPED)
    try:
        with source.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            header = json.loads(stored["header"].tobytes())
            if header.get("format") != FORMAT or header.get("version") != VERSION:
                actual = f"{header.get('format')} version {header.get('version')}"
                raise ModelError(f"{source}: expected {FORMAT} version {VERSION}, got {actual}")
            parameters = header["head"]

            def arrays(key: str, count: int) -> tuple[NDArray[np.float32], ...]:
                return tuple(np.asarray(stored[f"{key}{index}"], np.float32) for index in range(count))

            mean, scale = (np.asarray(stored[key], np.float32) for key in ("mean", "scale"))
            weights, biases = (arrays(key, int(parameters["layers"])) for key in ("weight", "bias"))
            sharpness, misread = parameters["sharpness"], parameters["misread"]
            return PipClassifier(mean, scale, weights, biases, sharpness, misread, header["notes"])
    except ModelError:
        raise
    except _UNREADABLE as error:
        raise ModelError(f"{source}: not a readable pip classifier ({error})") from error
