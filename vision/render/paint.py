"""Render a scene: the picture and the exact truth about it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.reading import Face, Half, Join, Reading, Tile
from vision.render import lens
from vision.render.clutter import clutter_solids, paint_flat_clutter, paint_solid_clutter
from vision.render.face_grid import FaceGrid, grid_of
from vision.render.faces import paint_face
from vision.render.lighting import Solid, glare_field, light_field, shade_table, to_lamp
from vision.render.patterns import MAX_PIPS, Points
from vision.render.scene import PlacedTile, Scene
from vision.render.solids import corners_of, paint_texture, paint_walls, rounded_outline, top_warp
from vision.render.tabletop import paint_table
from vision.render.view import View, view_of

Picture = NDArray[np.uint8]
Corners = tuple[tuple[float, float], ...]

# Texture pixels per picture pixel: finer only costs time, the warp interpolates linearly.
_TEXTURE_SCALE = 1.3


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """A picture and what it shows.

    Attributes:
        image: Shape (H, W, 3), BGR.
        truth: Every tile whose four corners are in the picture and whose halves nothing covers.
        tile_index: For each tile of *truth*, its index in the scene.
        unread_px: Corners of tiles that the picture shows only in part: cut off or covered.
    """

    image: Picture
    truth: Reading
    tile_index: tuple[int, ...]
    unread_px: tuple[Corners, ...]


def render(scene: Scene, rng: np.random.Generator, *, frame_rng: np.random.Generator | None = None) -> Rendered:
    """Return the picture of *scene* with its truth.

    The same scene and generator state give the same picture. Table, light and the marks on each tile depend on
    nothing but *rng*, so that frames rendered with equally seeded generators show one table on which tiles move.

    Args:
        rng: Of everything that stays in the scene.
        frame_rng: Of the sensor's noise, if that shall differ between frames of one table.
    """
    table_rng, clutter_rng, light_rng, camera_rng = (np.random.default_rng(seed) for seed in rng.integers(0, 2**62, 4))
    tile_seed = int(rng.integers(0, 2**62))
    camera = scene.camera
    shape = (camera.height_px, camera.width_px)
    view = view_of(camera)
    picture = paint_table(scene.table, view, camera.width_px, camera.height_px, table_rng)
    paint_flat_clutter(picture, scene, view, clutter_rng)
    solids = [*_tile_solids(scene), *clutter_solids(scene)]
    picture = shade_table(picture, solids, scene, view, table_rng)
    glare = glare_field(scene.light, shape, light_rng)
    if glare is not None and scene.table.gloss > 0:
        shine = cv2.convertScaleAbs(glare, alpha=scene.table.gloss)
        picture = cv2.add(picture, cv2.merge([shine] * 3)).astype(np.uint8, copy=False)
    paint_solid_clutter(picture, scene, view, clutter_rng)
    _paint_tiles(picture, scene, view, glare, tile_seed)
    field = light_field(scene.light, camera.vignette, shape, light_rng)
    picture = lens.take(lens.expose(picture, field, scene.light, camera), camera, view, frame_rng or camera_rng)
    truth, tile_index, unread_px = truth_of(scene, view)
    return Rendered(picture, truth, tile_index, unread_px)


def _tile_solids(scene: Scene) -> list[Solid]:
    look = scene.tile
    outline = rounded_outline(look.length_mm, look.width_mm, look.corner_radius_mm)
    return [
        Solid(placed.to_table(outline), placed.height_mm, placed.height_mm + look.thickness_mm)
        for placed in scene.tiles
    ]


def _paint_tiles(picture: Picture, scene: Scene, view: View, glare: Picture | None, tile_seed: int) -> None:
    """Paint all tiles in place, lower and farther ones first."""
    grid = grid_of(scene.tile, scene.camera.px_per_mm * _TEXTURE_SCALE)
    outline = rounded_outline(scene.tile.length_mm, scene.tile.width_mm, scene.tile.corner_radius_mm)
    for placed in sorted(scene.tiles, key=lambda tile: (tile.height_mm, tile.center_mm[1])):
        marks = placed.pips if placed.pips is not None else (MAX_PIPS + 1, scene.tiles.index(placed))
        _paint_tile(picture, placed, scene, grid, outline, view, glare, np.random.default_rng([tile_seed, *marks]))


def _paint_tile(
    picture: Picture,
    placed: PlacedTile,
    scene: Scene,
    grid: FaceGrid,
    outline: Points,
    view: View,
    glare: Picture | None,
    rng: np.random.Generator,
) -> None:
    look, light = scene.tile, scene.light
    on_table = placed.to_table(outline)
    bottom, top = placed.height_mm, placed.height_mm + look.thickness_mm
    middle = bottom + 0.5 * look.thickness_mm
    if look.base_bgr != look.side_bgr:
        paint_walls(picture, on_table, (bottom, middle), look.base_bgr, light, view)
    paint_walls(
        picture, on_table, (middle if look.base_bgr != look.side_bgr else bottom, top), look.side_bgr, light, view
    )
    cos, sin = math.cos(placed.theta_rad), math.sin(placed.theta_rad)
    lamp = to_lamp(light)
    in_tile = np.array([cos * lamp[0] + sin * lamp[1], cos * lamp[1] - sin * lamp[0], lamp[2]])
    texture = paint_face(grid, look, placed.pips, in_tile, light.ambient, rng)
    paint_texture(picture, texture, top_warp(placed, look, grid, view), glare, look.gloss)


def truth_of(scene: Scene, view: View) -> tuple[Reading, tuple[int, ...], tuple[Corners, ...]]:
    """Return what a perfect reader says about *scene*, the scene's index of each tile, and what is unread."""
    width_px, height_px = scene.camera.width_px, scene.camera.height_px
    whole: list[tuple[Tile, int]] = []
    unread: list[Corners] = []
    for index, (placed, points_px) in enumerate(zip(scene.tiles, _seen(scene, view), strict=True)):
        corners_px = points_px[:4]
        inside = bool((corners_px >= 0).all() and (corners_px <= (width_px - 1, height_px - 1)).all())
        if inside and not _is_covered(index, scene):
            whole.append((_tile_truth(placed, points_px), index))
        elif _touches_picture(corners_px, width_px, height_px):
            unread.append(_plain(corners_px))
    whole.sort(key=lambda pair: (pair[0].center_px[1], pair[0].center_px[0]))
    place = {index: position for position, (_, index) in enumerate(whole)}
    joins = tuple(
        Join(place[join.a], join.a_half, place[join.b], join.b_half)
        for join in scene.joins
        if join.a in place and join.b in place
    )
    reading = Reading(width_px, height_px, tuple(tile for tile, _ in whole), joins)
    return reading, tuple(index for _, index in whole), tuple(unread)


def _seen(scene: Scene, view: View) -> Points:
    """Return where corners and half centres of each tile appear, shape (tiles, 6, 2)."""
    quarter_mm = scene.tile.length_mm / 4
    frame = np.concatenate([corners_of(scene.tile), [[-quarter_mm, 0.0], [quarter_mm, 0.0]]])
    tops_mm = [placed.height_mm + scene.tile.thickness_mm for placed in scene.tiles]
    points_px = [
        view.project(placed.to_table(frame), top_mm) for placed, top_mm in zip(scene.tiles, tops_mm, strict=True)
    ]
    return view.distort(np.array(points_px).reshape(-1, 2)).reshape(-1, 6, 2)


def _plain(points_px: Points) -> Corners:
    return tuple((float(x), float(y)) for x, y in points_px)


def _touches_picture(corners_px: Points, width_px: int, height_px: int) -> bool:
    low, high = corners_px.min(axis=0), corners_px.max(axis=0)
    return bool((high > 0).all() and low[0] < width_px and low[1] < height_px)


def _is_covered(index: int, scene: Scene) -> bool:
    """Return whether a higher tile lies over one of the halves."""
    placed = scene.tiles[index]
    reach_mm = (scene.tile.length_mm + scene.tile.width_mm) / 2.2
    for other in scene.tiles:
        if other.height_mm > placed.height_mm and math.dist(other.center_mm, placed.center_mm) < reach_mm:
            return True
    return False


def _tile_truth(placed: PlacedTile, points_px: Points) -> Tile:
    """Return the truth of a tile from its corners and half centres, shape (6, 2)."""
    first = int(np.argmin(points_px[:4].sum(axis=1)))
    corners = _plain(np.roll(points_px[:4], -first, axis=0))
    assert len(corners) == 4
    if placed.pips is None:
        return Tile(Face.DOWN, corners, ())
    near, far = _plain(points_px[4:])
    return Tile(Face.UP, corners, (Half(placed.pips[0], 1.0, near), Half(placed.pips[1], 1.0, far)))
