"""What looks like a tile but cannot be read: what is worth saying in one picture, and what of it lies still."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Motion
from vision.closer_look import DOWN
from vision.reading import PointPx, SeenTile
from vision.selection import overlap
from vision.tracks import in_place_of, moved_tile

# Log odds of being a tile from which something is said to look like one, face up and face down; from 0 on it is one.
_WORTH_SAYING_UP, _WORTH_SAYING_DOWN = -1.2, -1.2
FARTHEST_BELOW = -min(_WORTH_SAYING_UP, _WORTH_SAYING_DOWN)
"""So far below 0 lie the log odds of the least likely that is said."""
# What covers more of a known tile than this is that tile, or lies on it.
_MOST_OVERLAP = 0.2


def is_worth_saying(odds: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which candidates that are taken for no tiles still look so much like one that it is said, shape (N,).

    Args:
        odds: Shape (N,), the log odds of each being a tile.
        faces: Shape (N,), which side of each would be seen, `closer_look.UP` or `DOWN`.
    """
    return np.asarray(odds > np.where(faces == DOWN, _WORTH_SAYING_DOWN, _WORTH_SAYING_UP))


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
    return any(overlap(outline, np.array(one.corners_px)) > _MOST_OVERLAP for one in known)
