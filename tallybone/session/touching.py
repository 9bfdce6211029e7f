"""Measure which port of the layout a seen tile touches, with which half, and at what cost.

A footprint is measured in sides of a half, in the tile's own frame: ``a`` runs along the line of play from W to E,
``c`` across it from N to S, (0, 0) is the middle. Its axes are vectors of whatever plane it lies in, millimetres of
a table or pixels of a picture, and need not be square to each other, so that a slanted view changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine import Layout, Node, NodeId, Port, Spot
from vision.reading import Half, PointPx, SeenTile

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]
# In sides of a half. Players leave gaps of up to half a side (docs/rules.md 5.1); beyond these nothing is joined.
_FARTHEST_GAP, _FARTHEST_SLIP, _LARGEST_SKEW_RAD = 0.75, 0.85, math.radians(40)
# What is usual for a tile that is joined: a misfit of this much costs as much as one standard deviation.
_GAP, _SLIP, _SKEW_RAD = 0.2, 0.3, math.radians(12)
# An arm of a starter points at it from anywhere, but not past it: this is how far it may be turned from its middle.
_LARGEST_LEAN_RAD = math.radians(75)
# Seldom laid: an elbow, a line that folds back on itself, a double in line.
_ELBOW_COSTS, _FOLD_COSTS, _INLINE_DOUBLE_COSTS = 0.3, 1.5, 1.0


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


@dataclass(frozen=True, slots=True)
class Orientation:
    """One way round in which a tile can be joined.

    Attributes:
        place: Where it lies if it is joined so: its W touches.
        inner_half: Index of the half that touches.
        edge: The edge that touches.
    """

    place: Footprint
    inner_half: int
    edge: Edge


def halves_of(tile: SeenTile) -> tuple[Half, Half]:
    """Return the halves of a tile.

    Raises:
        ValueError: If the tile lies face down, so that none are seen.
    """
    if len(tile.halves) != 2:
        raise ValueError(f"expected a tile that is face up, but got one that is face {tile.face}")
    return tile.halves


def footprint_of(tile: SeenTile) -> Footprint:
    """Return where a face-up tile lies in the picture, half 0 at W.

    Raises:
        ValueError: If the tile lies face down, so that none of its halves are seen.
    """
    first, second = halves_of(tile)
    a, b, c, d = tile.corners_px
    right = _middle(_minus(b, a), _minus(c, d))
    down = _middle(_minus(d, a), _minus(c, b))
    to_half_1 = _minus(second.center_px, first.center_px)
    if abs(_cosine(right, to_half_1)) >= abs(_cosine(down, to_half_1)):
        along, across = (right[0] / 2, right[1] / 2), down
    else:
        along, across = (down[0] / 2, down[1] / 2), (-right[0], -right[1])
    place = Footprint(tile.center_px, along, across)
    return place if _cosine(along, to_half_1) > 0 else place.reversed()


def turns(tile: SeenTile, *, is_double: bool) -> Iterator[Orientation]:
    """Yield every way round in which a tile can be joined."""
    seen = footprint_of(tile)
    ways = [(seen, 0), (seen.reversed(), 1)]
    if is_double:
        ways += [(seen.crosswise(), 0), (seen.crosswise().reversed(), 0)]
    for place, inner_half in ways:
        for edge in edges_at(place, Port.W, is_double=is_double):
            yield Orientation(place, inner_half, edge)


def misfit(host: Footprint, end: Edge, turn: Orientation, *, is_double: bool) -> float | None:
    """Return the cost of believing that a tile is joined so, 0 for a perfect fit, None where it is too far off.

    Half the square of what is missing, in standard deviations: its weight is ``exp(-misfit)``.
    """
    meets = host.inside(turn.place.at(*turn.edge.middle))
    offset = _minus(meets, end.middle)
    gap = offset[0] * end.outward[0] + offset[1] * end.outward[1]
    slip = offset[1] * end.outward[0] - offset[0] * end.outward[1]
    if abs(gap) > _FARTHEST_GAP or abs(slip) > _FARTHEST_SLIP:
        return None
    (a, c), place = turn.edge.outward, turn.place
    facing = host.turned_inside((a * place.along[0] + c * place.across[0], a * place.along[1] + c * place.across[1]))
    skew_rad = math.acos(max(-1.0, min(1.0, -_cosine(facing, end.outward))))
    if skew_rad > _LARGEST_SKEW_RAD:
        return None
    flanks = (not end.is_front) + (not turn.edge.is_front)
    habit = (0.0, _ELBOW_COSTS, _FOLD_COSTS)[flanks]
    if is_double and turn.place.lies_along:
        habit += _INLINE_DOUBLE_COSTS
    return habit + ((gap / _GAP) ** 2 + (slip / _SLIP) ** 2 + (skew_rad / _SKEW_RAD) ** 2) / 2


def misfit_at_starter(starter: Footprint, turn: Orientation, *, is_double: bool) -> float | None:
    """Return the cost of believing that a tile begins an arm so, as `misfit` does; the angle is free."""
    place, (a, c) = turn.place, turn.edge.outward
    middle = place.at(*turn.edge.middle)
    outward = _minus(place.at(a, c), place.center)
    if _cosine(outward, _minus(starter.center, middle)) < math.cos(_LARGEST_LEAN_RAD):
        return None
    # Half of the edge that touches; that of a crosswise double is its whole side.
    reach = place.reach[1] if turn.edge.is_front else 0.5
    (x, y), (u, v) = turn.edge.middle, (-c * reach, a * reach)
    start, end = place.at(x + u, y + v), place.at(x - u, y - v)
    gap = distance((start, end, end, start), starter.outline()) / starter.side
    if gap > _FARTHEST_GAP:
        return None
    habit = 0.0 if turn.edge.is_front else _ELBOW_COSTS
    if is_double and place.lies_along:
        habit += _INLINE_DOUBLE_COSTS
    return habit + (gap / _GAP) ** 2 / 2


def _minus(one: PointPx, other: PointPx) -> Point:
    return (one[0] - other[0], one[1] - other[1])


def _middle(one: Point, other: Point) -> Point:
    return ((one[0] + other[0]) / 2, (one[1] + other[1]) / 2)


def _cosine(one: Point, other: Point) -> float:
    return (one[0] * other[0] + one[1] * other[1]) / ((math.hypot(*one) * math.hypot(*other)) or 1.0)


@dataclass(frozen=True, slots=True)
class Joint:
    """A place at which a tile may be joined, and how.

    Attributes:
        spot: The port; None for the first tile.
        number: The number that the port shows; None for the first tile.
        inner_half: Which half of the tile touches it.
        place: Where the tile lies then.
        misfit: The cost of believing in it, see `misfit`.
    """

    spot: Spot | None
    number: int | None
    inner_half: int
    place: Footprint
    misfit: float


def leading(tile: SeenTile, *, is_double: bool) -> Joint:
    """Return how a first tile lies: E is to the right, a double lies across the line."""
    seen = footprint_of(tile).crosswise() if is_double else footprint_of(tile)
    ahead_px = seen.along[0] if abs(seen.along[0]) > abs(seen.along[1]) else seen.along[1]
    place, inner_half = (seen, 0) if ahead_px > 0 else (seen.reversed(), 1)
    return Joint(None, None, inner_half, place, 0.0)


def joints(layout: Layout, laid: Iterable[Laid], tile: SeenTile, *, is_double: bool) -> tuple[Joint, ...]:
    """Return the best way of meeting each port with each half."""
    if not layout.nodes:
        return (leading(tile, is_double=is_double),)
    ways = tuple(turns(tile, is_double=is_double))
    found: list[Joint] = []
    for one in laid:
        node = layout.find(one.node)
        if node is not None:
            found += joints_at(node, one.place, layout.covered(node), ways, is_double=is_double)
    return tuple(found)


def joints_at(
    node: Node, place: Footprint, covered: Sequence[Port], ways: Iterable[Orientation], *, is_double: bool
) -> tuple[Joint, ...]:
    """Return the best way of meeting each uncovered port of one tile, those included that the rules keep closed."""
    best: dict[tuple[Port, int], Joint] = {}
    for port, turn, cost in _contacts(node, place, covered, tuple(ways), is_double=is_double):
        inner_half = 0 if is_double else turn.inner_half
        old = best.get((port, inner_half))
        if cost is not None and (old is None or cost < old.misfit):
            joint = Joint(Spot(node.id, port), node.number_at(port), inner_half, turn.place, cost)
            best[(port, inner_half)] = joint
    return tuple(best.values())


def _contacts(
    node: Node, place: Footprint, covered: Sequence[Port], ways: Sequence[Orientation], *, is_double: bool
) -> Iterator[tuple[Port, Orientation, float | None]]:
    """Yield every port with every way of meeting it, and what that costs."""
    if node.is_starter:
        # Any tile that touches the starter is a new arm; arms are numbered in the order in which they are started.
        free = [port for port in node.ports if port not in covered]
        yield from ((free[0], turn, misfit_at_starter(place, turn, is_double=is_double)) for turn in ways if free)
        return
    for port, edge in _edges(covered, node, place):
        yield from ((port, turn, misfit(place, edge, turn, is_double=is_double)) for turn in ways)


def _edges(covered: Sequence[Port], node: Node, place: Footprint) -> Iterator[tuple[Port, Edge]]:
    """Yield where a tile can touch the uncovered ports of a node."""
    is_double = node.tile.is_double
    # A free port of a double that does not branch is wherever players go on: straight, or round the corner at a tip.
    may_bend = is_double and not node.branches and len(covered) < 2
    for port in (Port.W, Port.E) if may_bend else node.ports:
        if port not in covered:
            tips = bends_of(port, covered) if may_bend else ()
            yield from ((port, edge) for edge in edges_at(place, port, is_double=is_double, bends=tips))
