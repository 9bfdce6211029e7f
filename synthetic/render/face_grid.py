"""Pixel grid of a tile texture: outline, rounded edge, and small squares around the pips."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render.look_types import Polygon, TileLook
from synthetic.render.patterns import largest_radius, pip_centers
from vision.arrays import Bgr, FloatImage, Points

_PAD_PX = 3
# Oversampling factor for drawing pip outlines.
_OVERSAMPLING = 8


@dataclass(frozen=True, slots=True, eq=False)
class FaceGrid:
    """Texture pixels and tile shape shared by all faces of a set.

    Attributes:
        scale: Texture pixels per millimetre.
        x_mm, y_mm: Pixel positions from the middle of the tile, shapes (1, W) and (H, 1).
        alpha: Coverage of each pixel, 0 to 1.
        normal_x, normal_y, normal_z: Surface normal of the face and rounded edge.
        edge: 1 at the outline, decreasing to 0 inwards.
        spots: Cached pips by (number, half), shared by most tiles of a picture.
    """

    scale: float
    x_mm: FloatImage
    y_mm: FloatImage
    alpha: FloatImage
    normal_x: FloatImage
    normal_y: FloatImage
    normal_z: FloatImage
    edge: FloatImage
    spots: dict[tuple[int, int], Spots] = field(default_factory=dict)

    def to_tile(self) -> NDArray[np.float64]:
        """Return the homography, shape (3, 3), from texture pixels to millimetres of the tile frame."""
        height, width = self.alpha.shape
        step = 1 / self.scale
        return np.array([[step, 0.0, -(width - 1) / 2 * step], [0.0, step, -(height - 1) / 2 * step], [0.0, 0.0, 1.0]])


def grid_of(look: TileLook, scale: float) -> FaceGrid:
    """Return the grid of a tile set at *scale* texture pixels per millimetre."""
    width = math.ceil(look.length_mm * scale) + 2 * _PAD_PX
    height = math.ceil(look.width_mm * scale) + 2 * _PAD_PX
    x_mm = ((np.arange(width, dtype=np.float32) - (width - 1) / 2) / scale)[None, :]
    y_mm = ((np.arange(height, dtype=np.float32) - (height - 1) / 2) / scale)[:, None]
    radius = min(look.corner_radius_mm, look.width_mm / 2)
    over_x = np.abs(x_mm) - np.float32(look.length_mm / 2 - radius)
    over_y = np.abs(y_mm) - np.float32(look.width_mm / 2 - radius)
    outside_x, outside_y = np.maximum(over_x, 0), np.maximum(over_y, 0)
    corner = np.hypot(outside_x, outside_y)
    depth = radius - corner - np.minimum(np.maximum(over_x, over_y), 0)  # millimetres inside the outline
    in_corner = corner > 0
    along_x = np.where(in_corner, outside_x / np.maximum(corner, 1e-6), (over_x > over_y).astype(np.float32))
    along_y = np.where(in_corner, outside_y / np.maximum(corner, 1e-6), (over_y >= over_x).astype(np.float32))
    bend = np.clip(1 - depth / max(look.bevel_mm, 1e-3), 0, 1) ** 1.5 * (look.bevel_depth * 1.25)
    bend = bend.astype(np.float32)
    tilt = np.sin(bend)
    return FaceGrid(
        scale,
        x_mm,
        y_mm,
        np.clip(depth * scale + 0.5, 0, 1).astype(np.float32),
        (tilt * along_x * np.sign(x_mm)).astype(np.float32),
        (tilt * along_y * np.sign(y_mm)).astype(np.float32),
        np.cos(bend).astype(np.float32),
        np.exp(-np.maximum(depth, 0) / max(0.35, 0.8 / scale)).astype(np.float32),
    )


def blend(face: FloatImage, cover: FloatImage, bgr: Bgr, shade: FloatImage | float = 1.0) -> None:
    """Blend a colour into *face*, channels first, in place. *cover* is its opacity, 0 to 1."""
    for channel in range(3):
        face[channel] += cover * (bgr[channel] * shade - face[channel])


def disc(distance: FloatImage, radius: float, scale: float) -> FloatImage:
    """Return the anti-aliased coverage of a disc from the distances to its centre, in the unit of *radius*."""
    cover = np.float32(radius * scale + 0.5) - distance * np.float32(scale)
    np.minimum(cover, 1, out=cover)
    np.maximum(cover, 0, out=cover)
    return cover


def pip_places_mm(look: TileLook, pips: int, half: int) -> tuple[Points, NDArray[np.float64]]:
    """Return the pip centres of a half in the tile frame, shape (N, 2), and their radii, (N,), in millimetres."""
    if pips < len(look.placed_pips):
        placed = look.placed_pips[pips]
        centers = np.array([(pip.x, pip.y) for pip in placed], np.float64).reshape(-1, 2)
        radii = np.array([pip.radius for pip in placed], np.float64)
    else:
        centers = pip_centers(pips, look.pip_style[pips]) * look.pip_spread
        radii = np.full(pips, min(look.pip_radius, largest_radius(centers)))
    unit_x, unit_y = look.length_mm / 4, look.width_mm / 2
    side = -1.0 if half == 0 else 1.0
    lateral = -1.0 if look.is_mirrored else side
    along = side * (look.length_mm / 4 + centers[:, 1] * unit_x)
    across = -lateral * centers[:, 0] * unit_y
    return np.column_stack([along, across]), radii * min(unit_x, unit_y)


@dataclass(frozen=True, slots=True, eq=False)
class Spots:
    """Small pixel squares around the pips of a half.

    Attributes:
        rows, columns: Position of each square in the texture.
        x, y, distance: Offset and distance from the pip centre, in pip radii. *distance* has shape (N, K, K).
        cover: Coverage by the pip, 0 to 1, shape (N, K, K).
        sharp: Texture pixels per pip radius.
    """

    rows: tuple[slice, ...]
    columns: tuple[slice, ...]
    x: FloatImage
    y: FloatImage
    distance: FloatImage
    cover: FloatImage
    sharp: float


def spots_of(grid: FaceGrid, places_mm: Points, radius_mm: float, outline: Polygon = ()) -> Spots:
    """Return the pixel squares around pips at *places_mm*. Pips are round if *outline*, in pip radii, is empty."""
    height, width = grid.alpha.shape
    sharp = radius_mm * grid.scale
    side = min(2 * math.ceil(sharp + 1) + 1, height)
    exact = places_mm * grid.scale + ((width - 1) / 2, (height - 1) / 2)
    corner = np.clip(np.round(exact).astype(int) - side // 2, 0, (width - side, height - side))
    steps = np.arange(side, dtype=np.float64)
    x = ((corner[:, :1] + steps - exact[:, :1]) / sharp).astype(np.float32)[:, None, :]
    y = ((corner[:, 1:] + steps - exact[:, 1:]) / sharp).astype(np.float32)[:, :, None]
    distance = np.sqrt(x * x + y * y)
    return Spots(
        tuple(slice(top, top + side) for top in corner[:, 1].tolist()),
        tuple(slice(left, left + side) for left in corner[:, 0].tolist()),
        x,
        y,
        distance,
        _outlined(x, y, outline, sharp) if outline else disc(distance, 1.0, sharp),
        sharp,
    )


def _outlined(x: FloatImage, y: FloatImage, outline: Polygon, sharp: float) -> FloatImage:
    """Return the anti-aliased coverage of pips with an outline, shape (N, K, K)."""
    cover = np.empty((len(x), y.shape[1], x.shape[2]), np.float32)
    for at, corner in enumerate(zip(x[:, 0, 0].tolist(), y[:, 0, 0].tolist(), strict=True)):
        corners = (np.array(outline) - corner) * (sharp * _OVERSAMPLING) + (_OVERSAMPLING - 1) / 2
        cover[at] = filled([corners], cover.shape[1:], _OVERSAMPLING)
    return cover


def filled(outlines: Iterable[Points], size: tuple[int, ...], oversampling: int) -> FloatImage:
    """Return the anti-aliased coverage of the union of outlines, shape *size*, 0 to 1.

    Args:
        outlines: Corners of each outline, shape (N, 2), in oversampled pixels.
        size: Rows and columns.
        oversampling: Oversampled pixels per pixel.
    """
    fine = np.zeros((oversampling * size[0], oversampling * size[1]), np.uint8)
    for corners in outlines:
        cv2.fillPoly(fine, [np.round(corners).astype(np.int32)], (255,))
    return cv2.resize(fine, size[::-1], interpolation=cv2.INTER_AREA) / np.float32(255)
