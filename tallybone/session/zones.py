"""Zones of a table for boneyard and open hands, and the sorting of a view's tiles by zone."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine import Seat
from tallybone.session.touching import Footprint
from vision.reading import Face, SeenTile
from vision.tracking.settle import Side
from vision.tracking.table_view import Change, ChangeKind, TableView

Outline = tuple[tuple[float, float], ...]
"""Corners of a closed polygon, in shares of the picture's width and height, 0 to 1."""
_BOX = tuple[float, float, float, float]
# Left, top, right and bottom, in shares of the picture's width and height. In a picture 85 cm wide a strip is 6 cm
# deep, enough for an upright tile of 5 cm.
_BONEYARD: _BOX = (0.74, 0.0, 1.0, 0.34)
_STRIPS: dict[Side, _BOX] = {
    Side.BOTTOM: (0.12, 0.87, 0.88, 1.0),
    Side.LEFT: (0.0, 0.1, 0.08, 0.86),
    Side.TOP: (0.12, 0.0, 0.72, 0.13),
    Side.RIGHT: (0.92, 0.36, 1.0, 0.86),
}
_SITTING = {
    2: (Side.BOTTOM, Side.TOP),
    3: (Side.BOTTOM, Side.LEFT, Side.TOP),
    4: (Side.BOTTOM, Side.LEFT, Side.TOP, Side.RIGHT),
}
# Maximum distance between the centres of two sightings of the same tile, in sides of a half. A tile of the layout
# remains one, even inside a zone.
_SAME_PLACE = 0.5
# Maximum distance between the centres of two joined tiles, in sides of a half, including a gap between them.
_JOINED = 2.6
# Minimum share of the motion at one side of the picture for hands to have come from that side only.
_ALONE = 0.9


@dataclass(frozen=True, slots=True)
class SeatZone:
    """Zone for the open hand of a seat.

    Attributes:
        side: Side of the picture at which the player sits.
        outline: Outline of the zone.
    """

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
        """Return True if there is at least one zone."""
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


def default_zones(players: int) -> Zones:
    """Return the default zones: a strip along the side of each seat, and the boneyard at the top right.

    Seats are clockwise, the first at the bottom. There are seat zones for two to four players. With more, two players
    would share a side.
    """
    seats = tuple(SeatZone(side, _corners(_STRIPS[side])) for side in _SITTING.get(players, ()))
    return Zones(seats, _corners(_BONEYARD))


def _corners(box: _BOX) -> Outline:
    left, top, right, bottom = box
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def _outline(corners: Any) -> Outline:  # unchecked JSON
    """Return an outline from JSON."""
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
        boneyard: Number of tiles in the boneyard.
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
        raise ValueError("zones are in shares of the picture, but it is unknown how large the picture is")
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
        return self.zones.is_boneyard(*self._share(tile)) and not self._is_near(tile, _SAME_PLACE)

    def seat(self, tile: SeenTile) -> Seat | None:
        """Return the seat whose zone contains a tile, or None."""
        seat = self.zones.seat_at(*self._share(tile))
        reach = _JOINED if self.may_join else _SAME_PLACE
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
