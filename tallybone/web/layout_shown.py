"""Layout for the page: tiles, open ends, waiting and unreadable tiles, zones."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine import Game, Layout, Node, NodeId, OpenEnd, Play, Port, Seq, Tile, Undo, apply, entries
from engine.state.layout import LINE
from tallybone.session.observations import Zones, numbers_of
from tallybone.session.places import Footprint, Known, Places, edges_at
from tallybone.session.session import Session
from tallybone.web.shapes import EndShown, LayoutShown, TileShown, UnsureShown, WaitingShown, ZoneShown
from vision.reading import SURE, Face, PointPx, SeenTile
from vision.tracking.table_view import TableView

_SIDES = (Port.W, Port.E, Port.N, Port.S)


def layout_shown(game: Game, places: Places, zones: Zones, picture_px: tuple[int, int]) -> LayoutShown:
    """Return the layout for the page.

    Args:
        game: The match.
        places: Positions of its tiles.
        zones: Zones of seats and boneyard.
        picture_px: Width and height of the image.
    """
    layout = game.layout
    known = {tile.node: tile for tile in places.known}
    last = layout.nodes[-1].id if layout.nodes else None
    return LayoutShown(
        picture_px,
        tuple(_tile(layout, node, known[node.id], last) for node in layout.nodes if node.id in known),
        _ends(game, known),
        tuple(_waiting(waiting.tile) for waiting in places.waiting),
        tuple(node.id for node in layout.nodes if node.id not in known),
        _zones(zones),
    )


def _tile(layout: Layout, node: Node, known: Known, last: NodeId | None) -> TileShown:
    place = known.place
    ports = (Port.N, Port.S) if node.tile.is_double and not place.lies_along else LINE
    first, second = (place.half_center(port) for port in ports)
    read = sorted(known.tile.halves, key=lambda half: math.dist(half.center_px, first))
    confidence = (round(read[0].confidence, 3), round(read[1].confidence, 3)) if read else (0.0, 0.0)
    return TileShown(
        node.id,
        (node.inner, node.outer),
        tuple(_px(point) for point in place.outline()),
        (_px(first), _px(second)),
        (read[0].pips, read[1].pips) if read else None,
        confidence,
        node.branches,
        node.id == last,
        layout.stacked.count(node.id),
        known.is_missing or (min(confidence) < SURE and not known.is_settled),
    )


def _ends(game: Game, known: dict[NodeId, Known]) -> tuple[EndShown, ...]:
    counts = _counts(game)
    return tuple(
        end_shown(end, place.place, counts.get((end.spot.host, end.spot.port), 0))
        for end in game.layout.ends
        if (place := known.get(end.spot.host)) is not None
    )


def end_shown(end: OpenEnd, place: Footprint, counts: int) -> EndShown:
    """Convert an open end of the tile at *place*. *counts* is its share of the count."""
    port = end.spot.port
    # A free arm of a starter has no position of its own, so the centre of the starter is shown.
    middle = edges_at(place, port, is_double=True)[0].middle if port in _SIDES else (0.0, 0.0)
    x, y = _px(place.at(*middle))
    return EndShown(x, y, end.spot.host, port.value, end.number, counts, end.playable)


def _counts(game: Game) -> dict[tuple[NodeId, Port], int]:
    """Return the pips that each open end adds to the count. Empty in games without a count.

    The halves of a double are distributed over its ends.
    """
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


def unsure_shown(view: TableView | None) -> tuple[UnsureShown, ...]:
    """Return the outlines of objects that look like tiles but cannot be read. Empty without a view."""
    tiles = () if view is None else view.unsure
    return tuple(UnsureShown(tuple(_px(point) for point in tile.corners_px)) for tile in tiles)


def _zones(zones: Zones) -> tuple[ZoneShown, ...]:
    seats = tuple(ZoneShown(seat, zone.outline) for seat, zone in enumerate(zones.seats))
    return seats if zones.boneyard is None else (*seats, ZoneShown(None, zones.boneyard))


def _px(point: PointPx) -> PointPx:
    return (round(point[0], 1), round(point[1], 1))


@dataclass(frozen=True, slots=True)
class EndOffered:
    """An open end before an action, and its position.

    *fits* is true if the tile can be played there, *taken* if the action laid its tile there.
    """

    x: float
    y: float
    seq: int
    port: str
    value: int
    fits: bool
    taken: bool


def ends_before(session: Session, before: int, tile: Tile) -> tuple[EndOffered, ...] | None:
    """Return the open ends before the action number *before*, and if *tile* fits. None if there is no such action.

    Ends that the rules close, and ends of tiles with unknown positions, are left out.
    """
    entry = next((entry for entry in entries(session.state) if entry.seq == before), None)
    if entry is None:
        return None
    then = apply(session.state, Undo(Seq(before)))[0].game
    known = {tile.node: tile.place for tile in session.places.known}
    own = entry.action.at if isinstance(entry.action, Play) else None
    found = []
    for end in () if then is None else then.layout.ends:
        place = known.get(end.spot.host)
        if end.playable and place is not None:
            shown = end_shown(end, place, 0)
            fits = bool(end.fits & tile.bit)
            found.append(EndOffered(shown.x, shown.y, shown.seq, shown.port, shown.value, fits, end.spot == own))
    return tuple(found)
