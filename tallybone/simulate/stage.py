"""Keep the table while a script goes on: the clock, the tiles, the light; and take the shots that show it."""

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
from tallybone.simulate.items import FramePlan, Lying, NowLying, Planned, SimulatedInput, Zone
from tallybone.simulate.pushes import CameraPush
from tallybone.simulate.room import Manners, Room

_NS_PER_S = 1_000_000_000
# A hand whose fingertips are so far beside the picture shows no shadow in it any more.
_SHADOW_MM = 60.0
# The light swells and fades once in so many seconds.
_DRIFT_S = (35.0, 90.0)
# Share of a jump of the exposure that a camera makes in each frame.
_PER_FRAME = 0.6
# A camera is never pushed farther from where it hung.
_MOST_BUMP_PX, _MOST_TURN = 10.0, 0.25


class TableStage:
    """The table in front of the camera; its methods yield the items that show their actions."""

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
        """Return how many frames are in a time, at least one."""
        return max(1, round(seconds * self._fps))

    def drawn(self, span: tuple[float, float]) -> float:
        """Return a number within a span, at random."""
        return float(self.rng.uniform(*span))

    def happens(self, chance: float) -> bool:
        """Return whether something happens that has this chance."""
        return bool(self.rng.random() < chance)

    @property
    def between_ns(self) -> int:
        """The time between the last frame and the next."""
        return self.t_ns + self._frame_ns // 2

    def hear(self, said: ByHand) -> SimulatedInput:
        """Return an input that comes between the last frame and the next."""
        return SimulatedInput(self.between_ns, said)

    def still(self, seconds: float) -> Iterator[Planned]:
        """Yield a table on which nobody does anything."""
        return self.show([None] * self.frames(seconds))

    def show(self, poses: Iterable[Pose | None]) -> Iterator[Planned]:
        """Yield frames of a hand that moves, or of none; before each, where the camera points if it is pushed."""
        for pose in poses:
            pushed = self._pushes.popleft() if self._pushes else None
            if pushed is not None:
                self._pushed = pushed
                yield self._lie()
            yield self._shot(pose)

    def now_lie(self, zone: Zone, tiles: Sequence[PlacedTile]) -> NowLying:
        """Put other tiles into a zone, and return how all lie now."""
        self.lying[zone] = tuple(tiles)
        return self._lie()

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
        """Return how a seat reaches for a place."""
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
        """Yield a hand that brings tiles, puts them down, which may be heard, and leaves."""
        way = self.gesture(seat, middle_of(tiles), seconds=seconds, brings=tiles, is_lifting=is_lifting)
        yield from self.show(way.come)
        if heard is not None:
            yield self.hear(heard)
        yield self.now_lie(zone, (*self.lying[zone], *tiles))
        yield from self.show((*way.stay, *way.go))

    def take(
        self, seat: int, tiles: Sequence[PlacedTile], *, seconds: float, is_lifting: bool = True
    ) -> Iterator[Planned]:
        """Yield a hand that comes, takes tiles from whatever zones they lie in, and leaves with them."""
        way = self.gesture(seat, middle_of(tiles), seconds=seconds, takes=tiles, is_lifting=is_lifting)
        yield from self.show((*way.come, *way.stay))
        taken = set(tiles)
        for zone, there in self.lying.items():
            self.lying[zone] = tuple(tile for tile in there if tile not in taken)
        yield self._lie()
        yield from self.show(way.go)

    def rest_beside(self, poses: Iterable[Pose]) -> None:
        """Let a hand be seen beside the next poses."""
        self._beside.extend(pose.reach for pose in poses)

    def expose(self) -> None:
        """Let the exposure jump."""
        self._goal = 1.0 + self.drawn((-self.manners.step, self.manners.step))

    def push_camera(self) -> NowLying:
        """Bump the camera, and return how the tiles lie in its picture now."""
        by, turn = self.manners.bump_px, self._bump[2] + self.drawn((-0.06, 0.06))
        x, y = (float(np.clip(self._bump[at] + self.drawn((-by, by)), -_MOST_BUMP_PX, _MOST_BUMP_PX)) for at in (0, 1))
        self._bump = (x, y, float(np.clip(turn, -_MOST_TURN, _MOST_TURN)))
        return self._lie()

    def push_as(self, push: CameraPush, gesture_s: float) -> None:
        """Let the camera be pushed in the coming frames, of which a gesture takes so many seconds."""
        self._pushes.extend(push.frames(self._pushed, gesture_frames=self.frames(gesture_s), fps=self._fps))

    @property
    def _aimed(self) -> Bump:
        """Where the camera points: small bumps simply add up."""
        (x, y, turn), (more_x, more_y, more_turn) = self._bump, self._pushed
        return (x + more_x, y + more_y, turn + more_turn)

    def _lie(self) -> NowLying:
        tiles = tuple(Lying(tile, zone) for zone, there in self.lying.items() for tile in there)
        return NowLying(self.between_ns, tiles, self._aimed)

    def _shot(self, pose: Pose | None) -> FramePlan:
        """Return the next frame, with a hand or without."""
        self.t_ns += self._frame_ns
        self._gain += _PER_FRAME * (self._goal - self._gain)
        swell = 1 + self.manners.drift * math.sin(2 * math.pi * self.t_ns / _NS_PER_S / self._drift_s + self._phase)
        warm = 1 + 0.3 * (swell - 1)
        reaches = () if pose is None else (pose.reach,)
        if self._beside:
            reaches = (self._beside.popleft(), *reaches)
        tiles = tuple(tile for there in self.lying.values() for tile in there)
        shadowed = self.room.seen.grown(_SHADOW_MM)
        # The light is no motion.
        in_sight = tuple(reach for reach in reaches if shadowed.holds(reach.tip_mm))
        if (shown := (tiles, in_sight, self._aimed)) != self._shown:
            self.last_motion_ns, self._shown = self.t_ns, shown
        moment = Moment(
            tiles,
            reaches,
            () if pose is None else pose.moving,
            gain=self._gain * swell,
            cast_bgr=(1 / warm, 1.0, warm),
            bump=self._aimed,
        )
        return FramePlan(self.t_ns, moment)


def middle_of(tiles: Sequence[PlacedTile]) -> Point:
    """Return the middle of tiles on the table."""
    x, y = np.mean([tile.center_mm for tile in tiles], axis=0).tolist()
    return (x, y)
