"""Draw random scenes: layouts of every kind, piles, players around the table, and tables of other people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from lab.render import looks, scene
from lab.render.clutter import draw_clutter, printed_border
from lab.render.looks import draw_camera_look, draw_light_look, draw_seat_camera, draw_table_look, draw_tile_look
from lab.render.paint import draw_floor
from lab.render.placements import (
    Area,
    Arms,
    Arrangement,
    PipPair,
    blocks,
    chain,
    fits,
    is_free,
    outline_mm,
    outlines_overlap,
    random_hand,
    rows,
    scatter,
    stacked_on,
    starter,
    within,
)
from lab.render.view import view_of
from vision.arrays import Bgr, Points

_MAX_LAYERS = 3


def pile(rng: np.random.Generator, hand: Sequence[PipPair | None], area: Area, look: scene.TileLook) -> Arrangement:
    """Return a pile of *hand*: crowded around one point and up to three layers deep. Tiles without room are dropped."""
    crowd_mm = math.sqrt(len(hand) * look.length_mm * look.width_mm) * rng.uniform(0.5, 1.0)
    middle = rng.uniform(-0.25, 0.25, 2) * (area.width_mm, area.height_mm)
    placed: list[scene.PlacedTile] = []
    for pips in hand:
        for _ in range(12):
            center = middle + rng.normal(0, crowd_mm * 0.55, 2)
            tile = scene.PlacedTile(pips, (float(center[0]), float(center[1])), rng.uniform(-math.pi, math.pi))
            tile = replace(tile, height_mm=_top_under(tile, placed, look))
            if fits(tile, area, look) and tile.height_mm < (_MAX_LAYERS - 0.5) * look.thickness_mm:
                placed.append(tile)
                break
    return Arrangement(tuple(placed))


def _top_under(tile: scene.PlacedTile, placed: Sequence[scene.PlacedTile], look: scene.TileLook) -> float:
    """Return the top of the highest tile below *tile*, or 0 if it would be on the table."""
    reach_mm = math.hypot(look.length_mm, look.width_mm)
    own_outline = outline_mm(tile, look)
    below = [
        other.height_mm + look.thickness_mm
        for other in placed
        if math.dist(other.center_mm, tile.center_mm) < reach_mm
        and outlines_overlap(own_outline, outline_mm(other, look))
    ]
    return max(below, default=0.0)


def strewn_over(rng: np.random.Generator, layout: Arrangement, max_pips: int, look: scene.TileLook) -> Arrangement:
    """Return *layout* with up to three random tiles on top of others."""
    on_top: list[scene.PlacedTile] = []
    for index in rng.permutation(len(layout.tiles))[: int(rng.integers(1, 4))]:
        below = layout.tiles[index]
        center = np.asarray(below.center_mm) + rng.normal(0, look.width_mm / 3, 2)
        (pips,) = random_hand(rng, 1, max_pips)
        top = scene.PlacedTile(pips, (float(center[0]), float(center[1])), rng.uniform(-math.pi, math.pi))
        top = replace(top, height_mm=_top_under(top, layout.tiles, look))
        if is_free(top, on_top, look):
            on_top.append(top)
    return layout.with_arrangement(Arrangement(tuple(on_top)))


def with_stacks(rng: np.random.Generator, layout: Arrangement, look: scene.TileLook, stack_look: int) -> Arrangement:
    """Return *layout* with up to three tiles covered by the same tile in the look *stack_look*."""
    free = [tile for tile in layout.tiles if tile.pips is not None and tile.height_mm == 0.0]
    picked = rng.permutation(len(free))[: int(rng.integers(1, 4))]
    return layout.with_arrangement(
        Arrangement(tuple(stacked_on(rng, free[index], look, stack_look) for index in picked))
    )


def two_sets(rng: np.random.Generator, layout: Arrangement) -> Arrangement:
    """Return *layout* with about half of its tiles in the look of a second set."""
    tiles = tuple(replace(tile, look=int(rng.random() < 0.5)) for tile in layout.tiles)
    return Arrangement(tiles, layout.joins)


def same_size(other: scene.TileLook, look: scene.TileLook) -> scene.TileLook:
    """Return the look *other* with the tile size of *look*."""
    return replace(
        other,
        length_mm=look.length_mm,
        width_mm=look.width_mm,
        thickness_mm=look.thickness_mm,
        corner_radius_mm=look.corner_radius_mm,
    )


# Skin colours in daylight, from light to dark, for the six types of the Fitzpatrick scale.
_SKINS: tuple[Bgr, ...] = (
    (170.0, 195.0, 232.0),
    (145.0, 178.0, 222.0),
    (120.0, 155.0, 205.0),
    (92.0, 126.0, 180.0),
    (62.0, 90.0, 140.0),
    (42.0, 58.0, 92.0),
)


def draw_reach(
    rng: np.random.Generator, area: Area, look: scene.TileLook, tiles: tuple[scene.PlacedTile, ...] = ()
) -> scene.Reach:
    """Return a random hand over *area*. In half of the cases it is near one of *tiles*, if there are any."""
    tip = rng.uniform(-0.5, 0.5, 2) * (area.width_mm, area.height_mm)
    if tiles and rng.random() < 0.5:
        tip = np.array(tiles[int(rng.integers(len(tiles)))].center_mm) + rng.normal(0, 0.4 * look.width_mm, 2)
    from_side = math.pi / 2 * int(rng.integers(0, 4))
    skin = looks.near(rng, _SKINS[int(rng.integers(len(_SKINS)))], 8)
    return scene.Reach(
        tip_mm=(float(tip[0]), float(tip[1])),
        heading_rad=from_side + rng.normal(0, 0.35),
        height_mm=look.thickness_mm + float(rng.choice([1.0, rng.uniform(2, 60)])),
        skin_bgr=skin,
        sleeve_bgr=looks.any_color(rng, (0.0, 0.7), (0.05, 0.9)) if rng.random() < 0.6 else None,
        sleeve=rng.uniform(0, 0.7),
        is_left=bool(rng.random() < 0.3),
        spread=rng.uniform(0, 1),
        curl=rng.uniform(0, 1),
        scale=rng.uniform(0.75, 1.1),
    )


def standing_hands(
    rng: np.random.Generator, area: Area, look: scene.TileLook, tiles: tuple[scene.PlacedTile, ...], max_pips: int
) -> tuple[scene.Clutter, ...]:
    """Return rows of standing tiles along the sides of *area*, facing the players and clear of *tiles*."""
    things: list[scene.Clutter] = []
    for side in range(4):
        if rng.random() < 0.25:
            continue
        outward = math.pi / 2 * (1 - side)  # below, right, above, left in the picture
        reach_mm = (area.height_mm if side % 2 == 0 else area.width_mm) / 2 * rng.uniform(0.85, 1.15)
        span_mm = (area.width_mm if side % 2 == 0 else area.height_mm) * rng.uniform(0.6, 1.0)
        count = int(rng.integers(2, 8))
        for pips, share in zip(random_hand(rng, count, max_pips), (np.arange(count) + 0.5) / count - 0.5, strict=True):
            along = share * max(span_mm, count * look.length_mm * 1.02) + rng.normal(0, 2)
            out_mm = reach_mm + rng.normal(0, 4)
            center = (
                out_mm * math.cos(outward) - along * math.sin(outward),
                out_mm * math.sin(outward) + along * math.cos(outward),
            )
            theta_rad = outward - math.pi / 2 + rng.normal(0, 0.12)
            if is_free(scene.PlacedTile(None, center, theta_rad), tiles, look, look.width_mm):
                things.append(
                    scene.Clutter(
                        scene.ClutterKind.STANDING_TILE,
                        center,
                        theta_rad,
                        look.length_mm,
                        look.thickness_mm,
                        look.width_mm,
                        look.side_bgr,
                        pips,
                    )
                )
    return tuple(things)


def visible_area(camera: scene.CameraLook, margin: float = 0.03) -> Area:
    """Return the largest visible table area around (0, 0) with the aspect ratio of the picture, less a *margin*."""
    view = view_of(camera)
    outline = view.frame_mm(camera.width_px, camera.height_px, 10.0).astype(np.float32)
    ratio = camera.height_px / camera.width_px
    low, high = 0.0, 2.0 * camera.width_px / camera.px_per_mm
    for _ in range(20):
        width = (low + high) / 2
        corners = np.array([[-1, -ratio], [1, -ratio], [1, ratio], [-1, ratio]]) * (width / 2)
        inside = all(cv2.pointPolygonTest(outline, (float(x), float(y)), measureDist=False) >= 0 for x, y in corners)
        low, high = (width, high) if inside else (low, width)
    return Area(low * (1 - margin), low * ratio * (1 - margin))


def area_from_seat(camera: scene.CameraLook) -> Area:
    """Return a player's area: as wide as the picture at its middle, and as deep beyond the middle as in front of it.

    The picture cuts off its near corners, just as it cuts off hands and tiles near the camera.
    """
    near_px = np.array([[[(camera.width_px - 1) / 2, camera.height_px - 1.0]]])
    near_mm = cv2.perspectiveTransform(near_px, np.linalg.inv(view_of(camera).plane(10.0)))[0, 0, 1]
    return Area(0.95 * camera.width_px / camera.px_per_mm, 2 * float(near_mm))


def _some_down(rng: np.random.Generator, hand: tuple[PipPair, ...], share: float) -> list[PipPair | None]:
    return [None if rng.random() < share else pips for pips in hand]


def mixed_layout(rng: np.random.Generator, count: int, max_pips: int, area: Area, look: scene.TileLook) -> Arrangement:
    """Return a line of play in the middle, with face-up and face-down tiles around it."""
    inner = Area(area.width_mm * 0.75, area.height_mm * 0.75)
    layout = chain(rng, max(2, count * 2 // 3), max_pips, inner, look, theta_rad=rng.uniform(-0.3, 0.3))
    rest = _some_down(
        rng,
        random_hand(rng, count - len(layout.tiles), max_pips),
        float(rng.choice([0.0, 0.5, 1.0], p=[0.25, 0.35, 0.4])),
    )
    return layout.with_arrangement(scatter(rng, rest, area, look, around=layout.tiles, gap_mm=rng.uniform(0.2, 8)))


def random_layout(
    rng: np.random.Generator, max_pips: int, area: Area, look: scene.TileLook, count: int, *, from_seat: bool = False
) -> Arrangement:
    """Return a random layout of about *count* tiles. With *from_seat*, it is more often a line of play."""
    kind = rng.random()
    if from_seat and rng.random() < 0.75:  # a line of play, mostly with the boneyard around it
        kind = float(rng.choice([rng.uniform(0.24, 0.52), rng.uniform(0.68, 0.84)], p=[0.35, 0.65]))
    if kind < 0.24:
        down = float(rng.choice([0.0, 0.15, 0.6], p=[0.5, 0.3, 0.2]))
        hand = _some_down(rng, random_hand(rng, count, max_pips), down)
        return scatter(rng, hand, area, look, gap_mm=rng.uniform(0.1, 6))
    if kind < 0.52:
        return chain(
            rng, count, max_pips, area, look, largest_gap_mm=rng.uniform(0, 2), theta_rad=rng.uniform(-0.5, 0.5)
        )
    if kind < 0.68:
        down = float(rng.choice([0.0, 0.1]))
        # A row or block of tiles, without those outside *area*.
        hand = _some_down(rng, random_hand(rng, count, max_pips), down)
        theta = float(rng.choice([0.0, math.pi / 2])) + rng.normal(0, 0.06)
        if rng.random() < 0.3:
            theta = rng.uniform(-math.pi, math.pi)
        largest_gap_mm = float(rng.choice([0.0, 0.4, 1.0, 6.0]))
        if rng.random() < 0.4:
            layout = rows(rng, hand, look, theta_rad=theta, largest_gap_mm=largest_gap_mm)
        else:
            columns = int(rng.integers(2, 5))
            layout = blocks(rng, hand, look, columns=columns, theta_rad=theta, largest_gap_mm=largest_gap_mm)
        packed = within(layout, area, look)
        extra = random_hand(rng, int(rng.integers(0, 5)), max_pips)
        return packed.with_arrangement(scatter(rng, extra, area, look, around=packed.tiles, gap_mm=1.0))
    if kind < 0.84:
        return mixed_layout(rng, count, max_pips, area, look)
    if kind < 0.93:
        arms = Arms.CORNERS if rng.random() < 0.6 else Arms.SIDES
        gap_mm, theta = rng.uniform(0, 2.5), rng.uniform(-math.pi, math.pi)
        return starter(rng, count, max_pips, area, look, arms=arms, largest_gap_mm=gap_mm, theta_rad=theta)
    down = float(rng.choice([0.1, 0.5, 0.9]))
    heap = pile(rng, _some_down(rng, random_hand(rng, count, max_pips), down), area, look)
    extra = random_hand(rng, int(rng.integers(0, 6)), max_pips)
    return heap.with_arrangement(scatter(rng, extra, area, look, around=heap.tiles, gap_mm=1.0))


def with_tiles_on_tiles(
    rng: np.random.Generator, layout: Arrangement, max_pips: int, look: scene.TileLook
) -> tuple[Arrangement, tuple[scene.TileLook, ...]]:
    """Return *layout* and additional looks. In 10 % of calls it has tiles on top of others, some in a second look."""
    kind = rng.random()
    if kind < 0.04:
        return strewn_over(rng, layout, max_pips, look), ()
    if kind < 0.10:
        other = (same_size(draw_tile_look(rng), look),) if rng.random() < 0.6 else ()
        mixed_sets = two_sets(rng, layout) if other and rng.random() < 0.5 else layout
        return with_stacks(rng, mixed_sets, look, len(other)), other
    return layout, ()


def random_scene(
    rng: np.random.Generator,
    *,
    max_pips: int = 6,
    size_px: tuple[int, int] = (1280, 960),
    tile_side_px: tuple[float, float] = (22.0, 80.0),
    largest_tilt_rad: float = 1.0,
) -> scene.Scene:
    """Return a random scene.

    Args:
        max_pips: Highest number of the set: 6, 9, 12, 15 or 18.
        tile_side_px: Range of the short side of a tile at the middle of the picture.
        largest_tilt_rad: Maximum tilt of the camera. From 0.5 on, 16 % of the scenes are seen from a seat.
    """
    look = draw_tile_look(rng, max_pips=max_pips)
    from_seat = bool(rng.random() < 0.16) and largest_tilt_rad >= 0.5
    shares = (0.03, 0.055) if from_seat else (tile_side_px[0] / size_px[0], tile_side_px[1] / size_px[0])
    camera = (draw_seat_camera if from_seat else draw_camera_look)(
        rng,
        width_px=size_px[0],
        height_px=size_px[1],
        px_per_mm=draw_scale(rng, look, shares, unit_px=size_px[0]),
        largest_tilt_rad=largest_tilt_rad,
    )
    area = area_from_seat(camera) if from_seat else visible_area(camera)
    count = draw_count(rng, area, look, most=28, share=0.45)
    table = draw_table_look(rng, look.face_bgr)
    is_bordered = table.kind is scene.TableKind.BOARD and rng.random() < 0.4
    if is_bordered:
        area = Area(area.width_mm * 0.78, area.height_mm * 0.78)
    layout = random_layout(rng, max_pips, area, look, count, from_seat=from_seat)
    layout, more_looks = with_tiles_on_tiles(rng, layout, max_pips, look)
    return scene.Scene(
        tiles=layout.tiles,
        tile=look,
        table=table,
        light=draw_light_look(rng),
        camera=camera,
        joins=layout.joins,
        clutter=before_camera(
            camera,
            *(printed_border(rng, area.grown(look.width_mm), look, max_pips) if is_bordered else ()),
            *_draw_things(rng, area, look, layout, max_pips, from_seat=from_seat),
        ),
        reaches=(draw_reach(rng, area, look, layout.tiles),) if rng.random() < 0.09 else (),
        more_looks=more_looks,
    )


def draw_scale(
    rng: np.random.Generator, look: scene.TileLook, sides: tuple[float, float], *, unit_px: float = 1.0
) -> float:
    """Return random pixels per mm. A tile's short side is log-uniform in the range *sides*, in units of *unit_px*."""
    return unit_px * float(np.exp(rng.uniform(*np.log(sides)))) / look.width_mm


def draw_count(rng: np.random.Generator, area: Area, look: scene.TileLook, *, most: int, share: float) -> int:
    """Return a random number of tiles from 3 to *most*, fewer if they would cover more than *share* of *area*."""
    room = area.width_mm * area.height_mm / (look.length_mm * look.width_mm)
    return int(np.clip(rng.integers(3, most + 1), 1, max(1, room * share)))


def before_camera(camera: scene.CameraLook, *things: scene.Clutter) -> tuple[scene.Clutter, ...]:
    """Return the *things* that are in front of the camera and below 45 % of its height."""
    view = view_of(camera)
    highest_mm = 0.45 * float(view.camera_mm()[2])
    return tuple(
        thing
        for thing in things
        if thing.height_mm < highest_mm
        and len(view.cut_near(np.array([thing.center_mm]), thing.height_mm + thing.length_mm / 2)) > 0
    )


def _draw_things(
    rng: np.random.Generator, area: Area, look: scene.TileLook, layout: Arrangement, max_pips: int, *, from_seat: bool
) -> tuple[scene.Clutter, ...]:
    """Return random clutter, sometimes with hands of standing tiles around the table."""
    count = int(rng.integers(1, 7)) if rng.random() < 0.35 else 0
    things = draw_clutter(rng, area, look, layout.tiles, count, max_pips)
    if rng.random() < (0.75 if from_seat else 0.06):
        things += standing_hands(rng, area, look, layout.tiles, max_pips)
    return things


# Draw scenes like photos from other people's tables: low cameras, low contrast, hand-painted pips, clutter.


# Minimum tilt of most cameras, and maximum tilt of all.
_SIDE_VIEW_RAD = 0.44
LARGEST_TILT_RAD = 1.135
# Maximum angle of the upper edge of the picture from straight down, below the horizon at pi / 2.
_MAX_EDGE_RAD = 1.42
# Share of tables in a colour close to the tiles, and the kinds of such tables.
_TILE_COLORED = 0.45
_TILE_COLORED_KINDS = (
    scene.TableKind.PLAIN,
    scene.TableKind.WOOD,
    scene.TableKind.STONE,
    scene.TableKind.WEAVE,
    scene.TableKind.LEATHER,
    scene.TableKind.DAMASK,
    scene.TableKind.BOARD,
)


def draw_foreign_tile_look(rng: np.random.Generator, *, max_pips: int = 6) -> scene.TileLook:
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
        look = replace(look, bar_kind=scene.BarKind.NONE)
    return look


def _on_paper(rng: np.random.Generator, look: scene.TileLook) -> scene.TileLook:
    """Return the tiles as paper cards: flat, matt, often with a printed border."""
    face = looks.from_hsv(rng.uniform(0, 1), rng.uniform(0, 0.06), rng.uniform(0.7, 1.0))
    ink = looks.any_color(rng, (0.0, 0.3), (0.05, 0.6))
    pips: tuple[Bgr, ...] = (ink,) * (scene.MAX_PIPS + 1) if rng.random() < 0.7 else look.pip_bgr
    return replace(
        look,
        face_bgr=face,
        side_bgr=face,
        base_bgr=face,
        back_bgr=face,
        pip_bgr=tuple(looks.seen_on(face, pip) for pip in pips),
        pip_kind=scene.PipKind.FLAT,
        bar_kind=scene.BarKind.LINE if rng.random() < 0.9 else scene.BarKind.NONE,
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


def draw_foreign_table_look(rng: np.random.Generator, tile_bgr: Bgr) -> scene.TableLook:
    """Return a random table, with a probability of 45 % in a colour close to the tiles."""
    table = draw_table_look(rng, tile_bgr)
    if rng.random() >= _TILE_COLORED:
        return table
    base = looks.near(rng, looks.scaled(tile_bgr, rng.uniform(0.7, 1.15)), 7)
    kind = _TILE_COLORED_KINDS[int(rng.integers(len(_TILE_COLORED_KINDS)))]
    second = looks.scaled(base, rng.uniform(0.3, 0.9) if kind is scene.TableKind.BOARD else rng.uniform(0.8, 1.15))
    return replace(
        table,
        kind=kind,
        base_bgr=base,
        second_bgr=second,
        third_bgr=looks.scaled(base, rng.uniform(0.7, 1.2)),
        pattern_mm=rng.uniform(60, 160) if kind is scene.TableKind.WOOD else rng.uniform(8, 60),
        roughness=table.roughness * rng.uniform(0, 1),
    )


def draw_foreign_light_look(rng: np.random.Generator) -> scene.LightLook:
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
) -> scene.CameraLook:
    """Return a random camera, usually beside the table: handheld, on a shelf, or in a laptop.

    Args:
        px_per_mm: Scale at the middle of the picture.
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
_EDGE = 0.07
_MIN_DISTANCE = 1.15
# Minimum pip radius in half units, and factor by which pips shrink if they do not fit.
_MIN_RADIUS = 0.08
_SHRINK = 0.97


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


def painted_by_hand(rng: np.random.Generator, scene: scene.Scene) -> scene.Scene:
    """Return *scene* with pips in a random hand-painted style, drawn separately for each tile."""
    hand = _Painter(
        radius=float(np.clip(scene.tile.pip_radius * rng.uniform(0.6, 1.2), 0.09, 0.3)),
        uneven=rng.uniform(0, 0.35),
        off=rng.uniform(0.05, 0.3) if rng.random() < 0.5 else None,
        shrunk=rng.uniform(0.45, 1.0),
        corners=int(rng.choice([0, 0, 3, 4, 5, 7, 9, 14])),
        ragged=rng.uniform(0, 0.5),
        slim=rng.uniform(0, 0.6) if rng.random() < 0.5 else 0.0,
    )
    looks = []
    for placed in scene.tiles:
        pips = tuple(_half(rng, hand, number) for number in range(_HIGHEST + 1))
        looks.append(replace(scene.look_of(placed), placed_pips=pips, numerals=None))
    tiles = tuple(replace(placed, look=1 + at) for at, placed in enumerate(scene.tiles))
    return replace(scene, tiles=tiles, more_looks=tuple(looks))


def _half(rng: np.random.Generator, hand: _Painter, number: int) -> tuple[scene.PlacedPip, ...]:
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
        scene.PlacedPip(float(x), float(y), float(radius), _outline(rng, hand))
        for (x, y), radius in zip(places, radii, strict=True)
    )


def _places(rng: np.random.Generator, hand: _Painter, number: int) -> Points:
    if hand.off is None:
        return np.asarray(rng.uniform(-1, 1, (number, 2)))
    usual = scene.pip_centers(number, int(rng.integers(scene.style_count(number))))
    return np.asarray(usual + rng.uniform(-hand.off, hand.off, usual.shape))


def _outline(rng: np.random.Generator, hand: _Painter) -> scene.Polygon:
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
_WITH_EDGE = 0.35
_HAND_PAINTED = 0.25
_TILES = (scene.ClutterKind.PRINTED_TILE, scene.ClutterKind.STANDING_TILE)
THINGS = tuple(kind for kind in scene.ClutterKind if kind not in _TILES)
"""Kinds of objects that do not show a tile."""
# Range of the number of additional objects in a scene without tiles, and the share of these with a second hand.
_MORE_THINGS = (4, 16)
_SECOND_HAND = 0.5


def draw_foreign_scene(
    rng: np.random.Generator,
    *,
    max_pips: int = 6,
    size_px: tuple[int, int] = (1280, 960),
    tile_side_px: tuple[float, float] = (12.0, 120.0),
    tilt_rad: tuple[float, float] = (0.0, LARGEST_TILT_RAD),
) -> scene.Scene:
    """Return a random scene that is as hard to read as other people's photos.

    Args:
        max_pips: Highest number of the set: 6, 9, 12, 15 or 18.
        tile_side_px: Range of the short side of a tile at the middle of the picture.
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
        layout = _packed_foreign(rng, count, max_pips, area, look)
    else:
        layout = random_layout(rng, max_pips, area, look, count, from_seat=from_seat)
    layout, more_looks = with_tiles_on_tiles(rng, layout, max_pips, look)
    floor = None
    if rng.random() < _WITH_EDGE:
        centers_mm = [placed.center_mm for placed in layout.tiles]
        floor = draw_floor(rng, area, centers_mm, margin_mm=look.length_mm, table_bgr=table.base_bgr)
    things = _draw_foreign_things(rng, area, look, layout, max_pips)
    things = tuple(thing for thing in things if floor is None or floor.margin_mm(thing.center_mm) > 0)
    drawn = scene.Scene(
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
    return painted_by_hand(rng, drawn) if rng.random() < _HAND_PAINTED else drawn


def draw_bare_scene(
    rng: np.random.Generator,
    *,
    size_px: tuple[int, int] = (1280, 960),
    tile_side_px: tuple[float, float] = (12.0, 120.0),
) -> scene.Scene:
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


def _packed_foreign(
    rng: np.random.Generator, count: int, max_pips: int, area: Area, look: scene.TileLook
) -> Arrangement:
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


def _draw_foreign_things(
    rng: np.random.Generator, area: Area, look: scene.TileLook, layout: Arrangement, max_pips: int
) -> tuple[scene.Clutter, ...]:
    """Return random clutter, sometimes with hands of standing tiles around the table."""
    count = int(rng.integers(1, 9)) if rng.random() < 0.6 else 0
    around = area.grown(2 * look.length_mm)
    things = draw_clutter(rng, around, look, layout.tiles, count, max_pips, kinds=tuple(scene.ClutterKind))
    if rng.random() < 0.2:
        things += standing_hands(rng, area, look, layout.tiles, max_pips)
    return things
