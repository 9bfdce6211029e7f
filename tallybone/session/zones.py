"""Map the table: the zones for layout, boneyard and seats, and which tiles of a view lie in each."""

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
"""Corners in shares of the picture's width and height, 0 to 1; the last is joined to the first."""
_BOX = tuple[float, float, float, float]
# Left, top, right, bottom. Of a picture that is 85 cm wide a strip is 6 cm deep: a tile of 5 cm lies there upright.
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
# In sides of a half: a tile this near to one of the layout is that one, wherever a zone begins.
_SAME_PLACE = 0.5
# So far apart the middles of two tiles are at most that are joined, with the gap that people leave.
_JOINED = 2.6
# A hand that takes a tile of the boneyard pushes others this far at most, in diagonals of a tile.
_PUSHED = 2.0
# Hands came from one side alone where it has this share of all that came in.
_ALONE = 0.9


@dataclass(frozen=True, slots=True)
class SeatZone:
    """Where one seat lays its tiles open.

    Attributes:
        side: The side of the picture at which it sits.
        outline: Its own part of the picture.
    """

    side: Side
    outline: Outline

    def __post_init__(self) -> None:
        _check(self.outline, f"the zone of the seat at the {self.side}")


@dataclass(frozen=True, slots=True)
class Zones:
    """The areas of a table, fixed for a sitting; the rest is the layout.

    Attributes:
        seats: By seat, clockwise seen from above; nothing where hands are not laid open in zones.
        boneyard: Where the tiles lie that are left to draw; None where they are not on the picture.
    """

    seats: tuple[SeatZone, ...] = ()
    boneyard: Outline | None = None

    def __post_init__(self) -> None:
        if self.boneyard is not None:
            _check(self.boneyard, "the boneyard")

    def __bool__(self) -> bool:
        """Return whether there is any zone."""
        return bool(self.seats) or self.boneyard is not None

    def is_boneyard(self, x_share: float, y_share: float) -> bool:
        """Return whether a point of the picture is of the boneyard."""
        return self.boneyard is not None and _is_inside(self.boneyard, x_share, y_share)

    def seat_at(self, x_share: float, y_share: float) -> int | None:
        """Return in which seat's zone a point of the picture is; None for in none."""
        return next((at for at, zone in enumerate(self.seats) if _is_inside(zone.outline, x_share, y_share)), None)

    def format(self) -> str:
        """Return it as JSON.

        >>> Zones(boneyard=((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))).format()
        '{"seats": [], "boneyard": [[0.5, 0.0], [1.0, 0.0], [1.0, 0.5]]}'
        """
        seats = [{"side": zone.side.value, "outline": zone.outline} for zone in self.seats]
        return json.dumps({"seats": seats, "boneyard": self.boneyard})

    @classmethod
    def parse(cls, text: str) -> Zones:
        """Return the zones that `format` has written.

        >>> Zones.parse('{"seats": [], "boneyard": [[0.5, 0], [1, 0], [1, 0.5]]}').boneyard
        ((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))

        Raises:
            ValueError: If it is damaged, or a corner is not on the picture.
        """
        said = json.loads(text)
        try:
            seats = tuple(SeatZone(Side(zone["side"]), _outline(zone["outline"])) for zone in said["seats"])
            return cls(seats, None if said["boneyard"] is None else _outline(said["boneyard"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected zones of seats and of the boneyard, got {text}") from error


def default_zones(players: int) -> Zones:
    """Return a strip along the side of each seat, and the boneyard in the corner at the top right.

    Seats sit clockwise, the first at the bottom. More than four have no zones, because two would share a side.
    """
    seats = tuple(SeatZone(side, _corners(_STRIPS[side])) for side in _SITTING.get(players, ()))
    return Zones(seats, _corners(_BONEYARD))


def _corners(box: _BOX) -> Outline:
    left, top, right, bottom = box
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def _outline(corners: Any) -> Outline:  # JSON that anybody may have written
    """Return an outline from JSON."""
    return tuple((float(x_share), float(y_share)) for x_share, y_share in corners)


def _check(outline: Outline, whose: str) -> None:
    """Reject an outline that is no area of the picture."""
    if len(outline) < 3:
        raise ValueError(f"{whose} needs 3 corners or more, got {len(outline)}")
    if not all(0.0 <= share <= 1.0 for corner in outline for share in corner):
        raise ValueError(f"{whose} needs corners in shares of the picture, 0 to 1, got {outline}")


def _is_inside(outline: Outline, x_share: float, y_share: float) -> bool:
    """Return whether a line from the point to the right crosses the outline an odd number of times."""
    is_inside = False
    for at, (x, y) in enumerate(outline):
        before_x, before_y = outline[at - 1]
        if (y > y_share) != (before_y > y_share):
            crossing = x + (y_share - y) * (before_x - x) / (before_y - y)
            is_inside ^= x_share < crossing
    return is_inside


@dataclass(frozen=True, slots=True)
class SortedView:
    """One look at the table.

    Attributes:
        layout: The tiles in no zone, and their changes.
        boneyard: How many tiles lie in the boneyard's zone.
        strays: How many lie face down in no zone.
        found: How many came to light in the boneyard's zone while others were taken there, far from those.
        hands: The open tiles in each seat's zone.
        is_by_hand: Whether a hand came in before it.
        came_from: The seats at the side from which alone hands came; none where they came from several, or none came.
    """

    layout: TableView
    boneyard: int = 0
    strays: int = 0
    found: int = 0
    hands: tuple[tuple[SeenTile, ...], ...] = ()
    is_by_hand: bool = False
    came_from: tuple[Seat, ...] = ()

    @property
    def placed(self) -> int:
        """How many tiles were laid into the layout."""
        return sum(change.kind is ChangeKind.PLACED for change in self.layout.changes)


def split(view: TableView, zones: Zones, lying: Sequence[Footprint], *, may_join: bool) -> SortedView:
    """Return a view, sorted by zones.

    Args:
        view: The table as it is seen.
        zones: Where boneyard and open hands lie.
        lying: Where the tiles of the layout lie. They stay in it, also where they reach into a zone.
        may_join: Whether an open tile in a seat's zone that lies against the layout was played.

    Raises:
        ValueError: If the view does not say how large its picture is.
    """
    if view.size_px is None:
        raise ValueError("zones are shares of the picture, but the view does not say how large that is")
    cut = _Cut(zones, view.size_px, lying, may_join)
    rest = tuple(tile for tile in view.tiles if cut.is_of_layout(tile))
    layout = replace(view, tiles=rest, joins=(), changes=tuple(_changes_within(view.changes, cut)))
    hands: list[list[SeenTile]] = [[] for _ in zones.seats]
    boneyard = 0
    for tile in view.tiles:
        seat = cut.seat(tile)
        if cut.is_boneyard(tile):
            boneyard += 1
        elif seat is not None and tile.face is Face.UP:
            hands[seat].append(tile)
    strays = sum(tile.face is Face.DOWN for tile in rest)
    by_hand = (bool(view.came_from), _came_from(view, zones))
    return SortedView(layout, boneyard, strays, _found(view.changes, cut), tuple(map(tuple, hands)), *by_hand)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Tells in which part of the table a tile lies."""

    zones: Zones
    size_px: tuple[int, int]
    lying: Sequence[Footprint]
    may_join: bool

    def is_of_layout(self, tile: SeenTile) -> bool:
        """Return whether a tile lies in no zone."""
        return not self.is_boneyard(tile) and self.seat(tile) is None

    def is_boneyard(self, tile: SeenTile) -> bool:
        """Return whether a tile lies in the boneyard."""
        return self.zones.is_boneyard(*self._share(tile)) and not self._is_near(tile, _SAME_PLACE)

    def seat(self, tile: SeenTile) -> Seat | None:
        """Return in whose zone a tile lies."""
        seat = self.zones.seat_at(*self._share(tile))
        reach = _JOINED if self.may_join else _SAME_PLACE
        return None if seat is None or self._is_near(tile, reach) else Seat(seat)

    def _share(self, tile: SeenTile) -> tuple[float, float]:
        x, y = tile.center_px
        return (x / self.size_px[0], y / self.size_px[1])

    def _is_near(self, tile: SeenTile, sides: float) -> bool:
        middle = tile.center_px
        if tile.face is Face.DOWN:  # no tile of the layout shows its back
            return False
        return any(math.dist(place.center, middle) < sides * place.side for place in self.lying)


def _found(changes: Sequence[Change], cut: _Cut) -> int:
    """Return how many tiles of the boneyard came to light while others were taken; those near may have been pushed."""
    taken, came = (
        [one.tile for one in changes if one.kind is kind and cut.is_boneyard(one.tile)]
        for kind in (ChangeKind.REMOVED, ChangeKind.PLACED)
    )
    if not taken:
        return 0
    first, _, opposite, _ = taken[0].corners_px
    far_px = _PUSHED * math.dist(first, opposite)
    return sum(all(math.dist(one.center_px, tile.center_px) > far_px for tile in taken) for one in came)


def _changes_within(changes: Sequence[Change], cut: _Cut) -> Iterator[Change]:
    """Yield the changes of the layout; a tile that was pushed over its border came or went."""
    for change in changes:
        is_here = cut.is_of_layout(change.tile)
        was_here = is_here if change.before is None else cut.is_of_layout(change.before)
        if is_here and was_here:
            yield change
        elif is_here:
            yield Change(ChangeKind.PLACED, change.tile)
        elif was_here and change.before is not None:
            yield Change(ChangeKind.REMOVED, change.before)


def _came_from(view: TableView, zones: Zones) -> tuple[Seat, ...]:
    """Return the seats at the side from which alone hands came."""
    heaviest = max(view.came_from, key=lambda one: one.weight, default=None)
    if heaviest is None or heaviest.weight < _ALONE:
        return ()
    return tuple(Seat(at) for at, zone in enumerate(zones.seats) if zone.side is heaviest.side)
