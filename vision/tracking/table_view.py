"""State of the table after each picture: its tiles, joins and changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vision.reading import Face, Join, SeenTile
from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment
from vision.tracking.settle import EntrySide
from vision.tracking.tracks import moved_tile


class ChangeKind(StrEnum):
    """What happened to a tile.

    `TURNED`: it was turned round where it lies. `STACKED`: another was laid on it. `REREAD`: nothing happened to it,
    but more looks at it give other pips than were said before.
    """

    PLACED = "placed"
    MOVED = "moved"
    REMOVED = "removed"
    TURNED = "turned"
    STACKED = "stacked"
    REREAD = "reread"


@dataclass(frozen=True, slots=True)
class Change:
    """One tile to which something happened.

    Attributes:
        kind: What happened.
        tile: As it lies now; where it was removed, as it lay.
        before: As it lay before it was moved or turned, as it was read before, or the one on which it was stacked;
            otherwise None.
        since_ns: Since when a tile that was placed has lain there, where hands were over the table for longer; None
            where that cannot be told.
    """

    kind: ChangeKind
    tile: SeenTile
    before: SeenTile | None = None
    since_ns: int | None = None


@dataclass(frozen=True, slots=True)
class TableView:
    """What lies on the table after a picture, and what changed with it.

    Attributes:
        tiles: All that are known to lie there, those that a hand covers at the moment too. Like all places as the first
            picture would show them, wherever the camera points now.
        joins: Which of them touch as in a play.
        changes: What happened since the view before.
        is_settled: Whether nothing moves; while something does, or the table is lost, nothing is read.
        moved_since_ns: When the motion began that ended with this view, or that still goes on; None for none.
        came_from: The sides of the picture from which hands came in during that motion: evidence of who played.
        lost: Why the table cannot be followed at the moment, in words for the people at it; None while it can.
        size_px: Width and height of the picture; None before the first.
        is_covered: Whether a hand rests over it.
        aim: Where the camera points now, which takes places to where the picture shows them.
        unsure: What looks like a tile but cannot be read, and lay there in the look before, too; none of *tiles*.
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
        """All tiles where the picture shows them now."""
        return self.tiles if self.aim.is_straight else tuple(moved_tile(tile, self.aim.motion) for tile in self.tiles)

    @property
    def shown_unsure(self) -> tuple[SeenTile, ...]:
        """What cannot be read where the picture shows it now."""
        return self.unsure if self.aim.is_straight else tuple(moved_tile(tile, self.aim.motion) for tile in self.unsure)

    @property
    def face_down_count(self) -> int:
        """How many tiles lie face down: the boneyard."""
        return sum(tile.face is Face.DOWN for tile in self.tiles)
