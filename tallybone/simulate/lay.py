"""Where people lay tiles: a line that runs straight, doubles crosswise, a turn before the edge, never quite square.

`lay` gives the place of the next tile, in millimetres on a table. Nothing overlaps, and no tile lies so near to an end
that it does not belong to that anybody could take it for joined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine import Layout, Node, NodeId, Play, Port, Spot, Tile
from tallybone.session.touching import Edge, Footprint, Laid, Quad, bends_of, distance, edges_at, overlap

# All in sides of a half. Tiles that have nothing to do with each other are kept this far apart, ends a little farther.
_CLEAR, _CLEAR_OF_ENDS = 0.3, 0.65
# Tiles whose middles are farther apart than this keep clear of each other however they are turned.
_FAR = 2 * math.hypot(1.0, 0.5) + _CLEAR_OF_ENDS
# Neighbouring arms of a starter are nearer to each other, where they begin.
_CLEAR_ARMS, _CLEAR_OF_ARM_ENDS = 0.05, 0.45
# A corner arm leans this far from the direction of those at the middle of the sides: then all six have room.
_ARM_LEAN_RAD = math.radians(55)
# How hands push a tile against its neighbour.
_LARGEST_GAP, _SLIP, _SKEW_RAD = 0.07, 0.04, math.radians(1.2)
_GAP_STEP, _LAST_GAP = 0.02, 0.3
# A line goes straight on while there is room for one more tile; longer room than the last is not told apart.
_ROOM_AHEAD = (1.2, 2.2, 3.6, 5.0)
_STRAIGHT_ON = 2.2


@dataclass(frozen=True, slots=True)
class Table:
    """The part of a table that is played on, around (0, 0), and the tiles on it.

    Attributes:
        width_mm, height_mm: Its extent.
        side_mm: Side of a half of a tile.
        closed: Areas of it that are kept free for other things, each convex.
    """

    width_mm: float
    height_mm: float
    side_mm: float
    closed: tuple[Quad, ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to lay a tile.

    Attributes:
        place: Where it lies then.
        is_straight: Whether the line goes straight on.
        is_usual: Whether people do it while there is room for anything else.
    """

    place: Footprint
    is_straight: bool
    is_usual: bool = True


def lay(layout: Layout, laid: Sequence[Laid], play: Play, table: Table, rng: np.random.Generator) -> Footprint | None:
    """Return where a player lays the tile of *play*, or None where it finds no room.

    Args:
        layout: What lies on the table before it.
        laid: Where each tile of *layout* lies, in millimetres.
        play: A play that the layout can take.
        table: Where there is room.
        rng: Where crookedness comes from.
    """
    if play.at is None:
        return _first(play.tile, table, rng)
    host = layout.find(play.at.host)
    places = {one.node: one.place for one in laid}
    if host is None or host.id not in places:
        return None
    around = _Around(layout, places, table, {node.id: _open_ports(layout, node) for node in layout.nodes})
    covered = layout.covered(host)
    ways = [way for way in _ways(places[host.id], host, covered, play, rng) if around.admits(way.place, host, play.at)]
    ranked = [(around.room(way), way) for way in ways]
    return max(ranked, key=lambda pair: pair[0])[1].place if ranked else None


def _first(tile: Tile, table: Table, rng: np.random.Generator) -> Footprint:
    """Return a place near the middle, for a line that runs across the table."""
    center = (rng.normal(0, 0.4) * table.side_mm, rng.normal(0, 0.3) * table.side_mm)
    return Footprint.square(center, rng.normal(0, 0.03), table.side_mm, lies_along=not tile.is_double)


def _ways(
    host_place: Footprint, host: Node, covered: Sequence[Port], play: Play, rng: np.random.Generator
) -> list[_Way]:
    """Return every way to lay the tile against the port, the straight one first."""
    assert play.at is not None
    shake = _Shake(rng.uniform(0, _LARGEST_GAP), rng.normal(0, _SLIP), rng.normal(0, _SKEW_RAD))
    if host.is_starter:
        return _arm_ways(host_place, shake, is_double=play.tile.is_double)
    bends = () if host.branches else bends_of(play.at.port, covered)
    edges = edges_at(host_place, play.at.port, is_double=host.tile.is_double, bends=bends)
    if play.tile.is_double:
        # Across the end of a line; where there is no room for that, in line with it or beside it.
        suiting = edges if host.tile.is_double else edges[:1]
        across = [_Way(_meet(host_place, edge, shake, across=True), edge.is_front) for edge in suiting]
        return across + [_Way(_meet(host_place, edge, shake), is_straight=False, is_usual=False) for edge in edges]
    ways = [_Way(_meet(host_place, edge, shake), edge.is_front) for edge in edges]
    if not host.tile.is_double:
        ways += [_Way(_meet(host_place, edges[0], shake, turn=turn), is_straight=False) for turn in (-1, 1)]
    return ways


def _arm_ways(starter: Footprint, shake: _Shake, *, is_double: bool) -> list[_Way]:
    """Return every way to begin an arm: at the middle of the long sides and at the corners, pointing away."""
    a, c = starter.reach
    cos, sin = math.cos(_ARM_LEAN_RAD), math.sin(_ARM_LEAN_RAD)
    sides = [Edge((a * x, 0.0), (x, 0.0), is_front=True) for x in (-1.0, 1.0)]
    corners = [Edge((a * x, c * y), (x * cos, y * sin), is_front=True) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    inline = [_Way(_meet(starter, edge, shake), is_straight=False, is_usual=not is_double) for edge in sides + corners]
    across = [_Way(_meet(starter, edge, shake, across=True), is_straight=False) for edge in sides if is_double]
    return across + inline


@dataclass(frozen=True, slots=True)
class _Shake:
    """How a hand misses the perfect place, lengths in sides."""

    gap: float
    slip: float
    skew_rad: float


def _meet(host: Footprint, edge: Edge, shake: _Shake, *, turn: int = 0, across: bool = False) -> Footprint:
    """Return where a tile lies that meets an edge, farther away where it would overlap the host.

    Args:
        host: Where the tile lies that it meets.
        edge: Which of its edges.
        shake: How crookedly.
        turn: -1 or 1 for an elbow to the left or right, else 0.
        across: Whether the long edge meets it, as that of a crosswise double.
    """
    gap = shake.gap
    while True:
        place = _meet_at(host, edge, shake, gap=gap, turn=turn, across=across)
        if gap > _LAST_GAP or not overlap(place.outline(), host.outline()):
            return place
        gap += _GAP_STEP


def _meet_at(host: Footprint, edge: Edge, shake: _Shake, *, gap: float, turn: int, across: bool) -> Footprint:
    """Return where a tile lies at a given gap."""
    (out_a, out_c), side = edge.outward, host.side
    # The middle of the half that touches; of a crosswise double its own middle.
    near = (edge.middle[0] + (gap + 0.5) * out_a, edge.middle[1] + (gap + 0.5) * out_c)
    touching = host.at(near[0] - shake.slip * out_c, near[1] + shake.slip * out_a)
    heading_rad = host.heading_rad + math.atan2(out_c, out_a) + turn * math.pi / 2 + shake.skew_rad
    if across:
        return Footprint.square(touching, heading_rad, side, lies_along=False)
    center = (touching[0] + 0.5 * side * math.cos(heading_rad), touching[1] + 0.5 * side * math.sin(heading_rad))
    return Footprint.square(center, heading_rad, side)


@dataclass(frozen=True, slots=True)
class _Around:
    """What a new tile has to keep clear of."""

    layout: Layout
    places: dict[NodeId, Footprint]
    table: Table
    open_ports: dict[NodeId, tuple[Port, ...]]

    def admits(self, place: Footprint, host: Node, at: Spot) -> bool:
        """Return whether a tile can lie there, joined to the one port it is meant for and to nothing else."""
        outline, side = place.outline(), self.table.side_mm
        if not self._holds(outline) or overlap(outline, self.places[host.id].outline()):
            return False
        for node in self.layout.nodes:
            other = self.places[node.id]
            if math.dist(place.center, other.center) > _FAR * side:
                continue
            is_sibling = host.is_starter and node.joins is not None and node.joins.host == host.id
            clear, clear_of_end = (_CLEAR_ARMS, _CLEAR_OF_ARM_ENDS) if is_sibling else (_CLEAR, _CLEAR_OF_ENDS)
            if node.id != host.id and distance(outline, other.outline()) < clear * side:
                return False
            for port in self.open_ports[node.id]:
                own = node.id == host.id and (port is at.port or node.tile.is_double)
                if not own and distance(outline, _end_outline(other, node, port)) < clear_of_end * side:
                    return False
        return True

    def room(self, way: _Way) -> tuple[bool, bool, bool, float]:
        """Return how well the line can go on after a tile, greater is better; straight on wins while there is room."""
        ahead = self._room_ahead(way.place)
        can_turn = any(self._room_ahead(self._turned(way.place, turn)) > 0 for turn in (-1, 1))
        return (way.is_usual, ahead > 0 or can_turn, way.is_straight and ahead >= _STRAIGHT_ON, ahead)

    def _turned(self, place: Footprint, turn: int) -> Footprint:
        """Return the half that a next tile round the corner would begin with, as a place to look ahead from."""
        corner = place.at(place.reach[0] + 0.5, 0.0)
        heading_rad = place.heading_rad + turn * math.pi / 2
        return Footprint.square(corner, heading_rad, self.table.side_mm, lies_along=False)

    def _room_ahead(self, place: Footprint) -> float:
        """Return how many sides of a strip ahead of a tile are free."""
        free, reach = 0.0, _ROOM_AHEAD[-1] + _FAR
        near = [one for one in self.places.values() if math.dist(one.center, place.center) < reach * self.table.side_mm]
        for length in _ROOM_AHEAD:
            start, half_width = place.reach[0] + 0.02, 0.5 + _CLEAR
            strip = (
                place.at(start, -half_width),
                place.at(start + length, -half_width),
                place.at(start + length, half_width),
                place.at(start, half_width),
            )
            if not self._holds(strip) or any(overlap(strip, other.outline()) for other in near):
                break
            free = length
        return free

    def _holds(self, outline: Quad) -> bool:
        """Return whether all of an outline is on the table, and on nothing that is kept free."""
        half_width, half_height = self.table.width_mm / 2, self.table.height_mm / 2
        if not all(abs(x) <= half_width and abs(y) <= half_height for x, y in outline):
            return False
        return not any(overlap(outline, area) for area in self.table.closed)


def _open_ports(layout: Layout, node: Node) -> tuple[Port, ...]:
    """Return the ports against which a tile could be taken to lie."""
    covered = layout.covered(node)
    if len(covered) >= 2 and not node.branches:
        return ()
    return tuple(port for port in node.ports if port not in covered)


def _end_outline(place: Footprint, node: Node, port: Port) -> Quad:
    """Return the outline of what shows the number of an open end: a half, or a whole double."""
    if node.tile.is_double:
        return place.outline()
    start = 0.0 if port is Port.E else -1.0
    return (place.at(start, -0.5), place.at(start + 1, -0.5), place.at(start + 1, 0.5), place.at(start, 0.5))
