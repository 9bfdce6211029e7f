"""State of the table after each image: tiles, joins, and the changes since the state before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from vision.reading import Join, SeenTile
from vision.tracking.camera_motion import STRAIGHT_ON, Alignment
from vision.tracking.settle import EntrySide
from vision.tracking.tracks import (
    KeptTile,
    Track,
    corner_distance,
    has_same_pips,
    is_another,
    is_turned,
    looked_at,
    moved_tile,
)


class ChangeKind(StrEnum):
    """Kind of change to a tile.

    `TURNED`: it was rotated by half a turn in place. `STACKED`: another tile was laid on it. `REREAD`: the tile did not
    change, but further images give other pips than were reported before.
    """

    PLACED = "placed"
    MOVED = "moved"
    REMOVED = "removed"
    TURNED = "turned"
    STACKED = "stacked"
    REREAD = "reread"


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a tile.

    Attributes:
        tile: The tile after the change, or before it if it was removed.
        before: The tile before it was moved, turned or reread, or the tile on which it was stacked. None otherwise.
        since_ns: Time at which a placed tile first appeared, even if hands stayed over the table longer. None if
            unknown.
    """

    kind: ChangeKind
    tile: SeenTile
    before: SeenTile | None = None
    since_ns: int | None = None


@dataclass(frozen=True, slots=True)
class TableView:
    """State of the table after an image, and the changes since the previous view.

    All positions are in the coordinates of the first image, even if the camera has moved since.

    Attributes:
        tiles: Known tiles, including those that a hand covers at the moment.
        joins: Pairs of *tiles* that touch as in a play.
        changes: Changes since the previous view.
        is_settled: True if nothing moves and the table is not lost. Otherwise nothing is read.
        moved_since_ns: Start of the motion that ended with this view or is still going on. None if there was none.
        came_from: Sides of the image from which hands entered during that motion, as evidence of who played.
        lost: Reason why the table cannot be tracked at the moment, as text for players. None if it can.
        size_px: Width and height of the image. None before the first.
        is_covered: Whether a hand rests over the table.
        aim: Camera alignment, which maps positions to the current image.
        unsure: Objects that look like tiles but cannot be read, seen at least twice. Not included in *tiles*.
    """

    tiles: tuple[SeenTile, ...]
    joins: tuple[Join, ...]
    changes: tuple[Change, ...]
    is_settled: bool = True
    moved_since_ns: int | None = None
    came_from: tuple[EntrySide, ...] = ()
    lost: str | None = None
    size_px: tuple[int, int] | None = None
    is_covered: bool = False
    aim: Alignment = STRAIGHT_ON
    unsure: tuple[SeenTile, ...] = ()

    @property
    def shown_tiles(self) -> tuple[SeenTile, ...]:
        """All tiles in the coordinates of the current image."""
        return self.tiles if self.aim.is_straight else tuple(moved_tile(tile, self.aim.motion) for tile in self.tiles)

    @property
    def shown_unsure(self) -> tuple[SeenTile, ...]:
        """Unreadable objects in the coordinates of the current image."""
        return self.unsure if self.aim.is_straight else tuple(moved_tile(tile, self.aim.motion) for tile in self.unsure)


# Maximum distance, in sides of a half, at which an equal tile counts as moved instead of removed and placed.
_MOVED_AT_MOST = 6.0


def kept(kept_tile: KeptTile) -> tuple[Track, tuple[Change, ...]]:
    """Return the updated track of a tile that stayed in place, and its change, if any.

    The tile may have been turned, reread, removed from a stack, or covered by a stacked one.
    """
    old, seen = kept_tile.track, kept_tile.seen
    if seen is None:
        return old, ()
    is_suspect = kept_tile.differs and bool(seen.halves) and old.looks > 0
    if is_suspect and is_turned(old.tile, seen):
        return replace(old, tile=seen, looks=1), (Change(ChangeKind.TURNED, seen, old.tile),)
    if not is_suspect or not is_another(old.tile, seen):
        track = looked_at(old, seen)
        return track, reread(old.tile, track.tile)
    if old.beneath and not is_another(old.beneath[-1], seen):
        return Track(seen, beneath=old.beneath[:-1]), (Change(ChangeKind.REMOVED, old.tile),)
    return Track(seen, beneath=(*old.beneath, old.tile)), (Change(ChangeKind.STACKED, seen, old.tile),)


def reread(before: SeenTile, now: SeenTile) -> tuple[Change, ...]:
    """Return a `REREAD` change if the pips of a tile differ from those reported before."""
    return () if has_same_pips(before, now) else (Change(ChangeKind.REREAD, now, before),)


def came_and_went(gone: tuple[SeenTile, ...], fresh: tuple[SeenTile, ...]) -> tuple[Change, ...]:
    """Return the changes for tiles that disappeared and appeared. An equal pair close together was moved."""
    changes: list[Change] = []
    left = list(gone)
    for tile in fresh:
        before = next(
            (old for old in left if has_same_pips(old, tile) and corner_distance(old, tile) < _MOVED_AT_MOST), None
        )
        if before is None:
            changes.append(Change(ChangeKind.PLACED, tile))
        else:
            left.remove(before)
            changes.append(Change(ChangeKind.MOVED, tile, before))
    return (*changes, *(Change(ChangeKind.REMOVED, tile) for tile in left))
