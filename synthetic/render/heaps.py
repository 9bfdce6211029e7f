"""Tiles on top of tiles: piles, tiles across others, stacks, and mixed sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from synthetic.render.chains import stacked_on
from synthetic.render.look_types import TileLook
from synthetic.render.placements import (
    Area,
    Arrangement,
    PipPair,
    fits,
    is_free,
    outline_mm,
    outlines_overlap,
    random_hand,
)
from synthetic.render.scene import PlacedTile

_MOST_LAYERS = 3


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
            if fits(tile, area, look) and tile.height_mm < (_MOST_LAYERS - 0.5) * look.thickness_mm:
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
