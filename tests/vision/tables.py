"""Calm rendered tables with their truth, the shipped eye, and how what it says is compared with truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from synthetic.render.look_types import CameraLook, LightLook, TableLook, TileLook
from synthetic.render.looks import CLASSIC, FELT, LAMP, OVERHEAD
from synthetic.render.paint import RenderedPicture, render
from synthetic.render.scene import Clutter, PlacedTile, Scene
from vision.arrays import Image
from vision.reader.reader import Reader, load_reader
from vision.reading import Face, Join, PointPx, Reading, SeenTile

# 460 x 345 mm on the table; small, so that a read takes little.
CAMERA = replace(OVERHEAD, width_px=640, height_px=480, px_per_mm=1.4)
# Halves this near, in sides, are the same; score_read.py of the real photographs takes 0.35.
SAME_PLACE = 0.3


@cache
def reader() -> Reader:
    """The eye as it is shipped."""
    return load_reader()


@dataclass(frozen=True, slots=True)
class Looks:
    """How a table looks; everything about it but what lies on it."""

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
    """A picture of *tiles*; those with the same looks show the same table, each *frame* with noise of its own."""
    looks = looks or Looks()
    scene = Scene(tuple(tiles), looks.tile, looks.table, looks.light, looks.camera, joins, clutter)
    return render(scene, np.random.default_rng(looks.seed), frame_rng=np.random.default_rng([looks.seed, frame]))


def lay(first: int, second: int, x_mm: float, y_mm: float, degrees: float = 0.0) -> PlacedTile:
    return PlacedTile((first, second), (x_mm, y_mm), math.radians(degrees))


def is_same_place(a: SeenTile, b: SeenTile) -> bool:
    """Whether both halves lie where those of the other do, either one first."""
    return a.face is b.face and _ways_to_match(a.half_centers_px, b.half_centers_px) != ()


def is_same(a: SeenTile, b: SeenTile) -> bool:
    """Whether two tiles lie in one place with the same pips on the same halves."""
    pips_a, pips_b = [h.pips for h in a.halves], [h.pips for h in b.halves]
    return a.face is b.face and any(
        pips_a == pips_b[::step] for step in _ways_to_match(a.half_centers_px, b.half_centers_px)
    )


def _ways_to_match(a: tuple[PointPx, PointPx], b: tuple[PointPx, PointPx]) -> tuple[int, ...]:
    """The steps (1 as they are, -1 swapped) in which the halves of *b* lie on those of *a*."""
    side = math.dist(*a)
    return tuple(
        step for step in (1, -1) if max(math.dist(p, q) for p, q in zip(a, b[::step], strict=True)) < SAME_PLACE * side
    )


def missing(truth: Iterable[SeenTile], seen: Iterable[SeenTile]) -> list[SeenTile]:
    """The true tiles that were not read rightly."""
    said = list(seen)
    return [tile for tile in truth if not any(is_same(tile, other) for other in said)]


def spare(truth: Iterable[SeenTile], seen: Iterable[SeenTile]) -> list[SeenTile]:
    """What was read where no tile lies."""
    true = list(truth)
    return [tile for tile in seen if not any(is_same_place(tile, other) for other in true)]


def joins_missing(truth: Reading, seen: Reading) -> set[frozenset[tuple[int, int | None]]]:
    """The true joins that were not read, as pairs of tile and half of the truth."""
    true = {frozenset([(join.a, join.a_half), (join.b, join.b_half)]) for join in truth.joins}
    return true - {
        frozenset([_in_truth(truth, seen, join.a, join.a_half), _in_truth(truth, seen, join.b, join.b_half)])
        for join in seen.joins
    }


def _in_truth(truth: Reading, seen: Reading, tile: int, half: int | None) -> tuple[int, int | None]:
    """The true tile and half on which a half that was read lies."""
    said = seen.tiles[tile]
    index = min(range(len(truth.tiles)), key=lambda i: math.dist(truth.tiles[i].center_px, said.center_px))
    if half is None:
        return index, None
    place, centers = said.half_centers_px[half], truth.tiles[index].half_centers_px
    return index, min((0, 1), key=lambda h: math.dist(centers[h], place))


def turned_back(reading: Reading, *, quarter_turns: int, image: Image) -> tuple[SeenTile, ...]:
    """The tiles of a picture that was turned anticlockwise by np.rot90, in the picture as it was."""
    height, width = image.shape[:2]

    def back(point: PointPx) -> PointPx:
        x, y = point
        for turn in range(quarter_turns, 0, -1):
            # rot90 took (x, y) of the picture before this turn to (y, its width - 1 - x).
            x, y = (width if turn % 2 else height) - 1 - y, x
        return (x, y)

    def turned(tile: SeenTile) -> SeenTile:
        a, b, c, d = (back(corner) for corner in tile.corners_px)
        if tile.face is Face.DOWN:
            return replace(tile, corners_px=(a, b, c, d))
        first, second = (replace(half, center_px=back(half.center_px)) for half in tile.halves)
        return replace(tile, corners_px=(a, b, c, d), halves=(first, second))

    return tuple(turned(tile) for tile in reading.tiles)
