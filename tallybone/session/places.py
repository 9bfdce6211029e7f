"""The tracked layout: which tile on the table is which play in the log, and the ports that a tile touches.

The layout is kept in recordings, to resume a match. A footprint has its own frame, in sides of a half: ``a`` runs along
the line of play from W to E, ``c`` across it from N to S, and (0, 0) is the centre. Its axes are vectors in a plane, in
millimetres of a table or pixels of a picture. They need not be perpendicular, so an oblique view is not a special case.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine import Node, NodeId, Port, Seat, Spot
from vision.reading import Half, PointPx, SeenTile

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]
# Limits between a tile and the one it joins: gap or overlap, and slip, in sides of a half, and skew. Players leave gaps
# of up to half a side (docs/reference/rules.md 5.1).
_MAX_GAP = 0.75
_MAX_SLIP = 0.85
_MAX_SKEW_RAD = math.radians(40)
# Standard deviations of gap, slip and skew of a joined tile.
_GAP = 0.2
_SLIP = 0.3
_SKEW_RAD = math.radians(12)
# Maximum angle between the direction from the first tile of an arm to its touching edge, and from there to the centre
# of the starter.
_MAX_LEAN_RAD = math.radians(75)
# Costs of rare shapes: an elbow, a line that folds back on itself, a double whose long axis runs along the line.
_ELBOW_COST = 0.3
_FOLD_COST = 1.5
_INLINE_DOUBLE_COST = 1.0


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge at which tiles can touch, in the frame of a footprint.

    Attributes:
        outward: Unit vector away from the tile.
        is_front: Whether it is the end of the line, rather than a flank beside the end.
    """

    middle: Point
    outward: Point
    is_front: bool


@dataclass(frozen=True, slots=True)
class Footprint:
    """Position, direction and size of a tile in a plane.

    Attributes:
        center: Centre.
        along: Vector from W to E, one side of a half long.
        across: Vector from N to S, one side of a half long.
        lies_along: Whether its long axis runs along the line. False for a crosswise double.
    """

    center: Point
    along: Point
    across: Point
    lies_along: bool = True

    @classmethod
    def square(cls, center: Point, heading_rad: float, side: float, *, lies_along: bool = True) -> Footprint:
        """Return a footprint with perpendicular axes. *heading_rad* is the direction from W to E, clockwise from x."""
        cos, sin = side * math.cos(heading_rad), side * math.sin(heading_rad)
        return cls(center, (cos, sin), (-sin, cos), lies_along)

    @property
    def reach(self) -> Point:
        """Half of the tile's extent along and across the line, in sides of a half."""
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
        """Convert a point of the frame to the plane."""
        (x, y), (ax, ay), (cx, cy) = self.center, self.along, self.across
        return (x + a * ax + c * cx, y + a * ay + c * cy)

    def inside(self, point: Point) -> Point:
        """Convert a point of the plane to the frame."""
        return self.vector_inside((point[0] - self.center[0], point[1] - self.center[1]))

    def vector_inside(self, vector: Point) -> Point:
        """Convert a vector of the plane to the frame."""
        area = _cross(self.along, self.across)
        return (_cross(vector, self.across) / area, _cross(self.along, vector) / area)

    def outline(self, margin: float = 0.0) -> Quad:
        """Return its corners in the plane, in order. The outline is grown by *margin* sides of a half."""
        a, c = self.reach[0] + margin, self.reach[1] + margin
        return (self.at(-a, -c), self.at(a, -c), self.at(a, c), self.at(-a, c))

    def half_center(self, port: Port) -> Point:
        """Return the centre, in the plane, of the half at a port: half 0 for W and N, else half 1."""
        sign = -1.0 if port in (Port.W, Port.N) else 1.0
        return self.at(0.5 * sign, 0.0) if self.lies_along else self.at(0.0, 0.5 * sign)

    def reversed(self) -> Footprint:
        """Return the same place, with W and E, and N and S exchanged."""
        return Footprint(self.center, _scaled(self.along, -1), _scaled(self.across, -1), self.lies_along)

    def crosswise(self) -> Footprint:
        """Return the same place, with the line running across the tile instead of along it, or vice versa."""
        return Footprint(self.center, self.across, _scaled(self.along, -1), not self.lies_along)


@dataclass(frozen=True, slots=True)
class Laid:
    """A tile of the layout and its place."""

    node: NodeId
    place: Footprint


def edges_at(place: Footprint, port: Port, *, is_double: bool, bends: tuple[Port, ...] = ()) -> tuple[Edge, ...]:
    """Return the edges at which a tile can touch a port, the edge at the end of the line first.

    Args:
        place: Place of the host.
        port: Port of the host.
        is_double: Whether the host is a double. The line cannot turn at the flanks of its halves.
        bends: Other tips of a double at which its line may turn, from `bends_of`.
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
    """Return the tips at which the line may turn from a port of a double that does not branch.

    If its other port is covered, both tips are possible. Otherwise N belongs to W and S to E, so a line can run through
    the double lengthwise.
    """
    if covered:
        return (Port.N, Port.S)
    return (Port.N,) if port is Port.W else (Port.S,)


def overlap(outline: Quad, other: Quad) -> bool:
    """Return True if two convex outlines overlap. Outlines that only touch do not overlap.

    >>> square = ((0, 0), (1, 0), (1, 1), (0, 1))
    >>> overlap(square, ((0.5, 0.5), (2, 0.5), (2, 2), (0.5, 2))), overlap(square, ((1, 0), (2, 0), (2, 1), (1, 1)))
    (True, False)
    """
    for quad in (outline, other):
        for start, end in _sides(quad):
            axis = (start[1] - end[1], end[0] - start[0])
            first, second = [_dot(p, axis) for p in outline], [_dot(p, axis) for p in other]
            if max(first) <= min(second) + 1e-9 or max(second) <= min(first) + 1e-9:
                return False
    return True


def distance(outline: Quad, other: Quad) -> float:
    """Return the distance between two convex outlines, 0 if they touch or overlap.

    >>> distance(((0, 0), (1, 0), (1, 1), (0, 1)), ((4, 5), (6, 5), (6, 7), (4, 7)))
    5.0
    """
    if overlap(outline, other):
        return 0.0
    pairs = [(point, *side) for point in outline for side in _sides(other)]
    pairs += [(point, *side) for point in other for side in _sides(outline)]
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


def _dot(vector: Point, other: Point) -> float:
    return vector[0] * other[0] + vector[1] * other[1]


def _cross(vector: Point, other: Point) -> float:
    return vector[0] * other[1] - vector[1] * other[0]


@dataclass(frozen=True, slots=True)
class Orientation:
    """A direction in which a tile can be joined.

    Attributes:
        place: Its place in this direction. Its W end touches.
    """

    place: Footprint
    inner_half: int
    edge: Edge


def halves_of(tile: SeenTile) -> tuple[Half, Half]:
    """Return the halves of a tile.

    Raises:
        ValueError: If the tile is face down.
    """
    if len(tile.halves) != 2:
        raise ValueError(f"expected a tile that is face up, but got one that is face {tile.face}")
    return tile.halves


def footprint_of(tile: SeenTile) -> Footprint:
    """Return the footprint of a face-up tile in the picture, with half 0 at W.

    Raises:
        ValueError: If the tile is face down.
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
    """Yield every direction in which a tile can be joined, once for each edge that can touch."""
    seen = footprint_of(tile)
    ways = [(seen, 0), (seen.reversed(), 1)]
    if is_double:
        ways += [(seen.crosswise(), 0), (seen.crosswise().reversed(), 0)]
    for place, inner_half in ways:
        for edge in edges_at(place, Port.W, is_double=is_double):
            yield Orientation(place, inner_half, edge)


def misfit(host: Footprint, end: Edge, turn: Orientation, *, is_double: bool) -> float | None:
    """Return the misfit of a joint, 0 for a perfect fit. None if the tile is beyond the limits of a joined tile.

    Half the sum of squared deviations, in standard deviations, plus the cost of a rare shape. The weight of the joint
    is ``exp(-misfit)``.
    """
    meets = host.inside(turn.place.at(*turn.edge.middle))
    offset = _minus(meets, end.middle)
    gap = offset[0] * end.outward[0] + offset[1] * end.outward[1]
    slip = offset[1] * end.outward[0] - offset[0] * end.outward[1]
    if abs(gap) > _MAX_GAP or abs(slip) > _MAX_SLIP:
        return None
    (a, c), place = turn.edge.outward, turn.place
    facing = host.vector_inside((a * place.along[0] + c * place.across[0], a * place.along[1] + c * place.across[1]))
    skew_rad = math.acos(max(-1.0, min(1.0, -_cosine(facing, end.outward))))
    if skew_rad > _MAX_SKEW_RAD:
        return None
    flanks = (not end.is_front) + (not turn.edge.is_front)
    shape = (0.0, _ELBOW_COST, _FOLD_COST)[flanks]
    if is_double and turn.place.lies_along:
        shape += _INLINE_DOUBLE_COST
    return shape + ((gap / _GAP) ** 2 + (slip / _SLIP) ** 2 + (skew_rad / _SKEW_RAD) ** 2) / 2


def misfit_at_starter(starter: Footprint, turn: Orientation, *, is_double: bool) -> float | None:
    """Return the misfit of the first tile of an arm, as in `misfit`, but from its gap to the starter and shape only."""
    place, (a, c) = turn.place, turn.edge.outward
    middle = place.at(*turn.edge.middle)
    outward = _minus(place.at(a, c), place.center)
    if _cosine(outward, _minus(starter.center, middle)) < math.cos(_MAX_LEAN_RAD):
        return None
    # Half the length of the touching edge. A crosswise double touches with its long side.
    reach = place.reach[1] if turn.edge.is_front else 0.5
    (x, y), (u, v) = turn.edge.middle, (-c * reach, a * reach)
    start, end = place.at(x + u, y + v), place.at(x - u, y - v)
    gap = distance((start, end, end, start), starter.outline()) / starter.side
    if gap > _MAX_GAP:
        return None
    shape = 0.0 if turn.edge.is_front else _ELBOW_COST
    if is_double and place.lies_along:
        shape += _INLINE_DOUBLE_COST
    return shape + (gap / _GAP) ** 2 / 2


def _minus(point: PointPx, other: PointPx) -> Point:
    return (point[0] - other[0], point[1] - other[1])


def _middle(point: Point, other: Point) -> Point:
    return ((point[0] + other[0]) / 2, (point[1] + other[1]) / 2)


def _cosine(vector: Point, other: Point) -> float:
    return (vector[0] * other[0] + vector[1] * other[1]) / ((math.hypot(*vector) * math.hypot(*other)) or 1.0)


@dataclass(frozen=True, slots=True)
class Joint:
    """A possible joint of a tile at a port.

    Attributes:
        spot: Port, or None for the first tile.
        number: Number at the port, or None for the first tile.
        inner_half: Index of the half that touches the port.
        misfit: Misfit, from `misfit`. 0 for the first tile.
    """

    spot: Spot | None
    number: int | None
    inner_half: int
    place: Footprint
    misfit: float


def leading(tile: SeenTile, *, is_double: bool) -> Joint:
    """Return the joint of a first tile. A double is crosswise, and E is towards the right or bottom of the picture."""
    seen = footprint_of(tile).crosswise() if is_double else footprint_of(tile)
    ahead_px = seen.along[0] if abs(seen.along[0]) > abs(seen.along[1]) else seen.along[1]
    place, inner_half = (seen, 0) if ahead_px > 0 else (seen.reversed(), 1)
    return Joint(None, None, inner_half, place, 0.0)


def joints_at(
    node: Node, place: Footprint, covered: Sequence[Port], ways: Iterable[Orientation], *, is_double: bool
) -> tuple[Joint, ...]:
    """Return the best joint for each uncovered port of a host and each half, even if the rules keep the port closed.

    Ports that the tile does not reach are omitted.
    """
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
    """Yield every uncovered port with every direction of the tile and the misfit, or None if they do not join."""
    if node.is_starter:
        # A tile that touches the starter anywhere begins a new arm. Arms are numbered in the order in which they begin.
        free = [port for port in node.ports if port not in covered]
        yield from ((free[0], turn, misfit_at_starter(place, turn, is_double=is_double)) for turn in ways if free)
        return
    for port, edge in _edges(covered, node, place):
        yield from ((port, turn, misfit(place, edge, turn, is_double=is_double)) for turn in ways)


def _edges(covered: Sequence[Port], node: Node, place: Footprint) -> Iterator[tuple[Port, Edge]]:
    """Yield the uncovered ports of a node, each with every edge at which a tile can touch it."""
    is_double = node.tile.is_double
    # From a double that does not branch, the line continues straight or turns at a tip.
    may_bend = is_double and not node.branches and len(covered) < 2
    for port in (Port.W, Port.E) if may_bend else node.ports:
        if port not in covered:
            tips = bends_of(port, covered) if may_bend else ()
            yield from ((port, edge) for edge in edges_at(place, port, is_double=is_double, bends=tips))


@dataclass(frozen=True, slots=True)
class Known:
    """A tile of the layout.

    Attributes:
        laid: Its name (`NodeId`) and place.
        tile: Last reading.
        is_settled: The players have named it.
        is_missing: It seems to have been taken away.
        name: Name of its piece. 0 in files of earlier versions.
    """

    laid: Laid
    tile: SeenTile
    is_settled: bool = False
    is_missing: bool = False
    name: int = 0

    @property
    def node(self) -> NodeId:
        """Its name in the layout."""
        return self.laid.node

    @property
    def place(self) -> Footprint:
        """Its place in the picture."""
        return self.laid.place


@dataclass(frozen=True, slots=True)
class Waiting:
    """A face-up tile on the table that is not part of the layout.

    Attributes:
        tile: Last reading.
        came_from: Seats at the only side from which hands came. Empty if that is ambiguous.
        since_ns: Time at which the tile appeared, from `Change`, or None if unknown.
        name: Name of its piece. 0 in files of earlier versions.
    """

    tile: SeenTile
    came_from: tuple[Seat, ...] = ()
    since_ns: int | None = None
    name: int = 0


@dataclass(frozen=True, slots=True)
class Places:
    """The tracked layout, and all other tiles on the table.

    Attributes:
        known: Tiles of the layout.
        waiting: Tiles that are not explained.
        dismissed: Tiles that do not count: taken back, or left from the previous hand.
        missing: Number of tiles of the boneyard that are not detected, or None before the first count of a hand.
        own: Number of hands that came from their player's side.
        other: Number of hands that came from another side.
    """

    known: tuple[Known, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    dismissed: tuple[SeenTile, ...] = ()
    missing: int | None = None
    own: int = 0
    other: int = 0

    @property
    def laid(self) -> tuple[Laid, ...]:
        """Name and place of each tile of the layout."""
        return tuple(known.laid for known in self.known)

    def find(self, node: NodeId) -> Known | None:
        """Return the tile of the layout with the name *node*, or None if its place is unknown."""
        return next((known for known in self.known if known.node == node), None)
