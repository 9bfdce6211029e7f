"""Draw at random what lies on a table beside tiles, and keep it off them."""

from __future__ import annotations

import math

import numpy as np

from vision.arrays import Bgr
from vision.render import colors
from vision.render.look_types import TileLook
from vision.render.placements import Area, draw_hand, is_free
from vision.render.scene import Clutter, ClutterKind, PlacedTile

_COINS: tuple[Bgr, ...] = ((75.0, 120.0, 170.0), (95.0, 165.0, 200.0), (165.0, 170.0, 172.0), (60.0, 85.0, 120.0))


def _extent_mm(kind: ClutterKind, rng: np.random.Generator, look: TileLook) -> tuple[float, float, float]:
    """Return length, width (0 for round things) and height of a thing."""
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
        case ClutterKind.PRINTED_TILE:
            return (look.length_mm * rng.uniform(0.4, 0.85), look.width_mm, 0.0)
        case _:
            return (look.length_mm, look.thickness_mm, look.width_mm)


def draw_clutter(
    rng: np.random.Generator, area: Area, look: TileLook, tiles: tuple[PlacedTile, ...], count: int, max_pips: int = 6
) -> tuple[Clutter, ...]:
    """Return up to *count* things that touch no tile."""
    kinds = list(ClutterKind)
    things = []
    for _ in range(count):
        kind = kinds[int(rng.integers(len(kinds)))]
        length, width, height = _extent_mm(kind, rng, look)
        center = rng.uniform(-0.55, 0.55, 2) * (area.width_mm, area.height_mm)
        place = (float(center[0]), float(center[1]))
        pips = draw_hand(rng, 1, max_pips)[0] if rng.random() < 0.7 else None
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
            return colors.near(rng, _COINS[int(rng.integers(len(_COINS)))], 12)
        case ClutterKind.PHONE:
            return colors.any_color(rng, (0.0, 0.3), (0.03, 0.25))
        case ClutterKind.DIE | ClutterKind.PAPER if rng.random() < 0.6:
            return colors.ivory(rng)
        case _:
            return colors.any_color(rng, (0.0, 0.7), (0.1, 0.95))


def printed_border(rng: np.random.Generator, area: Area, look: TileLook, max_pips: int) -> tuple[Clutter, ...]:
    """Return dominoes that are printed end to end around a game board: what looks like tiles and is none."""
    length_mm = look.length_mm * rng.uniform(0.5, 0.95)
    half_x, half_y = area.width_mm * 0.5, area.height_mm * 0.5
    things = []
    for side, (reach_mm, span_mm) in enumerate(((half_y, half_x), (half_x, half_y)) * 2):
        outward = side * math.pi / 2 + math.pi / 2
        count = int(2 * span_mm / length_mm)
        for place, pips in zip(np.arange(count) - (count - 1) / 2, draw_hand(rng, count, max_pips), strict=True):
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
