"""Sample rectified patches of tiles and halves, as contrasts that do not depend on the colours of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image, Points
from vision.geometry.poses import Poses, sides_px
from vision.image.pyramid import Level

# A colour this far from the face (in 8-bit Lab) is a difference; 100 is black against white.
_SMALL_DIFFERENCE = 6.0
_LARGE_DIFFERENCE = 120.0
# OpenCV stretches 8-bit lightness to 0..255, but not a and b.
_LAB_SCALES = (100 / 255, 1.0, 1.0)
_MOST_ROWS = 30000  # remap takes at most 32767
# Patches of which a larger share is burnt out are brightened less, until so much of them is less than so bright.
_BURNT_OUT, _BRIGHT_ENOUGH = 0.01, 250


@dataclass(frozen=True, slots=True, eq=False)
class PatchGrid:
    """Where a patch samples a tile.

    Attributes:
        uv: Shape (rows * columns, 2), sample points in half-axes of the tile.
        rows, columns: Size of the patch.
        face: Shape (rows * columns,), True where the face of the tile (or half) surely is: its colour is taken there.
        step: Distance between samples in sides of a half.
    """

    uv: Points
    rows: int
    columns: int
    face: NDArray[np.bool_]
    step: float


def _grid(low: tuple[float, float], high: tuple[float, float], rows: int, columns: int) -> Points:
    """Return cell centres of a grid over u (columns) and v (rows), shape (rows * columns, 2)."""
    u = low[0] + (np.arange(columns) + 0.5) / columns * (high[0] - low[0])
    v = low[1] + (np.arange(rows) + 0.5) / rows * (high[1] - low[1])
    return np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)


@cache
def tile_grid() -> PatchGrid:
    """Return the grid that shows a whole tile and 0.4 sides around it, 14 samples to a side."""
    rows, columns = 24, 40
    uv = _grid((-40 / 28, -24 / 14), (40 / 28, 24 / 14), rows, columns)
    return PatchGrid(uv, rows, columns, _within(uv, 0.94, 0.88), 1 / 14)


@cache
def half_grid(half: int, *, size: int = 32, span: float = 1.2) -> PatchGrid:
    """Return the grid of half 0 or 1, turned so that the bar is at its right edge for either.

    Args:
        half: Which half.
        size: Samples to a row and to a column.
        span: How much is shown, in sides of a half; 1 is the half alone.
    """
    uv = _grid((-0.5 - span / 2, -span), (-0.5 + span / 2, span), size, size)
    face = _within(uv - np.array([-0.5, 0.0]), 0.42, 0.84)
    return PatchGrid(uv if half == 0 else -uv, size, size, face, span / size)


def _within(uv: Points, most_u: float, most_v: float) -> NDArray[np.bool_]:
    """Return which points lie in a rectangle around the origin."""
    return np.asarray((np.abs(uv[:, 0]) < most_u) & (np.abs(uv[:, 1]) < most_v))


def sample(levels: tuple[Level, ...], poses: Poses, grid: PatchGrid) -> Image:
    """Return the colours of patches.

    Args:
        levels: Pyramid of the picture, finest first.
        poses: Shape (N, 6), pixels of the full picture.
        grid: What to sample.

    Returns:
        Shape (N, rows * columns, 3), BGR. Outside the picture its border colour goes on.
    """
    step_px = sides_px(poses) * grid.step
    scales = np.array([level.scale for level in levels])
    # The coarsest level whose pixel is not larger than the step; a finer one would alias.
    chosen = np.clip(np.searchsorted(scales, step_px, side="right") - 1, 0, len(levels) - 1)
    basis = np.vstack([np.ones(len(grid.uv)), grid.uv.T]).astype(np.float32)
    patches = _sampled([level.image for level in levels], levels, chosen, poses, basis)
    taken = [level.as_taken for level in levels if level.as_taken is not None]
    if len(taken) == len(levels):
        burnt = np.nonzero((patches.max(axis=2) == 255).mean(axis=1) > _BURNT_OUT)[0]
        patches[burnt] = _kept_below_white(_sampled(taken, levels, chosen[burnt], poses[burnt], basis), patches[burnt])
    return patches


def _sampled(
    images: Sequence[Image],
    levels: tuple[Level, ...],
    chosen: NDArray[np.intp],
    poses: Poses,
    basis: NDArray[np.float32],
) -> Image:
    """Return patches, each from the picture of its level."""
    patches = np.empty((len(poses), basis.shape[1], 3), np.uint8)
    for index, (image, level) in enumerate(zip(images, levels, strict=True)):
        rows = np.nonzero(chosen == index)[0]
        for start in range(0, len(rows), _MOST_ROWS):
            part = rows[start : start + _MOST_ROWS]
            patches[part] = _remapped(image, level, poses[part], basis)
    return patches


def _kept_below_white(taken: Image, brightened: Image) -> Image:
    """Return patches, shape (N, P, 3), as bright as they can be and not burn out, at most as bright as *brightened*."""
    brightest = np.quantile(taken.max(axis=2), 1 - _BURNT_OUT, axis=1, method="nearest").astype(np.float32)
    gains = np.maximum(_BRIGHT_ENOUGH / np.maximum(brightest, 1), 1)
    return np.asarray(np.minimum(np.rint(taken * gains[:, None, None]), brightened), np.uint8)


def _remapped(image: Image, level: Level, poses: Poses, basis: NDArray[np.float32]) -> Image:
    """Return the colours at centre + u * half-axis + v * half-axis; *basis* has the rows 1, u, v."""
    scale_x, scale_y = level.scale_xy
    center = level.from_full(poses[:, :2])
    x = np.column_stack([center[:, 0], poses[:, 2] / scale_x, poses[:, 4] / scale_x])
    y = np.column_stack([center[:, 1], poses[:, 3] / scale_y, poses[:, 5] / scale_y])
    # Not by @: what that says of a tile depends in its last digit on how many others are with it, and on the machine.
    map_x, map_y = (np.einsum("nk,km->nm", one.astype(np.float32), basis) for one in (x, y))
    return np.asarray(cv2.remap(image, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def contrasts(patches: Image, grid: PatchGrid) -> NDArray[np.float32]:
    """Return how patches differ from the colour of their face, as pictures.

    Args:
        patches: Shape (N, rows * columns, 3), BGR.
        grid: The grid they were sampled with.

    Returns:
        Shape (N, 3, rows, columns): the signed differences in lightness (1 as white on black), green to red, and blue
        to yellow, each on a logarithmic scale so that pale pips count beside black ones.
    """
    if not len(patches):
        return np.empty((0, 3, grid.rows, grid.columns), np.float32)
    channels = [_signed(one).reshape(len(patches), grid.rows, grid.columns) for one in _from_face(patches, grid)]
    return np.stack(channels, axis=1)


def _from_face(patches: Image, grid: PatchGrid) -> tuple[NDArray[np.float32], ...]:
    """Return the differences from the median of the face in L, a and b, shape (N, rows * columns) each."""
    lab = cv2.cvtColor(patches, cv2.COLOR_BGR2LAB)
    within = np.flatnonzero(grid.face)
    differences = []
    for channel, scale in enumerate(_LAB_SCALES):
        values = np.ascontiguousarray(lab[..., channel])
        # The median: numpy finds it in words in half the time that bytes take, and a sort takes twice that.
        face = np.partition(values[:, within].astype(np.int32), len(within) // 2, axis=1)[:, len(within) // 2]
        differences.append(np.subtract(values, face[:, None], dtype=np.float32) * np.float32(scale))
    return tuple(differences)


def _signed(difference: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.copysign(_logarithmic(np.abs(difference)), difference))


def _logarithmic(difference: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 0 for no difference and 1 for the largest."""
    scale = np.float32(1 / np.log1p(_LARGE_DIFFERENCE / _SMALL_DIFFERENCE))
    return np.asarray(
        np.log(1 + difference * np.float32(1 / _SMALL_DIFFERENCE)) * scale
    )  # log1p takes five times as long
