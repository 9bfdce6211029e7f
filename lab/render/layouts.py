"""Draw random scenes with layouts of every kind, piles and stacks of tiles, and players around the table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from lab.render import colors
from lab.render.chains import Arms, chain, stacked_on, starter
from lab.render.clutter import draw_clutter, printed_border
from lab.render.look_types import CameraLook, TableKind, TileLook
from lab.render.looks import draw_camera_look, draw_light_look, draw_seat_camera, draw_table_look, draw_tile_look
from lab.render.placements import (
    Area,
    Arrangement,
    PipPair,
    blocks,
    fits,
    is_free,
    outline_mm,
    outlines_overlap,
    random_hand,
    rows,
    scatter,
    within,
)
from lab.render.scene import Clutter, ClutterKind, PlacedTile, Reach, Scene
from lab.render.view import view_of
from vision.arrays import Bgr

_MAX_LAYERS = 3


def pile(rng: np.random.Generator, hand: Sequence[PipPair | None], area: Area, look: TileLook) -> Arrangement:
    """Return a pile of *hand*: crowded around one point and up to three layers deep. Tiles without room are dropped."""
    crowd_mm = math.sqrt(len(hand) * look.length_mm * look.width_mm) * rng.uniform(0.5, 1.0)
    middle = rng.uniform(-0.25, 0.25, 2) * (area.width_mm, area.height_mm)
    placed: list[PlacedTile] = []
    for pips in hand:
        for _ in range(12):
            center = middle + rng.normal(0, crowd_mm * 0.55, 2)
            tile = PlacedTile(pips, (float(center[0]), float(center[1])), rng.uniform(-math.pi, math.pi))
            tile = replace(tile, height_mm=_top_under(tile, placed, look))
            if fits(tile, area, look) and tile.height_mm < (_MAX_LAYERS - 0.5) * look.thickness_mm:
                placed.append(tile)
                break
    return Arrangement(tuple(placed))


def _top_under(tile: PlacedTile, placed: Sequence[PlacedTile], look: TileLook) -> float:
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


def strewn_over(rng: np.random.Generator, layout: Arrangement, max_pips: int, look: TileLook) -> Arrangement:
    """Return *layout* with up to three random tiles on top of others."""
    on_top: list[PlacedTile] = []
    for index in rng.permutation(len(layout.tiles))[: int(rng.integers(1, 4))]:
        below = layout.tiles[index]
        center = np.asarray(below.center_mm) + rng.normal(0, look.width_mm / 3, 2)
        (pips,) = random_hand(rng, 1, max_pips)
        top = PlacedTile(pips, (float(center[0]), float(center[1])), rng.uniform(-math.pi, math.pi))
        top = replace(top, height_mm=_top_under(top, layout.tiles, look))
        if is_free(top, on_top, look):
            on_top.append(top)
    return layout.with_arrangement(Arrangement(tuple(on_top)))


def with_stacks(rng: np.random.Generator, layout: Arrangement, look: TileLook, stack_look: int) -> Arrangement:
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


def same_size(other: TileLook, look: TileLook) -> TileLook:
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


def draw_reach(rng: np.random.Generator, area: Area, look: TileLook, tiles: tuple[PlacedTile, ...] = ()) -> Reach:
    """Return a random hand over *area*. In half of the cases it is near one of *tiles*, if there are any."""
    tip = rng.uniform(-0.5, 0.5, 2) * (area.width_mm, area.height_mm)
    if tiles and rng.random() < 0.5:
        tip = np.array(tiles[int(rng.integers(len(tiles)))].center_mm) + rng.normal(0, 0.4 * look.width_mm, 2)
    from_side = math.pi / 2 * int(rng.integers(0, 4))
    skin = colors.near(rng, _SKINS[int(rng.integers(len(_SKINS)))], 8)
    return Reach(
        tip_mm=(float(tip[0]), float(tip[1])),
        heading_rad=from_side + rng.normal(0, 0.35),
        height_mm=look.thickness_mm + float(rng.choice([1.0, rng.uniform(2, 60)])),
        skin_bgr=skin,
        sleeve_bgr=colors.any_color(rng, (0.0, 0.7), (0.05, 0.9)) if rng.random() < 0.6 else None,
        sleeve=rng.uniform(0, 0.7),
        is_left=bool(rng.random() < 0.3),
        spread=rng.uniform(0, 1),
        curl=rng.uniform(0, 1),
        scale=rng.uniform(0.75, 1.1),
    )


def standing_hands(
    rng: np.random.Generator, area: Area, look: TileLook, tiles: tuple[PlacedTile, ...], max_pips: int
) -> tuple[Clutter, ...]:
    """Return rows of standing tiles along the sides of *area*, facing the players and clear of *tiles*."""
    things: list[Clutter] = []
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
            if is_free(PlacedTile(None, center, theta_rad), tiles, look, look.width_mm):
                things.append(
                    Clutter(
                        ClutterKind.STANDING_TILE,
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


def visible_area(camera: CameraLook, margin: float = 0.03) -> Area:
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


def area_from_seat(camera: CameraLook) -> Area:
    """Return a player's area: as wide as the picture at its middle, and as deep beyond the middle as in front of it.

    The picture cuts off its near corners, just as it cuts off hands and tiles near the camera.
    """
    near_px = np.array([[[(camera.width_px - 1) / 2, camera.height_px - 1.0]]])
    near_mm = cv2.perspectiveTransform(near_px, np.linalg.inv(view_of(camera).plane(10.0)))[0, 0, 1]
    return Area(0.95 * camera.width_px / camera.px_per_mm, 2 * float(near_mm))


def _some_down(rng: np.random.Generator, hand: tuple[PipPair, ...], share: float) -> list[PipPair | None]:
    return [None if rng.random() < share else pips for pips in hand]


def mixed_layout(rng: np.random.Generator, count: int, max_pips: int, area: Area, look: TileLook) -> Arrangement:
    """Return a line of play in the middle, with face-up and face-down tiles around it."""
    inner = Area(area.width_mm * 0.75, area.height_mm * 0.75)
    layout = chain(rng, max(2, count * 2 // 3), max_pips, inner, look, theta_rad=rng.uniform(-0.3, 0.3))
    rest = _some_down(
        rng,
        random_hand(rng, count - len(layout.tiles), max_pips),
        float(rng.choice([0.0, 0.5, 1.0], p=[0.25, 0.35, 0.4])),
    )
    return layout.with_arrangement(scatter(rng, rest, area, look, around=layout.tiles, gap_mm=rng.uniform(0.2, 8)))


def _packed(rng: np.random.Generator, hand: list[PipPair | None], area: Area, look: TileLook) -> Arrangement:
    """Return a row or block of tiles, without those outside *area*."""
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


def random_layout(
    rng: np.random.Generator, max_pips: int, area: Area, look: TileLook, count: int, *, from_seat: bool = False
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
        packed = _packed(rng, _some_down(rng, random_hand(rng, count, max_pips), down), area, look)
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
    rng: np.random.Generator, layout: Arrangement, max_pips: int, look: TileLook
) -> tuple[Arrangement, tuple[TileLook, ...]]:
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
) -> Scene:
    """Return a random scene.

    Args:
        rng: Random generator.
        max_pips: Highest number of the set: 6, 9, 12, 15 or 18.
        size_px: Width and height of the picture.
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
    is_bordered = table.kind is TableKind.BOARD and rng.random() < 0.4
    if is_bordered:
        area = Area(area.width_mm * 0.78, area.height_mm * 0.78)
    layout = random_layout(rng, max_pips, area, look, count, from_seat=from_seat)
    layout, more_looks = with_tiles_on_tiles(rng, layout, max_pips, look)
    return Scene(
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


def draw_scale(rng: np.random.Generator, look: TileLook, sides: tuple[float, float], *, unit_px: float = 1.0) -> float:
    """Return random pixels per mm. A tile's short side is log-uniform in the range *sides*, in units of *unit_px*."""
    return unit_px * float(np.exp(rng.uniform(*np.log(sides)))) / look.width_mm


def draw_count(rng: np.random.Generator, area: Area, look: TileLook, *, most: int, share: float) -> int:
    """Return a random number of tiles from 3 to *most*, fewer if they would cover more than *share* of *area*."""
    room = area.width_mm * area.height_mm / (look.length_mm * look.width_mm)
    return int(np.clip(rng.integers(3, most + 1), 1, max(1, room * share)))


def before_camera(camera: CameraLook, *things: Clutter) -> tuple[Clutter, ...]:
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
    rng: np.random.Generator, area: Area, look: TileLook, layout: Arrangement, max_pips: int, *, from_seat: bool
) -> tuple[Clutter, ...]:
    """Return random clutter, sometimes with hands of standing tiles around the table."""
    count = int(rng.integers(1, 7)) if rng.random() < 0.35 else 0
    things = draw_clutter(rng, area, look, layout.tiles, count, max_pips)
    if rng.random() < (0.75 if from_seat else 0.06):
        things += standing_hands(rng, area, look, layout.tiles, max_pips)
    return things
