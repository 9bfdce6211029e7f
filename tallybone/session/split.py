"""A view of the table taken apart: the layout, the boneyard, what lies open before each seat, and whose hand came."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine import Seat
from tallybone.session.touching import Footprint
from tallybone.session.zones import Zones
from vision.reading import Face
from vision.reading import Tile as SeenTile
from vision.table_view import Change, ChangeKind, TableView

# In sides of a half: a tile this near to one of the layout is that one, wherever a zone begins.
_SAME_PLACE = 0.5
# So far apart the middles of two tiles are at most that are joined, with the gap that people leave.
_JOINED = 2.6
# Hands came from one side alone where it has this share of all that came in.
_ALONE = 0.9


@dataclass(frozen=True, slots=True)
class Parts:
    """One look at the table.

    Attributes:
        layout: What lies in no zone.
        boneyard: How many tiles lie in the boneyard's zone.
        strays: How many lie face down in no zone.
        hands: The open tiles in each seat's zone.
        is_by_hand: Whether a hand came in before it.
        by: Who sits at the side from which alone hands came; nobody where they came from several, or nobody knows.
    """

    layout: TableView
    boneyard: int = 0
    strays: int = 0
    hands: tuple[tuple[SeenTile, ...], ...] = ()
    is_by_hand: bool = False
    by: tuple[Seat, ...] = ()

    @property
    def placed(self) -> int:
        """How many tiles were laid into the layout."""
        return sum(change.kind is ChangeKind.PLACED for change in self.layout.changes)


def split(view: TableView, zones: Zones, lying: Sequence[Footprint], *, may_join: bool) -> Parts:
    """Return the parts of what is seen.

    Args:
        view: What is seen.
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
    return Parts(layout, boneyard, strays, tuple(map(tuple, hands)), bool(view.came_from), _by(view, zones))


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


def _changes_within(changes: Sequence[Change], cut: _Cut) -> Iterator[Change]:
    """Yield what happened in the layout; a tile that was pushed over its border came or went."""
    for change in changes:
        is_here = cut.is_of_layout(change.tile)
        was_here = is_here if change.before is None else cut.is_of_layout(change.before)
        if is_here and was_here:
            yield change
        elif is_here:
            yield Change(ChangeKind.PLACED, change.tile)
        elif was_here and change.before is not None:
            yield Change(ChangeKind.REMOVED, change.before)


def _by(view: TableView, zones: Zones) -> tuple[Seat, ...]:
    """Return who sits at the side from which alone hands came."""
    heaviest = max(view.came_from, key=lambda one: one.weight, default=None)
    if heaviest is None or heaviest.weight < _ALONE:
        return ()
    return tuple(Seat(at) for at, zone in enumerate(zones.seats) if zone.side is heaviest.side)
