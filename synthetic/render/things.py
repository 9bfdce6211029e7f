"""Random objects on a table, clear of the tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from synthetic.render import colors
from synthetic.render.look_types import TileLook
from synthetic.render.placements import Area, is_free, random_hand
from synthetic.render.prints import PRINTS
from synthetic.render.scene import Clutter, ClutterKind, PlacedTile
from vision.arrays import Bgr

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
            return colors.near(rng, _COINS[int(rng.integers(len(_COINS)))], 12)
        case kind if kind in PRINTS:
            return _print_color(kind, rng)
        case ClutterKind.PHONE:
            return colors.any_color(rng, (0.0, 0.3), (0.03, 0.25))
        case ClutterKind.DIE | ClutterKind.PAPER if rng.random() < 0.6:
            return colors.ivory(rng)
        case _:
            return colors.any_color(rng, (0.0, 0.7), (0.1, 0.95))


def _print_color(kind: ClutterKind, rng: np.random.Generator) -> Bgr:
    """Return a random colour for the body or paper of an object."""
    match kind:
        case ClutterKind.KEYBOARD | ClutterKind.KEYPAD if rng.random() < 0.65:
            return colors.any_color(rng, (0.0, 0.25), (0.06, 0.25))
        case ClutterKind.KEYBOARD | ClutterKind.KEYPAD:
            return colors.any_color(rng, (0.0, 0.15), (0.6, 0.95))
        case ClutterKind.DOTS | ClutterKind.RULER | ClutterKind.BANK_CARD if rng.random() < 0.65:
            return colors.any_color(rng, (0.0, 0.8), (0.1, 0.95))
        case _:
            return colors.any_color(rng, (0.0, 0.12), (0.75, 1.0))


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
