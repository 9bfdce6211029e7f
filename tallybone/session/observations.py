"""Observations for the decoder: zones, and what each look shows, with the sounds and presses before it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine import Action, NodeId, Seat
from tallybone.session.inputs import KnockHeard, Press
from tallybone.session.places import Footprint, Point, footprint_of
from vision.reading import Face, SeenTile
from vision.tracking.settle import Side
from vision.tracking.table_view import Change, ChangeKind, TableView

Outline = tuple[tuple[float, float], ...]
"""Corners of a closed polygon, in shares of the picture's width and height, 0 to 1."""
# Maximum distance between the centres of two sightings of the same tile, in sides of a half. A tile of the layout
# remains one, even inside a zone.
_SAME_SPOT = 0.5
# Maximum distance between the centres of two joined tiles, in sides of a half, including a gap between them.
_JOINED = 2.6
# Minimum share of the motion at one side of the picture for hands to have come from that side only.
_ALONE = 0.9


@dataclass(frozen=True, slots=True)
class SeatZone:
    """Zone for the open hand of a seat."""

    side: Side
    outline: Outline

    def __post_init__(self) -> None:
        _check(self.outline, f"the zone of the seat at the {self.side}")


@dataclass(frozen=True, slots=True)
class Zones:
    """Zones of a table, fixed for a sitting. The rest of the picture is the layout.

    Attributes:
        seats: Zones by seat, clockwise seen from above. Empty if there are none.
        boneyard: Outline of the boneyard, or None if it is not in the picture.
    """

    seats: tuple[SeatZone, ...] = ()
    boneyard: Outline | None = None

    def __post_init__(self) -> None:
        if self.boneyard is not None:
            _check(self.boneyard, "the boneyard")

    def __bool__(self) -> bool:
        return bool(self.seats) or self.boneyard is not None

    def is_boneyard(self, x_share: float, y_share: float) -> bool:
        """Return True if a point of the picture is in the boneyard."""
        return self.boneyard is not None and _is_inside(self.boneyard, x_share, y_share)

    def seat_at(self, x_share: float, y_share: float) -> int | None:
        """Return the seat whose zone contains a point of the picture, or None."""
        return next((at for at, zone in enumerate(self.seats) if _is_inside(zone.outline, x_share, y_share)), None)

    def format(self) -> str:
        """Return the zones as JSON.

        >>> Zones(boneyard=((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))).format()
        '{"seats": [], "boneyard": [[0.5, 0.0], [1.0, 0.0], [1.0, 0.5]]}'
        """
        seats = [{"side": zone.side.value, "outline": zone.outline} for zone in self.seats]
        return json.dumps({"seats": seats, "boneyard": self.boneyard})

    @classmethod
    def parse(cls, text: str) -> Zones:
        """Return the zones from JSON written by `format`.

        >>> Zones.parse('{"seats": [], "boneyard": [[0.5, 0], [1, 0], [1, 0.5]]}').boneyard
        ((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))

        Raises:
            ValueError: If *text* is not valid, or a corner is outside the picture.
        """
        fields = json.loads(text)
        try:
            seats = tuple(SeatZone(Side(zone["side"]), _outline(zone["outline"])) for zone in fields["seats"])
            return cls(seats, None if fields["boneyard"] is None else _outline(fields["boneyard"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected zones of seats and of the boneyard, got {text}") from error


def _outline(corners: Any) -> Outline:  # unchecked JSON
    return tuple((float(x_share), float(y_share)) for x_share, y_share in corners)


def _check(outline: Outline, name: str) -> None:
    """Raise ValueError if an outline is not an area of the picture. *name* is for the message."""
    if len(outline) < 3:
        raise ValueError(f"{name} needs 3 corners or more, got {len(outline)}")
    if not all(0.0 <= share <= 1.0 for corner in outline for share in corner):
        raise ValueError(f"{name} needs corners in shares of the picture, 0 to 1, got {outline}")


def _is_inside(outline: Outline, x_share: float, y_share: float) -> bool:
    """Return True if a point is inside an outline: a ray to the right crosses it an odd number of times."""
    is_inside = False
    for at, (x, y) in enumerate(outline):
        before_x, before_y = outline[at - 1]
        if (y > y_share) != (before_y > y_share):
            crossing = x + (y_share - y) * (before_x - x) / (before_y - y)
            is_inside ^= x_share < crossing
    return is_inside


@dataclass(frozen=True, slots=True)
class SortedView:
    """A view of the table, sorted by zones.

    Attributes:
        layout: Tiles outside all zones, and their changes.
        taken: Number of tiles that have left it.
        strays: Number of face-down tiles outside all zones.
        hands: Open tiles in each seat's zone.
        is_by_hand: Whether a hand reached over the table before this view.
        came_from: Seats at the only side from which hands came. Empty if they came from several sides, or none came.
    """

    layout: TableView
    boneyard: int = 0
    taken: int = 0
    strays: int = 0
    hands: tuple[tuple[SeenTile, ...], ...] = ()
    is_by_hand: bool = False
    came_from: tuple[Seat, ...] = ()


def split(view: TableView, zones: Zones, layout: Sequence[Footprint], *, may_join: bool) -> SortedView:
    """Return a view, sorted by zones. Face-down tiles in a seat's zone are omitted.

    Args:
        view: View of the table.
        zones: Zones of the table.
        layout: Footprints of the layout's tiles. These remain part of the layout even inside a zone.
        may_join: Whether an open tile in a seat's zone counts as played if it is next to the layout.

    Raises:
        ValueError: If the view has no picture size.
    """
    if view.size_px is None:
        raise ValueError("zones are relative to the size of the picture, and the view has none")
    sorter = _Sorter(zones, view.size_px, layout, may_join)
    rest = tuple(tile for tile in view.tiles if sorter.is_of_layout(tile))
    layout_view = replace(view, tiles=rest, joins=(), changes=tuple(_changes_within(view.changes, sorter)))
    hands: list[list[SeenTile]] = [[] for _ in zones.seats]
    boneyard = 0
    for tile in view.tiles:
        seat = sorter.seat(tile)
        if sorter.is_boneyard(tile):
            boneyard += 1
        elif seat is not None and tile.face is Face.UP:
            hands[seat].append(tile)
    taken = sum(change.kind is ChangeKind.REMOVED and sorter.is_boneyard(change.tile) for change in view.changes)
    strays = sum(tile.face is Face.DOWN for tile in rest)
    by_hand = (bool(view.came_from), _came_from(view, zones))
    return SortedView(layout_view, boneyard, taken, strays, tuple(map(tuple, hands)), *by_hand)


@dataclass(frozen=True, slots=True)
class _Sorter:
    """Finds the zone of a tile."""

    zones: Zones
    size_px: tuple[int, int]
    layout: Sequence[Footprint]
    may_join: bool

    def is_of_layout(self, tile: SeenTile) -> bool:
        """Return True if a tile is in no zone, or belongs to the layout anyway."""
        return not self.is_boneyard(tile) and self.seat(tile) is None

    def is_boneyard(self, tile: SeenTile) -> bool:
        """Return True if a tile is in the boneyard."""
        return self.zones.is_boneyard(*self._share(tile)) and not self._is_near(tile, _SAME_SPOT)

    def seat(self, tile: SeenTile) -> Seat | None:
        """Return the seat whose zone contains a tile, or None."""
        seat = self.zones.seat_at(*self._share(tile))
        reach = _JOINED if self.may_join else _SAME_SPOT
        return None if seat is None or self._is_near(tile, reach) else Seat(seat)

    def _share(self, tile: SeenTile) -> tuple[float, float]:
        x, y = tile.center_px
        return (x / self.size_px[0], y / self.size_px[1])

    def _is_near(self, tile: SeenTile, sides: float) -> bool:
        middle = tile.center_px
        if tile.face is Face.DOWN:  # tiles of the layout are face up
            return False
        return any(math.dist(place.center, middle) < sides * place.side for place in self.layout)


def _changes_within(changes: Sequence[Change], sorter: _Sorter) -> Iterator[Change]:
    """Yield the changes of the layout. A tile moved across its border is reported as placed or removed."""
    for change in changes:
        is_here = sorter.is_of_layout(change.tile)
        was_here = is_here if change.before is None else sorter.is_of_layout(change.before)
        if is_here and was_here:
            yield change
        elif is_here:
            yield Change(ChangeKind.PLACED, change.tile)
        elif was_here and change.before is not None:
            yield Change(ChangeKind.REMOVED, change.before)


def _came_from(view: TableView, zones: Zones) -> tuple[Seat, ...]:
    """Return the seats at the only side from which hands came. Empty if that is ambiguous."""
    heaviest = max(view.came_from, key=lambda side: side.weight, default=None)
    if heaviest is None or heaviest.weight < _ALONE:
        return ()
    return tuple(Seat(at) for at, zone in enumerate(zones.seats) if zone.side is heaviest.side)


# If more than this share of the pieces is gone or reads differently, those that read differently are other tiles.
_CLEARED = 0.5
# Number of pieces below which a table is not taken to be cleared: a single one may just be read differently.
_FEW = 3
# Share of the pieces that are gone when the hand is over, so they cannot come back.
_SWEPT = 0.8
# Maximum distance between the centres of two sightings of the same tile, and of a tile that was nudged and not played
# again, in sides of a half.
_SAME_PLACE = 0.5
_NUDGED = 1.5
_PUT = (ChangeKind.PLACED, ChangeKind.STACKED)
FIRST_NAME = 1_000_000
"""Name of the first piece. Pieces that are played before are named by the numbers of their plays in the log."""

SaidTotals = tuple[tuple[Seat, int], ...]
"""Totals of some seats."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A face-up tile outside all zones, from when it appears until it is gone.

    Attributes:
        name: Its name in the layout, if it is played.
        tile: Last reading.
        came_from: Seats at the only side from which hands came when it appeared. Empty if that is ambiguous.
        since_ns: Time at which it appeared, or None if unknown.
    """

    name: NodeId
    tile: SeenTile
    came_from: tuple[Seat, ...] = ()
    since_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """All evidence since the look before, in which the order of actions is unknown.

    Attributes:
        t_ns: Time of the look, in nanoseconds of a monotonic clock.
        moved: Pieces that lie elsewhere or are read differently, as they are now.
        gone: Names of the pieces that are newly gone.
        back: Pieces that were gone and are back.
        absent: Names of all pieces that are gone.
        touched: Names of the pieces that a hand touched and left in place: another may have been stacked on one.
        outside: Number of face-up tiles outside all zones.
        yard: Number of tiles in the boneyard. None at a table without a zone for it.
        taken: Number of tiles that have left the boneyard.
        strays: Number of face-down tiles outside all zones.
        is_by_hand: Whether a hand reached over the table.
        came_from: Seats at the only side from which hands came. Empty if that is ambiguous.
        shown: Open tiles in front of each seat.
        presses: Presses of buttons, and actions entered by hand.
        is_deaf: Sounds and presses were not recorded, because the machine was off.
        confirmed: Totals of some seats that the players have confirmed.
        denied: Lists of totals that the players have rejected.
        turn: Player whose turn it is, as the players have said, or None.
        continues: The hand was still in play, as later looks show.
    """

    t_ns: int
    pieces: tuple[Piece, ...] = ()
    moved: tuple[Piece, ...] = ()
    gone: tuple[NodeId, ...] = ()
    back: tuple[Piece, ...] = ()
    absent: frozenset[NodeId] = frozenset()
    touched: frozenset[NodeId] = frozenset()
    outside: int = 0
    yard: int | None = None
    taken: int = 0
    strays: int = 0
    is_by_hand: bool = False
    came_from: tuple[Seat, ...] = ()
    shown: tuple[tuple[SeenTile, ...], ...] = ()
    sounds: tuple[KnockHeard, ...] = ()
    presses: tuple[Press | Action, ...] = ()
    is_deaf: bool = False
    confirmed: SaidTotals = ()
    denied: tuple[SaidTotals, ...] = ()
    turn: Seat | None = None
    continues: bool = False


@dataclass(frozen=True, slots=True)
class TablePieces:
    """Pieces on the table, as of the last look.

    Attributes:
        pieces: Face-up tiles outside all zones.
        lost: Pieces of this hand that are gone, as they were last.
        next_name: Name of the next new piece.
    """

    pieces: tuple[Piece, ...] = ()
    lost: tuple[Piece, ...] = ()
    next_name: int = FIRST_NAME


def looked(watched: TablePieces, parts: SortedView, look: Observation) -> tuple[TablePieces, Observation]:
    """Return the table after a settled view, and *look* completed by what the view shows.

    A tile is the same piece as before if it lies in the same place, even if it was gone meanwhile, or was reported as
    nudged from there.
    """
    left = [tile for tile in parts.layout.tiles if tile.face is Face.UP]
    outside = len(left)
    stayed, moved, gone = _followed(watched, parts, left)
    lost = [*watched.lost, *gone]
    back: list[Piece] = []
    for piece in () if len(lost) > _CLEARED * (len(lost) + len(stayed)) else watched.lost:
        place = footprint_of(piece.tile)
        now = next((tile for tile in left if is_at(place, tile) and numbers_of(piece.tile) == numbers_of(tile)), None)
        if now is not None:
            left.remove(now)
            lost.remove(piece)
            back.append(replace(piece, tile=now))
    since = {change.tile: change.since_ns for change in parts.layout.changes if change.kind is ChangeKind.PLACED}
    came_from = parts.came_from if len(left) == 1 else ()
    fresh = tuple(
        Piece(NodeId(watched.next_name + at), tile, came_from, since.get(tile)) for at, tile in enumerate(left)
    )
    put = [change.tile for change in parts.layout.changes if change.kind in _PUT and change.tile.face is Face.UP]
    look = replace(
        look,
        pieces=fresh,
        moved=(*moved, *back),
        gone=tuple(piece.name for piece in gone),
        back=tuple(back),
        absent=frozenset(piece.name for piece in lost),
        touched=frozenset(piece.name for piece in stayed if any(is_at(footprint_of(piece.tile), new) for new in put)),
        outside=outside,
        strays=parts.strays,
        is_by_hand=parts.is_by_hand,
        came_from=parts.came_from,
        shown=parts.hands,
        yard=parts.boneyard + parts.strays,
        taken=parts.taken,
    )
    kept = () if len(lost) >= _SWEPT * (len(lost) + len(stayed)) else tuple(lost)
    return TablePieces((*stayed, *back, *fresh), kept, NodeId(watched.next_name + len(fresh))), look


def _followed(
    watched: TablePieces, parts: SortedView, left: list[SeenTile]
) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """Return the pieces that stayed, those of them that moved or read differently, and those that are gone."""
    # Removes the tiles of the pieces that stayed from *left*.
    nudged = {
        change.before: change.tile
        for change in parts.layout.changes
        if change.kind in (ChangeKind.MOVED, ChangeKind.TURNED) and change.tile.face is Face.UP and _is_nudge(change)
    }
    middles = [(tile, tile.center_px) for tile in left]
    places = [footprint_of(nudged.get(piece.tile, piece.tile)) for piece in watched.pieces]
    now_at = list[SeenTile | None]()
    for place in places:  # A tile is one piece only, even if it was pushed to the place of another.
        now_at.append(_tile_at(place, middles))
        middles = [(tile, middle) for tile, middle in middles if tile is not now_at[-1]]
    backs = [(tile, tile.center_px) for tile in parts.layout.tiles if tile.face is Face.DOWN]
    turned = [now is None and _tile_at(place, backs) is not None for place, now in zip(places, now_at, strict=True)]
    if sum(turned) == 1:  # A single tile that was turned face down is still there. More are being shuffled.
        at = turned.index(True)
        now_at[at] = watched.pieces[at].tile
        left.append(watched.pieces[at].tile)
    found = list(zip(watched.pieces, now_at, strict=True))
    others = [now is None or numbers_of(now) != numbers_of(piece.tile) for piece, now in found]
    is_cleared = len(others) >= _FEW and sum(others) > _CLEARED * len(others)
    stayed, moved, gone = list[Piece](), list[Piece](), list[Piece]()
    for (piece, now), is_other in zip(found, others, strict=True):
        if now is None or (is_other and (is_cleared or set(numbers_of(now)).isdisjoint(numbers_of(piece.tile)))):
            gone.append(piece)
        else:
            left.remove(now)
            stayed.append(piece if now == piece.tile else replace(piece, tile=now))
            moved += [] if now == piece.tile else stayed[-1:]
    return stayed, moved, gone


def _tile_at(place: Footprint, tiles: Iterable[tuple[SeenTile, Point]]) -> SeenTile | None:
    """Return the first tile at *place*, or None. Each tile comes with its centre."""
    near_px = _SAME_PLACE * place.side
    return next((tile for tile, center_px in tiles if math.dist(place.center, center_px) < near_px), None)


def is_at(place: Footprint, tile: SeenTile) -> bool:
    """Check that the centre of a tile is within half a side of the centre of *place*."""
    return math.dist(place.center, tile.center_px) < _SAME_PLACE * place.side


def turned_like(old: Footprint, tile: SeenTile) -> Footprint:
    """Return the place of a moved tile, with its W to E direction as close as possible to the old one."""
    seen = footprint_of(tile)
    place = seen if old.lies_along else seen.crosswise()
    is_same = place.along[0] * old.along[0] + place.along[1] * old.along[1] > 0
    return place if is_same else place.reversed()


def numbers_of(tile: SeenTile) -> tuple[int, ...]:
    """Return the pips of both halves as read, the smaller first."""
    return tuple(sorted(half.alone.pips for half in tile.halves))


def seen_name(tile: SeenTile) -> str:
    """Return the players' name of a tile as read, such as "6-4", its larger number first."""
    return "-".join(str(number) for number in reversed(numbers_of(tile)))


def _is_nudge(change: Change) -> bool:
    """Check that a tile that has moved may still join the same tile."""
    if change.before is None or change.before.face is not Face.UP:
        return False
    place = footprint_of(change.before)
    return math.dist(place.center, change.tile.center_px) < _NUDGED * place.side
