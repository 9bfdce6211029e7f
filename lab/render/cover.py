"""Ground truth of a picture: position and visibility of each tile, computed from the geometry of the scene."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render.clutter import clutter_solids, solid_of
from lab.render.lighting import Solid
from lab.render.reaching import outlines_px
from lab.render.scene import ClutterKind, PlacedTile, Scene
from lab.render.solids import corners_of, rounded_outline
from lab.render.view import View
from vision.arrays import Points
from vision.reading import Face, Half, Join, OutlinePx, Reading, SeenTile

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


# Minimum visible share of each half. Below it, a pip may be hidden. Sampling 12 x 12 points gives steps of 0.7 %.
_READABLE = 0.97
# Minimum visible share of a whole tile. With less, only its rim is visible.
_NOTICED = 0.08


@dataclass(frozen=True, slots=True)
class RenderedTile:
    """Appearance of a tile of the scene in the picture.

    Attributes:
        index: Index in the scene.
        tile: Exact reading of the tile, even if it is hidden.
        visible: Share of each half that is in the picture and not hidden, 0 to 1.
        by_tiles: Indices of the tiles that hide part of this one.
        by_reach, by_clutter: True if a player's hand or an object hides part of the tile.
    """

    index: int
    tile: SeenTile
    visible: tuple[float, float]
    by_tiles: tuple[int, ...]
    by_reach: bool
    by_clutter: bool

    @property
    def is_readable(self) -> bool:
        """True if at least 97 % of each half is visible."""
        return min(self.visible) >= _READABLE

    @property
    def is_noticed(self) -> bool:
        """True if at least 8 % of the tile is visible, enough to notice it."""
        return sum(self.visible) / 2 >= _NOTICED


@dataclass(frozen=True, slots=True)
class PictureTruth:
    """Ground truth of a picture.

    Attributes:
        reading: Perfect reading: every tile with four corners in the picture and at least 97 % of each half visible.
        tile_index: For each tile of *reading*, its index in the scene.
        unread_px: Outlines of other tiles that are at least 8 % visible, and of tiles standing on edge.
        shown: Every tile of the scene, in order.
    """

    reading: Reading
    tile_index: tuple[int, ...]
    unread_px: tuple[OutlinePx, ...]
    shown: tuple[RenderedTile, ...]


def truth_of(scene: Scene, view: View) -> PictureTruth:
    """Return the ground truth of the picture of *scene*."""
    width_px, height_px = scene.camera.width_px, scene.camera.height_px
    hidden = find_hidden(scene, view)
    whole: list[tuple[SeenTile, int]] = []
    unread = _standing(scene, view)
    shown: list[RenderedTile] = []
    for index, (placed, points_px) in enumerate(zip(scene.tiles, _tile_points_px(scene, view), strict=True)):
        corners_px = points_px[:4]
        rendered = _rendered(index, _tile_truth(placed, points_px), hidden[index])
        shown.append(rendered)
        inside = bool((corners_px >= 0).all() and (corners_px <= (width_px - 1, height_px - 1)).all())
        if inside and rendered.is_readable:
            whole.append((rendered.tile, index))
        elif rendered.is_noticed and _touches_picture(corners_px, width_px, height_px):
            unread.append(_plain(corners_px))
    whole.sort(key=lambda pair: (pair[0].center_px[1], pair[0].center_px[0]))
    tile_index = tuple(index for _, index in whole)
    reading = Reading(width_px, height_px, tuple(tile for tile, _ in whole), _joins_between(scene, tile_index))
    return PictureTruth(reading, tile_index, tuple(unread), tuple(shown))


def _joins_between(scene: Scene, tile_index: tuple[int, ...]) -> tuple[Join, ...]:
    """Return the joins whose tiles are both in *tile_index*, renumbered."""
    place = {index: position for position, index in enumerate(tile_index)}
    return tuple(
        Join(place[join.a], join.a_half, place[join.b], join.b_half)
        for join in scene.joins
        if join.a in place and join.b in place
    )


def _standing(scene: Scene, view: View) -> list[OutlinePx]:
    """Return the outlines of tiles standing on edge. Seen from behind, they look like face-down tiles."""
    solids = [solid_of(thing) for thing in scene.clutter if thing.kind is ClutterKind.STANDING_TILE]
    return [_plain(view.distort(hull_px(solid, view))) for solid in solids]


def _rendered(index: int, tile: SeenTile, hidden: Occlusion) -> RenderedTile:
    return RenderedTile(index, tile, hidden.visible, hidden.by_tiles, hidden.by_reach, hidden.by_clutter)


def _tile_points_px(scene: Scene, view: View) -> Points:
    """Return the corners and half centres of each tile in the picture, shape (tiles, 6, 2)."""
    quarter_mm = scene.tile.length_mm / 4
    frame = np.concatenate([corners_of(scene.tile), [[-quarter_mm, 0.0], [quarter_mm, 0.0]]])
    tops_mm = [placed.height_mm + scene.tile.thickness_mm for placed in scene.tiles]
    points_px = [
        view.project(placed.to_table(frame), top_mm) for placed, top_mm in zip(scene.tiles, tops_mm, strict=True)
    ]
    return view.distort(np.array(points_px).reshape(-1, 2)).reshape(-1, 6, 2)


def _plain(points_px: Points) -> OutlinePx:
    return tuple((float(x), float(y)) for x, y in points_px)


def _touches_picture(corners_px: NDArray[np.float64], width_px: int, height_px: int) -> bool:
    low, high = corners_px.min(axis=0), corners_px.max(axis=0)
    return bool((high > 0).all() and low[0] < width_px and low[1] < height_px)


def _tile_truth(placed: PlacedTile, points_px: Points) -> SeenTile:
    """Return the exact reading of a tile from its corners and half centres, shape (6, 2).

    The outline begins with the long edge that starts nearer to the upper left of the picture.
    """
    first = 2 * int(np.argmin(points_px[[0, 2]].sum(axis=1)))
    corners = _plain(np.roll(points_px[:4], -first, axis=0))
    assert len(corners) == 4
    if placed.pips is None:
        return SeenTile(Face.DOWN, corners, ())
    near, far = _plain(points_px[4:])
    return SeenTile(Face.UP, corners, (Half(placed.pips[0], 1.0, near), Half(placed.pips[1], 1.0, far)))
