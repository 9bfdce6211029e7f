"""Follow what cannot be read from one settled picture to the next, and report what lies still."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vision.arrays import Motion
from vision.geometry.selection import overlap_share
from vision.reading import PointPx, SeenTile
from vision.tracking.tracks import in_place_of, moved_tile

# What covers more of a known tile than this is that tile, or lies on it.
_MOST_OVERLAP = 0.2


@dataclass(frozen=True, slots=True)
class Unread:
    """What cannot be read on a table, followed from one settled picture to the next.

    Attributes:
        once: What the last look has shown for the first time; it may be a hand.
        still: What lies there for longer, each place once.
        is_due: Whether another look should tell soon which of *once* lies still. It is asked for only once in a row, so
            that what flickers costs no more.
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
        """Return what cannot be read after another look.

        Args:
            seen: What cannot be read in it.
            known: The tiles that are known to lie there; what lies in the place of one is that tile.
            motion: Shape (2, 3), of the picture since the look before.
            is_looked_at: Says whether a point of the picture was looked at; what lay elsewhere is left as it was.
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
    return any(overlap_share(outline, np.array(one.corners_px)) > _MOST_OVERLAP for one in known)
