"""Draw players around a table: standing tiles at their seats, and hands over the table."""

from __future__ import annotations

import math

import numpy as np

from synthetic.render import colors
from synthetic.render.look_types import TileLook
from synthetic.render.placements import Area, is_free, random_hand
from synthetic.render.scene import Clutter, ClutterKind, PlacedTile, Reach
from vision.arrays import Bgr

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
