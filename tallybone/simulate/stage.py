"""State of the table during a script: clock, tiles, light and camera, and the frames that show it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from synthetic.render.motion import STRAIGHT, Bump, Moment
from synthetic.render.scene import PlacedTile, Reach
from tallybone.session.sitting import ByHand
from tallybone.session.touching import Point
from tallybone.simulate.hands import Gesture, Pose, draw_hand, reach_for
from tallybone.simulate.items import FramePlan, Planned, SimulatedInput, TilesPlan, Zone, ZonedTile
from tallybone.simulate.pushes import CameraPush
from tallybone.simulate.room import Manners, Room

_NS_PER_S = 1_000_000_000
# Maximum distance from the picture at which a hand outside it may still cast a visible shadow.
_SHADOW_MM = 60.0
# Range of the period of slow changes of the light.
_DRIFT_S = (35.0, 90.0)
# Share of the remaining change of exposure that happens in each frame.
_PER_FRAME = 0.6
# Maximum shift, right and down, and rotation in degrees by random bumps, relative to the start.
_MAX_BUMP_PX, _MAX_TURN = 10.0, 0.25


class TableStage:
    """A table in front of the camera. Its methods yield the items that show their actions."""

    def __init__(self, room: Room, *, manners: Manners, players: int, fps: int, rng: np.random.Generator) -> None:
        """Start with an empty table at time 0."""
        self.room, self.manners, self.rng = room, manners, rng
        self.look = room.scene.tile
        self.t_ns = 0
        self.last_motion_ns = 0
        self.lying: dict[Zone, tuple[PlacedTile, ...]] = dict.fromkeys(Zone, ())
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
        self.lying[zone] = tuple(tiles)
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
        """Return the gesture of a seat's hand that reaches for *at_mm*."""
        return reach_for(
            self._hands[seat],
            start_mm=self.room.body_mm(seat, self.drawn((-1.0, 1.0))),
            at_mm=at_mm,
            frames=self.frames(seconds),
            look=self.look,
            brings=brings,
            takes=takes,
            is_lifting=is_lifting,
            stay=stay,
        )

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
        yield self.set_tiles(zone, (*self.lying[zone], *tiles))
        yield from self.show((*gesture.stay, *gesture.go))

    def take(
        self, seat: int, tiles: Sequence[PlacedTile], *, seconds: float, is_lifting: bool = True
    ) -> Iterator[Planned]:
        """Yield a hand that takes tiles from any zones and leaves with them."""
        gesture = self.gesture(seat, middle_of(tiles), seconds=seconds, takes=tiles, is_lifting=is_lifting)
        yield from self.show((*gesture.come, *gesture.stay))
        removed = set(tiles)
        for zone, zone_tiles in self.lying.items():
            self.lying[zone] = tuple(tile for tile in zone_tiles if tile not in removed)
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
        tiles = tuple(ZonedTile(tile, zone) for zone, zone_tiles in self.lying.items() for tile in zone_tiles)
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
        tiles = tuple(tile for zone_tiles in self.lying.values() for tile in zone_tiles)
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
