"""Push the camera or the laid tiles of a simulated table, and keep where the tiles really lie."""

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

# How far a tile is pushed, and turned; a gap to its neighbour grows to no more than the last.
_PUSH_MM, _TURN_RAD, _MOST_GAP_MM = (1.0, 3.0), 0.015, 3.0
_TRIES = 16


class PushTime(StrEnum):
    """When in a play the camera is pushed."""

    BEFORE = "before"
    HAND = "hand"
    LAYING = "laying"


# Shares of a gesture after which a hand is over the table, and after which it puts its tile down.
_SHARES = {PushTime.BEFORE: 0.0, PushTime.HAND: 0.3, PushTime.LAYING: 0.46}


@dataclass(frozen=True, slots=True)
class CameraPush:
    """One push.

    Attributes:
        play: With which play, counted from 1 through the sitting.
        when: At which moment of it.
        right_px, down_px, degrees: Where the camera points then, compared with the start, as in a `Bump`.
        seconds: How long it takes; 0 for at once, more for a slow slip.
    """

    play: int
    when: PushTime
    right_px: float
    down_px: float
    degrees: float
    seconds: float = 0.0

    @property
    def bump(self) -> Bump:
        """Where the camera points in the end."""
        return (self.right_px, self.down_px, self.degrees)

    def frames(self, before: Bump, *, gesture_frames: int, fps: int) -> Iterator[Bump | None]:
        """Yield where the camera points in the coming frames; None for as before.

        Args:
            before: Where it pointed.
            gesture_frames: How long the gesture of the play takes.
            fps: Frames in a second.
        """
        for _ in range(round(_SHARES[self.when] * gesture_frames)):
            yield None
        steps = max(1, round(self.seconds * fps))
        for step in range(1, steps + 1):
            x, y, turn = (old + (new - old) * step / steps for old, new in zip(before, self.bump, strict=True))
            yield (x, y, turn)


@dataclass(slots=True)
class Pushed:
    """Where the tiles of the layout lie; one laid against a tile that was pushed lies as much aside as that."""

    tiles: dict[NodeId, PlacedTile] = field(default_factory=dict)
    _shifts: dict[NodeId, Point] = field(default_factory=dict)

    def place(self, node: Node, laid: Laid) -> PlacedTile:
        """Return where a new tile comes to lie; it is kept under its node."""
        by = (0.0, 0.0) if node.joins is None else self._shifts[node.joins.host]
        tile = moved(placed_tile(laid, (node.inner, node.outer)), by, 0.0)
        self.tiles[node.id], self._shifts[node.id] = tile, by
        return tile

    def push(self, layout: Layout, look: TileLook, rng: np.random.Generator) -> tuple[PlacedTile, PlacedTile] | None:
        """Push one tile at an end a little; return it as it lay and as it lies, or None where none can be pushed.

        It overlaps nothing then, and still lies against its neighbour.
        """
        hosts = {node.joins.host for node in layout.nodes if node.joins is not None}
        free = [node for node in layout.nodes if node.joins is not None and node.id not in hosts | set(layout.stacked)]
        for _ in range(_TRIES if free else 0):
            node = free[int(rng.integers(len(free)))]
            before = self.tiles[node.id]
            way, far_mm = rng.uniform(-math.pi, math.pi), rng.uniform(*_PUSH_MM)
            by = (float(far_mm * math.cos(way)), float(far_mm * math.sin(way)))
            after = moved(before, by, float(rng.normal(0, _TURN_RAD)))
            if self._fits(node, after, look):
                x, y = self._shifts[node.id]
                self.tiles[node.id], self._shifts[node.id] = after, (x + by[0], y + by[1])
                return before, after
        return None

    def _fits(self, node: Node, tile: PlacedTile, look: TileLook) -> bool:
        assert node.joins is not None  # the first tile is never pushed alone
        outline = _outline(tile, look)
        others = {id_: _outline(other, look) for id_, other in self.tiles.items() if id_ != node.id}
        is_near = distance(outline, others[node.joins.host]) <= _MOST_GAP_MM
        return is_near and not any(overlap(outline, other) for other in others.values())


def _outline(tile: PlacedTile, look: TileLook) -> Quad:
    return Footprint.square(tile.center_mm, tile.theta_rad, look.width_mm).outline()
