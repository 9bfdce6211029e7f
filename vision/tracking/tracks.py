"""Tiles that are followed from picture to picture: which is which, and what several looks at one say together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vision.arrays import Motion
from vision.geometry.poses import Poses
from vision.reading import Guess, Half, PointPx, SeenTile
from vision.tracking.changes import PictureDifference

# In sides of a half: a tile nudged by less than this did not move.
SAME_PLACE = 0.5
# Pictures of one table share their light and their angle: so many looks tell as much as their square root.
# From the last on, older looks are forgotten.
_MOST_LOOKS = 9
# A number that a look holds impossible may still be right.
_FLOOR = 1e-6
# A tile with both halves this sure needs no further look, and none is worth it after so many.
_SURE, _ENOUGH_LOOKS = 0.95, 5
# Another tile lies there when the two readings agree less than the first; one was turned when they agree so much better
# that way round.
_NOT_THE_SAME, _RATHER_TURNED = 0.02, 10.0


@dataclass(frozen=True, slots=True)
class Track:
    """A tile that is followed.

    Attributes:
        tile: As it lies and is read now, from all looks together.
        looks: How many that were.
        beneath: What lies under it, the lowest first.
    """

    tile: SeenTile
    looks: int = 1
    beneath: tuple[SeenTile, ...] = ()

    @property
    def is_unsure(self) -> bool:
        """Whether another look could tell more."""
        return self.looks < _ENOUGH_LOOKS and any(half.confidence < _SURE for half in self.tile.halves)


def carried(track: Track, change: PictureDifference) -> Track:
    """Return a track where a motion of the camera has put it."""
    tile = moved_tile(track.tile, change.motion)
    return replace(track, tile=tile, beneath=tuple(moved_tile(one, change.motion) for one in track.beneath))


def moved_tile(tile: SeenTile, motion: Motion) -> SeenTile:
    """Return a tile where a motion of the picture, shape (2, 3), puts it."""

    def go(point: PointPx) -> PointPx:
        x, y = (motion[:, :2] @ point + motion[:, 2]).tolist()
        return (x, y)

    a, b, c, d = (go(corner) for corner in tile.corners_px)
    if not tile.halves:
        return replace(tile, corners_px=(a, b, c, d))
    first, second = (replace(half, center_px=go(half.center_px)) for half in tile.halves)
    return replace(tile, corners_px=(a, b, c, d), halves=(first, second))


def looked_at(track: Track, seen: SeenTile) -> Track:
    """Return a track after one more look at its tile, which lies where *seen* does."""
    if not track.tile.halves or not seen.halves:
        return replace(track, tile=seen)
    pairs = zip(_in_order_of(seen, track.tile), seen.halves, strict=True)
    first, second = (_together(old, new, track.looks) for old, new in pairs)
    return replace(track, tile=replace(seen, halves=(first, second)), looks=min(track.looks + 1, _MOST_LOOKS))


def is_turned(old: SeenTile, new: SeenTile) -> bool:
    """Return whether the tile that lies in a place was turned round there: its pips have changed places."""
    as_it_lay, turned = _agreements(old, new)
    return as_it_lay < _NOT_THE_SAME and turned > _RATHER_TURNED * as_it_lay and turned > _NOT_THE_SAME


def is_another(old: SeenTile, new: SeenTile) -> bool:
    """Return whether what lies in the place of a tile has other pips, turned or not."""
    return max(_agreements(old, new)) < _NOT_THE_SAME


def poses_of(tiles: tuple[SeenTile, ...]) -> Poses:
    """Return the poses of tiles, shape (N, 6); half 0 lies towards -u."""
    outlines = np.array([tile.corners_px for tile in tiles], np.float64).reshape(-1, 4, 2)
    centers = np.array([tile.half_centers_px for tile in tiles], np.float64).reshape(-1, 2, 2)
    u = (outlines[:, 1] + outlines[:, 2] - outlines[:, 0] - outlines[:, 3]) / 4
    v = (outlines[:, 2] + outlines[:, 3] - outlines[:, 0] - outlines[:, 1]) / 4
    along = centers[:, 1] - centers[:, 0]
    upright = (np.abs((along * v).sum(axis=1)) > np.abs((along * u).sum(axis=1)))[:, None]
    first, second = np.where(upright, v, u), np.where(upright, -u, v)
    ahead = np.where((along * first).sum(axis=1) < 0, -1.0, 1.0)[:, None]
    return np.concatenate([outlines.mean(axis=1), ahead * first, ahead * second], axis=1)


def corner_distance(a: SeenTile, b: SeenTile) -> float:
    """Return the distance of the farthest corners of two tiles, in sides of a half of the first."""
    # Plain floats: arrays of four points take twelve times as long, and every tile is compared with every other.
    p, q = a.corners_px, b.corners_px
    farthest = (max(math.dist(p[i], q[i - start]) for i in range(4)) for start in range(4))
    return min(farthest) / side_px(a)


def in_place_of(tile: SeenTile, others: Sequence[SeenTile]) -> int | None:
    """Return which of *others* lies in the place of a tile; None where none does."""
    x, y = tile.center_px
    reach = SAME_PLACE * side_px(tile)
    # Centres are no farther apart than corners: nearly all are told apart by them, in a tenth of the time.
    near = [i for i, (u, v) in enumerate(one.center_px for one in others) if abs(u - x) < reach and abs(v - y) < reach]
    best = min(near, key=lambda i: corner_distance(tile, others[i]), default=None)
    return None if best is None or corner_distance(tile, others[best]) >= SAME_PLACE else best


def side_px(tile: SeenTile) -> float:
    """Return the length of a half's side in pixels."""
    a, b, c, _ = tile.corners_px
    return math.sqrt(math.dist(a, b) * math.dist(b, c) / 2)


def has_same_pips(a: SeenTile, b: SeenTile) -> bool:
    """Return whether two tiles show the same face and pips, whichever half comes first."""
    return a.face is b.face and sorted(h.pips for h in a.halves) == sorted(h.pips for h in b.halves)


def _agreements(old: SeenTile, new: SeenTile) -> tuple[float, float]:
    """Return how probable it is that two tiles in one place show the same: as they lie, and with one turned round."""
    (a, b), (c, d) = _in_order_of(new, old), _in_order_of(new, new)
    return _agreement(a, c) * _agreement(b, d), _agreement(b, c) * _agreement(a, d)


def _in_order_of(tile: SeenTile, other: SeenTile) -> tuple[Half, Half]:
    """Return the halves of *other*, the one that lies nearer to the first half of *tile* first."""
    assert other.halves  # callers ask about open tiles
    first, second = other.halves
    place = tile.half_centers_px[0]
    return (
        (first, second) if math.dist(first.center_px, place) <= math.dist(second.center_px, place) else (second, first)
    )


def _together(old: Half, new: Half, looks: int) -> Half:
    """Return what a half is after one more look.

    The logs of its chances are added, tempered, because looks at one table share their errors.
    """
    if not old.chances or not new.chances:
        return replace(old, center_px=new.center_px) if old.confidence > new.confidence else new
    count = max(len(old.chances), len(new.chances))
    mean = (_logs(old, count) * np.sqrt(looks) + _logs(new, count)) / (looks + 1)
    logs = mean * np.sqrt(looks + 1)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    best, other = (Guess(int(pips), float(chances[pips])) for pips in np.argsort(-chances, kind="stable")[:2])
    return Half(best.pips, best.confidence, new.center_px, other, tuple(chances.tolist()))


def _agreement(a: Half, b: Half) -> float:
    """Return how probable it is that two halves show the same number."""
    if not a.chances or not b.chances:
        return max(a.confidence, b.confidence) if a.pips == b.pips else 1 - min(a.confidence, b.confidence)
    return float(sum(p * q for p, q in zip(a.chances, b.chances, strict=False)))


def _logs(half: Half, count: int) -> NDArray[np.float64]:
    """Return the logs of the chances of the first *count* numbers."""
    chances = np.full(count, _FLOOR)
    chances[: len(half.chances)] = np.maximum(half.chances, _FLOOR)
    return np.asarray(np.log(chances / chances.sum()))
