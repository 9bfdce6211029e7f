"""Draw scenes like photos from other people's tables: oblique, low in contrast, densely packed and cluttered."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from synthetic.render.floors import draw_floor
from synthetic.render.foreign_looks import (
    LARGEST_TILT_RAD,
    draw_foreign_camera_look,
    draw_foreign_light_look,
    draw_foreign_table_look,
    draw_foreign_tile_look,
)
from synthetic.render.layouts import (
    area_from_seat,
    before_camera,
    draw_count,
    draw_scale,
    random_layout,
    visible_area,
    with_tiles_on_tiles,
)
from synthetic.render.look_types import TileLook
from synthetic.render.painted import painted_by_hand
from synthetic.render.placements import Area, Arrangement, blocks, random_hand, scatter, within
from synthetic.render.scene import Clutter, ClutterKind, Scene
from synthetic.render.seats import draw_reach, standing_hands
from synthetic.render.things import draw_clutter

# Above this tilt, half of the scenes use a player's area from a seat instead of the area around the middle.
_SEAT_RAD = 0.5
# Shares of scenes with a visible table edge, and with individually hand-painted pips.
_WITH_EDGE, _HAND_PAINTED = 0.35, 0.25
_TILES = (ClutterKind.PRINTED_TILE, ClutterKind.STANDING_TILE)
THINGS = tuple(kind for kind in ClutterKind if kind not in _TILES)
"""Kinds of objects that do not show a tile."""
# Range of the number of additional objects in a scene without tiles, and the share of these with a second hand.
_MORE_THINGS, _SECOND_HAND = (4, 16), 0.5


def draw_foreign_scene(
    rng: np.random.Generator,
    *,
    max_pips: int = 6,
    size_px: tuple[int, int] = (1280, 960),
    tile_side_px: tuple[float, float] = (12.0, 120.0),
    tilt_rad: tuple[float, float] = (0.0, LARGEST_TILT_RAD),
) -> Scene:
    """Return a random scene that is as hard to read as other people's photos.

    Args:
        rng: Random generator.
        max_pips: Highest number of the set: 6, 9, 12, 15 or 18.
        size_px: Width and height of the picture.
        tile_side_px: Range of the short side of a tile at the middle of the picture.
        tilt_rad: Range of the camera's tilt.
    """
    look = draw_foreign_tile_look(rng, max_pips=max_pips)
    scale = draw_scale(rng, look, tile_side_px)
    camera = draw_foreign_camera_look(
        rng, width_px=size_px[0], height_px=size_px[1], px_per_mm=scale, tilt_rad=tilt_rad
    )
    from_seat = bool(camera.tilt_rad > _SEAT_RAD and rng.random() < 0.5)
    area = area_from_seat(camera) if from_seat else visible_area(camera)
    count = draw_count(rng, area, look, most=32, share=0.5)
    table = draw_foreign_table_look(rng, look.face_bgr)
    if rng.random() < 0.3:
        layout = _packed(rng, count, max_pips, area, look)
    else:
        layout = random_layout(rng, max_pips, area, look, count, from_seat=from_seat)
    layout, more_looks = with_tiles_on_tiles(rng, layout, max_pips, look)
    floor = None
    if rng.random() < _WITH_EDGE:
        centers_mm = [placed.center_mm for placed in layout.tiles]
        floor = draw_floor(rng, area, centers_mm, margin_mm=look.length_mm, table_bgr=table.base_bgr)
    things = _draw_things(rng, area, look, layout, max_pips)
    things = tuple(thing for thing in things if floor is None or floor.margin_mm(thing.center_mm) > 0)
    scene = Scene(
        tiles=layout.tiles,
        tile=look,
        table=table,
        light=draw_foreign_light_look(rng),
        camera=camera,
        joins=layout.joins,
        clutter=before_camera(camera, *things),
        reaches=(draw_reach(rng, area, look, layout.tiles),) if rng.random() < 0.15 else (),
        more_looks=more_looks,
        floor=floor,
    )
    return painted_by_hand(rng, scene) if rng.random() < _HAND_PAINTED else scene


def draw_bare_scene(
    rng: np.random.Generator,
    *,
    size_px: tuple[int, int] = (1280, 960),
    tile_side_px: tuple[float, float] = (12.0, 120.0),
) -> Scene:
    """Return a scene of `draw_foreign_scene` with more objects and hands, but nothing that is or shows a tile."""
    scene = draw_foreign_scene(rng, size_px=size_px, tile_side_px=tile_side_px)
    area = visible_area(scene.camera).grown(2 * scene.tile.length_mm)
    more = draw_clutter(rng, area, scene.tile, (), int(rng.integers(*_MORE_THINGS)), kinds=THINGS)
    if scene.floor is not None:
        floor = scene.floor
        more = tuple(thing for thing in more if floor.margin_mm(thing.center_mm) > 0)
    things = (*(thing for thing in scene.clutter if thing.kind in THINGS), *before_camera(scene.camera, *more))
    second = (draw_reach(rng, area, scene.tile),) if rng.random() < _SECOND_HAND else ()
    return replace(scene, tiles=(), joins=(), more_looks=(), clutter=things, reaches=(*scene.reaches, *second))


def _packed(rng: np.random.Generator, count: int, max_pips: int, area: Area, look: TileLook) -> Arrangement:
    """Return tiles packed in a grid or staggered like stairs, touching or nearly, often with some loose tiles."""
    hand = random_hand(rng, count, max_pips)
    columns = int(rng.integers(1, 6))
    place = rng.uniform(-0.25, 0.25, 2) * (area.width_mm, area.height_mm)
    gap_mm = float(rng.choice([0.0, 0.6, 3.0, 12.0]))
    packed = blocks(
        rng,
        [None if rng.random() < 0.03 else pips for pips in hand],
        look,
        columns=columns,
        center_mm=(float(place[0]), float(place[1])),
        theta_rad=rng.uniform(-math.pi, math.pi),
        largest_gap_mm=gap_mm,
        step_mm=look.length_mm * rng.uniform(-0.6, 0.6) if columns == 1 and rng.random() < 0.5 else 0.0,
    )
    packed = within(packed, area, look)
    loose = random_hand(rng, int(rng.integers(0, 8)), max_pips)
    return packed.with_arrangement(scatter(rng, loose, area, look, around=packed.tiles, gap_mm=0.5))


def _draw_things(
    rng: np.random.Generator, area: Area, look: TileLook, layout: Arrangement, max_pips: int
) -> tuple[Clutter, ...]:
    """Return random clutter, sometimes with hands of standing tiles around the table."""
    count = int(rng.integers(1, 9)) if rng.random() < 0.6 else 0
    around = area.grown(2 * look.length_mm)
    things = draw_clutter(rng, around, look, layout.tiles, count, max_pips, kinds=tuple(ClutterKind))
    if rng.random() < 0.2:
        things += standing_hands(rng, area, look, layout.tiles, max_pips)
    return things
