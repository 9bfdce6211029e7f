"""Move hands over a table, frame by frame: they bring tiles, take them away, rest, knock, push."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from synthetic.render.look_types import TileLook
from synthetic.render.placements import Area
from synthetic.render.scene import PlacedTile, Reach
from synthetic.render.seats import draw_reach
from tallybone.session.touching import Point

# Over the table: fingertips that hold a tile are above it, and those on their way still higher.
_TOUCHING_MM, _LIFTED_MM = 2.0, 42.0
# A tile in the fingers hangs so much lower than they are lifted.
_HANGS = 0.8
# The fingertips reach over the middle of the tile that they hold.
_OVER_MM = 7.0
# Shares of a gesture: on the way in, and at the place.
_COMING, _STAYING = 0.46, 0.1
_FEWEST_FRAMES = 6


@dataclass(frozen=True, slots=True)
class Pose:
    """A hand in one frame, and the tiles that move with it."""

    reach: Reach
    moving: tuple[PlacedTile, ...] = ()


@dataclass(frozen=True, slots=True)
class Gesture:
    """A hand from where it waits to a place and back.

    Attributes:
        come: On its way in, the last at the place.
        stay: At the place.
        go: On its way out.
    """

    come: tuple[Pose, ...]
    stay: tuple[Pose, ...]
    go: tuple[Pose, ...]


def draw_hand(rng: np.random.Generator, look: TileLook) -> Reach:
    """Return the hand of a person: skin, sleeve, left or right, size; its place has no meaning yet."""
    drawn = draw_reach(rng, Area(1.0, 1.0), look)
    return replace(drawn, curl=float(rng.uniform(0.45, 0.75)), spread=float(rng.uniform(0.1, 0.4)))


def reach_for(
    hand: Reach,
    *,
    start_mm: Point,
    at_mm: Point,
    frames: int,
    look: TileLook,
    brings: Sequence[PlacedTile] = (),
    takes: Sequence[PlacedTile] = (),
    is_lifting: bool = True,
    stay: int | None = None,
) -> Gesture:
    """Return a gesture.

    Args:
        hand: Whose hand.
        start_mm: Where it waits.
        at_mm: The place it goes to.
        frames: How long all of it takes.
        look: Of the tiles.
        brings: Tiles that it has with it, as they will lie.
        takes: Tiles that it takes with it, as they lie.
        is_lifting: Whether it carries them; otherwise it pushes them.
        stay: How many frames it stays; None for as many as are usual.
    """
    frames = max(frames, _FEWEST_FRAMES)
    coming = max(2, round(_COMING * frames))
    staying = max(1, round(_STAYING * frames)) if stay is None else stay
    going = max(2, frames - coming - max(1, round(_STAYING * frames)))
    heading = math.atan2(at_mm[1] - start_mm[1], at_mm[0] - start_mm[0])
    # Many tiles are out of sight only when the last of them is.
    wide_mm = max((math.dist(tile.center_mm, at_mm) for tile in (*brings, *takes)), default=0.0)
    start_mm = (start_mm[0] - wide_mm * math.cos(heading), start_mm[1] - wide_mm * math.sin(heading))
    over = (at_mm[0] + _OVER_MM * math.cos(heading), at_mm[1] + _OVER_MM * math.sin(heading))

    def pose(away: float, tiles: Sequence[PlacedTile]) -> Pose:
        by = (away * (start_mm[0] - over[0]), away * (start_mm[1] - over[1]))
        lift_mm = _LIFTED_MM * min(1.0, 2.5 * away)
        tip = (over[0] + by[0], over[1] + by[1])
        reach = replace(hand, tip_mm=tip, heading_rad=heading, height_mm=look.thickness_mm + _TOUCHING_MM + lift_mm)
        height_mm = _HANGS * lift_mm if is_lifting else 0.0
        turn_rad = 0.5 * min(1.0, 2 * away) if is_lifting else 0.0
        return Pose(reach, tuple(moved(tile, by, turn_rad, height_mm=height_mm) for tile in tiles))

    come = tuple(pose(1 - _eased(step / coming), brings) for step in range(1, coming))
    go = tuple(pose(_eased(step / going), takes) for step in range(1, going + 1))
    return Gesture((*come, pose(0.0, brings)), (pose(0.0, ()),) * staying, go)


def slide(gesture: Gesture, before: PlacedTile, after: PlacedTile, frames: int) -> Iterator[Pose]:
    """Yield a hand that pushes a tile, at the place of a gesture, from where it lay to where it will lie."""
    reach = gesture.come[-1].reach
    for step in range(1, frames + 1):
        share = step / frames
        x, y = (share * (new - old) for old, new in zip(before.center_mm, after.center_mm, strict=True))
        tile = moved(before, (x, y), share * (after.theta_rad - before.theta_rad))
        yield Pose(replace(reach, tip_mm=(reach.tip_mm[0] + x, reach.tip_mm[1] + y)), (tile,))


def moved(tile: PlacedTile, by_mm: Point, turn_rad: float, *, height_mm: float = 0.0) -> PlacedTile:
    """Return a tile elsewhere, turned, and lifted to a height where it does not lie higher already."""
    center = (tile.center_mm[0] + by_mm[0], tile.center_mm[1] + by_mm[1])
    height_mm = max(tile.height_mm, height_mm)
    return replace(tile, center_mm=center, theta_rad=tile.theta_rad + turn_rad, height_mm=height_mm)


def _eased(share: float) -> float:
    """Return how far a hand is on its way, which starts and ends gently."""
    return share * share * (3 - 2 * share)
