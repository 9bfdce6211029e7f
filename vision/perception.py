"""The table over several pictures: what was placed, moved or removed since the one before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from vision.changes import Difference, TablePicture, differences_between
from vision.poses import Poses
from vision.pyramid import Image
from vision.reader import Reader
from vision.reading import Join, PointPx, Reading, Tile
from vision.selection import overlap

# What looks like a tile is part of the table where less than this share of either half differs from the empty one.
_NEW_TO_TABLE = 0.4
# A tile was touched where this share of both halves differs from the picture before.
_TOUCHED = 0.25
# In sides of a half: a tile nudged by less than the first did not move; one further than the second is another.
_SAME_PLACE, _MOVED_AT_MOST = 0.5, 6.0
# What covers more of a known tile than this is no tile beside it.
_MOST_OVERLAP = 0.2


class ChangeKind(StrEnum):
    """What happened to a tile."""

    PLACED = "placed"
    MOVED = "moved"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """One tile that was placed, moved or removed.

    Attributes:
        kind: What happened.
        tile: As it lies now; where it was removed, as it lay.
        before: As it lay before it was moved, otherwise None.
    """

    kind: ChangeKind
    tile: Tile
    before: Tile | None = None


@dataclass(frozen=True, slots=True)
class TableView:
    """What lies on the table after a picture, and what changed with it."""

    tiles: tuple[Tile, ...]
    joins: tuple[Join, ...]
    changes: tuple[Change, ...]


class Perception:
    """Follows a table from picture to picture, all from one place; the first shows it empty.

    What the first picture shows, printed dominoes and lettering included, is table.
    """

    def __init__(self, reader: Reader) -> None:
        """Start without a picture."""
        self._reader = reader
        self._empty: TablePicture | None = None
        self._last: TablePicture | None = None
        self._tiles: tuple[Tile, ...] = ()
        self._unconfirmed: tuple[Tile, ...] = ()

    def feed(self, image: Image) -> TableView:
        """Return the table after one more picture.

        Args:
            image: Shape (H, W, 3), BGR, of the same size as those before.

        Raises:
            PictureSizeError: If the picture has another size than those before.
        """
        picture = TablePicture.of(image)
        if self._empty is None or self._last is None:
            self._empty = self._last = picture
            return TableView((), (), ())
        since_empty, since_last = differences_between(self._empty, picture), differences_between(self._last, picture)

        def is_new(poses: Poses) -> NDArray[np.bool_]:
            return np.asarray(since_empty.share(poses) > _NEW_TO_TABLE)

        reading = self._reader.read(image, plausible=is_new)
        known = tuple(_carried(tile, since_last) for tile in self._tiles)
        kept, gone, fresh = _matched(known, _touched(known, since_last), reading.tiles)
        # Where nothing moved, nothing was placed: what is seen there all of a sudden must be seen twice.
        earlier = tuple(_carried(tile, since_last) for tile in self._unconfirmed)
        believed = tuple(
            tile
            for tile, was_touched in zip(fresh, _touched(fresh, since_last), strict=True)
            if was_touched or any(_distance(tile, other) < _SAME_PLACE for other in earlier)
        )
        self._unconfirmed = tuple(tile for tile in fresh if tile not in believed)
        self._tiles, self._last = (*kept, *believed), picture
        return TableView(self._tiles, _joins_among(reading, self._tiles), _changes(gone, believed))


def _carried(tile: Tile, change: Difference) -> Tile:
    """Return a tile where a bump of the camera has put it."""
    a, b, c, d = (_point(p) for p in change.moved(np.array(tile.corners_px)).tolist())
    if not tile.halves:
        return replace(tile, corners_px=(a, b, c, d))
    first, second = (replace(h, center_px=_point(change.moved(np.array(h.center_px)).tolist())) for h in tile.halves)
    return replace(tile, corners_px=(a, b, c, d), halves=(first, second))


def _point(xy: list[float]) -> PointPx:
    return (xy[0], xy[1])


def _touched(tiles: tuple[Tile, ...], change: Difference) -> list[bool]:
    """Return which tiles lie where both halves changed."""
    return [bool(share > _TOUCHED) for share in change.share(_poses_of(tiles))]


def _matched(
    known: tuple[Tile, ...], touched: list[bool], seen: tuple[Tile, ...]
) -> tuple[list[Tile], list[Tile], tuple[Tile, ...]]:
    """Return the known tiles that still lie there, those that do not, and the seen ones that are none of them."""
    left = list(seen)
    kept: list[Tile] = []
    gone: list[Tile] = []
    for tile, was_touched in zip(known, touched, strict=True):
        again = min(left, key=lambda other: _distance(tile, other), default=None)
        if again is not None and _distance(tile, again) < _SAME_PLACE and again.face is tile.face:
            left.remove(again)
            kept.append(again if was_touched else _surer(tile, again))
        elif was_touched:
            gone.append(tile)
        else:
            kept.append(tile)  # nothing happened there: the eye missed it this time
    outlines = [np.array(tile.corners_px) for tile in kept]
    fresh = (t for t in left if all(overlap(np.array(t.corners_px), other) < _MOST_OVERLAP for other in outlines))
    return kept, gone, tuple(fresh)


def _changes(gone: list[Tile], fresh: tuple[Tile, ...]) -> tuple[Change, ...]:
    """Return what happened: a tile that went and came back nearby has moved."""
    changes: list[Change] = []
    left = list(gone)
    for tile in fresh:
        before = next((old for old in left if _same_pips(old, tile) and _distance(old, tile) < _MOVED_AT_MOST), None)
        if before is None:
            changes.append(Change(ChangeKind.PLACED, tile))
        else:
            left.remove(before)
            changes.append(Change(ChangeKind.MOVED, tile, before))
    return (*changes, *(Change(ChangeKind.REMOVED, tile) for tile in left))


def _surer(old: Tile, new: Tile) -> Tile:
    """Return the new tile, with the halves of whichever reading is the more confident, in the new one's place."""
    if not old.halves or not new.halves:
        return new
    first, second = old.halves
    if _gap(first.center_px, new.halves[0].center_px) > _gap(second.center_px, new.halves[0].center_px):
        first, second = second, first
    pairs = zip((first, second), new.halves, strict=True)
    a, b = (replace(o, center_px=n.center_px) if o.confidence > n.confidence else n for o, n in pairs)
    return replace(new, halves=(a, b))


def _joins_among(reading: Reading, tiles: tuple[Tile, ...]) -> tuple[Join, ...]:
    """Return the joins of a reading between *tiles*, with their indices."""
    places: dict[int, int] = {}
    for index, seen in enumerate(reading.tiles):
        nearest = min(range(len(tiles)), key=lambda i: _distance(tiles[i], seen), default=None)
        if nearest is not None and _distance(tiles[nearest], seen) < _SAME_PLACE:
            places[index] = nearest
    return tuple(
        replace(join, a=places[join.a], b=places[join.b])
        for join in reading.joins
        if join.a in places and join.b in places
    )


def _poses_of(tiles: tuple[Tile, ...]) -> Poses:
    """Return poses that cover the faces of tiles, shape (N, 6); which half comes first is not kept."""
    outlines = np.array([tile.corners_px for tile in tiles], np.float64).reshape(-1, 4, 2)
    centers = np.array([tile.half_centers_px for tile in tiles], np.float64).reshape(-1, 2, 2)
    u = (outlines[:, 1] + outlines[:, 2] - outlines[:, 0] - outlines[:, 3]) / 4
    v = (outlines[:, 2] + outlines[:, 3] - outlines[:, 0] - outlines[:, 1]) / 4
    along = centers[:, 1] - centers[:, 0]
    upright = (np.abs((along * v).sum(axis=1)) > np.abs((along * u).sum(axis=1)))[:, None]
    return np.concatenate([outlines.mean(axis=1), np.where(upright, v, u), np.where(upright, -u, v)], axis=1)


def _same_pips(a: Tile, b: Tile) -> bool:
    return a.face is b.face and sorted(h.pips for h in a.halves) == sorted(h.pips for h in b.halves)


def _distance(a: Tile, b: Tile) -> float:
    """Return the distance of the farthest corners of two tiles, in sides of a half of the first."""
    p, q = np.array(a.corners_px), np.array(b.corners_px)
    side = np.sqrt(np.linalg.norm(p[1] - p[0]) * np.linalg.norm(p[2] - p[1]) / 2)
    return float(min(np.linalg.norm(p - np.roll(q, k, axis=0), axis=1).max() for k in range(4)) / side)


def _gap(a: PointPx, b: PointPx) -> float:
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))
