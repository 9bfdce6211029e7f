"""Rendered tables with ground truth, the built-in reader, and comparison of readings with the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from lab.render.looks import CLASSIC, FELT, LAMP, OVERHEAD
from lab.render.paint import RenderedPicture, render
from lab.render.scene import CameraLook, Clutter, LightLook, PlacedTile, Scene, TableLook, TileLook
from vision.arrays import Image
from vision.reader.reader import Reader, load_reader
from vision.reading import Face, Join, PointPx, Reading, SeenTile

# 460 x 345 mm of the table. Small, to keep reads fast.
CAMERA = replace(OVERHEAD, width_px=640, height_px=480, px_per_mm=1.4)
# Maximum distance between matching halves, in sides. Stricter than the 0.35 used for real photographs.
SAME_PLACE = 0.3


@cache
def reader() -> Reader:
    """Return the built-in reader."""
    return load_reader()


@dataclass(frozen=True, slots=True)
class Looks:
    """Appearance of a table, without its tiles."""

    tile: TileLook = CLASSIC
    table: TableLook = FELT
    light: LightLook = LAMP
    camera: CameraLook = CAMERA
    seed: int = 7


def table_with(
    tiles: Sequence[PlacedTile],
    looks: Looks | None = None,
    *,
    frame: int = 0,
    joins: tuple[Join, ...] = (),
    clutter: tuple[Clutter, ...] = (),
) -> RenderedPicture:
    """Return an image of *tiles*. Equal looks give the same table, and each *frame* its own noise."""
    looks = looks or Looks()
    scene = Scene(tuple(tiles), looks.tile, looks.table, looks.light, looks.camera, joins, clutter)
    return render(scene, np.random.default_rng(looks.seed), frame_rng=np.random.default_rng([looks.seed, frame]))


def lay(first: int, second: int, x_mm: float, y_mm: float, degrees: float = 0.0) -> PlacedTile:
    return PlacedTile((first, second), (x_mm, y_mm), math.radians(degrees))


def is_same_place(a: SeenTile, b: SeenTile) -> bool:
    """Check that both halves of two tiles coincide, in either order."""
    return a.face is b.face and _ways_to_match(a.half_centers_px, b.half_centers_px) != ()


def is_same(a: SeenTile, b: SeenTile) -> bool:
    """Check that two tiles coincide, with equal pips on the same halves."""
    pips_a, pips_b = [h.pips for h in a.halves], [h.pips for h in b.halves]
    return a.face is b.face and any(
        pips_a == pips_b[::step] for step in _ways_to_match(a.half_centers_px, b.half_centers_px)
    )


def _ways_to_match(a: tuple[PointPx, PointPx], b: tuple[PointPx, PointPx]) -> tuple[int, ...]:
    """Return the orders, 1 as given and -1 reversed, in which the halves of *b* coincide with those of *a*."""
    side = math.dist(*a)
    return tuple(
        step for step in (1, -1) if max(math.dist(p, q) for p, q in zip(a, b[::step], strict=True)) < SAME_PLACE * side
    )


def missing(truth: Iterable[SeenTile], seen: Iterable[SeenTile]) -> list[SeenTile]:
    """Return the true tiles that were not read correctly."""
    found = list(seen)
    return [tile for tile in truth if not any(is_same(tile, other) for other in found)]


def false_positives(truth: Iterable[SeenTile], seen: Iterable[SeenTile]) -> list[SeenTile]:
    """Return detected tiles at places without a true tile."""
    true_tiles = list(truth)
    return [tile for tile in seen if not any(is_same_place(tile, other) for other in true_tiles)]


def joins_missing(truth: Reading, seen: Reading) -> set[frozenset[tuple[int, int | None]]]:
    """Return the true joins that were not read, as pairs of tile and half in the truth."""
    true_joins = {frozenset([(join.a, join.a_half), (join.b, join.b_half)]) for join in truth.joins}
    return true_joins - {
        frozenset([_in_truth(truth, seen, join.a, join.a_half), _in_truth(truth, seen, join.b, join.b_half)])
        for join in seen.joins
    }


def _in_truth(truth: Reading, seen: Reading, tile: int, half: int | None) -> tuple[int, int | None]:
    """Return the true tile and half nearest to a detected half."""
    found = seen.tiles[tile]
    index = min(range(len(truth.tiles)), key=lambda i: math.dist(truth.tiles[i].center_px, found.center_px))
    if half is None:
        return index, None
    place, centers = found.half_centers_px[half], truth.tiles[index].half_centers_px
    return index, min((0, 1), key=lambda h: math.dist(centers[h], place))


def rotated_back(reading: Reading, *, quarter_turns: int, image: Image) -> tuple[SeenTile, ...]:
    """Return the tiles of an image rotated by `np.rot90`, in coordinates of the original image."""
    height, width = image.shape[:2]

    def rotate_back(point: PointPx) -> PointPx:
        x, y = point
        for turn in range(quarter_turns, 0, -1):
            # rot90 mapped (x, y) of the image before this rotation to (y, its width - 1 - x).
            x, y = (width if turn % 2 else height) - 1 - y, x
        return (x, y)

    def rotated(tile: SeenTile) -> SeenTile:
        a, b, c, d = (rotate_back(corner) for corner in tile.corners_px)
        if tile.face is Face.DOWN:
            return replace(tile, corners_px=(a, b, c, d))
        first, second = (replace(half, center_px=rotate_back(half.center_px)) for half in tile.halves)
        return replace(tile, corners_px=(a, b, c, d), halves=(first, second))

    return tuple(rotated(tile) for tile in reading.tiles)
