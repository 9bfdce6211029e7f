"""Draw looks of other people's photos: low cameras, low contrast, painted pips, paper tiles and bad light."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from synthetic.render import colors
from synthetic.render.look_types import BarKind, CameraLook, LightLook, PipKind, TableKind, TableLook, TileLook
from synthetic.render.looks import draw_camera_look, draw_light_look, draw_table_look
from synthetic.render.patterns import MAX_PIPS
from synthetic.render.tile_looks import draw_tile_look
from vision.arrays import Bgr

# Minimum tilt of most cameras, and maximum tilt of all.
_SIDE_VIEW_RAD, LARGEST_TILT_RAD = 0.44, 1.135
# Maximum angle of the upper edge of the picture from straight down, below the horizon at pi / 2.
_MAX_EDGE_RAD = 1.42
# Share of tables in a colour close to the tiles, and the kinds of such tables.
_TILE_COLORED = 0.45
_TILE_COLORED_KINDS = (
    TableKind.PLAIN,
    TableKind.WOOD,
    TableKind.STONE,
    TableKind.WEAVE,
    TableKind.LEATHER,
    TableKind.DAMASK,
    TableKind.BOARD,
)


def draw_foreign_tile_look(rng: np.random.Generator, *, max_pips: int = 6) -> TileLook:
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
        look = replace(look, bar_kind=BarKind.NONE)
    return look


def _on_paper(rng: np.random.Generator, look: TileLook) -> TileLook:
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
        pip_kind=PipKind.FLAT,
        bar_kind=BarKind.LINE if rng.random() < 0.9 else BarKind.NONE,
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


def draw_foreign_table_look(rng: np.random.Generator, tile_bgr: Bgr) -> TableLook:
    """Return a random table, with a probability of 45 % in a colour close to the tiles."""
    table = draw_table_look(rng, tile_bgr)
    if rng.random() >= _TILE_COLORED:
        return table
    base = colors.near(rng, colors.scaled(tile_bgr, rng.uniform(0.7, 1.15)), 7)
    kind = _TILE_COLORED_KINDS[int(rng.integers(len(_TILE_COLORED_KINDS)))]
    second = colors.scaled(base, rng.uniform(0.3, 0.9) if kind is TableKind.BOARD else rng.uniform(0.8, 1.15))
    return replace(
        table,
        kind=kind,
        base_bgr=base,
        second_bgr=second,
        third_bgr=colors.scaled(base, rng.uniform(0.7, 1.2)),
        pattern_mm=rng.uniform(60, 160) if kind is TableKind.WOOD else rng.uniform(8, 60),
        roughness=table.roughness * rng.uniform(0, 1),
    )


def draw_foreign_light_look(rng: np.random.Generator) -> LightLook:
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
) -> CameraLook:
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
