"""The layout as a page draws it: where each tile lies in the picture, where the next may go, what else lies there."""

from __future__ import annotations

import math

from engine import Game, Layout, Node, NodeId, OpenEnd, Port
from engine.layout import LINE
from tallybone.session.referee.places import Known, Places, numbers_of
from tallybone.session.touching import Footprint, edges_at
from tallybone.session.zones import Zones
from tallybone.web.shapes import EndShown, LayoutShown, PointPx, TileShown, WaitingShown, ZoneShown
from vision.reading import SURE, Face
from vision.reading import Tile as SeenTile

_SIDES = (Port.W, Port.E, Port.N, Port.S)


def layout_shown(game: Game, places: Places, zones: Zones, picture_px: tuple[int, int]) -> LayoutShown:
    """Return what lies on the table.

    Args:
        game: The match.
        places: Where its tiles lie.
        zones: What else is where.
        picture_px: Width and height of the picture.
    """
    layout = game.layout
    known = {one.node: one for one in places.known}
    last = layout.nodes[-1].id if layout.nodes else None
    return LayoutShown(
        picture_px,
        tuple(_tile(layout, node, known[node.id], last) for node in layout.nodes if node.id in known),
        _ends(game, known),
        tuple(_waiting(one.tile) for one in places.waiting),
        tuple(node.id for node in layout.nodes if node.id not in known),
        _zones(zones),
    )


def _tile(layout: Layout, node: Node, known: Known, last: NodeId | None) -> TileShown:
    place = known.place
    ports = (Port.N, Port.S) if node.tile.is_double and not place.lies_along else LINE
    first, second = (place.half_center(port) for port in ports)
    confidence = _confidence(known.tile, first)
    is_doubtful = known.is_reread or known.is_missing or bool(known.maybe_by)
    return TileShown(
        node.id,
        (node.inner, node.outer),
        tuple(_px(point) for point in place.outline()),
        (_px(first), _px(second)),
        confidence,
        node.branches,
        node.id == last,
        layout.stacked.count(node.id),
        is_doubtful or (min(confidence) < SURE and not known.is_settled),
    )


def _confidence(seen: SeenTile, first_px: PointPx) -> tuple[float, float]:
    """Return how sure the eye is of both halves, that at *first_px* first."""
    if not seen.halves:
        return (0.0, 0.0)
    near, far = sorted(seen.halves, key=lambda half: math.dist(half.center_px, first_px))
    return (round(near.confidence, 3), round(far.confidence, 3))


def _ends(game: Game, known: dict[NodeId, Known]) -> tuple[EndShown, ...]:
    counts = _counts(game)
    return tuple(
        end_shown(end, place.place, counts.get((end.spot.host, end.spot.port), 0))
        for end in game.layout.ends
        if (place := known.get(end.spot.host)) is not None
    )


def end_shown(end: OpenEnd, place: Footprint, counts: int) -> EndShown:
    """Return an open end of the tile that lies at *place*."""
    port = end.spot.port
    # An arm of a starter has no place before a tile lies there.
    middle = edges_at(place, port, is_double=True)[0].middle if port in _SIDES else (0.0, 0.0)
    x, y = _px(place.at(*middle))
    return EndShown(x, y, end.spot.host, port.value, end.number, counts, end.playable)


def _counts(game: Game) -> dict[tuple[NodeId, Port], int]:
    """Return what each open end adds to the count; both halves of a double are shared among its ends."""
    counts: dict[tuple[NodeId, Port], int] = {}
    if game.rules.unit is None:
        return counts
    ends = [end for end in game.layout.ends if end.playable]
    for host in {end.spot.host for end in ends}:
        own = [end.spot.port for end in ends if end.spot.host == host]
        for at, term in enumerate(term for term in game.count.terms if term.spot.host == host):
            spot = (host, own[at % len(own)])
            counts[spot] = counts.get(spot, 0) + term.pips
    return counts


def _waiting(tile: SeenTile) -> WaitingShown:
    numbers = numbers_of(tile) if tile.face is Face.UP else ()
    pips = (numbers[1], numbers[0]) if len(numbers) == 2 else None
    return WaitingShown(pips, tuple(_px(point) for point in tile.corners_px))


def _zones(zones: Zones) -> tuple[ZoneShown, ...]:
    seats = tuple(ZoneShown(seat, zone.outline) for seat, zone in enumerate(zones.seats))
    return seats if zones.boneyard is None else (*seats, ZoneShown(None, zones.boneyard))


def _px(point: PointPx) -> PointPx:
    return (round(point[0], 1), round(point[1], 1))
