"""State of the table after each image: tiles, joins and changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vision.reading import Face, Join, SeenTile
from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment
from vision.tracking.settle import EntrySide
from vision.tracking.tracks import moved_tile


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
        kind: Kind of change.
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

    @property
    def face_down_count(self) -> int:
        """Number of face-down tiles, such as the boneyard."""
        return sum(tile.face is Face.DOWN for tile in self.tiles)
