"""The tracked layout: which tile on the table is which play in the log. Kept in recordings, to resume a match."""

from __future__ import annotations

from dataclasses import dataclass

from engine import NodeId, Seat
from tallybone.session.touching import Footprint, Laid
from vision.reading import SeenTile


@dataclass(frozen=True, slots=True)
class Known:
    """A tile of the layout.

    Attributes:
        laid: Its name (`NodeId`) and place.
        tile: Last reading.
        is_settled: The players have named it.
        is_missing: It seems to have been taken away.
        name: Name of its piece. 0 in files of earlier versions.
    """

    laid: Laid
    tile: SeenTile
    is_settled: bool = False
    is_missing: bool = False
    name: int = 0

    @property
    def node(self) -> NodeId:
        """Its name in the layout."""
        return self.laid.node

    @property
    def place(self) -> Footprint:
        """Its place in the picture."""
        return self.laid.place


@dataclass(frozen=True, slots=True)
class Waiting:
    """A face-up tile on the table that is not part of the layout.

    Attributes:
        tile: Last reading.
        came_from: Seats at the only side from which hands came. Empty if that is ambiguous.
        since_ns: Time at which the tile appeared, from `Change`, or None if unknown.
        name: Name of its piece. 0 in files of earlier versions.
    """

    tile: SeenTile
    came_from: tuple[Seat, ...] = ()
    since_ns: int | None = None
    name: int = 0


@dataclass(frozen=True, slots=True)
class Places:
    """The tracked layout, and all other tiles on the table.

    Attributes:
        known: Tiles of the layout.
        waiting: Tiles that are not explained.
        dismissed: Tiles that do not count: taken back, or left from the previous hand.
        missing: Number of tiles of the boneyard that are not detected, or None before the first count of a hand.
        own: Number of hands that came from their player's side.
        other: Number of hands that came from another side.
    """

    known: tuple[Known, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    dismissed: tuple[SeenTile, ...] = ()
    missing: int | None = None
    own: int = 0
    other: int = 0

    @property
    def laid(self) -> tuple[Laid, ...]:
        """Name and place of each tile of the layout."""
        return tuple(known.laid for known in self.known)

    def find(self, node: NodeId) -> Known | None:
        """Return the tile of the layout with the name *node*, or None if its place is unknown."""
        return next((known for known in self.known if known.node == node), None)
