"""Grow a domino layout tile by tile: track open ends and place matching tiles."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from synthetic.render.look_types import TileLook
from synthetic.render.placements import Area, Arrangement, PipPair, fits, is_free
from synthetic.render.scene import PlacedTile
from vision.reading import Join

# Minimum gap between tiles. Negative because crooked joins let the rectangles overlap slightly.
_CROOKED_MM = -0.8
# Extra distances from the starter, tried in turn, because its arms crowd each other.
_ARM_STEPS_MM = (0.0, 1.5, 3.5, 6.0, 9.0)


@dataclass(frozen=True, slots=True)
class GrowingEnd:
    """An open end of the layout.

    Attributes:
        tile, half: Index of the tile and its open half. Half None is the side of a crosswise double.
        edge_mm: Middle of the open edge.
        heading_rad: Outward direction.
        pips: Number that must match.
        is_arm: True for an arm of a starter, which may be at an oblique angle.
    """

    tile: int
    half: int | None
    edge_mm: tuple[float, float]
    heading_rad: float
    pips: int
    is_arm: bool = False


@dataclass(slots=True)
class GrowingLine:
    """A layout under construction.

    Attributes:
        largest_gap_mm: Maximum gap between joined tiles.
        left: Tiles not yet placed.
    """

    look: TileLook
    area: Area
    largest_gap_mm: float
    placed: list[PlacedTile] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)
    ends: list[GrowingEnd] = field(default_factory=list)
    left: list[PipPair] = field(default_factory=list)

    def arrangement(self) -> Arrangement:
        """Return the tiles placed so far, and their joins."""
        return Arrangement(tuple(self.placed), tuple(self.joins))


def point_ahead(
    start_mm: tuple[float, float], heading_rad: float, along_mm: float, across_mm: float
) -> tuple[float, float]:
    """Return the point *along_mm* ahead of *start_mm* and *across_mm* to its right."""
    cos, sin = math.cos(heading_rad), math.sin(heading_rad)
    return (start_mm[0] + along_mm * cos - across_mm * sin, start_mm[1] + along_mm * sin + across_mm * cos)


def open_around(line: GrowingLine, index: int, entry_rad: float, *, is_spinner: bool) -> None:
    """Add the far side of a crosswise double as an open end, and its tips if it is the spinner."""
    placed, look = line.placed[index], line.look
    assert placed.pips is not None
    pips = placed.pips[0]
    edge = point_ahead(placed.center_mm, entry_rad, look.width_mm / 2, 0)
    line.ends.append(GrowingEnd(index, None, edge, entry_rad, pips))
    if is_spinner:
        for half, heading in ((0, placed.theta_rad + math.pi), (1, placed.theta_rad)):
            tip = point_ahead(placed.center_mm, heading, look.length_mm / 2, 0)
            line.ends.append(GrowingEnd(index, half, tip, heading, pips))


def open_tile(line: GrowingLine, index: int, half: int) -> None:
    """Add *half* of a non-double as an open end."""
    placed = line.placed[index]
    assert placed.pips is not None
    heading = placed.theta_rad + (math.pi if half == 0 else 0.0)
    edge = point_ahead(placed.center_mm, heading, line.look.length_mm / 2, 0)
    line.ends.append(GrowingEnd(index, half, edge, heading, placed.pips[half]))


def ways_to_lay(line: GrowingLine, end: GrowingEnd, pips: PipPair, rng: np.random.Generator) -> list[PlacedTile]:
    """Return candidate placements of a tile against *end*, most preferred first. Half 0 of the tile must match *end*.

    Empty for a double at the side of a crosswise double.
    """
    look = line.look
    gap_mm = rng.uniform(0, line.largest_gap_mm)
    slip_mm, turn = rng.normal(0, 0.25 * line.largest_gap_mm), rng.normal(0, 0.006 * line.largest_gap_mm)
    reach_mm = look.width_mm / 2 if pips[0] == pips[1] else look.length_mm / 2
    across_rad = math.pi / 2 if pips[0] == pips[1] else 0.0
    if end.is_arm:
        return [_laid(end, pips, gap_mm + step + reach_mm, slip_mm, across_rad + turn) for step in _ARM_STEPS_MM]
    straight = _laid(end, pips, gap_mm + reach_mm, slip_mm, across_rad + turn)
    if pips[0] == pips[1]:
        return [straight] if end.half is not None else []
    if end.half is None:
        return [straight]
    elbow_mm = look.length_mm / 2 - look.width_mm / 2
    elbows = [
        _laid(end, pips, gap_mm + look.width_mm / 2, side * elbow_mm + slip_mm, side * math.pi / 2 + turn)
        for side in (1, -1)
    ]
    if rng.random() < 0.5:
        elbows.reverse()
    return [*elbows, straight] if rng.random() < 0.15 else [straight, *elbows]


def _laid(end: GrowingEnd, pips: PipPair, along_mm: float, across_mm: float, turn_rad: float) -> PlacedTile:
    return PlacedTile(pips, point_ahead(end.edge_mm, end.heading_rad, along_mm, across_mm), end.heading_rad + turn_rad)


def find_place(line: GrowingLine, end: GrowingEnd, pips: PipPair, rng: np.random.Generator) -> PlacedTile | None:
    """Return a free placement of a tile against *end*, or None without room. Half 0 of the tile must match *end*."""
    for placed in ways_to_lay(line, end, pips, rng):
        if fits(placed, line.area, line.look) and is_free(placed, line.placed, line.look, _CROOKED_MM):
            return placed
    return None


def place_at(
    line: GrowingLine, end: GrowingEnd, placed: PlacedTile, *, is_turned: bool, is_spinner: bool = False
) -> None:
    """Add *placed* to the layout and update the open ends.

    Args:
        line: The layout.
        end: The end that half 0 of the tile faces.
        placed: The tile.
        is_turned: Swap its halves and rotate it by half a turn. It looks the same, but half 1 faces *end*.
        is_spinner: If it is a double, open its tips too.
    """
    assert placed.pips is not None
    index = len(line.placed)
    line.ends.remove(end)
    is_double = placed.pips[0] == placed.pips[1]
    near_half, far_half = 0, 1
    if is_turned:
        near_half, far_half = 1, 0
        flipped = (placed.pips[1], placed.pips[0])
        placed = PlacedTile(flipped, placed.center_mm, placed.theta_rad + math.pi)
    line.placed.append(placed)
    line.joins.append(Join(end.tile, end.half, index, None if is_double else near_half))
    if is_double:
        open_around(line, index, end.heading_rad, is_spinner=is_spinner)
    else:
        open_tile(line, index, far_half)


def grow(line: GrowingLine, rng: np.random.Generator) -> bool:
    """Place another tile at a random open end, trying at most four tiles per end. Return False if none fits."""
    for end_index in rng.permutation(len(line.ends)):
        end = line.ends[end_index]
        matching = [tile for tile in line.left if end.pips in tile]
        for tile_index in rng.permutation(len(matching))[:4]:
            tile = matching[tile_index]
            facing = tile if tile[0] == end.pips else (tile[1], tile[0])
            placed = find_place(line, end, facing, rng)
            if placed is not None:
                line.left.remove(tile)
                place_at(line, end, placed, is_turned=bool(rng.random() < 0.5))
                return True
    return False
