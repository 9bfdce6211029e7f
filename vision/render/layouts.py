"""Draw whole scenes at random, from layouts of every kind."""

from __future__ import annotations

import math

import cv2
import numpy as np

from vision.render import colors
from vision.render.chains import chain
from vision.render.look_types import CameraLook, TileLook
from vision.render.looks import draw_camera_look, draw_light_look, draw_table_look, draw_tile_look
from vision.render.placements import Area, Layout, Pips, blocks, draw_hand, is_free, rows, scatter, within
from vision.render.scene import Clutter, ClutterKind, PlacedTile, Scene
from vision.render.view import view_of

__all__ = ["Area", "Layout", "blocks", "chain", "draw_hand", "draw_scene", "mixed", "rows", "scatter", "visible_area"]


def visible_area(camera: CameraLook, margin: float = 0.03) -> Area:
    """Return the largest table area around (0, 0), with the shape of the picture, that the camera sees."""
    view = view_of(camera)
    frame = np.array(
        [[[0, 0], [camera.width_px, 0], [camera.width_px, camera.height_px], [0, camera.height_px]]], dtype=np.float64
    )
    seen = cv2.perspectiveTransform(frame, np.linalg.inv(view.plane(10.0)))[0]
    outline = seen.astype(np.float32)
    ratio = camera.height_px / camera.width_px
    low, high = 0.0, 2.0 * camera.width_px / camera.px_per_mm
    for _ in range(20):
        width = (low + high) / 2
        corners = np.array([[-1, -ratio], [1, -ratio], [1, ratio], [-1, ratio]]) * (width / 2)
        inside = all(cv2.pointPolygonTest(outline, (float(x), float(y)), measureDist=False) >= 0 for x, y in corners)
        low, high = (width, high) if inside else (low, width)
    return Area(low * (1 - margin), low * ratio * (1 - margin))


def _some_down(rng: np.random.Generator, hand: tuple[Pips, ...], share: float) -> list[Pips | None]:
    return [None if rng.random() < share else pips for pips in hand]


def mixed(rng: np.random.Generator, count: int, max_pips: int, area: Area, look: TileLook) -> Layout:
    """Return a game in the middle with open and face-down tiles around it."""
    inner = Area(area.width_mm * 0.75, area.height_mm * 0.75)
    layout = chain(rng, max(2, count * 2 // 3), max_pips, inner, look, theta_rad=rng.uniform(-0.3, 0.3))
    rest = _some_down(rng, draw_hand(rng, count - len(layout.tiles), max_pips), float(rng.choice([0.0, 0.5, 1.0])))
    return layout.with_layout(scatter(rng, rest, area, look, around=layout.tiles, gap_mm=rng.uniform(0.2, 8)))


def _packed(rng: np.random.Generator, hand: list[Pips | None], area: Area, look: TileLook) -> Layout:
    """Return one row or block, cut down to what fits."""
    theta = float(rng.choice([0.0, math.pi / 2])) + rng.normal(0, 0.06)
    if rng.random() < 0.3:
        theta = rng.uniform(-math.pi, math.pi)
    largest_gap_mm = float(rng.choice([0.0, 0.4, 1.0, 6.0]))
    if rng.random() < 0.4:
        layout = rows(rng, hand, look, theta_rad=theta, largest_gap_mm=largest_gap_mm)
    else:
        columns = int(rng.integers(2, 5))
        layout = blocks(rng, hand, look, columns=columns, theta_rad=theta, largest_gap_mm=largest_gap_mm)
    return within(layout, area, look)


def draw_layout(rng: np.random.Generator, max_pips: int, area: Area, look: TileLook, count: int) -> Layout:
    """Return about *count* tiles in a layout of any kind."""
    kind = rng.random()
    if kind < 0.3:
        down = float(rng.choice([0.0, 0.15, 0.6], p=[0.6, 0.3, 0.1]))
        hand = _some_down(rng, draw_hand(rng, count, max_pips), down)
        return scatter(rng, hand, area, look, gap_mm=rng.uniform(0.1, 6))
    if kind < 0.6:
        return chain(
            rng, count, max_pips, area, look, largest_gap_mm=rng.uniform(0, 2), theta_rad=rng.uniform(-0.5, 0.5)
        )
    if kind < 0.8:
        down = float(rng.choice([0.0, 0.1]))
        packed = _packed(rng, _some_down(rng, draw_hand(rng, count, max_pips), down), area, look)
        extra = draw_hand(rng, int(rng.integers(0, 5)), max_pips)
        return packed.with_layout(scatter(rng, extra, area, look, around=packed.tiles, gap_mm=1.0))
    return mixed(rng, count, max_pips, area, look)


def _stacked(rng: np.random.Generator, layout: Layout, max_pips: int, look: TileLook) -> Layout:
    """Return *layout* with a few tiles lying on others."""
    on_top: list[PlacedTile] = []
    for index in rng.permutation(len(layout.tiles))[: int(rng.integers(1, 4))]:
        below = layout.tiles[index]
        center = np.asarray(below.center_mm) + rng.normal(0, look.width_mm / 3, 2)
        (pips,) = draw_hand(rng, 1, max_pips)
        top = PlacedTile(pips, (float(center[0]), float(center[1])), rng.uniform(-math.pi, math.pi), look.thickness_mm)
        if is_free(top, on_top, look):
            on_top.append(top)
    return layout.with_layout(Layout(tuple(on_top)))


def draw_clutter(
    rng: np.random.Generator, area: Area, look: TileLook, tiles: tuple[PlacedTile, ...], count: int
) -> tuple[Clutter, ...]:
    """Return up to *count* things that touch no tile."""
    sizes = {
        ClutterKind.COIN: (rng.uniform(16, 30), 0.0, 1.8),
        ClutterKind.PEN: (rng.uniform(110, 150), rng.uniform(7, 12), 8.0),
        ClutterKind.PHONE: (rng.uniform(130, 160), rng.uniform(65, 78), 8.0),
        ClutterKind.PAPER: (rng.uniform(60, 200), rng.uniform(40, 140), 0.0),
        ClutterKind.CARD: (88.0, 63.0, 0.3),
        ClutterKind.DIE: (16.0, 16.0, 16.0),
        ClutterKind.GLASS: (rng.uniform(50, 75), 0.0, rng.uniform(5, 60)),
        ClutterKind.PRINTED_TILE: (look.length_mm * rng.uniform(0.4, 0.85), look.width_mm, 0.0),
        ClutterKind.STANDING_TILE: (look.length_mm, look.thickness_mm, look.width_mm),
    }
    kinds = list(sizes)
    things = []
    for _ in range(count):
        kind = kinds[int(rng.integers(len(kinds)))]
        length, width, height = sizes[kind]
        bgr = look.face_bgr if kind is ClutterKind.STANDING_TILE else colors.any_color(rng, (0.0, 0.7), (0.1, 0.95))
        center = rng.uniform(-0.55, 0.55, 2) * (area.width_mm, area.height_mm)
        thing = Clutter(
            kind, (float(center[0]), float(center[1])), rng.uniform(-math.pi, math.pi), length, width, height, bgr
        )
        if _is_clear(thing, tiles, look):
            things.append(thing)
    return tuple(things)


def _is_clear(thing: Clutter, tiles: tuple[PlacedTile, ...], look: TileLook) -> bool:
    """Return whether a thing, tested as a row of tile-sized pieces, stays away from the tiles."""
    steps = max(1, math.ceil(thing.length_mm / look.length_mm))
    margin_mm = (
        max(0.0, (max(thing.width_mm, thing.length_mm if thing.width_mm == 0 else 0) - look.width_mm)) + thing.height_mm
    )
    for step in range(steps):
        along = (step - (steps - 1) / 2) * look.length_mm
        place = PlacedTile(None, thing.center_mm, thing.theta_rad).to_table(np.array([[along, 0.0]]))[0]
        piece = PlacedTile(None, (float(place[0]), float(place[1])), thing.theta_rad)
        if not is_free(piece, tiles, look, margin_mm):
            return False
    return True


def draw_scene(
    rng: np.random.Generator,
    *,
    max_pips: int = 6,
    size_px: tuple[int, int] = (1280, 960),
    tile_side_px: tuple[float, float] = (22.0, 80.0),
    largest_tilt_rad: float = 0.8,
) -> Scene:
    """Return a scene with everything at random.

    Args:
        max_pips: 6, 9, 12, 15 or 18: the set that is played with.
        size_px: Width and height of the picture.
        tile_side_px: Range of the short side of a tile at the middle of the picture.
        largest_tilt_rad: Bound of the camera's tilt; 0.8 is a view from a seat.
    """
    look = draw_tile_look(rng)
    short_px = float(np.exp(rng.uniform(*np.log(tile_side_px))))
    camera = draw_camera_look(
        rng,
        width_px=size_px[0],
        height_px=size_px[1],
        px_per_mm=short_px / look.width_mm,
        largest_tilt_rad=largest_tilt_rad,
    )
    area = visible_area(camera)
    room = area.width_mm * area.height_mm / (look.length_mm * look.width_mm)
    count = int(np.clip(rng.integers(3, 29), 1, max(1, room * 0.45)))
    layout = draw_layout(rng, max_pips, area, look, count)
    if rng.random() < 0.04:
        layout = _stacked(rng, layout, max_pips, look)
    clutter_count = int(rng.integers(1, 7)) if rng.random() < 0.35 else 0
    return Scene(
        tiles=layout.tiles,
        tile=look,
        table=draw_table_look(rng, look.face_bgr),
        light=draw_light_look(rng),
        camera=camera,
        joins=layout.joins,
        clutter=draw_clutter(rng, area, look, layout.tiles, clutter_count),
    )
