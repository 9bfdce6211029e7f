"""Animate hands over a table frame by frame: they bring and take tiles, rest, knock and push."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from synthetic.render.layouts import draw_reach
from synthetic.render.look_types import TileLook
from synthetic.render.placements import Area
from synthetic.render.scene import PlacedTile, Reach
from tallybone.session.touching import Point

# Height of fingertips above a tile when they touch it, and additional height while the hand moves.
_TOUCHING_MM, _LIFTED_MM = 2.0, 42.0
# Height of a carried tile relative to the additional height of the fingertips.
_CARRY_HEIGHT = 0.8
# Distance of the fingertips beyond the middle of the tile, in the direction of the hand.
_OVER_MM = 7.0
# Shares of a gesture's duration that a hand spends on its way in and at its destination.
_COMING, _STAYING = 0.46, 0.1
_MIN_FRAMES = 6


@dataclass(frozen=True, slots=True)
class Pose:
    """A hand in a frame, and the tiles that move with the hand."""

    reach: Reach
    moving: tuple[PlacedTile, ...] = ()


@dataclass(frozen=True, slots=True)
class Gesture:
    """Poses of a hand that moves from its waiting position to a destination and back.

    Attributes:
        come: Poses on the way in. The last is at the destination.
        stay: Poses at the destination.
        go: Poses on the way out.
    """

    come: tuple[Pose, ...]
    stay: tuple[Pose, ...]
    go: tuple[Pose, ...]


def draw_hand(rng: np.random.Generator, look: TileLook) -> Reach:
    """Return a random hand with skin, sleeve, side and size. Its position is arbitrary."""
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
    """Return the gesture of a hand that reaches for a destination.

    Args:
        hand: The hand.
        start_mm: Waiting position.
        at_mm: Destination.
        frames: Duration of the gesture in frames. Fewer than 6 count as 6.
        look: Look of the tiles.
        brings: Tiles that the hand brings, at their final positions.
        takes: Tiles that the hand takes away, at their initial positions.
        is_lifting: True if the hand carries the tiles, False if it pushes them.
        stay: Number of frames at the destination, in addition to the ways in and out. None for 10 % of *frames*.
    """
    frames = max(frames, _MIN_FRAMES)
    coming = max(2, round(_COMING * frames))
    staying = max(1, round(_STAYING * frames)) if stay is None else stay
    going = max(2, frames - coming - max(1, round(_STAYING * frames)))
    heading = math.atan2(at_mm[1] - start_mm[1], at_mm[0] - start_mm[0])
    # Start farther away if the tiles are widely spread, so that all of them begin or end outside the picture.
    wide_mm = max((math.dist(tile.center_mm, at_mm) for tile in (*brings, *takes)), default=0.0)
    start_mm = (start_mm[0] - wide_mm * math.cos(heading), start_mm[1] - wide_mm * math.sin(heading))
    over = (at_mm[0] + _OVER_MM * math.cos(heading), at_mm[1] + _OVER_MM * math.sin(heading))

    def pose(away: float, tiles: Sequence[PlacedTile]) -> Pose:
        offset = (away * (start_mm[0] - over[0]), away * (start_mm[1] - over[1]))
        lift_mm = _LIFTED_MM * min(1.0, 2.5 * away)
        tip = (over[0] + offset[0], over[1] + offset[1])
        reach = replace(hand, tip_mm=tip, heading_rad=heading, height_mm=look.thickness_mm + _TOUCHING_MM + lift_mm)
        height_mm = _CARRY_HEIGHT * lift_mm if is_lifting else 0.0
        turn_rad = 0.5 * min(1.0, 2 * away) if is_lifting else 0.0
        return Pose(reach, tuple(moved(tile, offset, turn_rad, height_mm=height_mm) for tile in tiles))

    come = tuple(pose(1 - _eased(step / coming), brings) for step in range(1, coming))
    go = tuple(pose(_eased(step / going), takes) for step in range(1, going + 1))
    return Gesture((*come, pose(0.0, brings)), (pose(0.0, ()),) * staying, go)


def slide(gesture: Gesture, before: PlacedTile, after: PlacedTile, frames: int) -> Iterator[Pose]:
    """Yield poses of a hand that pushes a tile from *before* to *after*, starting at the destination of *gesture*."""
    reach = gesture.come[-1].reach
    for step in range(1, frames + 1):
        share = step / frames
        x, y = (share * (new - old) for old, new in zip(before.center_mm, after.center_mm, strict=True))
        tile = moved(before, (x, y), share * (after.theta_rad - before.theta_rad))
        yield Pose(replace(reach, tip_mm=(reach.tip_mm[0] + x, reach.tip_mm[1] + y)), (tile,))


def moved(tile: PlacedTile, by_mm: Point, turn_rad: float, *, height_mm: float = 0.0) -> PlacedTile:
    """Return a tile shifted by *by_mm*, rotated by *turn_rad*, and raised to at least *height_mm*."""
    center = (tile.center_mm[0] + by_mm[0], tile.center_mm[1] + by_mm[1])
    height_mm = max(tile.height_mm, height_mm)
    return replace(tile, center_mm=center, theta_rad=tile.theta_rad + turn_rad, height_mm=height_mm)


def _eased(share: float) -> float:
    """Return the completed share of a movement that accelerates and decelerates smoothly, for a *share* of its time."""
    return share * share * (3 - 2 * share)
