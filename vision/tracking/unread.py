"""Track unreadable objects over settled images, and report those that stay in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vision.arrays import Motion
from vision.geometry.selection import overlap_share
from vision.reading import PointPx, SeenTile
from vision.tracking.tracks import in_place_of, moved_tile

# An object that overlaps a known tile by more than this is that tile, or lies on it.
_MOST_OVERLAP = 0.2


@dataclass(frozen=True, slots=True)
class Unread:
    """Unreadable objects on a table, tracked over settled images.

    Attributes:
        once: Objects seen for the first time in the last image. They may be a hand.
        still: Objects seen at the same place at least twice.
        is_due: Whether another image should be read soon, to decide which of *once* stay. Never True twice in a row, so
            that flickering detections cause no further reads.
    """

    once: tuple[SeenTile, ...] = ()
    still: tuple[SeenTile, ...] = ()
    is_due: bool = False

    def after(
        self,
        seen: tuple[SeenTile, ...],
        known: tuple[SeenTile, ...],
        motion: Motion,
        is_looked_at: Callable[[PointPx], bool],
    ) -> Unread:
        """Return the state after another image.

        Args:
            seen: Unreadable objects in the image.
            known: Known tiles. An object at the place of one is that tile.
            motion: Image motion since the previous image, shape (2, 3).
            is_looked_at: Returns True if a point was searched in this image. Objects elsewhere are kept.
        """
        once, still = (tuple(moved_tile(tile, motion) for tile in tiles) for tiles in (self.once, self.still))
        before = (*still, *once)
        places = {tile: in_place_of(tile, before) for tile in seen}
        stayed = {place for place in places.values() if place is not None}
        stayed |= {place for place, tile in enumerate(still) if not is_looked_at(tile.center_px)}
        fresh = tuple(tile for tile, place in places.items() if place is None and not _is_known(tile, known))
        lying = tuple(before[place] for place in sorted(stayed) if not _is_known(before[place], known))
        return Unread(fresh, lying, is_due=bool(fresh) and not self.is_due)


def _is_known(tile: SeenTile, known: tuple[SeenTile, ...]) -> bool:
    outline = np.array(tile.corners_px)
    return any(overlap_share(outline, np.array(other.corners_px)) > _MOST_OVERLAP for other in known)
