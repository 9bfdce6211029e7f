"""Place tiles on a table: scattered, in rows, in blocks, and as domino layouts grown tile by tile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from lab.render.scene import PlacedTile, TileLook, joins_between
from vision.arrays import Points
from vision.reading import Join

PipPair = tuple[int, int]
"""The pips of the two halves of a tile, 0 to 18 each."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle on the table around (0, 0)."""

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
        hand: Numbers of each tile, or None for a face-down tile.
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
    return Arrangement(tuple(layout.tiles[index] for index in inside), joins_between(layout.joins, inside))


# Grow a domino layout tile by tile: a line with crosswise doubles, elbows, a spinner or a starter with six arms.


# Minimum gap between tiles. Negative because crooked joins let the rectangles overlap slightly.
_CROOKED_MM = -0.8
# Extra distances from the starter, tried in turn, because its arms crowd each other.
_ARM_STEPS_MM = (0.0, 1.5, 3.5, 6.0, 9.0)


@dataclass(frozen=True, slots=True)
class GrowingEnd:
    """An open end of the layout.

    Attributes:
        tile, half: Index of the tile and its open half. Half None is the side of a crosswise double.
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


def place_at(line: GrowingLine, end: GrowingEnd, placed: PlacedTile, *, is_turned: bool) -> None:
    """Add *placed*, whose half 0 faces *end*, to the layout and update the open ends.

    A turned tile has its halves swapped and is rotated by half a turn: it looks the same, but half 1 faces *end*.
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
        open_around(line, index, end.heading_rad, is_spinner=False)
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


class Arms(StrEnum):
    """Origin of the six arms of a starter."""

    CORNERS = "corners"
    SIDES = "sides"


def chain(
    rng: np.random.Generator,
    count: int,
    max_pips: int,
    area: Area,
    look: TileLook,
    *,
    largest_gap_mm: float = 2.0,
    theta_rad: float = 0.0,
) -> Arrangement:
    """Return up to *count* tiles of a set, played as a line inside *area*.

    Joined halves show the same number, and doubles are crosswise. If the first tile is a double, it may be a spinner,
    which can also be played on at its tips. Each join names the touching half, or None for the side of a crosswise
    double.
    """
    line = GrowingLine(look, area, largest_gap_mm, left=list(all_pip_pairs(max_pips)))
    doubles = [tile for tile in line.left if tile[0] == tile[1]]
    opens_double = rng.random() < 0.6
    choices = doubles if opens_double else [tile for tile in line.left if tile[0] != tile[1]]
    first = choices[int(rng.integers(len(choices)))]
    shift = rng.uniform(-0.15, 0.15, 2) * (area.width_mm, area.height_mm)
    heading = theta_rad + math.pi / 2 * int(rng.integers(0, 4))
    line.placed.append(PlacedTile(first, (float(shift[0]), float(shift[1])), heading))
    line.left.remove(first)
    if opens_double:
        open_around(line, 0, heading + math.pi / 2, is_spinner=rng.random() < 0.7)
        open_around(line, 0, heading - math.pi / 2, is_spinner=False)
    else:
        open_tile(line, 0, 0)
        open_tile(line, 0, 1)
    while len(line.placed) < count and grow(line, rng):
        pass
    return line.arrangement()


def open_arms(line: GrowingLine, arms: Arms, rng: np.random.Generator) -> None:
    """Open six arms at the first tile, a double, each at a random angle."""
    (placed,), look = line.placed, line.look
    assert placed.pips is not None
    outer_mm = look.length_mm / 2 if arms is Arms.CORNERS else look.length_mm / 2 - look.width_mm * 0.22
    for side in (1, -1):
        for place in (-1, 0, 1):
            # Angles relative to the starter: 0 is along its long axis, pi / 2 is perpendicular to its side.
            lean = rng.uniform(0.45, 1.0) if arms is Arms.CORNERS else rng.uniform(0.3, 0.75)
            along = place * outer_mm if place else rng.normal(0, 0.02) * look.length_mm
            heading = placed.theta_rad + side * (math.pi / 2 - (place * lean if place else rng.normal(0, 0.02)))
            edge = point_ahead(placed.center_mm, placed.theta_rad, along, side * look.width_mm / 2)
            line.ends.append(GrowingEnd(0, None, edge, heading, placed.pips[0], is_arm=True))


def starter(
    rng: np.random.Generator,
    count: int,
    max_pips: int,
    area: Area,
    look: TileLook,
    *,
    arms: Arms,
    largest_gap_mm: float = 2.0,
    theta_rad: float = 0.0,
) -> Arrangement:
    """Return up to *count* tiles in six arms around a double. Joins to the double have half None."""
    line = GrowingLine(look, area, largest_gap_mm, left=list(all_pip_pairs(max_pips)))
    pips = int(rng.integers(0, max_pips + 1))
    line.placed.append(PlacedTile((pips, pips), (0.0, 0.0), theta_rad))
    line.left.remove((pips, pips))
    open_arms(line, arms, rng)
    while len(line.placed) < count and grow(line, rng):
        pass
    return line.arrangement()


def stacked_on(rng: np.random.Generator, below: PlacedTile, look: TileLook, stack_look: int = 0) -> PlacedTile:
    """Return the same tile in the look *stack_look*, stacked on *below* with a small misalignment."""
    shift = rng.normal(0, 0.025 * look.width_mm, 2)
    center = (below.center_mm[0] + float(shift[0]), below.center_mm[1] + float(shift[1]))
    theta_rad = below.theta_rad + rng.normal(0, 0.025)
    return PlacedTile(below.pips, center, theta_rad, below.height_mm + look.thickness_mm, stack_look)
