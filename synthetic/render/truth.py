"""Ground truth of a picture: position and visibility of each tile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synthetic.render.clutter import solid_of
from synthetic.render.cover import Occlusion, find_hidden, hull_px
from synthetic.render.scene import ClutterKind, PlacedTile, Scene
from synthetic.render.solids import corners_of
from synthetic.render.view import View
from vision.arrays import Points
from vision.reading import Face, Half, Join, OutlinePx, Reading, SeenTile

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
