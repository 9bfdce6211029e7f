"""Samples of rendered tables that the networks are trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.training import tables
from lab.training.encoding import cells_of, deltas_between, encode_poses
from vision.arrays import Image, Points
from vision.image.picture import build_pyramid
from vision.networks import network
from vision.networks.detector import CHANNELS, FIRST_SHAPE, STRIDE_PX, Detector, load_detector
from vision.networks.network import sample
from vision.poses import Poses, empty_poses, jittered, move, sides_px, upright_poses
from vision.reader.candidates import Candidates

# Samples for the detector: rendered tables, stored as small JPEGs, augmented crops of them, and targets.


CROP_PX = 256
_SIDE_PX = (5.5, 110.0)
_ZOOM = (0.3, 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledPicture:
    """A picture and its tiles.

    Attributes:
        image: BGR, shape (H, W, 3).
        poses: Poses of the readable tiles, shape (N, 6).
        faces: `vision.networks.network.UP` or `DOWN` for each pose, shape (N,).
        unread_px: Outlines of tiles that are cut off, covered or on edge. Training ignores these areas.
    """

    image: Image
    poses: Poses
    faces: NDArray[np.int64]
    unread_px: tuple[Points, ...]


def draw_crop(rng: np.random.Generator, picture: LabelledPicture) -> LabelledPicture:
    """Return a random square crop of `CROP_PX` with a random warp and random changes of colour and quality."""
    warp = _warp(rng, picture)
    border = cv2.BORDER_CONSTANT if rng.random() < 0.5 else cv2.BORDER_REPLICATE
    image = cv2.warpPerspective(picture.image, warp, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=border)
    poses = warp_poses(picture.poses, warp)
    inside = ((poses[:, :2] > 0) & (poses[:, :2] < CROP_PX - 1)).all(axis=1)
    unread = tuple(_projected(outline, warp) for outline in picture.unread_px)
    # The picture with random changes of colour, contrast, sharpness, noise and compression.
    changes: list[tuple[float, Callable[[np.random.Generator, Image], Image]]] = [
        (0.15, _channels_swapped),
        (0.07, _grey),
        (0.04, _negative),
        (0.3, _faded),
        (0.15, _equalized),
        (0.7, _toned),
        (0.2, _softened),
        (0.35, _noisy),
        (0.25, _compressed),
    ]
    changed = np.asarray(image, np.uint8)
    for share, change in changes:
        if rng.random() < share:
            changed = np.asarray(change(rng, changed), np.uint8)
    return LabelledPicture(changed, poses[inside], picture.faces[inside], unread)


def warp_poses(poses: Poses, warp: NDArray[np.float64]) -> Poses:
    """Apply a homography, shape (3, 3), to poses, shape (N, 6)."""
    center, u, v = poses[:, :2], poses[:, 2:4], poses[:, 4:]
    right, left, down, up = (_projected(center + offset, warp) for offset in (u, -u, v, -v))
    return np.column_stack([(right + left + down + up) / 4, (right - left) / 2, (down - up) / 2])


def _projected(points: Points, warp: NDArray[np.float64]) -> Points:
    if not len(points):
        return points
    return np.asarray(cv2.perspectiveTransform(points.reshape(-1, 1, 2).astype(np.float64), warp).reshape(-1, 2))


def _warp(rng: np.random.Generator, picture: LabelledPicture) -> NDArray[np.float64]:
    """Return a random homography from the picture to the crop: scaled, rotated, mirrored, squeezed and slanted."""
    height, width = picture.image.shape[:2]
    middle = rng.uniform(0.1, 0.9, 2) * (width, height)
    side = 30.0
    if len(picture.poses):
        side = float(np.median(sides_px(picture.poses)))
        if rng.random() < 0.92:
            middle = picture.poses[rng.integers(len(picture.poses)), :2]
    zoom = float(np.clip(np.exp(rng.uniform(*np.log(_SIDE_PX))) / side, *_ZOOM))
    turn = rng.uniform(-np.pi, np.pi) if rng.random() < 0.6 else rng.normal(0, 0.1)
    axis = rng.uniform(0, np.pi) if rng.random() < 0.3 else 0.0
    squeeze = rng.uniform(0.55, 1.0) if rng.random() < 0.3 else 1.0
    slant = rng.normal(0, 0.25 / CROP_PX, 2) if rng.random() < 0.5 else np.zeros(2)
    shift = CROP_PX / 2 + rng.uniform(-0.25, 0.25, 2) * CROP_PX
    flip = np.diag([rng.choice([-1.0, 1.0]), 1.0, 1.0])
    to_middle = np.array([[1, 0, -middle[0]], [0, 1, -middle[1]], [0, 0, 1.0]])
    squeezed = _turned(-axis) @ np.diag([1.0, squeeze, 1.0]) @ _turned(axis)
    slanted = np.array([[1, 0, 0], [0, 1, 0], [slant[0], slant[1], 1.0]])
    placed = np.array([[1, 0, shift[0]], [0, 1, shift[1]], [0, 0, 1.0]])
    return np.asarray(placed @ slanted @ squeezed @ _turned(turn) @ np.diag([zoom, zoom, 1.0]) @ flip @ to_middle)


def _turned(angle_rad: float) -> NDArray[np.float64]:
    cos, sin = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1.0]])


def _channels_swapped(rng: np.random.Generator, image: Image) -> Image:
    return np.ascontiguousarray(image[..., rng.permutation(3)])


def _grey(_: np.random.Generator, image: Image) -> Image:
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.merge([grey, grey, grey]), np.uint8)


def _negative(_: np.random.Generator, image: Image) -> Image:
    return np.asarray(255 - image, np.uint8)


def _faded(rng: np.random.Generator, image: Image) -> Image:
    """Return the picture with less contrast, as in haze or soft light."""
    contrast, grey = rng.uniform(0.25, 0.8), rng.uniform(40, 215)
    return np.asarray(cv2.convertScaleAbs(image, alpha=contrast, beta=(1 - contrast) * grey), np.uint8)


def _equalized(rng: np.random.Generator, image: Image) -> Image:
    """Return the picture with local contrast equalisation, as in phone photos."""
    lightness, *colors = cv2.split(cv2.cvtColor(image, cv2.COLOR_BGR2LAB))
    equalized = cv2.createCLAHE(rng.uniform(1, 4), (4, 4)).apply(lightness)
    return np.asarray(cv2.cvtColor(cv2.merge([equalized, *colors]), cv2.COLOR_LAB2BGR), np.uint8)


def _toned(rng: np.random.Generator, image: Image) -> Image:
    level = np.linspace(0, 1, 256)[:, None] ** np.exp(rng.normal(0, 0.3))
    gain = np.exp(rng.normal(0, 0.1, 3) + rng.normal(0, 0.15))
    lift = rng.uniform(0, 0.15) if rng.random() < 0.3 else 0.0
    curve = np.clip(lift + (1 - lift) * level * gain, 0, 1) * 255
    return np.asarray(cv2.LUT(image, curve.astype(np.uint8)[None]), np.uint8)


def _softened(rng: np.random.Generator, image: Image) -> Image:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), rng.uniform(0.4, 1.6)), np.uint8)


def _noisy(rng: np.random.Generator, image: Image) -> Image:
    noise = rng.standard_normal(image.shape, np.float32) * np.float32(rng.uniform(1, 9))
    return np.asarray(cv2.add(image, noise, dtype=cv2.CV_8U), np.uint8)


def _compressed(rng: np.random.Generator, image: Image) -> Image:
    _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(25, 80))])
    return np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR), np.uint8)


_WIDTH_PX = (720, 960)
# Range of the short side of tiles, relative to the width of the picture.
_SIDES = (0.014, 0.11)
_JPEG_QUALITY = 95
# Share of tables without tiles.
_BARE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class StoredPicture:
    """A `LabelledPicture` with its image encoded as JPEG, shape (B,)."""

    encoded: NDArray[np.uint8]
    poses: Poses
    faces: NDArray[np.int64]
    unread_px: tuple[Points, ...]

    def decode(self) -> LabelledPicture:
        """Return the picture with its decoded image. Takes 5 ms."""
        image = np.asarray(cv2.imdecode(self.encoded, cv2.IMREAD_COLOR), np.uint8)
        return LabelledPicture(image, self.poses, self.faces, self.unread_px)


def draw_picture(seed: int, index: int) -> StoredPicture:
    """Return a rendered table."""
    rng = np.random.default_rng([seed, index])
    max_pips = tables.draw_max_pips(rng)
    width = int(rng.integers(*_WIDTH_PX))
    sides_px = (width * _SIDES[0], width * _SIDES[1])
    table = tables.draw_learning_table(
        rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px, bare=_BARE
    )
    _, encoded = cv2.imencode(".jpg", table.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return StoredPicture(np.asarray(encoded, np.uint8), table.poses, table.faces, table.unread_px)


# Standard deviation of the heat around a centre, in sides of the tile, and its minimum in cells.
_FADE_SIDES = 0.13
_MIN_FADE_CELLS = 0.5
# Maximum distance from a centre, in sides, of cells that also learn the shape of the tile. The cell with the highest
# heat need not be the nearest.
_SHAPED_SIDES = 0.35
# Tiles with a side outside this range are detected at another scale. Smaller ones are ignored. Large ones count as
# background above _LARGE_SIDE_PX, whole or not, because their pips look like small tiles.
_MAP_SIDE_PX = (5.0, 64.0)
_LARGE_SIDE_PX = 80.0


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Training targets of a picture, per cell.

    Attributes:
        heat: Heat of face-up and face-down tiles, shape (2, h, w): 1 at a centre, falling to 0 around it.
        heat_counts: Weight of the heat, shape (h, w). 0 for ignored cells.
        shapes: Encoded poses, shape (8, h, w), as in `vision.networks.detector`.
        shape_counts: Weight of the shapes, shape (h, w).
    """

    heat: NDArray[np.float32]
    heat_counts: NDArray[np.float32]
    shapes: NDArray[np.float32]
    shape_counts: NDArray[np.float32]


def targets_of(picture: LabelledPicture) -> Targets:
    """Return the targets of a picture whose width and height are multiples of the stride.

    Cells of tiles outside the range of sides, or beyond the edge of the picture, are ignored. Those of large tiles are
    background.
    """
    height, width = (length // STRIDE_PX for length in picture.image.shape[:2])
    heat, counts = np.zeros((2, height, width), np.float32), np.ones((height, width), np.float32)
    shapes = np.zeros((CHANNELS - FIRST_SHAPE, height, width), np.float32)
    nearness = np.zeros((height, width), np.float32)
    for outline in picture.unread_px:
        _ignore(counts, outline)
    side = sides_px(picture.poses)
    for index, pose in enumerate(picture.poses):
        if side[index] > _LARGE_SIDE_PX:
            continue
        if not _MAP_SIDE_PX[0] <= side[index] <= _MAP_SIDE_PX[1] or _sticks_out(pose, picture.image.shape):
            _ignore(counts, _outline(pose))
            continue
        _add_tile(pose, float(side[index]), heat[0 if picture.faces[index] == network.UP else 1], shapes, nearness)
    return Targets(heat, counts, shapes, np.where(heat.max(axis=0) >= 1, 1, nearness).astype(np.float32))


def _add_tile(
    pose: NDArray[np.float64],
    side_px: float,
    heat: NDArray[np.float32],
    shapes: NDArray[np.float32],
    nearness: NDArray[np.float32],
) -> None:
    """Write the targets of a tile to the cells around its centre, in place."""
    height, width = heat.shape
    middle = (pose[:2] + 0.5) / STRIDE_PX - 0.5
    fade = max(_FADE_SIDES * side_px / STRIDE_PX, _MIN_FADE_CELLS)
    reach = max(_SHAPED_SIDES * side_px / STRIDE_PX, 0.8)
    column, row = cells_of(pose[None, :2])[0]
    span = int(np.ceil(max(3 * fade, reach))) + 1
    x0, x1, y0, y1 = (
        max(0, column - span),
        min(width, column + span + 1),
        max(0, row - span),
        min(height, row + span + 1),
    )
    x, y = np.meshgrid(np.arange(x0, x1), np.arange(y0, y1))
    squared = (x - middle[0]) ** 2 + (y - middle[1]) ** 2
    bell = np.exp(-squared / (2 * fade**2)).astype(np.float32)
    heat[y0:y1, x0:x1] = np.maximum(heat[y0:y1, x0:x1], np.minimum(bell, 0.98))
    heat[row, column] = 1.0
    near = np.where(squared <= reach**2, np.exp(-squared / (2 * reach**2)), 0).astype(np.float32)
    near[row - y0, column - x0] = 1.0
    nearest = near > nearness[y0:y1, x0:x1]
    cells = np.column_stack([x[nearest], y[nearest]])
    shapes[:, cells[:, 1], cells[:, 0]] = encode_poses(np.repeat(pose[None], len(cells), axis=0), cells).T
    nearness[y0:y1, x0:x1][nearest] = near[nearest]


def _outline(pose: NDArray[np.float64]) -> Poses:
    center, u, v = pose[:2], pose[2:4], pose[4:]
    return np.array([center + u + v, center + u - v, center - u - v, center - u + v])


def _sticks_out(pose: NDArray[np.float64], shape: tuple[int, ...]) -> bool:
    outline = _outline(pose)
    return bool((outline < -1).any() or (outline > (shape[1], shape[0])).any())


def _ignore(counts: NDArray[np.float32], outline_px: Poses) -> None:
    """Set the weight of the cells inside an outline to 0, in place."""
    cells = np.round((outline_px + 0.5) / STRIDE_PX - 0.5)
    if np.abs(cells).max() < 1e4:
        cv2.fillConvexPoly(counts, cells.astype(np.int32).reshape(-1, 1, 2), 0.0)


# Patches of tile halves on rendered tables, to train the pip features.


# Patches are larger than the network's input (32 samples for 1.2 sides), to allow random shifts in training.
PATCH_SIZE = 44
PATCH_SPAN = 1.5
# Probability of each highest number. High numbers are harder to distinguish, so they are overrepresented.
_SETS_DRAWN = {6: 0.27, 9: 0.15, 12: 0.23, 15: 0.23, 18: 0.12}
_HALVES_WIDTH_PX = (560, 1100)
# Range of the short side of tiles, relative to the width of the picture.
_HALVES_SIDES = (0.016, 0.085)
# Spread of the pose errors of sampled halves, in sides.
_SPREADS = (0.045, 0.045, 0.07)


@dataclass(frozen=True, slots=True, eq=False)
class HalfPatches:
    """Halves sampled with slightly wrong poses.

    Attributes:
        patches: BGR, shape (N, PATCH_SIZE * PATCH_SIZE, 3).
        pips: Number of pips of each half, shape (N,).
    """

    patches: Image
    pips: NDArray[np.int64]


def training_grid(half: int) -> network.PatchGrid:
    """Return the sampling grid of `HalfPatches` for half 0 or 1."""
    return network.half_grid(half, size=PATCH_SIZE, span=PATCH_SPAN)


def draw_table_halves(seed: int, index: int) -> HalfPatches:
    """Return the halves of a rendered table, each sampled with several poses."""
    rng = np.random.default_rng([seed, index])
    max_pips, width = draw_highest(rng), int(rng.integers(*_HALVES_WIDTH_PX))
    sides_px = (width * _HALVES_SIDES[0], width * _HALVES_SIDES[1])
    table = tables.draw_learning_table(rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px)
    levels = build_pyramid(table.image)
    views = [jittered(rng, table.poses[table.faces == network.UP], spread) for spread in _SPREADS]
    patches = [sample(levels, poses, training_grid(half)) for poses in views for half in (0, 1)]
    return HalfPatches(np.concatenate(patches), np.tile(table.pips.T.ravel(), len(views)))


def draw_highest(rng: np.random.Generator) -> int:
    """Return a random highest number of the set."""
    return int(rng.choice(list(_SETS_DRAWN), p=list(_SETS_DRAWN.values())))


# Collect difficult halves of rendered tables, sampled larger than for the pip features.


# Patches are larger than the network's input (48 samples for 1.2 sides), to allow random shifts in training.
DOUBTFUL_SIZE = 64
DOUBTFUL_SPAN = 1.5
_DOUBTFUL_WIDTH_PX = (480, 760)
# Range of the short side of tiles, from the size at which pips can be counted, and its limit as a share of the width.
_SIDES_PX = (14.0, 80.0)
_LARGEST_SHARE = 0.12
_SPREAD = 0.045
# Train on halves that are misread or below this confidence, and on 4 % of the others to retain them.
_SURE = 0.995
_SURE_KEPT = 0.04
# Total probability of confident halves in training, and relative probability of a doubtful half that is illegible.
_SURE_DRAWN = 0.15
_ILLEGIBLE_DRAWN = 0.4


@dataclass(frozen=True, slots=True, eq=False)
class DoubtfulHalves:
    """Halves sampled with slightly wrong poses.

    Attributes:
        patches: BGR, shape (N, DOUBTFUL_SIZE * DOUBTFUL_SIZE, 3).
        pips: Number of pips of each half, shape (N,).
        doubtful: True for halves that the pip classifier misreads or is unsure about, shape (N,).
        legible: True for halves whose pips a person could count, shape (N,).
    """

    patches: Image
    pips: NDArray[np.int64]
    doubtful: NDArray[np.bool_]
    legible: NDArray[np.bool_]

    def chances(self) -> NDArray[np.float64]:
        """Return the probability of each half in training, shape (N,). The sum is 1."""
        sure = (~self.doubtful).astype(np.float64)
        unsure = self.doubtful * np.where(self.legible, 1.0, _ILLEGIBLE_DRAWN)
        shares = (sure, _SURE_DRAWN), (unsure, 1 - _SURE_DRAWN)
        chances = sum((share * which / max(which.sum(), 1.0) for which, share in shares), np.zeros(len(sure)))
        return np.asarray(chances / chances.sum())


def doubtful_grid(half: int) -> network.PatchGrid:
    """Return the sampling grid of `DoubtfulHalves` for half 0 or 1."""
    return network.half_grid(half, size=DOUBTFUL_SIZE, span=DOUBTFUL_SPAN)


def doubtful_of_table(seed: int, index: int) -> DoubtfulHalves:
    """Return the difficult halves of a rendered table, and a few others."""
    rng = np.random.default_rng([seed, index])
    max_pips, width = draw_highest(rng), int(rng.integers(*_DOUBTFUL_WIDTH_PX))
    sides_px = (_SIDES_PX[0], min(_SIDES_PX[1], width * _LARGEST_SHARE))
    table = tables.draw_learning_table(
        rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=sides_px, only_legible=False
    )
    levels, pips, legible = build_pyramid(table.image), table.pips.T.ravel(), table.legible.T.ravel()
    poses = jittered(rng, table.poses[table.faces == network.UP], _SPREAD)
    halves, head = _load_pip_networks()
    probabilities = head.probabilities(halves.describe(levels, poses))
    doubtful = (probabilities.max(axis=1, initial=0.0) < _SURE) | (probabilities.argmax(axis=1) != pips)
    selected = doubtful | (rng.random(len(pips)) < _SURE_KEPT)
    patches = np.concatenate([sample(levels, poses, doubtful_grid(half)) for half in (0, 1)])
    return DoubtfulHalves(patches[selected], pips[selected], doubtful[selected], legible[selected])


@cache
def _load_pip_networks() -> tuple[network.PipFeatures, network.PipClassifier]:
    """Load the shipped pip features and pip classifier, once per process."""
    return network.load_pip_features(), network.load_pip_classifier()


# Training samples of the refiner: patches of detector proposals, random positions, and displaced true tiles.


# Signs of a correction (`vision.poses.move`) after rotating its patch by half a turn, and after mirroring
# it across its long axis. Components are the centre, u and v, each along u and v.
_TURNED = np.array([-1, -1, 1, 1, 1, 1], np.float32)
_MIRRORED = np.array([1, -1, 1, -1, -1, 1], np.float32)
_NEGATIVE = 0.06
_STRENGTH = 0.2
_NOISE = 0.05


def augment(
    rng: np.random.Generator, inputs: NDArray[np.float32], corrections: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return randomly changed copies of network inputs, with matching corrections.

    Args:
        inputs: Shape (N, 3, rows, columns), from `vision.networks.network.contrasts`.
        corrections: Shape (N, 6).
    """
    inputs, corrections = inputs.copy(), corrections.copy()
    turned, mirrored = (rng.random(len(inputs)) < 0.5 for _ in range(2))
    inputs[turned] = inputs[turned, :, ::-1, ::-1]
    corrections[turned] *= _TURNED
    inputs[mirrored] = inputs[mirrored, :, ::-1]
    corrections[mirrored] *= _MIRRORED
    # Hues do not matter: rotate the green-red and blue-yellow channels about grey.
    turn = rng.uniform(-np.pi, np.pi, len(inputs)).astype(np.float32)[:, None, None]
    green_red, blue_yellow = inputs[:, 1].copy(), inputs[:, 2].copy()
    inputs[:, 1] = np.cos(turn) * green_red - np.sin(turn) * blue_yellow
    inputs[:, 2] = np.sin(turn) * green_red + np.cos(turn) * blue_yellow
    inputs[rng.random(len(inputs)) < _NEGATIVE, 0] *= -1
    inputs *= np.exp(rng.normal(0, _STRENGTH, len(inputs))).astype(np.float32)[:, None, None, None]
    noisy = rng.random(len(inputs)) < 0.3
    noise = rng.standard_normal(inputs[noisy].shape, np.float32)
    inputs[noisy] += noise * (_NOISE * rng.random(int(noisy.sum())).astype(np.float32)[:, None, None, None])
    return np.ascontiguousarray(inputs), corrections


# Limits of the corner error in sides. A pose with an error below the first is a tile, and one above the second is
# background. Poses in between are not used to train classes.
_IS_TILE = (0.2, 0.35)
# Maximum corner error, in sides, of poses that train corrections.
_CORRECTABLE = 0.6
_NOTHING_PER_SCENE = 50
_VIEWS_PER_TILE = 3
_CORRECTABLE_PER_SCENE = 40
_RANDOM_PER_SCENE = 20
_REFINER_WIDTH_PX = (640, 1400)
# Range of the short side of tiles, relative to the width of the picture.
_REFINER_SIDES = (0.014, 0.09)
_ROUNDS = 2
# Share of tables without tiles.


@dataclass(frozen=True, slots=True, eq=False)
class RefinerSamples:
    """Patches of tile candidates.

    Attributes:
        patches: BGR, shape (N, rows * columns, 3), sampled with `vision.networks.network.tile_grid`.
        classes: `NOTHING`, `UP` or `DOWN`, shape (N,). -1 if the sample only trains the correction.
        corrections: Corrections for `vision.poses.move`, shape (N, 6). NaN if no tile is near.
    """

    patches: Image
    classes: NDArray[np.int64]
    corrections: NDArray[np.float32]


def draw_refiner_table(seed: int, earlier: Path | None, index: int) -> RefinerSamples:
    """Render a table and return its samples."""
    rng = np.random.default_rng([seed, index])
    max_pips = tables.draw_max_pips(rng)
    width = int(rng.integers(*_REFINER_WIDTH_PX))
    side_px = (width * _REFINER_SIDES[0], width * _REFINER_SIDES[1])
    table = tables.draw_learning_table(
        rng, max_pips=max_pips, size_px=(width, width * 3 // 4), tile_side_px=side_px, bare=_BARE
    )
    levels = build_pyramid(table.image)
    found = _detector().find(levels).poses
    refined = empty_poses() if earlier is None else _candidates(earlier).refined(levels, found, rounds=_ROUNDS)[0]
    truth = table.poses
    size_px = levels[0].full_size_px
    center = rng.uniform(0, 1, (_RANDOM_PER_SCENE, 2)) * size_px
    usual_px = float(np.median(sides_px(truth))) if len(truth) else 0.03 * max(size_px)
    short_px = usual_px * np.exp(rng.uniform(-0.6, 0.6, len(center)))
    proposals = np.concatenate(
        [found, refined, upright_poses(center, rng.uniform(0, np.pi, len(center)), 2 * short_px, short_px)]
    )
    proposals = proposals[~tables.near_any(proposals, table.unread_px)]
    displaced = np.concatenate([jittered(rng, truth, 0.05), jittered(rng, truth, 0.03), _near_misses(rng, truth)])
    classified, classes = _select(rng, np.concatenate([proposals, displaced]), truth, table.faces)
    wide = np.concatenate([jittered(rng, truth, spread) for spread in (0.14, 0.14, 0.05)])
    poses = np.concatenate([classified, wide[rng.permutation(len(wide))[:_CORRECTABLE_PER_SCENE]]])
    error, _, target = tables.corner_errors(poses, truth)
    corrections = np.full((len(poses), 6), np.nan, np.float32)
    correctable = error < _CORRECTABLE
    corrections[correctable] = deltas_between(poses[correctable], target[correctable])
    classes = np.concatenate([classes, np.full(len(poses) - len(classified), -1)])
    return RefinerSamples(sample(levels, poses, network.tile_grid()), classes, corrections)


@cache
def _detector() -> Detector:
    """Return the shipped detector, loaded once per process."""
    return load_detector()


@cache
def _candidates(earlier: Path) -> Candidates:
    return Candidates(_detector(), network.load_refiner(earlier))


def _select(
    rng: np.random.Generator, poses: Poses, truth: Poses, faces: NDArray[np.int64]
) -> tuple[Poses, NDArray[np.int64]]:
    """Return a random selection of poses and their classes, with a limit per tile and for background."""
    # Poses with a corner error between the two values of `_IS_TILE` are dropped.
    error, nearest, _ = tables.corner_errors(poses, truth)
    classes = np.where(error < _IS_TILE[0], faces[nearest] if len(faces) else network.NOTHING, network.NOTHING)
    shuffled = rng.permutation(np.nonzero((error < _IS_TILE[0]) | (error > _IS_TILE[1]))[0])
    nothing = shuffled[classes[shuffled] == network.NOTHING][:_NOTHING_PER_SCENE]
    tiles = shuffled[classes[shuffled] != network.NOTHING]
    selected = np.concatenate([nothing, *(tiles[nearest[tiles] == k][:_VIEWS_PER_TILE] for k in range(len(truth)))])
    return poses[selected], classes[selected]


def _near_misses(rng: np.random.Generator, truth: Poses) -> Poses:
    """Return typical false positives: tiles shifted along or across, rotated by a quarter turn, or wrongly scaled."""
    if not len(truth):
        return truth
    poses = truth[rng.integers(0, len(truth), len(truth))].copy()
    kind = rng.integers(0, 4, len(poses))
    shift = np.zeros((len(poses), 6))
    shift[:, 0] = np.where(kind == 0, rng.choice([-1.0, 1.0], len(poses)) * rng.uniform(0.6, 1.1, len(poses)), 0)
    shift[:, 1] = np.where(kind == 1, rng.choice([-1.0, 1.0], len(poses)) * rng.uniform(0.5, 1.2, len(poses)), 0)
    poses = move(poses, shift)
    turned = np.column_stack([poses[:, :2], poses[:, 4:6] * 2, -poses[:, 2:4] / 2])
    poses = np.where((kind == 2)[:, None], turned, poses)
    factor = np.where(kind == 3, rng.choice([0.5, 0.7, 1.4, 2.0], len(poses)), 1.0)
    poses[:, 2:] *= factor[:, None]
    return poses
