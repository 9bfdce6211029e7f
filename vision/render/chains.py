"""Lay tiles as a domino game does: a line with crosswise doubles, elbows and a spinner with branches."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from vision.reading import Join
from vision.render.look_types import TileLook
from vision.render.placements import Area, Layout, Pips, fits, full_set, is_free
from vision.render.scene import PlacedTile

# Tiles of a real line are pushed together crookedly, so that rectangles may overlap by this much.
_CROOKED_MM = -0.8


@dataclass(frozen=True, slots=True)
class _End:
    """An open end of the layout.

    Attributes:
        tile, half: What is open there; half None is the side of a crosswise double.
        edge_mm: Middle of the open edge.
        heading_rad: Direction outwards.
        pips: What must be joined.
    """

    tile: int
    half: int | None
    edge_mm: tuple[float, float]
    heading_rad: float
    pips: int


@dataclass(slots=True)
class _Line:
    """A layout while it grows."""

    look: TileLook
    area: Area
    largest_gap_mm: float
    placed: list[PlacedTile] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)
    ends: list[_End] = field(default_factory=list)
    left: list[Pips] = field(default_factory=list)


def _ahead(start_mm: tuple[float, float], heading_rad: float, along_mm: float, across_mm: float) -> tuple[float, float]:
    """Return the point *along_mm* ahead of a start and *across_mm* to its right."""
    cos, sin = math.cos(heading_rad), math.sin(heading_rad)
    return (start_mm[0] + along_mm * cos - across_mm * sin, start_mm[1] + along_mm * sin + across_mm * cos)


def _open_around(line: _Line, index: int, entry_rad: float, *, is_spinner: bool) -> None:
    """Open the far side of a crosswise double, and its tips if it is the spinner."""
    placed, look = line.placed[index], line.look
    assert placed.pips is not None
    pips = placed.pips[0]
    edge = _ahead(placed.center_mm, entry_rad, look.width_mm / 2, 0)
    line.ends.append(_End(index, None, edge, entry_rad, pips))
    if is_spinner:
        for half, heading in ((0, placed.theta_rad + math.pi), (1, placed.theta_rad)):
            tip = _ahead(placed.center_mm, heading, look.length_mm / 2, 0)
            line.ends.append(_End(index, half, tip, heading, pips))


def _open_tile(line: _Line, index: int, half: int) -> None:
    """Open *half* of a tile that is no double."""
    placed = line.placed[index]
    assert placed.pips is not None
    heading = placed.theta_rad + (math.pi if half == 0 else 0.0)
    edge = _ahead(placed.center_mm, heading, line.look.length_mm / 2, 0)
    line.ends.append(_End(index, half, edge, heading, placed.pips[half]))


def _candidates(line: _Line, end: _End, pips: Pips, rng: np.random.Generator) -> list[PlacedTile]:
    """Return ways to lay a tile, whose half 0 matches, against *end*: the best liked first."""
    look = line.look
    gap_mm = rng.uniform(0, line.largest_gap_mm)
    slip_mm, turn = rng.normal(0, 0.25 * line.largest_gap_mm), rng.normal(0, 0.006 * line.largest_gap_mm)
    heading = end.heading_rad
    crosswise = PlacedTile(
        pips,
        _ahead(end.edge_mm, heading, gap_mm + look.width_mm / 2, slip_mm),
        heading + math.pi / 2 + turn,
    )
    straight = PlacedTile(pips, _ahead(end.edge_mm, heading, gap_mm + look.length_mm / 2, slip_mm), heading + turn)
    if pips[0] == pips[1]:
        return [crosswise] if end.half is not None else []
    elbow_mm = look.length_mm / 2 - look.width_mm / 2
    elbows = [
        PlacedTile(
            pips,
            _ahead(end.edge_mm, heading, gap_mm + look.width_mm / 2, side * elbow_mm + slip_mm),
            heading + side * math.pi / 2 + turn,
        )
        for side in (1, -1)
    ]
    if end.half is None:
        return [straight]
    if rng.random() < 0.5:
        elbows.reverse()
    return [*elbows, straight] if rng.random() < 0.15 else [straight, *elbows]


def _grow(line: _Line, rng: np.random.Generator) -> bool:
    """Lay one more tile anywhere; return False if none fits."""
    for end_index in rng.permutation(len(line.ends)):
        end = line.ends[end_index]
        matching = [tile for tile in line.left if end.pips in tile]
        for tile_index in rng.permutation(len(matching))[:4]:
            tile = matching[tile_index]
            facing = tile if tile[0] == end.pips else (tile[1], tile[0])
            for placed in _candidates(line, end, facing, rng):
                if fits(placed, line.area, line.look) and is_free(placed, line.placed, line.look, _CROOKED_MM):
                    _attach(line, end, tile, placed, rng)
                    return True
    return False


def _attach(line: _Line, end: _End, tile: Pips, placed: PlacedTile, rng: np.random.Generator) -> None:
    """Put *placed* on the table; half 0 faces *end* until it is turned at random."""
    index = len(line.placed)
    line.left.remove(tile)
    line.ends.remove(end)
    is_double = tile[0] == tile[1]
    near_half, far_half = 0, 1
    if rng.random() < 0.5 and placed.pips is not None:
        near_half, far_half = 1, 0
        flipped = (placed.pips[1], placed.pips[0])
        placed = PlacedTile(flipped, placed.center_mm, placed.theta_rad + math.pi)
    line.placed.append(placed)
    line.joins.append(Join(end.tile, end.half, index, None if is_double else near_half))
    if is_double:
        _open_around(line, index, end.heading_rad, is_spinner=False)
    else:
        _open_tile(line, index, far_half)


def chain(
    rng: np.random.Generator,
    count: int,
    max_pips: int,
    area: Area,
    look: TileLook,
    *,
    largest_gap_mm: float = 2.0,
    theta_rad: float = 0.0,
) -> Layout:
    """Return up to *count* tiles of one set, laid as in a game inside *area*.

    Halves that meet show the same number; doubles lie crosswise; the first double may be a spinner that grows
    from its tips too. Each join names the half that touches, or None for the side of a crosswise double.
    """
    line = _Line(look, area, largest_gap_mm, left=list(full_set(max_pips)))
    doubles = [tile for tile in line.left if tile[0] == tile[1]]
    opens_double = rng.random() < 0.6
    choices = doubles if opens_double else [tile for tile in line.left if tile[0] != tile[1]]
    first = choices[int(rng.integers(len(choices)))]
    shift = rng.uniform(-0.15, 0.15, 2) * (area.width_mm, area.height_mm)
    heading = theta_rad + math.pi / 2 * int(rng.integers(0, 4))
    line.placed.append(PlacedTile(first, (float(shift[0]), float(shift[1])), heading))
    line.left.remove(first)
    if opens_double:
        is_spinner = bool(rng.random() < 0.7)
        _open_around(line, 0, heading + math.pi / 2, is_spinner=is_spinner)
        _open_around(line, 0, heading - math.pi / 2, is_spinner=False)
    else:
        _open_tile(line, 0, 0)
        _open_tile(line, 0, 1)
    while len(line.placed) < count and _grow(line, rng):
        pass
    return Layout(tuple(line.placed), tuple(line.joins))
