"""Where a tile lies and where others can touch it: the geometry that hands, on the table, and the referee share.

A footprint is measured in sides of a half, in the tile's own frame: ``a`` runs along the line of play from W to E,
``c`` across it from N to S, (0, 0) is the middle. Its axes are vectors of whatever plane it lies in, millimetres of
a table or pixels of a picture, and need not be square to each other, so that a slanted view changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine import NodeId, Port

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]


@dataclass(frozen=True, slots=True)
class Edge:
    """A side where tiles can touch, in the frame of a footprint.

    Attributes:
        middle: Its middle.
        outward: Unit vector away from the tile.
        is_front: Whether it is the end of the line there, not the flank beside it.
    """

    middle: Point
    outward: Point
    is_front: bool


@dataclass(frozen=True, slots=True)
class Footprint:
    """A tile as it lies.

    Attributes:
        center: Its middle, in the plane.
        along: One side of a half, from W to E.
        across: One side of a half, from N to S.
        lies_along: Whether its long axis runs along the line; False for a crosswise double.
    """

    center: Point
    along: Point
    across: Point
    lies_along: bool = True

    @classmethod
    def square(cls, center: Point, heading_rad: float, side: float, *, lies_along: bool = True) -> Footprint:
        """Return a footprint with square axes, where *heading_rad* is the direction from W to E, clockwise from x."""
        cos, sin = side * math.cos(heading_rad), side * math.sin(heading_rad)
        return cls(center, (cos, sin), (-sin, cos), lies_along)

    @property
    def reach(self) -> Point:
        """Half of its extent along and across the line, in sides."""
        return (1.0, 0.5) if self.lies_along else (0.5, 1.0)

    @property
    def side(self) -> float:
        """Length of a side of a half in the plane."""
        return math.sqrt(abs(_cross(self.along, self.across)))

    @property
    def heading_rad(self) -> float:
        """Direction from W to E in the plane, clockwise from x."""
        return math.atan2(self.along[1], self.along[0])

    def at(self, a: float, c: float) -> Point:
        """Return where a point of the frame lies in the plane."""
        (x, y), (ax, ay), (cx, cy) = self.center, self.along, self.across
        return (x + a * ax + c * cx, y + a * ay + c * cy)

    def inside(self, point: Point) -> Point:
        """Return a point of the plane in the frame."""
        return self.turned_inside((point[0] - self.center[0], point[1] - self.center[1]))

    def turned_inside(self, vector: Point) -> Point:
        """Return a vector of the plane in the frame."""
        whole = _cross(self.along, self.across)
        return (_cross(vector, self.across) / whole, _cross(self.along, vector) / whole)

    def outline(self, margin: float = 0.0) -> Quad:
        """Return its corners in the plane, in order, grown by *margin* sides all round."""
        a, c = self.reach[0] + margin, self.reach[1] + margin
        return (self.at(-a, -c), self.at(a, -c), self.at(a, c), self.at(-a, c))

    def half_center(self, port: Port) -> Point:
        """Return the middle, in the plane, of the half that shows at a port; of a crosswise double N stands for W."""
        sign = -1.0 if port in (Port.W, Port.N) else 1.0
        return self.at(0.5 * sign, 0.0) if self.lies_along else self.at(0.0, 0.5 * sign)

    def reversed(self) -> Footprint:
        """Return the same place with W and E, and N and S, exchanged."""
        return Footprint(self.center, _scaled(self.along, -1), _scaled(self.across, -1), self.lies_along)

    def crosswise(self) -> Footprint:
        """Return the same place as that of a tile whose line runs across it instead of along it."""
        return Footprint(self.center, self.across, _scaled(self.along, -1), not self.lies_along)


@dataclass(frozen=True, slots=True)
class Laid:
    """A tile of the layout and where it lies."""

    node: NodeId
    place: Footprint


def edges_at(place: Footprint, port: Port, *, is_double: bool, bends: tuple[Port, ...] = ()) -> tuple[Edge, ...]:
    """Return where a tile can touch a port, the end of the line first.

    Args:
        place: Where the host lies.
        port: One of its ports.
        is_double: Whether the host is a double, whose line cannot turn at the flank of a half.
        bends: Tips of the host at which the line may turn as well, on a double that does not branch.
    """
    a, c = place.reach
    ahead: dict[Port, Point] = {Port.W: (-a, 0.0), Port.E: (a, 0.0), Port.N: (0.0, -c), Port.S: (0.0, c)}
    front = Edge(ahead[port], _unit(ahead[port]), is_front=True)
    if not is_double:
        middle = 0.5 if port is Port.E else -0.5
        flanks = tuple(Edge((middle, 0.5 * sign), (0.0, sign), is_front=False) for sign in (-1.0, 1.0))
        return (front, *flanks)
    return (front, *(Edge(ahead[tip], _unit(ahead[tip]), is_front=False) for tip in bends))


def bends_of(port: Port, covered: Sequence[Port]) -> tuple[Port, ...]:
    """Return the tips at which the line may go on from a port of a double that does not branch.

    Once its other port is covered both are free. Before, a tile at N goes on from W and one at S from E, so that a line
    can run through it lengthwise.
    """
    if covered:
        return (Port.N, Port.S)
    return (Port.N,) if port is Port.W else (Port.S,)


def overlap(one: Quad, other: Quad) -> bool:
    """Return whether two convex outlines overlap; touching is not overlapping.

    >>> square = ((0, 0), (1, 0), (1, 1), (0, 1))
    >>> overlap(square, ((0.5, 0.5), (2, 0.5), (2, 2), (0.5, 2))), overlap(square, ((1, 0), (2, 0), (2, 1), (1, 1)))
    (True, False)
    """
    for outline in (one, other):
        for start, end in _sides(outline):
            axis = (start[1] - end[1], end[0] - start[0])
            first, second = [_dot(p, axis) for p in one], [_dot(p, axis) for p in other]
            if max(first) <= min(second) + 1e-9 or max(second) <= min(first) + 1e-9:
                return False
    return True


def distance(one: Quad, other: Quad) -> float:
    """Return how far apart two convex outlines are, 0 where they touch or overlap.

    >>> distance(((0, 0), (1, 0), (1, 1), (0, 1)), ((4, 5), (6, 5), (6, 7), (4, 7)))
    5.0
    """
    if overlap(one, other):
        return 0.0
    pairs = [(p, *side) for p in one for side in _sides(other)] + [(p, *side) for p in other for side in _sides(one)]
    return min(_to_segment(*pair) for pair in pairs)


def _to_segment(point: Point, start: Point, end: Point) -> float:
    along = (end[0] - start[0], end[1] - start[1])
    offset = (point[0] - start[0], point[1] - start[1])
    share = min(1.0, max(0.0, _dot(offset, along) / (_dot(along, along) or 1.0)))
    return math.dist(point, (start[0] + share * along[0], start[1] + share * along[1]))


def _sides(outline: Quad) -> Iterable[tuple[Point, Point]]:
    return zip(outline, (*outline[1:], outline[0]), strict=True)


def _unit(vector: Point) -> Point:
    return _scaled(vector, 1 / math.hypot(*vector))


def _scaled(vector: Point, by: float) -> Point:
    return (vector[0] * by, vector[1] * by)


def _dot(one: Point, other: Point) -> float:
    return one[0] * other[0] + one[1] * other[1]


def _cross(one: Point, other: Point) -> float:
    return one[0] * other[1] - one[1] * other[0]
