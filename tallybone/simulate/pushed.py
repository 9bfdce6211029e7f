"""The tiles of the layout as they really lie: laid as planned, then pushed a little by hands that brush them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from engine import Layout, Node, NodeId
from tallybone.session.touching import Footprint, Laid, Point, distance, overlap
from tallybone.simulate.scenes import placed_tile
from vision.render.look_types import TileLook
from vision.render.scene import PlacedTile

# How far a tile is pushed, and turned; a gap to what it touches grows to no more than the last.
_PUSH_MM, _TURN_RAD, _MOST_GAP_MM = (1.0, 3.0), 0.015, 3.0
_TRIES = 16


@dataclass(slots=True)
class Pushed:
    """Where the tiles of the layout lie.

    What is laid against a tile that was pushed lies as much aside as that.

    Attributes:
        tiles: Each tile of the layout.
    """

    tiles: dict[NodeId, PlacedTile] = field(default_factory=dict)
    _shifts: dict[NodeId, Point] = field(default_factory=dict)

    def place(self, node: Node, laid: Laid) -> PlacedTile:
        """Return where a new tile comes to lie; it is kept under its node."""
        by = (0.0, 0.0) if node.joins is None else self._shifts[node.joins.host]
        tile = _shifted(placed_tile(laid, (node.inner, node.outer)), by, 0.0)
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
            after = _shifted(before, by, float(rng.normal(0, _TURN_RAD)))
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


def _shifted(tile: PlacedTile, by_mm: Point, turn_rad: float) -> PlacedTile:
    center = (tile.center_mm[0] + by_mm[0], tile.center_mm[1] + by_mm[1])
    return replace(tile, center_mm=center, theta_rad=tile.theta_rad + turn_rad)


def _outline(tile: PlacedTile, look: TileLook) -> tuple[Point, Point, Point, Point]:
    return Footprint.square(tile.center_mm, tile.theta_rad, look.width_mm).outline()
