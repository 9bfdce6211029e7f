"""Draw scenes like photos from other people's tables: low cameras, low contrast, hand-painted pips, clutter."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lab.render import colors, layouts, look_types
from lab.render.clutter import draw_clutter
from lab.render.looks import draw_camera_look, draw_light_look, draw_table_look, draw_tile_look
from lab.render.paint import draw_floor
from lab.render.patterns import MAX_PIPS, pip_centers, style_count
from lab.render.placements import Area, Arrangement, blocks, random_hand, scatter, within
from lab.render.scene import Clutter, ClutterKind, Scene
from vision.arrays import Bgr, Points

# Minimum tilt of most cameras, and maximum tilt of all.
_SIDE_VIEW_RAD, LARGEST_TILT_RAD = 0.44, 1.135
# Maximum angle of the upper edge of the picture from straight down, below the horizon at pi / 2.
_MAX_EDGE_RAD = 1.42
# Share of tables in a colour close to the tiles, and the kinds of such tables.
_TILE_COLORED = 0.45
_TILE_COLORED_KINDS = (
    look_types.TableKind.PLAIN,
    look_types.TableKind.WOOD,
    look_types.TableKind.STONE,
    look_types.TableKind.WEAVE,
    look_types.TableKind.LEATHER,
    look_types.TableKind.DAMASK,
    look_types.TableKind.BOARD,
)


def draw_foreign_tile_look(rng: np.random.Generator, *, max_pips: int = 6) -> look_types.TileLook:
    """Return a random tile set: commercial, printed on paper, or with hand-painted pips."""
    look = draw_tile_look(rng, max_pips=max_pips)
    if rng.random() < 0.5:  # faint edges, as in soft light or with a cheap mould
        look = replace(
            look, crease=rng.uniform(0, 0.12), bevel_depth=rng.uniform(0.05, 0.3), bevel_mm=rng.uniform(0.2, 1.2)
        )
    if rng.random() < 0.12:
        look = _on_paper(rng, look)
    if rng.random() < 0.1:
        look = replace(look, pip_jitter=rng.uniform(0.03, 0.14), pip_spread=rng.uniform(0.7, 1.05), numerals=None)
    if rng.random() < 0.1:
        look = replace(look, bar_kind=look_types.BarKind.NONE)
    return look


def _on_paper(rng: np.random.Generator, look: look_types.TileLook) -> look_types.TileLook:
    """Return the tiles as paper cards: flat, matt, often with a printed border."""
    face = colors.from_hsv(rng.uniform(0, 1), rng.uniform(0, 0.06), rng.uniform(0.7, 1.0))
    ink = colors.any_color(rng, (0.0, 0.3), (0.05, 0.6))
    pips: tuple[Bgr, ...] = (ink,) * (MAX_PIPS + 1) if rng.random() < 0.7 else look.pip_bgr
    return replace(
        look,
        face_bgr=face,
        side_bgr=face,
        base_bgr=face,
        back_bgr=face,
        pip_bgr=tuple(colors.seen_on(face, pip) for pip in pips),
        pip_kind=look_types.PipKind.FLAT,
        bar_kind=look_types.BarKind.LINE if rng.random() < 0.9 else look_types.BarKind.NONE,
        bar_bgr=ink,
        bar_length=1.0 if rng.random() < 0.6 else rng.uniform(0.6, 0.95),
        bar_thickness_mm=rng.uniform(0.2, 1.0),
        thickness_mm=rng.uniform(0.2, 1.5),
        corner_radius_mm=float(rng.choice([0.2, rng.uniform(0.3, 3)])),
        bevel_mm=0.15,
        bevel_depth=0.05,
        crease=float(rng.choice([0.0, rng.uniform(0, 0.3)])),
        border_mm=rng.uniform(0.4, 1.5) if rng.random() < 0.5 else 0.0,
        gloss=rng.uniform(0, 0.1),
        has_emblem=False,
    )


def draw_foreign_table_look(rng: np.random.Generator, tile_bgr: Bgr) -> look_types.TableLook:
    """Return a random table, with a probability of 45 % in a colour close to the tiles."""
    table = draw_table_look(rng, tile_bgr)
    if rng.random() >= _TILE_COLORED:
        return table
    base = colors.near(rng, colors.scaled(tile_bgr, rng.uniform(0.7, 1.15)), 7)
    kind = _TILE_COLORED_KINDS[int(rng.integers(len(_TILE_COLORED_KINDS)))]
    second = colors.scaled(
        base, rng.uniform(0.3, 0.9) if kind is look_types.TableKind.BOARD else rng.uniform(0.8, 1.15)
    )
    return replace(
        table,
        kind=kind,
        base_bgr=base,
        second_bgr=second,
        third_bgr=colors.scaled(base, rng.uniform(0.7, 1.2)),
        pattern_mm=rng.uniform(60, 160) if kind is look_types.TableKind.WOOD else rng.uniform(8, 60),
        roughness=table.roughness * rng.uniform(0, 1),
    )


def draw_foreign_light_look(rng: np.random.Generator) -> look_types.LightLook:
    """Return a random light: half of them almost without shadows, some overexposed or far too dark."""
    light = draw_light_look(rng)
    if rng.random() < 0.5:
        light = replace(
            light, shadow=rng.uniform(0, 0.25), contact=rng.uniform(0.0, 0.25), ambient=rng.uniform(0.6, 0.95)
        )
    if rng.random() < 0.15:
        light = replace(light, exposure=float(rng.choice([rng.uniform(1.5, 2.4), rng.uniform(0.12, 0.5)])))
    return light


def draw_foreign_camera_look(
    rng: np.random.Generator, *, width_px: int, height_px: int, px_per_mm: float, tilt_rad: tuple[float, float]
) -> look_types.CameraLook:
    """Return a random camera, usually beside the table: handheld, on a shelf, or in a laptop.

    Args:
        rng: Random generator.
        width_px, height_px: Size of the picture.
        px_per_mm: Scale at the middle of the picture.
        tilt_rad: Range of the tilt.
    """
    camera = draw_camera_look(rng, width_px=width_px, height_px=height_px, px_per_mm=px_per_mm)
    low = max(tilt_rad[0], _SIDE_VIEW_RAD if rng.random() < 0.7 else 0.0)
    tilt = rng.uniform(min(low, tilt_rad[1]), min(tilt_rad[1], LARGEST_TILT_RAD))
    widest = 2 * math.atan(math.tan(_MAX_EDGE_RAD - tilt) * width_px / height_px)
    return replace(camera, tilt_rad=tilt, fov_rad=min(rng.uniform(0.45, 1.2), widest), roll_rad=rng.normal(0, 0.1))


# Highest number with hand-painted pips. Higher numbers keep the look's pips.
_HIGHEST = 9
# A half spans -1 to 1 in half units. Minimum margin at the edge in half units, and minimum distance of the centres of
# two pips, relative to the sum of their radii.
_EDGE, _MIN_DISTANCE = 0.07, 1.15
# Minimum pip radius in half units, and factor by which pips shrink if they do not fit.
_MIN_RADIUS, _SHRINK = 0.08, 0.97


@dataclass(frozen=True, slots=True)
class _Painter:
    """Style of a hand that paints pips.

    Attributes:
        radius: Pip radius in half units.
        uneven: Standard deviation of the logarithm of pip sizes.
        off: Maximum displacement of a pip from its usual position, in half units. None for random positions.
        shrunk: Minimum factor by which the pips of a half are drawn together.
        corners: Number of corners of a pip, 0 for a round pip.
        ragged: Maximum inset of the corners, 0 to 1.
        slim: Maximum reduction of the width of a pip relative to its length, 0 to 1.
    """

    radius: float
    uneven: float
    off: float | None
    shrunk: float
    corners: int
    ragged: float
    slim: float


def painted_by_hand(rng: np.random.Generator, scene: Scene) -> Scene:
    """Return *scene* with pips in a random hand-painted style, drawn separately for each tile."""
    hand = _draw_painter(rng, scene.tile.pip_radius)
    looks = [_painted(rng, hand, scene.look_of(placed)) for placed in scene.tiles]
    tiles = tuple(replace(placed, look=1 + at) for at, placed in enumerate(scene.tiles))
    return replace(scene, tiles=tiles, more_looks=tuple(looks))


def _draw_painter(rng: np.random.Generator, radius: float) -> _Painter:
    return _Painter(
        radius=float(np.clip(radius * rng.uniform(0.6, 1.2), 0.09, 0.3)),
        uneven=rng.uniform(0, 0.35),
        off=rng.uniform(0.05, 0.3) if rng.random() < 0.5 else None,
        shrunk=rng.uniform(0.45, 1.0),
        corners=int(rng.choice([0, 0, 3, 4, 5, 7, 9, 14])),
        ragged=rng.uniform(0, 0.5),
        slim=rng.uniform(0, 0.6) if rng.random() < 0.5 else 0.0,
    )


def _painted(rng: np.random.Generator, hand: _Painter, look: look_types.TileLook) -> look_types.TileLook:
    pips = tuple(_half(rng, hand, number) for number in range(_HIGHEST + 1))
    return replace(look, placed_pips=pips, numerals=None)


def _half(rng: np.random.Generator, hand: _Painter, number: int) -> tuple[look_types.PlacedPip, ...]:
    """Return *number* pips that do not touch."""
    radius, shrunk = hand.radius, rng.uniform(hand.shrunk, 1.0)
    while True:
        radii = np.maximum(radius * np.exp(rng.normal(0, hand.uneven, number)), _MIN_RADIUS)
        places = _places(rng, hand, number) * shrunk + rng.uniform(-1, 1, 2) * (1 - shrunk)
        reach = 1 - _EDGE - radii[:, None]
        places = np.clip(places, -reach, reach)
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(number)
        if (gaps > _MIN_DISTANCE * (radii[:, None] + radii)).all():
            break
        radius, shrunk = radius * _SHRINK, min(1.0, shrunk / _SHRINK)
    return tuple(
        look_types.PlacedPip(float(x), float(y), float(radius), _outline(rng, hand))
        for (x, y), radius in zip(places, radii, strict=True)
    )


def _places(rng: np.random.Generator, hand: _Painter, number: int) -> Points:
    if hand.off is None:
        return np.asarray(rng.uniform(-1, 1, (number, 2)))
    usual = pip_centers(number, int(rng.integers(style_count(number))))
    return np.asarray(usual + rng.uniform(-hand.off, hand.off, usual.shape))


def _outline(rng: np.random.Generator, hand: _Painter) -> look_types.Polygon:
    """Return the corners of a pip, scaled to a maximum distance of 1 from its middle. Empty for a round pip."""
    if hand.corners == 0 and hand.slim == 0:
        return ()
    count = hand.corners or 24
    turns = 2 * math.pi * (np.arange(count) + rng.uniform(-0.25, 0.25, count) * (hand.corners > 0)) / count
    reach = 1 - hand.ragged * rng.uniform(0, 1, count) * (hand.corners > 0)
    shape = reach * np.exp(1j * turns)
    shape = shape.real + 1j * shape.imag * (1 - hand.slim * rng.uniform(0.5, 1))
    shape = shape * np.exp(1j * rng.uniform(0, 2 * math.pi)) / np.abs(shape).max()
    return tuple(zip(shape.real.tolist(), shape.imag.tolist(), strict=True))


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
    scale = layouts.draw_scale(rng, look, tile_side_px)
    camera = draw_foreign_camera_look(
        rng, width_px=size_px[0], height_px=size_px[1], px_per_mm=scale, tilt_rad=tilt_rad
    )
    from_seat = bool(camera.tilt_rad > _SEAT_RAD and rng.random() < 0.5)
    area = layouts.area_from_seat(camera) if from_seat else layouts.visible_area(camera)
    count = layouts.draw_count(rng, area, look, most=32, share=0.5)
    table = draw_foreign_table_look(rng, look.face_bgr)
    if rng.random() < 0.3:
        layout = _packed(rng, count, max_pips, area, look)
    else:
        layout = layouts.random_layout(rng, max_pips, area, look, count, from_seat=from_seat)
    layout, more_looks = layouts.with_tiles_on_tiles(rng, layout, max_pips, look)
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
        clutter=layouts.before_camera(camera, *things),
        reaches=(layouts.draw_reach(rng, area, look, layout.tiles),) if rng.random() < 0.15 else (),
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
    area = layouts.visible_area(scene.camera).grown(2 * scene.tile.length_mm)
    more = draw_clutter(rng, area, scene.tile, (), int(rng.integers(*_MORE_THINGS)), kinds=THINGS)
    if scene.floor is not None:
        floor = scene.floor
        more = tuple(thing for thing in more if floor.margin_mm(thing.center_mm) > 0)
    things = (*(thing for thing in scene.clutter if thing.kind in THINGS), *layouts.before_camera(scene.camera, *more))
    second = (layouts.draw_reach(rng, area, scene.tile),) if rng.random() < _SECOND_HAND else ()
    return replace(scene, tiles=(), joins=(), more_looks=(), clutter=things, reaches=(*scene.reaches, *second))


def _packed(rng: np.random.Generator, count: int, max_pips: int, area: Area, look: look_types.TileLook) -> Arrangement:
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
    rng: np.random.Generator, area: Area, look: look_types.TileLook, layout: Arrangement, max_pips: int
) -> tuple[Clutter, ...]:
    """Return random clutter, sometimes with hands of standing tiles around the table."""
    count = int(rng.integers(1, 9)) if rng.random() < 0.6 else 0
    around = area.grown(2 * look.length_mm)
    things = draw_clutter(rng, around, look, layout.tiles, count, max_pips, kinds=tuple(ClutterKind))
    if rng.random() < 0.2:
        things += layouts.standing_hands(rng, area, look, layout.tiles, max_pips)
    return things
