"""Match detected tiles to known tiles: still in place, gone, or new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.geometry.selection import overlap_share
from vision.reading import Join, SeenTile
from vision.tracking.changes import PictureDifference
from vision.tracking.tracks import Track, in_place_of, poses_of

# A tile appeared or disappeared if more than this share of each of its halves changed.
_TOUCHED = 0.25
# A tile may show other pips, because it was turned or stacked, if more than this share of either half changed.
_DIFFERS = 0.03
# A tile that overlaps a known one by more than this is not a new tile beside it.
_MOST_OVERLAP = 0.2
# If more than this share of either half is covered, a known tile is neither reread nor removed, and a new one is not
# added before it has been seen twice.
_HIDDEN = 0.1


@dataclass(frozen=True, slots=True)
class KeptTile:
    """A known tile that is still in place.

    Attributes:
        track: Its track.
        seen: The tile as it was read now. None if it was missed or is covered.
        differs: Whether it changed enough to show other pips.
    """

    track: Track
    seen: SeenTile | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Match:
    """Result of matching tiles.

    Attributes:
        kept: Known tiles that are still in place.
        gone: Known tiles that disappeared.
        fresh: New tiles where the image changed.
        unexpected: New tiles where the image did not change, or which are partly covered.
    """

    kept: tuple[KeptTile, ...]
    gone: tuple[SeenTile, ...]
    fresh: tuple[SeenTile, ...]
    unexpected: tuple[SeenTile, ...]


def match_tracks(
    known: Sequence[Track], seen: Sequence[SeenTile], change: PictureDifference, hidden: NDArray[np.bool_]
) -> Match:
    """Match the tiles in an image to the known ones.

    Args:
        known: Known tiles, at their expected places in the image.
        seen: Tiles read from the image.
        change: Difference from the previous image.
        hidden: Mask of covered regions, shape (h, w).
    """
    left = list(seen)
    kept: list[KeptTile] = []
    gone: list[SeenTile] = []
    tiles = tuple(track.tile for track in known)
    signs = zip(known, change.halves_within(change.mask, poses_of(tiles)), _hidden(tiles, change, hidden), strict=True)
    for track, shares, is_hidden in signs:
        place = in_place_of(track.tile, left)
        again = None if place is None else left[place]
        differs = bool(shares.max() > _DIFFERS)
        if again is not None and again.face is track.tile.face:
            left.remove(again)
            kept.append(KeptTile(track, None if is_hidden else again, differs))
        elif shares.min() > _TOUCHED and not is_hidden:
            gone.append(track.tile)
        else:
            kept.append(KeptTile(track, None, differs))  # The image did not change: the reader missed the tile.
    outlines = [np.array(kept_tile.track.tile.corners_px) for kept_tile in kept]
    others = tuple(
        t for t in left if all(overlap_share(np.array(t.corners_px), outline) < _MOST_OVERLAP for outline in outlines)
    )
    among = zip(others, touched(others, change), _hidden(others, change, hidden), strict=True)
    fresh = tuple(tile for tile, was_touched, is_hidden in among if was_touched and not is_hidden)
    return Match(tuple(kept), tuple(gone), fresh, tuple(tile for tile in others if tile not in fresh))


def touched(tiles: tuple[SeenTile, ...], change: PictureDifference) -> list[bool]:
    """Return for each tile whether the image changed at each of its halves."""
    return [bool(share > _TOUCHED) for share in change.share(poses_of(tiles))]


def joins_among(joins: Sequence[Join], places: Mapping[int, int]) -> tuple[Join, ...]:
    """Map joins to other tile indices by *places*, from `places_among`. Drops joins of tiles without a place."""
    return tuple(
        Join(places[join.a], join.a_half, places[join.b], join.b_half)
        for join in joins
        if join.a in places and join.b in places
    )


def places_among(seen: Sequence[SeenTile], tiles: Sequence[SeenTile]) -> dict[int, int]:
    """Map the index of each tile in *seen* to that of the same tile in *tiles*. Tiles without a match are omitted."""
    places: dict[int, int] = {}
    for index, tile in enumerate(seen):
        place = in_place_of(tile, tiles)
        if place is not None:
            places[index] = place
    return places


def _hidden(tiles: tuple[SeenTile, ...], change: PictureDifference, hidden: NDArray[np.bool_]) -> list[bool]:
    return [bool(share > _HIDDEN) for share in change.halves_within(hidden, poses_of(tiles)).max(axis=1)]
