"""Match detected tiles to known ones: still in place, gone, or new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.geometry.selection import overlap_share
from vision.reading import Join, SeenTile
from vision.tracking.changes import PictureDifference
from vision.tracking.tracks import Track, in_place_of, poses_of

# A tile was touched where this share of both halves differs from the picture before.
_TOUCHED = 0.25
# A tile of which this share of a half differs may show other pips: it was turned, or another lies on it.
_DIFFERS = 0.03
# What covers more of a known tile than this is no tile beside it.
_MOST_OVERLAP = 0.2
# Of a tile of which this share of a half is covered, nothing is said.
_HIDDEN = 0.1


@dataclass(frozen=True, slots=True)
class KeptTile:
    """A known tile that still lies there.

    Attributes:
        track: As it was known.
        seen: As it is seen now; None where it was overlooked or is covered.
        differs: Whether enough of it looks different for other pips.
    """

    track: Track
    seen: SeenTile | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Match:
    """What became of the known tiles.

    Attributes:
        kept: Those that still lie there.
        gone: Those that do not.
        fresh: What is seen besides and was laid there.
        unexpected: What is seen besides where nothing happened, or where it is half covered.
    """

    kept: tuple[KeptTile, ...]
    gone: tuple[SeenTile, ...]
    fresh: tuple[SeenTile, ...]
    unexpected: tuple[SeenTile, ...]


def match_tracks(
    known: Sequence[Track], seen: Sequence[SeenTile], change: PictureDifference, hidden: NDArray[np.bool_]
) -> Match:
    """Return what became of the known tiles.

    Args:
        known: Where they lie in the picture if nothing happened to them.
        seen: What was read.
        change: What differs from the picture before.
        hidden: Shape (h, w), what covers the table.
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
            kept.append(KeptTile(track, None, differs))  # nothing happened there: the eye missed it this time
    outlines = [np.array(one.track.tile.corners_px) for one in kept]
    others = tuple(
        t for t in left if all(overlap_share(np.array(t.corners_px), one) < _MOST_OVERLAP for one in outlines)
    )
    among = zip(others, touched(others, change), _hidden(others, change, hidden), strict=True)
    fresh = tuple(tile for tile, was_touched, is_hidden in among if was_touched and not is_hidden)
    return Match(tuple(kept), tuple(gone), fresh, tuple(tile for tile in others if tile not in fresh))


def touched(tiles: tuple[SeenTile, ...], change: PictureDifference) -> list[bool]:
    """Return which tiles lie where both halves changed."""
    return [bool(share > _TOUCHED) for share in change.share(poses_of(tiles))]


def joins_among(joins: Sequence[Join], places: Mapping[int, int]) -> tuple[Join, ...]:
    """Return the joins between tiles that have places, with these as their indices; *places* as `places_among` says."""
    return tuple(
        Join(places[join.a], join.a_half, places[join.b], join.b_half)
        for join in joins
        if join.a in places and join.b in places
    )


def places_among(seen: Sequence[SeenTile], tiles: Sequence[SeenTile]) -> dict[int, int]:
    """Return for each tile that was seen, by its index, which of *tiles* it is; those that are none are left out."""
    places: dict[int, int] = {}
    for index, one in enumerate(seen):
        place = in_place_of(one, tiles)
        if place is not None:
            places[index] = place
    return places


def _hidden(tiles: tuple[SeenTile, ...], change: PictureDifference, hidden: NDArray[np.bool_]) -> list[bool]:
    return [bool(share > _HIDDEN) for share in change.halves_within(hidden, poses_of(tiles)).max(axis=1)]
