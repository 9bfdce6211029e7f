"""Visible share of each tile half, computed from the geometry of the scene."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render.clutter import clutter_solids
from synthetic.render.lighting import Solid
from synthetic.render.reaching import outlines_px
from synthetic.render.scene import Scene
from synthetic.render.solids import rounded_outline
from synthetic.render.view import View
from vision.arrays import Points

_POINTS_PER_SIDE = 12


@dataclass(frozen=True, slots=True)
class Occlusion:
    """Visible share of a tile, and the causes of its occlusion.

    Attributes:
        visible: Visible share of each half.
        by_tiles, by_reach, by_clutter: As in `RenderedTile`.
    """

    visible: tuple[float, float]
    by_tiles: tuple[int, ...]
    by_reach: bool
    by_clutter: bool


def tile_solids(scene: Scene) -> list[Solid]:
    """Return the tiles as bodies, in scene order."""
    look = scene.tile
    outline = rounded_outline(look.length_mm, look.width_mm, look.corner_radius_mm)
    return [
        Solid(placed.to_table(outline), placed.height_mm, placed.height_mm + look.thickness_mm)
        for placed in scene.tiles
    ]


def find_hidden(scene: Scene, view: View) -> list[Occlusion]:
    """Return the occlusion of each tile of *scene*."""
    tiles, things = tile_solids(scene), clutter_solids(scene)
    reaches = [outline for reach in scene.reaches for outline in outlines_px(reach, view)]
    frame = _grid_of_halves(scene)
    points = [
        view.project(placed.to_table(frame), solid.top_mm) for placed, solid in zip(scene.tiles, tiles, strict=True)
    ]
    outside = _outside_picture(points, scene, view)
    return [
        _find_occlusion(points_px, beyond, solid.top_mm, (tiles, things, reaches), view)
        for points_px, beyond, solid in zip(points, outside, tiles, strict=True)
    ]


def _find_occlusion(
    points_px: Points,
    outside: NDArray[np.bool_],
    height_mm: float,
    bodies: tuple[list[Solid], list[Solid], list[Points]],
    view: View,
) -> Occlusion:
    """Return the occlusion of a tile by the edge of the picture, other tiles, objects and hands.

    Args:
        points_px: Sample points of half 0, then of half 1.
        outside: True for points outside the picture.
        height_mm: Height of the tile's face.
        bodies: Tiles, objects, and outlines of hands.
        view: The camera.
    """
    tiles, things, reaches = bodies
    hidden = outside.copy()
    by_tiles = []
    for other, solid in enumerate(tiles):
        if solid.top_mm > height_mm + 1e-6:
            under = _under_solid(points_px, solid, height_mm, view)
            hidden |= under
            if under.any():
                by_tiles.append(other)
    by_things = [_under_solid(points_px, thing, height_mm, view) for thing in things if thing.top_mm > height_mm]
    by_reach = [_inside(points_px, outline) for outline in reaches]
    for under in (*by_things, *by_reach):
        hidden |= under
    shares = 1 - hidden.reshape(2, -1).mean(axis=1)
    return Occlusion(
        (float(shares[0]), float(shares[1])),
        tuple(by_tiles),
        any(bool(under.any()) for under in by_reach),
        any(bool(under.any()) for under in by_things),
    )


def _grid_of_halves(scene: Scene) -> Points:
    """Return evenly spaced points of half 0, then of half 1, in the tile frame."""
    steps = (np.arange(_POINTS_PER_SIDE) + 0.5) / _POINTS_PER_SIDE
    along, across = np.meshgrid(steps, steps - 0.5)
    half = np.column_stack([along.ravel() * scene.tile.length_mm / 2, across.ravel() * scene.tile.width_mm])
    return np.concatenate([half - (scene.tile.length_mm / 2, 0.0), half])


def _under_solid(points_px: Points, solid: Solid, height_mm: float, view: View) -> NDArray[np.bool_]:
    """Return a mask of the points at *height_mm* that a body hides.

    Only the part of a body above a point can be between the point and the camera.
    """
    return _inside(points_px, hull_px(solid, view, height_mm))


def hull_px(solid: Solid, view: View, from_mm: float = 0.0) -> Points:
    """Return the undistorted picture outline of the part of a body above *from_mm*, shape (N, 2)."""
    low = view.project(solid.outline_mm, max(solid.bottom_mm, from_mm))
    high = view.project(solid.outline_mm, solid.top_mm)
    hull = cv2.convexHull(np.concatenate([low, high]).astype(np.float32))
    return np.asarray(hull.reshape(-1, 2), np.float64)


def _inside(points_px: Points, outline_px: Points) -> NDArray[np.bool_]:
    """Return a mask of the points inside a convex outline of either orientation."""
    low, high = outline_px.min(axis=0), outline_px.max(axis=0)
    if (points_px.max(axis=0) < low).any() or (points_px.min(axis=0) > high).any():
        return np.zeros(len(points_px), bool)
    edge = np.roll(outline_px, -1, axis=0) - outline_px
    offset = points_px[:, None] - outline_px[None]
    side = edge[None, :, 0] * offset[..., 1] - edge[None, :, 1] * offset[..., 0]
    return np.asarray((side >= 0).all(axis=1) | (side <= 0).all(axis=1))


def _outside_picture(points_px: list[Points], scene: Scene, view: View) -> NDArray[np.bool_]:
    """Return a mask of the points of each tile outside the picture, shape (tiles, points)."""
    if not points_px:
        return np.zeros((0, 0), bool)
    distorted = view.distort(np.concatenate(points_px))
    beyond = (distorted < 0) | (distorted > (scene.camera.width_px - 1, scene.camera.height_px - 1))
    return np.asarray(beyond.any(axis=1).reshape(len(points_px), -1))
