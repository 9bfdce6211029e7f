"""Place tiles as in a domino game: a line with crosswise doubles, elbows, a spinner or a starter with six arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from synthetic.render.growing import (
    GrowingEnd,
    GrowingLine,
    find_place,
    grow,
    open_around,
    open_tile,
    place_at,
    point_ahead,
)
from synthetic.render.look_types import TileLook
from synthetic.render.placements import Area, Arrangement, PipPair, all_pip_pairs
from synthetic.render.scene import PlacedTile


class Arms(StrEnum):
    """Origin of the six arms of a starter."""

    CORNERS = "corners"
    SIDES = "sides"


@dataclass(frozen=True, slots=True)
class ScriptedPlay:
    """A play of a scripted game.

    Attributes:
        pips: Numbers of half 0 and half 1.
        host: Index of the earlier play that it joins, or None for the first play.
        host_half: Half of the host, or None for the side of a crosswise double or an arm of a starter.
        is_stacked: True if it is placed on its host instead of beside it.
    """

    pips: PipPair
    host: int | None = None
    host_half: int | None = None
    is_stacked: bool = False


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
    _open_first(line, is_spinner=bool(opens_double and rng.random() < 0.7))
    while len(line.placed) < count and grow(line, rng):
        pass
    return line.arrangement()


def _open_first(line: GrowingLine, *, is_spinner: bool) -> None:
    """Open both ends of the first tile. A double opens at its sides, and at its tips if it is the spinner."""
    (placed,) = line.placed
    assert placed.pips is not None
    if placed.pips[0] == placed.pips[1]:
        open_around(line, 0, placed.theta_rad + math.pi / 2, is_spinner=is_spinner)
        open_around(line, 0, placed.theta_rad - math.pi / 2, is_spinner=False)
    else:
        open_tile(line, 0, 0)
        open_tile(line, 0, 1)


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


def lay_plays(
    rng: np.random.Generator,
    plays: tuple[ScriptedPlay, ...],
    area: Area,
    look: TileLook,
    *,
    largest_gap_mm: float = 1.0,
    theta_rad: float = 0.0,
    arms: Arms | None = None,
    stack_look: int = 0,
) -> Arrangement:
    """Place the tiles of a scripted game. Tile i of the layout is play i.

    Args:
        rng: Random generator.
        plays: Plays in order. Each joins an earlier play at an equal number. Placement stops at the first play that
            does not fit.
        area: Area that must contain every joined tile.
        look: Look with the size of the tiles.
        largest_gap_mm: Maximum gap between joined tiles.
        theta_rad: Direction of the first tile.
        arms: Origin of the arms if the first tile is a starter with six arms, or None.
        stack_look: Look of stacked tiles.

    Raises:
        ValueError: If a play names an end that is not open or does not match, or if a later play has no host.
    """
    line = GrowingLine(look, area, largest_gap_mm)
    for index, play in enumerate(plays):
        if play.host is None:
            if index > 0:
                raise ValueError(f"play {index}: expected a host, which only the first play lacks")
            line.placed.append(PlacedTile(play.pips, (0.0, 0.0), theta_rad))
            if arms is None or play.pips[0] != play.pips[1]:
                _open_first(line, is_spinner=True)
            else:
                open_arms(line, arms, rng)
        elif play.is_stacked:
            line.placed.append(stacked_on(rng, line.placed[play.host], look, stack_look))
        elif not _lay_given(line, play, index, rng):
            break
    return line.arrangement()


def _lay_given(line: GrowingLine, play: ScriptedPlay, index: int, rng: np.random.Generator) -> bool:
    """Place a play at one of the ends that match its host. Return False if none has room."""
    ends = [end for end in line.ends if (end.tile, end.half) == (play.host, play.host_half)]
    if not ends or ends[0].pips not in play.pips:
        raise ValueError(f"play {index}: expected an open end that matches {play.pips}, got {ends[:1]}")
    is_turned = play.pips[0] != ends[0].pips
    facing = (play.pips[1], play.pips[0]) if is_turned else play.pips
    for order in rng.permutation(len(ends)):
        placed = find_place(line, ends[order], facing, rng)
        if placed is not None:
            place_at(line, ends[order], placed, is_turned=is_turned, is_spinner=True)
            return True
    return False


def stacked_on(rng: np.random.Generator, below: PlacedTile, look: TileLook, stack_look: int = 0) -> PlacedTile:
    """Return the same tile in the look *stack_look*, stacked on *below* with a small misalignment."""
    shift = rng.normal(0, 0.025 * look.width_mm, 2)
    center = (below.center_mm[0] + float(shift[0]), below.center_mm[1] + float(shift[1]))
    theta_rad = below.theta_rad + rng.normal(0, 0.025)
    return PlacedTile(below.pips, center, theta_rad, below.height_mm + look.thickness_mm, stack_look)
