"""Compute how much of each half is visible, from the geometry of the scene rather than from its pixels."""

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
    """How much of one tile is in sight, and what hides the rest.

    Attributes:
        visible: Share of each half in sight.
        by_tiles, by_reach, by_clutter: As of `TileShown`.
    """

    visible: tuple[float, float]
    by_tiles: tuple[int, ...]
    by_reach: bool
    by_clutter: bool


def tile_solids(scene: Scene) -> list[Solid]:
    """Return the tiles as bodies, in their order."""
    look = scene.tile
    outline = rounded_outline(look.length_mm, look.width_mm, look.corner_radius_mm)
    return [
        Solid(placed.to_table(outline), placed.height_mm, placed.height_mm + look.thickness_mm)
        for placed in scene.tiles
    ]


def find_hidden(scene: Scene, view: View) -> list[Occlusion]:
    """Return for each tile of *scene* how much of it is in sight, and what hides the rest."""
    tiles, things = tile_solids(scene), clutter_solids(scene)
    reaches = [outline for reach in scene.reaches for outline in outlines_px(reach, view)]
    frame = _grid_of_halves(scene)
    points = [
        view.project(placed.to_table(frame), solid.top_mm) for placed, solid in zip(scene.tiles, tiles, strict=True)
    ]
    outside = _outside_picture(points, scene, view)
    return [
        _hidden(seen, beyond, solid.top_mm, (tiles, things, reaches), view)
        for seen, beyond, solid in zip(points, outside, tiles, strict=True)
    ]


def _hidden(
    points_px: Points,
    outside: NDArray[np.bool_],
    height_mm: float,
    bodies: tuple[list[Solid], list[Solid], list[Points]],
    view: View,
) -> Occlusion:
    """Return what hides the points of one tile: other tiles, things, hands."""
    tiles, things, reaches = bodies
    gone = outside.copy()
    by_tiles = []
    for other, solid in enumerate(tiles):
        if solid.top_mm > height_mm + 1e-6:
            under = _under_solid(points_px, solid, height_mm, view)
            gone |= under
            if under.any():
                by_tiles.append(other)
    by_things = [_under_solid(points_px, thing, height_mm, view) for thing in things if thing.top_mm > height_mm]
    by_reach = [_inside(points_px, outline) for outline in reaches]
    for under in (*by_things, *by_reach):
        gone |= under
    shares = 1 - gone.reshape(2, -1).mean(axis=1)
    return Occlusion(
        (float(shares[0]), float(shares[1])),
        tuple(by_tiles),
        any(bool(under.any()) for under in by_reach),
        any(bool(under.any()) for under in by_things),
    )


def _grid_of_halves(scene: Scene) -> Points:
    """Return points spread evenly over half 0, then over half 1, in the tile frame."""
    steps = (np.arange(_POINTS_PER_SIDE) + 0.5) / _POINTS_PER_SIDE
    along, across = np.meshgrid(steps, steps - 0.5)
    half = np.column_stack([along.ravel() * scene.tile.length_mm / 2, across.ravel() * scene.tile.width_mm])
    return np.concatenate([half - (scene.tile.length_mm / 2, 0.0), half])


def _under_solid(points_px: Points, solid: Solid, height_mm: float, view: View) -> NDArray[np.bool_]:
    """Return which points, that lie at one height, a body hides.

    Only the part of a body that is above a point can be between it and the camera.
    """
    return _inside(points_px, hull_px(solid, view, height_mm))


def hull_px(solid: Solid, view: View, from_mm: float = 0.0) -> Points:
    """Return the outline of the part of a body above *from_mm*, shape (N, 2), before the lens distorts it."""
    low = view.project(solid.outline_mm, max(solid.bottom_mm, from_mm))
    high = view.project(solid.outline_mm, solid.top_mm)
    hull = cv2.convexHull(np.concatenate([low, high]).astype(np.float32))
    return np.asarray(hull.reshape(-1, 2), np.float64)


def _inside(points_px: Points, outline_px: Points) -> NDArray[np.bool_]:
    """Return which points lie inside a convex outline that runs either way round."""
    low, high = outline_px.min(axis=0), outline_px.max(axis=0)
    if (points_px.max(axis=0) < low).any() or (points_px.min(axis=0) > high).any():
        return np.zeros(len(points_px), bool)
    edge = np.roll(outline_px, -1, axis=0) - outline_px
    offset = points_px[:, None] - outline_px[None]
    side = edge[None, :, 0] * offset[..., 1] - edge[None, :, 1] * offset[..., 0]
    return np.asarray((side >= 0).all(axis=1) | (side <= 0).all(axis=1))


def _outside_picture(points_px: list[Points], scene: Scene, view: View) -> NDArray[np.bool_]:
    """Return which points of each tile the picture does not show, shape (tiles, points)."""
    if not points_px:
        return np.zeros((0, 0), bool)
    seen = view.distort(np.concatenate(points_px))
    beyond = (seen < 0) | (seen > (scene.camera.width_px - 1, scene.camera.height_px - 1))
    return np.asarray(beyond.any(axis=1).reshape(len(points_px), -1))
