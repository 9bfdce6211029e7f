"""How well a tile that is seen meets an end: the ways in which it can be turned, and what each of them costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from engine import Port
from tallybone.session.referee.touching import Edge, Footprint, Point, distance, edges_at
from vision.reading import Half, PointPx
from vision.reading import Tile as SeenTile

# In sides of a half. Players leave gaps of up to half a side (RULES.md 5.1); beyond these nothing is joined.
_FARTHEST_GAP, _FARTHEST_SLIP, _LARGEST_SKEW_RAD = 0.75, 0.85, math.radians(40)
# What is usual for a tile that is joined: a misfit of this much costs as much as one standard deviation.
_GAP, _SLIP, _SKEW_RAD = 0.2, 0.3, math.radians(12)
# An arm of a starter points at it from anywhere, but not past it: this is how far it may be turned from its middle.
_LARGEST_LEAN_RAD = math.radians(75)
# What is seldom laid: an elbow, a line that folds back on itself, a double in line.
_ELBOW_COSTS, _FOLD_COSTS, _INLINE_DOUBLE_COSTS = 0.3, 1.5, 1.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One way round in which a tile can be joined.

    Attributes:
        place: Where it lies if it is joined so: its W is what touches.
        inner_half: Index of the half that touches.
        edge: With what it touches.
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


def turns(tile: SeenTile, *, is_double: bool) -> Iterator[Turn]:
    """Yield every way round in which a tile can be joined."""
    seen = footprint_of(tile)
    ways = [(seen, 0), (seen.reversed(), 1)]
    if is_double:
        ways += [(seen.crosswise(), 0), (seen.crosswise().reversed(), 0)]
    for place, inner_half in ways:
        for edge in edges_at(place, Port.W, is_double=is_double):
            yield Turn(place, inner_half, edge)


def leading(tile: SeenTile, *, is_double: bool) -> Turn:
    """Return how a first tile is named: E is to the right, a double lies across the line."""
    seen = footprint_of(tile).crosswise() if is_double else footprint_of(tile)
    ahead_px = seen.along[0] if abs(seen.along[0]) > abs(seen.along[1]) else seen.along[1]
    place, inner_half = (seen, 0) if ahead_px > 0 else (seen.reversed(), 1)
    return Turn(place, inner_half, edges_at(place, Port.W, is_double=is_double)[0])


def misfit(host: Footprint, end: Edge, turn: Turn, *, is_double: bool) -> float | None:
    """Return what it costs to believe that a tile is joined so, 0 for a perfect fit, None where it is too far off.

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


def misfit_at_starter(starter: Footprint, turn: Turn, *, is_double: bool) -> float | None:
    """Return what it costs to believe that a tile begins an arm so, as `misfit` does; the angle is free."""
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
