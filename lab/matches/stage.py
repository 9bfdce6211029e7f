"""State of the table during a script: clock, tiles, hands, pushes, light and camera, and the frames that show it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from engine import Layout, Node, NodeId
from lab.matches.game_script import FramePlan, Planned, SimulatedInput, TilesPlan, Zone, ZonedTile
from lab.matches.room import Manners, Room, placed_tile
from lab.render.layouts import draw_reach
from lab.render.paint import STRAIGHT, Bump, Moment
from lab.render.placements import Area
from lab.render.scene import PlacedTile, Reach, TileLook
from tallybone.session.places import Footprint, Laid, Point, Quad, distance, overlap
from tallybone.session.sitting import ByHand

# Height of fingertips above a tile when they touch it, and additional height while the hand moves.
_TOUCHING_MM = 2.0
_LIFTED_MM = 42.0
# Height of a carried tile relative to the additional height of the fingertips.
_CARRY_HEIGHT = 0.8
# Distance of the fingertips beyond the middle of the tile, in the direction of the hand.
_OVER_MM = 7.0
# Shares of a gesture's duration that a hand spends on its way in and at its destination.
_COMING = 0.46
_STAYING = 0.1
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
    """

    come: tuple[Pose, ...]
    stay: tuple[Pose, ...]
    go: tuple[Pose, ...]


def draw_hand(rng: np.random.Generator, look: TileLook) -> Reach:
    """Return a random hand with skin, sleeve, side and size. Its position is arbitrary."""
    drawn = draw_reach(rng, Area(1.0, 1.0), look)
    return replace(drawn, curl=float(rng.uniform(0.45, 0.75)), spread=float(rng.uniform(0.1, 0.4)))


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


# Range of the shift and standard deviation of the rotation of a pushed tile, and maximum gap to the tile that it joins.
_PUSH_MM = (1.0, 3.0)
_TURN_RAD = 0.015
_MAX_GAP_MM = 3.0
_TRIES = 16


class PushTime(StrEnum):
    """Moment of a play at which the camera is pushed."""

    BEFORE = "before"
    HAND = "hand"
    LAYING = "laying"


# Share of the play's gesture after which each kind of push begins. A hand is over the table at 0.3, and puts down its
# tile at 0.46.
_SHARES = {PushTime.BEFORE: 0.0, PushTime.HAND: 0.3, PushTime.LAYING: 0.46}


@dataclass(frozen=True, slots=True)
class CameraPush:
    """A push of the camera.

    Attributes:
        play: Number of the play in the sitting, from 1.
        right_px, down_px, degrees: Final displacement from the start of the sitting, as in a `Bump`.
        seconds: Duration. 0 for an instant push, more for a slow slip.
    """

    play: int
    when: PushTime
    right_px: float
    down_px: float
    degrees: float
    seconds: float = 0.0

    @property
    def bump(self) -> Bump:
        """Final displacement of the camera."""
        return (self.right_px, self.down_px, self.degrees)

    def frames(self, before: Bump, *, gesture_frames: int, fps: int) -> Iterator[Bump | None]:
        """Yield the displacement of the camera in each of the next frames, or None for no change, until the push ends.

        Args:
            before: Displacement before the push.
            fps: Frames per second.
        """
        for _ in range(round(_SHARES[self.when] * gesture_frames)):
            yield None
        steps = max(1, round(self.seconds * fps))
        for step in range(1, steps + 1):
            x, y, turn = (old + (new - old) * step / steps for old, new in zip(before, self.bump, strict=True))
            yield (x, y, turn)


@dataclass(slots=True)
class LayoutPositions:
    """Positions of the tiles of the layout. A tile that joins a pushed tile later is shifted by the same amount."""

    tiles: dict[NodeId, PlacedTile] = field(default_factory=dict)
    _shifts: dict[NodeId, Point] = field(default_factory=dict)

    def place(self, node: Node, laid: Laid) -> PlacedTile:
        """Add a new tile and return its position."""
        shift = (0.0, 0.0) if node.joins is None else self._shifts[node.joins.host]
        tile = moved(placed_tile(laid, (node.inner, node.outer)), shift, 0.0)
        self.tiles[node.id], self._shifts[node.id] = tile, shift
        return tile

    def push(self, layout: Layout, look: TileLook, rng: np.random.Generator) -> tuple[PlacedTile, PlacedTile] | None:
        """Push a random end tile slightly. It does not overlap another tile and stays next to its neighbour.

        Returns:
            The tile before and after, or None if no tile can be pushed.
        """
        hosts = {node.joins.host for node in layout.nodes if node.joins is not None}
        free = [node for node in layout.nodes if node.joins is not None and node.id not in hosts | set(layout.stacked)]
        for _ in range(_TRIES if free else 0):
            node = free[int(rng.integers(len(free)))]
            before = self.tiles[node.id]
            direction, distance_mm = rng.uniform(-math.pi, math.pi), rng.uniform(*_PUSH_MM)
            shift = (float(distance_mm * math.cos(direction)), float(distance_mm * math.sin(direction)))
            after = moved(before, shift, float(rng.normal(0, _TURN_RAD)))
            assert node.joins is not None  # the first tile is never pushed
            outline = _outline(after, look)
            others = {id_: _outline(other, look) for id_, other in self.tiles.items() if id_ != node.id}
            is_near = distance(outline, others[node.joins.host]) <= _MAX_GAP_MM
            if is_near and not any(overlap(outline, other) for other in others.values()):
                x, y = self._shifts[node.id]
                self.tiles[node.id], self._shifts[node.id] = after, (x + shift[0], y + shift[1])
                return before, after
        return None


def _outline(tile: PlacedTile, look: TileLook) -> Quad:
    return Footprint.square(tile.center_mm, tile.theta_rad, look.width_mm).outline()


_NS_PER_S = 1_000_000_000
# Maximum distance from the picture at which a hand outside it may still cast a visible shadow.
_SHADOW_MM = 60.0
# Range of the period of slow changes of the light.
_DRIFT_S = (35.0, 90.0)
# Share of the remaining change of exposure that happens in each frame.
_PER_FRAME = 0.6
# Maximum shift, right and down, and rotation in degrees by random bumps, relative to the start.
_MAX_BUMP_PX = 10.0
_MAX_TURN = 0.25


class TableStage:
    """A table in front of the camera. Its methods yield the items that show their actions."""

    def __init__(self, room: Room, *, manners: Manners, players: int, fps: int, rng: np.random.Generator) -> None:
        self.room, self.manners, self.rng = room, manners, rng
        self.look = room.scene.tile
        self.t_ns = 0
        self.last_motion_ns = 0
        self.outside: dict[Zone, tuple[PlacedTile, ...]] = dict.fromkeys(Zone, ())
        self._hands = tuple(draw_hand(rng, self.look) for _ in range(players))
        self._fps, self._frame_ns = fps, _NS_PER_S // fps
        self._beside: deque[Reach] = deque()
        self._gain, self._goal = 1.0, 1.0
        self._bump: Bump = STRAIGHT
        self._pushed: Bump = STRAIGHT
        self._pushes: deque[Bump | None] = deque()
        self._shown: tuple[object, ...] = ()
        self._drift_s, self._phase = rng.uniform(*_DRIFT_S), rng.uniform(0, 2 * math.pi)

    def frames(self, seconds: float) -> int:
        """Return the number of frames in *seconds*, at least 1."""
        return max(1, round(seconds * self._fps))

    def drawn(self, span: tuple[float, float]) -> float:
        """Return a random number in *span*."""
        return float(self.rng.uniform(*span))

    def happens(self, chance: float) -> bool:
        """Return True with probability *chance*."""
        return bool(self.rng.random() < chance)

    @property
    def between_ns(self) -> int:
        """Time halfway between the last frame and the next."""
        return self.t_ns + self._frame_ns // 2

    def enter(self, value: ByHand) -> SimulatedInput:
        """Return an input between the last frame and the next."""
        return SimulatedInput(self.between_ns, value)

    def still(self, seconds: float) -> Iterator[Planned]:
        """Yield frames without hands."""
        return self.show([None] * self.frames(seconds))

    def show(self, poses: Iterable[Pose | None]) -> Iterator[Planned]:
        """Yield a frame for each pose, without a hand for None.

        Before a frame in which the camera moves, yield the positions.
        """
        for pose in poses:
            pushed = self._pushes.popleft() if self._pushes else None
            if pushed is not None:
                self._pushed = pushed
                yield self._tiles_plan()
            yield self._frame(pose)

    def set_tiles(self, zone: Zone, tiles: Sequence[PlacedTile]) -> TilesPlan:
        """Replace the tiles of a zone, and return the positions of all tiles."""
        self.outside[zone] = tuple(tiles)
        return self._tiles_plan()

    def gesture(
        self,
        seat: int,
        at_mm: Point,
        *,
        seconds: float,
        brings: Sequence[PlacedTile] = (),
        takes: Sequence[PlacedTile] = (),
        is_lifting: bool = True,
        stay: int | None = None,
    ) -> Gesture:
        """Return the gesture of a seat's hand that reaches for *at_mm*.

        Args:
            seconds: Duration of the gesture, at least 6 frames.
            brings: Tiles that the hand brings, at their final positions.
            takes: Tiles that the hand takes away, at their initial positions.
            is_lifting: True if the hand carries the tiles, False if it pushes them.
            stay: Number of frames at the destination, in addition to the ways in and out. None for 10 % of the time.
        """
        hand, start_mm = self._hands[seat], self.room.waiting_mm(seat, self.drawn((-1.0, 1.0)))
        frames = max(self.frames(seconds), _MIN_FRAMES)
        coming, staying = max(2, round(_COMING * frames)), max(1, round(_STAYING * frames))
        going = max(2, frames - coming - staying)
        heading = math.atan2(at_mm[1] - start_mm[1], at_mm[0] - start_mm[0])
        # Start farther away if the tiles are widely spread, so that all of them begin or end outside the picture.
        wide_mm = max((math.dist(tile.center_mm, at_mm) for tile in (*brings, *takes)), default=0.0)
        start_mm = (start_mm[0] - wide_mm * math.cos(heading), start_mm[1] - wide_mm * math.sin(heading))
        over = (at_mm[0] + _OVER_MM * math.cos(heading), at_mm[1] + _OVER_MM * math.sin(heading))

        def pose(away: float, tiles: Sequence[PlacedTile]) -> Pose:
            offset = (away * (start_mm[0] - over[0]), away * (start_mm[1] - over[1]))
            lift_mm = _LIFTED_MM * min(1.0, 2.5 * away)
            tip, height_mm = (over[0] + offset[0], over[1] + offset[1]), self.look.thickness_mm + _TOUCHING_MM + lift_mm
            reach = replace(hand, tip_mm=tip, heading_rad=heading, height_mm=height_mm)
            height_mm = _CARRY_HEIGHT * lift_mm if is_lifting else 0.0
            turn_rad = 0.5 * min(1.0, 2 * away) if is_lifting else 0.0
            return Pose(reach, tuple(moved(tile, offset, turn_rad, height_mm=height_mm) for tile in tiles))

        come = tuple(pose(1 - _eased(step / coming), brings) for step in range(1, coming))
        go = tuple(pose(_eased(step / going), takes) for step in range(1, going + 1))
        return Gesture((*come, pose(0.0, brings)), (pose(0.0, ()),) * (staying if stay is None else stay), go)

    def put(
        self,
        seat: int,
        tiles: Sequence[PlacedTile],
        zone: Zone,
        *,
        seconds: float,
        heard: ByHand | None = None,
        is_lifting: bool = True,
    ) -> Iterator[Planned]:
        """Yield a hand that brings tiles, puts them down and leaves. *heard* is an input at the moment of contact."""
        gesture = self.gesture(seat, middle_of(tiles), seconds=seconds, brings=tiles, is_lifting=is_lifting)
        yield from self.show(gesture.come)
        if heard is not None:
            yield self.enter(heard)
        yield self.set_tiles(zone, (*self.outside[zone], *tiles))
        yield from self.show((*gesture.stay, *gesture.go))

    def take(
        self, seat: int, tiles: Sequence[PlacedTile], *, seconds: float, is_lifting: bool = True
    ) -> Iterator[Planned]:
        """Yield a hand that takes tiles from any zones and leaves with them."""
        gesture = self.gesture(seat, middle_of(tiles), seconds=seconds, takes=tiles, is_lifting=is_lifting)
        yield from self.show((*gesture.come, *gesture.stay))
        removed = set(tiles)
        for zone, zone_tiles in self.outside.items():
            self.outside[zone] = tuple(tile for tile in zone_tiles if tile not in removed)
        yield self._tiles_plan()
        yield from self.show(gesture.go)

    def rest_beside(self, poses: Iterable[Pose]) -> None:
        """Show another hand in the next frames, in addition to the hand of their own poses."""
        self._beside.extend(pose.reach for pose in poses)

    def expose(self) -> None:
        """Change the exposure by a random step."""
        self._goal = 1.0 + self.drawn((-self.manners.step, self.manners.step))

    def push_camera(self) -> TilesPlan:
        """Bump the camera randomly, and return the positions of all tiles and of the camera."""
        by, turn = self.manners.bump_px, self._bump[2] + self.drawn((-0.06, 0.06))
        x, y = (float(np.clip(self._bump[at] + self.drawn((-by, by)), -_MAX_BUMP_PX, _MAX_BUMP_PX)) for at in (0, 1))
        self._bump = (x, y, float(np.clip(turn, -_MAX_TURN, _MAX_TURN)))
        return self._tiles_plan()

    def push_as(self, push: CameraPush, gesture_s: float) -> None:
        """Schedule a camera push after those already scheduled, at `push.when` of a gesture of *gesture_s* seconds."""
        self._pushes.extend(push.frames(self._pushed, gesture_frames=self.frames(gesture_s), fps=self._fps))

    @property
    def _displacement(self) -> Bump:
        """Sum of random bumps and scheduled pushes. Rotations are small enough to add up."""
        (x, y, turn), (more_x, more_y, more_turn) = self._bump, self._pushed
        return (x + more_x, y + more_y, turn + more_turn)

    def _tiles_plan(self) -> TilesPlan:
        tiles = tuple(ZonedTile(tile, zone) for zone, zone_tiles in self.outside.items() for tile in zone_tiles)
        return TilesPlan(self.between_ns, tiles, self._displacement)

    def _frame(self, pose: Pose | None) -> FramePlan:
        """Advance the clock and return the next frame, with or without a hand."""
        self.t_ns += self._frame_ns
        self._gain += _PER_FRAME * (self._goal - self._gain)
        swell = 1 + self.manners.drift * math.sin(2 * math.pi * self.t_ns / _NS_PER_S / self._drift_s + self._phase)
        warm = 1 + 0.3 * (swell - 1)
        reaches = () if pose is None else (pose.reach,)
        if self._beside:
            reaches = (self._beside.popleft(), *reaches)
        tiles = tuple(tile for zone_tiles in self.outside.values() for tile in zone_tiles)
        shadowed = self.room.seen.grown(_SHADOW_MM)
        # Changes of the light do not count as motion.
        visible = tuple(reach for reach in reaches if shadowed.holds(reach.tip_mm))
        if (shown := (tiles, visible, self._displacement)) != self._shown:
            self.last_motion_ns, self._shown = self.t_ns, shown
        moment = Moment(
            tiles,
            reaches,
            () if pose is None else pose.moving,
            gain=self._gain * swell,
            cast_bgr=(1 / warm, 1.0, warm),
            bump=self._displacement,
        )
        return FramePlan(self.t_ns, moment)


def middle_of(tiles: Sequence[PlacedTile]) -> Point:
    """Return the mean of the tiles' centres."""
    x, y = np.mean([tile.center_mm for tile in tiles], axis=0).tolist()
    return (x, y)
