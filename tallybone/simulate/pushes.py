"""Push the camera or tiles of a simulated table, and track the true positions of the tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from engine import Layout, Node, NodeId
from synthetic.render.look_types import TileLook
from synthetic.render.motion import Bump
from synthetic.render.scene import PlacedTile
from tallybone.session.touching import Footprint, Laid, Point, Quad, distance, overlap
from tallybone.simulate.hands import moved
from tallybone.simulate.scenes import placed_tile

# Range of the shift and standard deviation of the rotation of a pushed tile, and maximum gap to the tile that it joins.
_PUSH_MM, _TURN_RAD, _MAX_GAP_MM = (1.0, 3.0), 0.015, 3.0
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
        when: Moment of the play.
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
            gesture_frames: Duration of the play's gesture.
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
            if self._fits(node, after, look):
                x, y = self._shifts[node.id]
                self.tiles[node.id], self._shifts[node.id] = after, (x + shift[0], y + shift[1])
                return before, after
        return None

    def _fits(self, node: Node, tile: PlacedTile, look: TileLook) -> bool:
        assert node.joins is not None  # the first tile is never pushed
        outline = _outline(tile, look)
        others = {id_: _outline(other, look) for id_, other in self.tiles.items() if id_ != node.id}
        is_near = distance(outline, others[node.joins.host]) <= _MAX_GAP_MM
        return is_near and not any(overlap(outline, other) for other in others.values())


def _outline(tile: PlacedTile, look: TileLook) -> Quad:
    return Footprint.square(tile.center_mm, tile.theta_rad, look.width_mm).outline()
