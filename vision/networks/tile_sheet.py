"""Sheets of tiles cropped from an image, and simulated views of them in other light."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Image, Points
from vision.poses import Poses, sides_px, to_image, upright_poses

# Side of a half. It exceeds the input resolution of the network, so that little detail is lost.
SIDE_PX = 36
# Margin around each tile, because patches of inexact poses extend beyond its edge.
_MARGIN_PX = 14
_COLUMNS = 10
_CELL_PX = (2 * SIDE_PX + 2 * _MARGIN_PX, SIDE_PX + 2 * _MARGIN_PX)

# Distribution of simulated views, following the renderer (lab.render.looks). Halves are 15 to 36 px wide, a
# quarter of the images are noisy, and 40 % have glare over some tiles. Half have harsh light: another lamp, an
# overexposed face, or a camera that sharpens.
_SMALLEST = 0.42
_HARSH = 0.5
_WARM = 0.15
_GREEN = 0.04
_HARSH_CAST = 0.03
_DARK = (-0.9, -0.2)
_BURNT = (0.15, 0.6)
_SHARPENED = 0.4
_SHARPER = (0.2, 1.2)
_GAMMA = 0.18
_LIGHT = 0.2
_SHADES = 0.15
_CAST = 0.07
_VEILED = 0.4
_VEIL = (10.0, 70.0)
_BLUR = (0.0, 0.035)
_MUCH_BLUR = (0.03, 0.07)
_MUCH_BLURRED = 0.3
_NOISE = (0.3, 2.5)
_MUCH_NOISE = (2.5, 9.0)
_MUCH_NOISY = 0.25
_JPEG = (30, 95)
_AS_JPEG = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class TileSheet:
    """Tiles in rows of ten, each with its long axis along x.

    Attributes:
        image: Shape (H, W, 3), BGR.
        count: Number of tiles.
    """

    image: Image
    count: int

    def __post_init__(self) -> None:
        wide, high = _size_px(self.count)
        if self.image.shape != (high, wide, 3):
            raise ValueError(f"a sheet of {self.count} tiles must have shape {(high, wide, 3)}, got {self.image.shape}")

    @property
    def poses(self) -> Poses:
        """Poses of the tiles in the sheet, shape (count, 6)."""
        at = np.arange(self.count)
        corners = np.stack([at % _COLUMNS, at // _COLUMNS], axis=1) * _CELL_PX
        sides = np.full(self.count, float(SIDE_PX))
        return upright_poses(corners + (np.array(_CELL_PX) - 1) / 2, np.zeros(self.count), 2 * sides, sides)

    def joined(self, other: TileSheet) -> TileSheet:
        """Return a sheet with the tiles of both sheets, those of *other* last."""
        return _laid_out(np.concatenate([cut_cells(self), cut_cells(other)]))


def cut_out(image: Image, poses: Poses) -> TileSheet:
    """Crop tiles from an image.

    Args:
        image: Shape (H, W, 3), BGR, at full resolution.
        poses: Tiles, shape (N, 6).
    """
    wide, high = _CELL_PX
    finer = int(np.median(sides_px(poses)) / SIDE_PX) if len(poses) else 1
    if finer > 1:  # Reduce the image first, or skipped pixels would cause noise and jagged pips.
        image = np.asarray(cv2.resize(image, None, fx=1 / finer, fy=1 / finer, interpolation=cv2.INTER_AREA), np.uint8)
        poses = np.column_stack([(poses[:, :2] + 0.5) / finer - 0.5, poses[:, 2:] / finer])
    u = (np.arange(wide) + 0.5 - wide / 2) / SIDE_PX
    v = (np.arange(high) + 0.5 - high / 2) / (SIDE_PX / 2)
    places = to_image(poses, np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 2)).reshape(-1, high, wide, 2)
    cells = [_remapped(image, place) for place in places]
    return _laid_out(np.array(cells, np.uint8).reshape(-1, high, wide, 3))


def cut_cells(sheet: TileSheet) -> Image:
    """Return the tiles of a sheet with their margins, shape (N, H, W, 3)."""
    wide, high = _CELL_PX
    corners = [(at // _COLUMNS * high, at % _COLUMNS * wide) for at in range(sheet.count)]
    cells = [sheet.image[y : y + high, x : x + wide] for y, x in corners]
    return np.array(cells, np.uint8).reshape(-1, high, wide, 3)


def tile_mask(middle: float, width: float, length: float | None = None) -> NDArray[np.bool_]:
    """Return a mask of the pixels of a cell inside a rectangle on the tile, shape (H, W).

    Args:
        middle: Position along the tile, from -1 to 1.
        width: Fraction of the tile's width.
        length: Fraction of the tile's length. Defaults to *width*.
    """
    wide, high = _CELL_PX
    u = (np.arange(wide) + 0.5 - wide / 2) / SIDE_PX
    v = (np.arange(high) + 0.5 - high / 2) / (SIDE_PX / 2)
    return np.asarray(
        (np.abs(u - middle) <= (width if length is None else length))[None, :] & (np.abs(v) <= width)[:, None]
    )


def simulate_view(sheet: TileSheet, rng: np.random.Generator) -> tuple[Image, Poses]:
    """Simulate another image of the tiles: smaller, in other light, blurred and noisy.

    Returns:
        The image, and the poses of the tiles in it, shape (N, 6).
    """
    height, width = sheet.image.shape[:2]
    shrunk = math.exp(rng.uniform(math.log(_SMALLEST), 0))
    small = cv2.resize(sheet.image, (round(width * shrunk), round(height * shrunk)), interpolation=cv2.INTER_AREA)
    side_px = SIDE_PX * shrunk
    is_harsh = rng.random() < _HARSH
    seen = _relight(np.asarray(small, np.float32), side_px, rng, is_harsh=is_harsh)
    blur = side_px * rng.uniform(*(_MUCH_BLUR if rng.random() < _MUCH_BLURRED else _BLUR))
    if blur > 0.2:
        seen = _blurred(seen, blur)
    # Noise, either per pixel or in blotches as left by a camera's noise reduction.
    spread = rng.uniform(*(_MUCH_NOISE if rng.random() < _MUCH_NOISY else _NOISE))
    grain = np.asarray(rng.normal(0, spread, seen.shape), np.float32)
    seen = seen + (1.8 * _blurred(grain, 0.8) if rng.random() < 0.5 else grain)
    if is_harsh and rng.random() < _SHARPENED:
        seen = seen + np.float32(rng.uniform(*_SHARPER)) * (seen - _blurred(seen, 1.0))
    taken = np.clip(seen, 0, 255).astype(np.uint8)
    if rng.random() < _AS_JPEG:
        encoded = cv2.imencode(".jpg", taken, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(*_JPEG))])[1]
        taken = np.asarray(cv2.imdecode(encoded, cv2.IMREAD_COLOR), np.uint8)
    return taken, sheet.poses * np.tile([taken.shape[1] / width, taken.shape[0] / height], 3)


def _relight(
    seen: NDArray[np.float32], side_px: float, rng: np.random.Generator, *, is_harsh: bool
) -> NDArray[np.float32]:
    """Change contrast, light colour and shading of an image, and sometimes add glare."""
    size = seen.shape[:2]
    exposure, cast = _harsh_light(rng) if is_harsh else (rng.normal(0, _LIGHT), rng.normal(0, _CAST, 3))
    bent = 255 * (seen / 255) ** np.float32(math.exp(rng.normal(0, _GAMMA)))
    shades = np.exp(_SHADES * _cloud(rng, size, 3 * side_px) + exposure)
    lit = bent * shades[..., None] * np.exp(cast)
    if rng.random() < _VEILED:
        lit = lit + (np.clip(_cloud(rng, size, 2.5 * side_px), 0, 2) * rng.uniform(*_VEIL))[..., None]
    # Saturated pixels stay saturated, because clipping follows the blur of the lens.
    return np.asarray(np.minimum(lit, 275) if is_harsh else lit, np.float32)


def _harsh_light(rng: np.random.Generator) -> tuple[float, NDArray[np.float64]]:
    """Return the log exposure, and the log light colour as blue, green and red."""
    usual, dark, overexposed = rng.normal(0, _LIGHT), rng.uniform(*_DARK), rng.uniform(*_BURNT)
    warm, green = rng.normal(0, _WARM), rng.normal(0, _GREEN)
    exposure = rng.choice([usual, dark, overexposed], p=[0.6, 0.2, 0.2])
    return float(exposure), np.array([-warm, green, warm]) + rng.normal(0, _HARSH_CAST, 3)


def _blurred(picture: NDArray[np.float32], sigma_px: float) -> NDArray[np.float32]:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma_px), np.float32)


def _cloud(rng: np.random.Generator, size: tuple[int, ...], cell_px: float) -> NDArray[np.float32]:
    """Return smooth random noise of shape *size*, with a standard deviation of about 1."""
    coarse = rng.normal(0, 1, (int(size[0] / cell_px) + 2, int(size[1] / cell_px) + 2)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (size[1], size[0]), interpolation=cv2.INTER_CUBIC), np.float32)


def _remapped(image: Image, place: Points) -> Image:
    """Sample the image at points, shape (H, W, 2)."""
    x, y = np.asarray(place[..., 0], np.float32), np.asarray(place[..., 1], np.float32)
    return np.asarray(cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _size_px(count: int) -> tuple[int, int]:
    """Return width and height of a sheet in pixels."""
    return min(count, _COLUMNS) * _CELL_PX[0], -(-count // _COLUMNS) * _CELL_PX[1]


def _laid_out(cells: Image) -> TileSheet:
    """Arrange cells, shape (N, H, W, 3), in a sheet."""
    wide, high = _CELL_PX
    width, height = _size_px(len(cells))
    image = np.zeros((height, width, 3), np.uint8)
    for at, cell in enumerate(cells):
        y, x = at // _COLUMNS * high, at % _COLUMNS * wide
        image[y : y + high, x : x + wide] = cell
    return TileSheet(image, len(cells))
