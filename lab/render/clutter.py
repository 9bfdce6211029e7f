"""Draw and paint other objects on a table, clear of the tiles: coins, pens, paper, printed dominoes and more."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.render import looks
from lab.render.faces import OVERHEAD_GLINT, Glint, Texture, grid_of, paint_face
from lab.render.placements import Area, is_free, random_hand
from lab.render.prints import PRINTS, corners_of, paint_print, paint_texture, paint_walls, rounded_outline, top_warp
from lab.render.scene import Clutter, ClutterKind, PlacedTile, Scene, TileLook
from lab.render.view import Solid, View, to_lamp
from vision.arrays import Bgr, Image, Points

EVERYDAY = tuple(kind for kind in ClutterKind if kind not in PRINTS)
"""Common objects on a table: every kind except `prints.PRINTS`."""

_COINS: tuple[Bgr, ...] = ((75.0, 120.0, 170.0), (95.0, 165.0, 200.0), (165.0, 170.0, 172.0), (60.0, 85.0, 120.0))


def _extent_mm(kind: ClutterKind, rng: np.random.Generator, look: TileLook) -> tuple[float, float, float]:
    """Return a random length, width (0 for round objects) and height for an object of *kind*."""
    match kind:
        case ClutterKind.COIN:
            return (rng.uniform(16, 30), 0.0, 1.8)
        case ClutterKind.PEN:
            return (rng.uniform(110, 150), rng.uniform(7, 12), 8.0)
        case ClutterKind.PHONE:
            return (rng.uniform(130, 160), rng.uniform(65, 78), 8.0)
        case ClutterKind.PAPER:
            return (rng.uniform(60, 200), rng.uniform(40, 140), 0.0)
        case ClutterKind.PICTURE:
            return (rng.uniform(80, 260), rng.uniform(60, 190), 0.0)
        case ClutterKind.CARD:
            return (88.0, 63.0, 0.3)
        case ClutterKind.DIE:
            return (16.0, 16.0, 16.0)
        case ClutterKind.GLASS | ClutterKind.MUG:
            return (rng.uniform(50, 85), 0.0, rng.uniform(20, 110))
        case kind if kind in PRINTS:
            return _print_extent_mm(kind, rng)
        case ClutterKind.PRINTED_TILE:
            return (look.length_mm * rng.uniform(0.4, 0.85), look.width_mm, 0.0)
        case _:
            return (look.length_mm, look.thickness_mm, look.width_mm)


def _print_extent_mm(kind: ClutterKind, rng: np.random.Generator) -> tuple[float, float, float]:
    match kind:
        case ClutterKind.KEYBOARD:
            return (rng.uniform(260, 450), rng.uniform(95, 140), rng.uniform(4, 16))
        case ClutterKind.KEYPAD:
            return (rng.uniform(95, 220), rng.uniform(36, 60), rng.uniform(6, 20))
        case ClutterKind.CHECKERBOARD:
            return (rng.uniform(90, 300), rng.uniform(80, 220), 0.0)
        case ClutterKind.PAGE:
            size = float(rng.choice([0.5, 0.71, 1.0]))
            return (297 * size, 210 * size, 0.0)
        case ClutterKind.DOTS:
            return (rng.uniform(60, 300), rng.uniform(50, 210), 0.0)
        case ClutterKind.BARCODE:
            return (rng.uniform(30, 90), rng.uniform(16, 45), 0.0)
        case ClutterKind.RULER:
            return (rng.uniform(110, 320), rng.uniform(20, 36), 0.0)
        case ClutterKind.PLAYING_CARD:
            return (88.0, rng.uniform(56, 64), 0.0)
        case _:
            return (85.6, 54.0, 0.0)


def draw_clutter(
    rng: np.random.Generator,
    area: Area,
    look: TileLook,
    tiles: tuple[PlacedTile, ...],
    count: int,
    max_pips: int = 6,
    *,
    kinds: Sequence[ClutterKind] = EVERYDAY,
) -> tuple[Clutter, ...]:
    """Return up to *count* random objects of *kinds*. Objects that would touch a tile are dropped."""
    things = []
    for _ in range(count):
        kind = kinds[int(rng.integers(len(kinds)))]
        length, width, height = _extent_mm(kind, rng, look)
        center = rng.uniform(-0.55, 0.55, 2) * (area.width_mm, area.height_mm)
        place = (float(center[0]), float(center[1]))
        pips = random_hand(rng, 1, max_pips)[0] if rng.random() < 0.7 else None
        thing = Clutter(
            kind, place, rng.uniform(-math.pi, math.pi), length, width, height, _color(kind, rng, look), pips
        )
        if is_clear(thing, tiles, look):
            things.append(thing)
    return tuple(things)


def _color(kind: ClutterKind, rng: np.random.Generator, look: TileLook) -> Bgr:
    match kind:
        case ClutterKind.STANDING_TILE:
            return look.side_bgr
        case ClutterKind.COIN:
            return looks.near(rng, _COINS[int(rng.integers(len(_COINS)))], 12)
        case kind if kind in PRINTS:
            return _print_color(kind, rng)
        case ClutterKind.PHONE:
            return looks.any_color(rng, (0.0, 0.3), (0.03, 0.25))
        case ClutterKind.DIE | ClutterKind.PAPER if rng.random() < 0.6:
            return looks.ivory(rng)
        case _:
            return looks.any_color(rng, (0.0, 0.7), (0.1, 0.95))


def _print_color(kind: ClutterKind, rng: np.random.Generator) -> Bgr:
    """Return a random colour for the body or paper of an object."""
    match kind:
        case ClutterKind.KEYBOARD | ClutterKind.KEYPAD if rng.random() < 0.65:
            return looks.any_color(rng, (0.0, 0.25), (0.06, 0.25))
        case ClutterKind.KEYBOARD | ClutterKind.KEYPAD:
            return looks.any_color(rng, (0.0, 0.15), (0.6, 0.95))
        case ClutterKind.DOTS | ClutterKind.RULER | ClutterKind.BANK_CARD if rng.random() < 0.65:
            return looks.any_color(rng, (0.0, 0.8), (0.1, 0.95))
        case _:
            return looks.any_color(rng, (0.0, 0.12), (0.75, 1.0))


def printed_border(rng: np.random.Generator, area: Area, look: TileLook, max_pips: int) -> tuple[Clutter, ...]:
    """Return printed dominoes around a game board, as decoys that resemble tiles."""
    length_mm = look.length_mm * rng.uniform(0.5, 0.95)
    half_x, half_y = area.width_mm * 0.5, area.height_mm * 0.5
    things = []
    for side, (reach_mm, span_mm) in enumerate(((half_y, half_x), (half_x, half_y)) * 2):
        outward = side * math.pi / 2 + math.pi / 2
        count = int(2 * span_mm / length_mm)
        for place, pips in zip(np.arange(count) - (count - 1) / 2, random_hand(rng, count, max_pips), strict=True):
            along = place * length_mm
            center = (
                reach_mm * math.cos(outward) - along * math.sin(outward),
                reach_mm * math.sin(outward) + along * math.cos(outward),
            )
            theta_rad = outward + math.pi / 2 * (1 if rng.random() < 0.8 else 2)
            size = (length_mm, look.width_mm, 0.0, look.face_bgr)
            things.append(Clutter(ClutterKind.PRINTED_TILE, center, theta_rad, *size, pips))
    return tuple(things)


def is_clear(thing: Clutter, tiles: tuple[PlacedTile, ...], look: TileLook) -> bool:
    """Return True if an object, tested as a row of tile-sized pieces, is clear of the tiles."""
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


_FLAT = (
    ClutterKind.PAPER,
    ClutterKind.PICTURE,
    ClutterKind.PRINTED_TILE,
    *(kind for kind in PRINTS if kind not in (ClutterKind.KEYBOARD, ClutterKind.KEYPAD)),
)
# Light from above on an upright face.
_WALL_GLINT = Glint(np.array([0.0, -0.5, 0.87]), np.array([0.0, 0.6, 0.8]))
_ROUND = (ClutterKind.COIN, ClutterKind.GLASS, ClutterKind.MUG)


def _outline(thing: Clutter) -> Points:
    """Return the outline of an object on the table, shape (N, 2)."""
    width_mm = thing.length_mm if thing.kind in _ROUND else thing.width_mm
    radius_mm = min(thing.length_mm, width_mm) / 2
    if thing.kind not in (*_ROUND, ClutterKind.PEN):
        radius_mm *= 0.12
    frame = PlacedTile(None, thing.center_mm, thing.theta_rad)
    return frame.to_table(rounded_outline(thing.length_mm, width_mm, radius_mm))


def clutter_solids(scene: Scene) -> list[Solid]:
    """Return the objects that cast shadows, as bodies."""
    return [solid_of(thing) for thing in scene.clutter if thing.kind not in _FLAT]


def solid_of(thing: Clutter) -> Solid:
    """Return an object as a body on the table."""
    return Solid(_outline(thing), 0.0, thing.height_mm)


def _fill(picture: Image, points_px: Points, bgr: Bgr) -> None:
    cv2.fillPoly(picture, [np.round(points_px * 16).astype(np.int32)], bgr, cv2.LINE_AA, 4)


def _spot(thing: Clutter, view: View, points_mm: Points) -> Points:
    """Project points in the frame of *thing*, on its top, to the picture."""
    frame = PlacedTile(None, thing.center_mm, thing.theta_rad)
    return view.project(frame.to_table(points_mm), thing.height_mm)


def paint_flat_clutter(picture: Image, scene: Scene, view: View, rng: np.random.Generator) -> None:
    """Paint paper, prints and printed dominoes in place. Call it before shadows are added."""
    for thing in scene.clutter:
        if thing.kind is ClutterKind.PAPER:
            _fill(picture, view.project(_outline(thing), 0.0), thing.bgr)
            for row in np.arange(-0.42, 0.43, 0.09):
                ends = np.array([[-0.4, row], [rng.uniform(-0.1, 0.42), row]]) * (thing.length_mm, thing.width_mm)
                line = np.round(_spot(thing, view, ends)).astype(int)
                cv2.line(picture, _pair(line[0]), _pair(line[1]), looks.scaled(thing.bgr, 0.4), 1, cv2.LINE_AA)
        elif thing.kind is ClutterKind.PICTURE:
            _paint_picture(picture, thing, view, rng)
        elif thing.kind is ClutterKind.PRINTED_TILE:
            _paint_printed(picture, thing, scene, view, rng)
        elif thing.kind in _FLAT:
            _lay(picture, paint_print(thing, scene.camera.px_per_mm, rng), thing, view)


def _pair(point: NDArray[np.int64]) -> tuple[int, int]:
    return (int(point[0]), int(point[1]))


def _paint_printed(picture: Image, thing: Clutter, scene: Scene, view: View, rng: np.random.Generator) -> None:
    """Paint a printed domino in place, without thickness or shadow."""
    grid = grid_of(scene.tile, scene.camera.px_per_mm)
    pips = thing.pips or (int(rng.integers(0, 7)), int(rng.integers(0, 7)))
    texture = paint_face(grid, scene.tile, pips, OVERHEAD_GLINT, 1.0, rng)
    on_table = PlacedTile(pips, thing.center_mm, thing.theta_rad, -scene.tile.thickness_mm)
    size = thing.length_mm / scene.tile.length_mm
    warp = top_warp(on_table, scene.tile, grid, view)
    middle = np.array([(texture.shape[1] - 1) / 2, (texture.shape[0] - 1) / 2])
    shrink = np.array([[size, 0, middle[0] * (1 - size)], [0, size, middle[1] * (1 - size)], [0, 0, 1.0]])
    paint_texture(picture, texture, warp @ shrink)


def is_flat(thing: Clutter) -> bool:
    """Return True if *thing* has no thickness and shares the light of the table."""
    return thing.kind in _FLAT


def paint_thing(picture: Image, thing: Clutter, scene: Scene, view: View, rng: np.random.Generator) -> None:
    """Paint an object with a height, in place."""
    outline = _outline(thing)
    if thing.kind is ClutterKind.GLASS:
        _paint_glass(picture, thing, outline, view, rng)
        return
    paint_walls(picture, outline, (0.0, thing.height_mm), thing.bgr, scene.light, view)
    top = view.project(outline, thing.height_mm)
    if thing.kind is ClutterKind.MUG:
        rim, drink = view.project(outline, thing.height_mm), view.project(outline, 0.7 * thing.height_mm)
        _fill(picture, rim, looks.scaled(thing.bgr, 1.15))
        _fill(picture, _about(rim, 0.9), looks.scaled(thing.bgr, 0.6))
        _fill(picture, _about(0.5 * (rim + drink), 0.82), (18.0, 28.0, 45.0))
        return
    _fill(picture, top, thing.bgr)
    if thing.kind is ClutterKind.STANDING_TILE:
        _paint_standing(picture, thing, scene, view, rng)
    elif thing.kind in PRINTS:
        _lay(picture, paint_print(thing, scene.camera.px_per_mm, rng), thing, view)
    else:
        _decorate(picture, thing, view, to_lamp(scene.light), rng)


def _paint_picture(picture: Image, thing: Clutter, view: View, rng: np.random.Generator) -> None:
    """Paint a printed picture, such as a photo or a magazine cover, as random shapes, in place."""
    height, width = 96, 128
    print_ = np.empty((height, width, 3), np.uint8)
    print_[:] = thing.bgr
    for _ in range(int(rng.integers(6, 30))):
        center = tuple(int(value) for value in rng.uniform(0, 1, 2) * (width, height))
        axes = tuple(int(value) for value in rng.uniform(2, 26, 2))
        bgr = tuple(float(value) for value in rng.uniform(0, 255, 3))
        if rng.random() < 0.5:
            cv2.ellipse(print_, center, axes, rng.uniform(0, 180), 0, 360, bgr, -1, cv2.LINE_AA)
        else:
            cv2.rectangle(print_, center, (center[0] + axes[0], center[1] + axes[1] // 3 + 1), bgr, -1)
    print_ = cv2.GaussianBlur(print_, (0, 0), rng.uniform(0.3, 2.0)).astype(np.uint8, copy=False)
    alpha = np.full((height, width, 1), 255, np.uint8)
    _lay(picture, np.concatenate([print_, alpha], axis=2), thing, view)


def _lay(picture: Image, texture: Texture, thing: Clutter, view: View) -> None:
    """Paint a texture over the whole top of an object, in place."""
    height, width = texture.shape[:2]
    frame = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * (thing.length_mm, thing.width_mm)
    target = _spot(thing, view, frame).astype(np.float32)
    source = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    warp = np.asarray(cv2.getPerspectiveTransform(source, target), dtype=np.float64)
    paint_texture(picture, texture, warp)


def _about(points_px: Points, factor: float) -> Points:
    """Scale an outline around its middle."""
    middle = points_px.mean(axis=0)
    scaled: Points = middle + (points_px - middle) * factor
    return scaled


def _paint_glass(picture: Image, thing: Clutter, outline: Points, view: View, rng: np.random.Generator) -> None:
    """Paint a drinking glass in place: the tinted background, a foot, a rim and a reflection."""
    foot, rim = view.project(outline, 0.0), view.project(outline, thing.height_mm)
    hull = cv2.convexHull(np.round(np.concatenate([foot, rim])).astype(np.int32))
    left, top, width, height = cv2.boundingRect(hull)
    left, top = max(left, 0), max(top, 0)
    region = picture[top : top + height, left : left + width]
    if region.size:
        behind = cv2.GaussianBlur(picture[top : top + height, left : left + width], (0, 0), 2.0)
        tint = np.asarray(thing.bgr) * rng.uniform(0.2, 0.6)
        mask = np.zeros(region.shape[:2], np.uint8)
        cv2.fillConvexPoly(mask, hull - (left, top), 255)
        region[mask > 0] = (0.75 * behind + 0.25 * tint)[mask > 0].astype(np.uint8)
    _ring(picture, _about(foot, 0.95), (90.0, 90.0, 90.0), 1)
    _ring(picture, rim, (235.0, 235.0, 235.0), 2)
    _ring(picture, _about(rim, 0.9), (150.0, 150.0, 150.0), 1)
    start = int(rng.integers(len(rim)))
    shine = np.roll(0.4 * foot + 0.6 * rim, start, axis=0)[:3]
    cv2.polylines(picture, [np.round(shine).astype(np.int32)], isClosed=False, color=(250, 250, 250), thickness=3)


def _ring(picture: Image, outline_px: Points, bgr: Bgr, thick: int) -> None:
    fixed = np.round(outline_px * 16).astype(np.int32)
    cv2.polylines(picture, [fixed], isClosed=True, color=bgr, thickness=thick, lineType=cv2.LINE_AA, shift=4)


def _paint_standing(picture: Image, thing: Clutter, scene: Scene, view: View, rng: np.random.Generator) -> None:
    """Paint the visible side of a tile standing on its edge in place. Its face is towards +y of the tile."""
    look, frame = scene.tile, PlacedTile(None, thing.center_mm, thing.theta_rad)
    half = np.array([thing.length_mm, thing.width_mm]) / 2
    faces = (np.array([[-half[0], half[1]], [half[0], half[1]]]), np.array([[half[0], -half[1]], [-half[0], -half[1]]]))
    for edge, pips in zip(faces, (thing.pips, None), strict=True):
        low, high = (view.project(frame.to_table(edge), height_mm) for height_mm in (0.0, thing.height_mm))
        target = np.array([high[0], high[1], low[1], low[0]])
        if cv2.contourArea(target.astype(np.float32), oriented=True) <= 4.0:
            continue
        grid = grid_of(look, scene.camera.px_per_mm)
        texture = paint_face(grid, look, pips, _WALL_GLINT, scene.light.ambient, rng)
        dimmed = cv2.multiply(texture, np.array([0.8, 0.8, 0.8, 1.0])).astype(np.uint8, copy=False)
        to_tile, corners = grid.to_tile(), corners_of(look)
        source = (corners - to_tile[:2, 2]) / to_tile[0, 0]
        warp = cv2.getPerspectiveTransform(source.astype(np.float32), target.astype(np.float32))
        paint_texture(picture, dimmed, np.asarray(warp, dtype=np.float64))


def _decorate(picture: Image, thing: Clutter, view: View, lamp: NDArray[np.float64], rng: np.random.Generator) -> None:
    """Add the details of an object in place: the rim of a coin, the screen of a phone, the dots of a die."""
    half = np.array([thing.length_mm, thing.width_mm]) / 2
    match thing.kind:
        case ClutterKind.COIN:
            ring = rounded_outline(thing.length_mm * 0.84, thing.length_mm * 0.84, thing.length_mm)
            _fill(picture, _spot(thing, view, ring), looks.scaled(thing.bgr, 0.88))
            spots = np.round(_spot(thing, view, rng.normal(0, 0.12 * thing.length_mm, (6, 2)))).astype(int)
            relief = looks.scaled(thing.bgr, 1.25)
            cv2.polylines(picture, [spots.astype(np.int32)], isClosed=False, color=relief, lineType=cv2.LINE_AA)
        case ClutterKind.PEN:
            stripe = np.array(
                [[-half[0] * 0.8, -0.3], [half[0] * 0.9, -0.3], [half[0] * 0.9, 0.3], [-half[0] * 0.8, 0.3]]
            )
            stripe[:, 1] *= half[1]
            _fill(picture, _spot(thing, view, stripe - lamp[:2] * 0.2), looks.scaled(thing.bgr, 1.6))
        case ClutterKind.PHONE:
            screen = rounded_outline(thing.length_mm * 0.93, thing.width_mm * 0.88, 2.0)
            _fill(picture, _spot(thing, view, screen), looks.scaled(thing.bgr, float(rng.uniform(0.3, 2.5))))
        case ClutterKind.CARD:
            inner = rounded_outline(thing.length_mm * 0.85, thing.width_mm * 0.8, 2.0)
            _fill(picture, _spot(thing, view, inner), looks.scaled(thing.bgr, float(rng.uniform(0.4, 0.9))))
        case ClutterKind.DIE:
            for place in rng.permutation(np.array([(x, y) for x in (-0.5, 0, 0.5) for y in (-0.5, 0, 0.5)]))[
                : rng.integers(1, 7)
            ]:
                dot = rounded_outline(0.3, 0.3, 0.15) + place
                _fill(picture, _spot(thing, view, dot * half), (20.0, 20.0, 20.0))
        case _:
            angle = rng.uniform(0, math.pi)
            line = np.array([[-math.cos(angle), -math.sin(angle)], [math.cos(angle), math.sin(angle)]]) * half * 0.8
            ends = np.round(_spot(thing, view, line)).astype(int)
            cv2.line(picture, _pair(ends[0]), _pair(ends[1]), looks.scaled(thing.bgr, 0.7), 1, cv2.LINE_AA)
