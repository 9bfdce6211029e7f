"""Draw random scenes with layouts of every kind."""

from __future__ import annotations

import math

import cv2
import numpy as np

from synthetic.render.chains import Arms, chain, starter
from synthetic.render.heaps import pile, same_size, strewn_over, two_sets, with_stacks
from synthetic.render.look_types import CameraLook, TableKind, TileLook
from synthetic.render.looks import draw_camera_look, draw_light_look, draw_seat_camera, draw_table_look, draw_tile_look
from synthetic.render.placements import Area, Arrangement, PipPair, blocks, random_hand, rows, scatter, within
from synthetic.render.scene import Clutter, Scene
from synthetic.render.seats import draw_reach, standing_hands
from synthetic.render.things import draw_clutter, printed_border
from synthetic.render.view import view_of

__all__ = [
    "Area",
    "Arrangement",
    "blocks",
    "chain",
    "mixed_layout",
    "random_hand",
    "random_scene",
    "rows",
    "scatter",
    "visible_area",
]


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
