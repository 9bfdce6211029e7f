"""Place tiles on a table: scattered, in rows and in blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.render.look_types import TileLook
from lab.render.scene import PlacedTile
from vision.arrays import Points
from vision.reading import Join

PipPair = tuple[int, int]
"""The pips of the two halves of a tile, 0 to 18 each."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle on the table around (0, 0).

    Attributes:
        width_mm, height_mm: Full extent.
    """

    width_mm: float
    height_mm: float

    def grown(self, margin_mm: float) -> Area:
        """Return the area with a margin on each side."""
        return Area(self.width_mm + 2 * margin_mm, self.height_mm + 2 * margin_mm)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Placed tiles and their joins."""

    tiles: tuple[PlacedTile, ...]
    joins: tuple[Join, ...] = ()

    def with_arrangement(self, other: Arrangement) -> Arrangement:
        """Return the tiles and joins of this layout and *other* combined."""
        shift = len(self.tiles)
        moved = tuple(Join(join.a + shift, join.a_half, join.b + shift, join.b_half) for join in other.joins)
        return Arrangement(self.tiles + other.tiles, self.joins + moved)


def all_pip_pairs(max_pips: int) -> tuple[PipPair, ...]:
    """Return every tile of the set up to *max_pips*, as (low, high)."""
    return tuple((low, high) for low in range(max_pips + 1) for high in range(low, max_pips + 1))


def random_hand(rng: np.random.Generator, count: int, max_pips: int) -> tuple[PipPair, ...]:
    """Return *count* random tiles in random orientation. Tiles repeat only if the set is too small."""
    tiles = all_pip_pairs(max_pips)
    picked = [tiles[index] for index in rng.permutation(len(tiles))[:count]]
    while len(picked) < count:
        picked.append(tiles[int(rng.integers(len(tiles)))])
    return tuple((high, low) if rng.random() < 0.5 else (low, high) for low, high in picked)


def outline_mm(placed: PlacedTile, look: TileLook, margin_mm: float = 0.0) -> Points:
    """Return the corners of a tile on the table, shape (4, 2), grown by *margin_mm* on each side."""
    half_length, half_width = look.length_mm / 2 + margin_mm, look.width_mm / 2 + margin_mm
    frame = np.array(
        [[-half_length, -half_width], [half_length, -half_width], [half_length, half_width], [-half_length, half_width]]
    )
    return placed.to_table(frame)


def outlines_overlap(first_mm: Points, second_mm: Points) -> bool:
    """Return True if two convex outlines overlap. Touching outlines do not."""
    for outline in (first_mm, second_mm):
        for edge in np.roll(outline, -1, axis=0) - outline:
            axis = np.array([-edge[1], edge[0]])
            first, second = first_mm @ axis, second_mm @ axis
            if first.max() <= second.min() + 1e-9 or second.max() <= first.min() + 1e-9:
                return False
    return True


def is_free(placed: PlacedTile, others: Sequence[PlacedTile], look: TileLook, gap_mm: float = 0.0) -> bool:
    """Return True if *placed* keeps *gap_mm* from all *others*. A negative gap allows some overlap."""
    reach_mm = math.hypot(look.length_mm, look.width_mm) + abs(gap_mm)
    own_outline = outline_mm(placed, look, gap_mm / 2)
    return not any(
        math.dist(placed.center_mm, other.center_mm) < reach_mm
        and outlines_overlap(own_outline, outline_mm(other, look, gap_mm / 2))
        for other in others
    )


def fits(placed: PlacedTile, area: Area, look: TileLook) -> bool:
    """Return True if the whole tile is inside *area*."""
    corners = np.abs(outline_mm(placed, look))
    return bool(corners[:, 0].max() <= area.width_mm / 2 and corners[:, 1].max() <= area.height_mm / 2)


def scatter(
    rng: np.random.Generator,
    hand: Sequence[PipPair | None],
    area: Area,
    look: TileLook,
    *,
    around: Sequence[PlacedTile] = (),
    gap_mm: float = 0.5,
) -> Arrangement:
    """Scatter *hand* at random positions and angles without overlap.

    A tile is dropped if 30 random placements fail.

    Args:
        rng: Random generator.
        hand: Numbers of each tile, or None for a face-down tile.
        area: Area that must contain every tile.
        look: Look with the size of the tiles.
        around: Tiles already on the table. They are not part of the result.
        gap_mm: Minimum distance between tiles.
    """
    placed: list[PlacedTile] = []
    for pips in hand:
        for _ in range(30):
            center = rng.uniform(-0.5, 0.5, 2) * (area.width_mm, area.height_mm)
            tile = PlacedTile(pips, (float(center[0]), float(center[1])), rng.uniform(-math.pi, math.pi))
            if fits(tile, area, look) and is_free(tile, [*around, *placed], look, gap_mm):
                placed.append(tile)
                break
    return Arrangement(tuple(placed))


def blocks(
    rng: np.random.Generator,
    hand: Sequence[PipPair | None],
    look: TileLook,
    *,
    columns: int,
    center_mm: tuple[float, float] = (0.0, 0.0),
    theta_rad: float = 0.0,
    largest_gap_mm: float = 1.0,
    step_mm: float = 0.0,
) -> Arrangement:
    """Pack *hand* in a grid: side by side down the columns and end to end along the rows.

    Each row is shifted by *step_mm* relative to the row above it.
    """
    gap_x, gap_y = rng.uniform(0, largest_gap_mm, 2)
    rows = math.ceil(len(hand) / columns)
    frame = PlacedTile(None, center_mm, theta_rad)
    placed = []
    for index, pips in enumerate(hand):
        column, row = index % columns, index // columns
        shake = rng.uniform(0, 0.5, 2) * largest_gap_mm * 0.2
        along = (column - (columns - 1) / 2) * (look.length_mm + gap_x + 0.2 * largest_gap_mm) + shake[0]
        along += (row - (rows - 1) / 2) * step_mm
        across = (row - (rows - 1) / 2) * (look.width_mm + gap_y + 0.2 * largest_gap_mm) + shake[1]
        place = frame.to_table(np.array([[along, across]]))[0]
        turn = math.pi if rng.random() < 0.5 else 0.0
        placed.append(PlacedTile(pips, (float(place[0]), float(place[1])), theta_rad + turn))
    return Arrangement(tuple(placed))


def rows(
    rng: np.random.Generator,
    hand: Sequence[PipPair | None],
    look: TileLook,
    *,
    center_mm: tuple[float, float] = (0.0, 0.0),
    theta_rad: float = 0.0,
    largest_gap_mm: float = 1.0,
) -> Arrangement:
    """Return *hand* in a single row, either side by side (70 %) or end to end."""
    columns = 1 if rng.random() < 0.7 else len(hand)
    return blocks(
        rng,
        hand,
        look,
        columns=max(1, columns),
        center_mm=center_mm,
        theta_rad=theta_rad,
        largest_gap_mm=largest_gap_mm,
    )


def within(layout: Arrangement, area: Area, look: TileLook) -> Arrangement:
    """Return *layout* without tiles that extend beyond *area*, nor their joins. The other joins are renumbered."""
    inside = [index for index, placed in enumerate(layout.tiles) if fits(placed, area, look)]
    place = {index: position for position, index in enumerate(inside)}
    joins = tuple(
        Join(place[join.a], join.a_half, place[join.b], join.b_half)
        for join in layout.joins
        if join.a in place and join.b in place
    )
    return Arrangement(tuple(layout.tiles[index] for index in inside), joins)
