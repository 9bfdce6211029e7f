"""Find changed regions, match detected tiles to known ones, and combine several readings of a tile.

Regions that differ from an earlier image are found despite small camera motions and changes of light.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import VisionError
from vision.arrays import Image, Motion, Points
from vision.poses import Poses, overlap_share, to_image
from vision.reading import Guess, Half, Join, PointPx, SeenTile

_LONG_SIDE_PX = 640
# Smaller differences in 8-bit colour are due to noise, JPEG and soft shadows.
_MIN_DIFFERENCE = 22
# Points of a tile's face at which changes are measured, in half-axes.
_FACE_UV = np.stack(np.meshgrid(np.linspace(-0.85, 0.85, 10), np.linspace(-0.8, 0.8, 5)), axis=-1).reshape(-1, 2)
_MAX_CORNERS = 300
_MIN_CORNERS = 12
# Share of corners that must agree on a motion, and their tolerance.
_MIN_AGREEMENT = 0.5
_TRACKING_ERROR_PX = 1.0
_MAX_SHIFT = 0.1
_STILL = np.eye(2, 3)


class PictureSizeError(VisionError, ValueError):
    """An image has another size than the previous ones."""


@dataclass(frozen=True, slots=True, eq=False)
class TablePicture:
    """A small, smoothed image of the table, for comparison.

    Attributes:
        small: Shape (h, w, 3), BGR, at most 640 px long.
        scale: Size of a pixel of *small* in full-resolution pixels.
    """

    small: Image
    scale: float

    @classmethod
    def of(cls, image: Image) -> TablePicture:
        """Reduce a BGR image of shape (H, W, 3)."""
        scale = max(1.0, max(image.shape[:2]) / _LONG_SIDE_PX)
        size = (max(1, round(image.shape[1] / scale)), max(1, round(image.shape[0] / scale)))
        resized = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        return cls(np.asarray(cv2.GaussianBlur(resized, (5, 5), 0), np.uint8), scale)

    def seen_by(self, motion: Motion) -> TablePicture:
        """Return the image after a *motion*, shape (2, 3), in full-resolution pixels."""
        if np.array_equal(motion, _STILL):
            return self
        own, size = _scaled(motion, 1 / self.scale), self.small.shape[1::-1]
        warped = cv2.warpAffine(self.small, own, size, borderMode=cv2.BORDER_REPLICATE)
        return TablePicture(np.asarray(warped, np.uint8), self.scale)

    def covered_by(self, other: TablePicture, where: NDArray[np.bool_]) -> TablePicture:
        """Return this image with the pixels of *other* at the mask *where*, shape (h, w)."""
        return TablePicture(np.asarray(cv2.copyTo(other.small, where.view(np.uint8), self.small.copy())), self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class PictureDifference:
    """Difference between two images of a table.

    Attributes:
        mask: Mask of changed pixels, shape (h, w).
        motion: Motion from the earlier to the later image, shape (2, 3), in full-resolution pixels.
        scale: Size of a pixel of the mask in full-resolution pixels.
    """

    mask: NDArray[np.bool_]
    motion: Motion
    scale: float

    def share(self, poses: Poses) -> NDArray[np.float64]:
        """Return the changed fraction of the less changed half of each tile in the later image, shape (N,).

        A tile that appears or disappears changes both halves. A shadow, or a marker on a printed domino, rarely does.
        """
        return np.asarray(self.halves_within(self.mask, poses).min(axis=1))

    @property
    def box_px(self) -> tuple[float, float, float, float] | None:
        """Bounding box of the changes in full-resolution pixels: left, top, right and bottom. None if only specks."""
        solid = cv2.erode(self.mask.view(np.uint8), np.ones((3, 3), np.uint8))
        x, y, width, height = cv2.boundingRect(solid)
        if width == 0:
            return None
        left, top, right, bottom = (np.array([x - 1, y - 1, x + width + 1, y + height + 1]) * self.scale).tolist()
        return (left, top, right, bottom)

    def halves_within(self, mask: NDArray[np.bool_], poses: Poses) -> NDArray[np.float64]:
        """Return the fraction of each half that is inside *mask*, which has the shape of `self.mask`. Shape (N, 2)."""
        points = np.round((to_image(poses, _FACE_UV) + 0.5) / self.scale - 0.5).astype(int)
        height, width = mask.shape
        x, y = np.clip(points[..., 0], 0, width - 1), np.clip(points[..., 1], 0, height - 1)
        within, first = mask[y, x], _FACE_UV[:, 0] < 0
        return np.column_stack([within[:, first].mean(axis=1), within[:, ~first].mean(axis=1)])

    def moved(self, points: Points) -> Points:
        """Map points of the earlier image, shape (..., 2), to the later one."""
        return np.asarray(points @ self.motion[:, :2].T + self.motion[:, 2])


def differences_between(before: TablePicture, after: TablePicture, motion: Motion | None = None) -> PictureDifference:
    """Compare two images of a table. *motion* is estimated if it is None.

    Raises:
        PictureSizeError: If the images differ in size.
    """
    if before.small.shape != after.small.shape:
        raise PictureSizeError(
            f"pictures must have the same size, but got {before.small.shape} and {after.small.shape}"
        )
    if motion is None:
        motion = _scaled(_camera_motion(before.small, after.small), before.scale)
    aligned = before.seen_by(motion).small
    # A pixel counts as changed only if none of its neighbours explains it, because alignment is accurate to one pixel.
    around = np.ones((3, 3), np.uint8)
    brightest, darkest = _limits(aligned, after.small)
    outside = (after.small > cv2.LUT(cv2.dilate(aligned, around), brightest)) | (
        after.small < cv2.LUT(cv2.erode(aligned, around), darkest)
    )
    return PictureDifference(outside[..., 0] | outside[..., 1] | outside[..., 2], motion, before.scale)


def _limits(before: Image, after: Image) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the maximum and minimum unchanged value for each value of *before*, in the light of *after*."""
    # They are look-up tables of shape (1, 256, 3), which are ten times as fast as computing each pixel.
    ratios = (after[::3, ::3] + np.float32(8)) / (before[::3, ::3] + np.float32(8))
    gain = np.array([np.median(np.ascontiguousarray(ratios[..., channel])) for channel in range(3)], np.float64)
    expected = (np.arange(256)[:, None] + 8.0) * gain - 8  # shape (256, 3)
    brightest = np.clip(np.floor(expected + _MIN_DIFFERENCE), -1, 255)
    darkest = np.clip(np.ceil(expected - _MIN_DIFFERENCE), 0, 256)
    return brightest[None].astype(np.int16), darkest[None].astype(np.int16)


def _scaled(motion: Motion, scale: float) -> Motion:
    """Convert a motion, shape (2, 3), to pixels of 1 / *scale* the size."""
    return np.asarray(motion * np.array([1.0, 1.0, scale]))


def _camera_motion(before: Image, after: Image) -> NDArray[np.float64]:
    """Estimate the affine motion of the whole image, shape (2, 3). The identity if too few corners agree."""
    first, second = (cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) for picture in (before, after))
    corners = np.asarray(cv2.goodFeaturesToTrack(first, _MAX_CORNERS, 0.02, 8))  # size 0 if there are none
    if corners.size < 2 * _MIN_CORNERS:
        return _STILL
    tracked, found, _ = cv2.calcOpticalFlowPyrLK(first, second, corners, np.empty_like(corners))
    kept = found.ravel() == 1
    if kept.sum() < _MIN_CORNERS:
        return _STILL
    start, end = corners.reshape(-1, 2)[kept], tracked.reshape(-1, 2)[kept]
    motion, agreed = cv2.estimateAffine2D(start, end, ransacReprojThreshold=_TRACKING_ERROR_PX)
    if agreed.mean() < _MIN_AGREEMENT:
        return _STILL
    shift = np.abs(motion - _STILL)
    if shift[:, :2].max() > _MAX_SHIFT or shift[:, 2].max() > _MAX_SHIFT * max(before.shape):
        return _STILL
    return np.asarray(motion, np.float64)


# Tiles that moved by less than this, in sides of a half, count as unmoved.
SAME_PLACE = 0.5
# Maximum number of readings that are combined. Images of a table share light and angle, so N readings count as sqrt(N).
_MAX_LOOKS = 9
# Minimum probability of a number in a single reading.
_FLOOR = 1e-6
# A tile is not reread if both halves reach this confidence, or after this many readings.
_SURE = 0.95
_ENOUGH_LOOKS = 5
# Two readings with a lower probability of being equal are of different tiles. A tile was turned if the probability for
# swapped halves is higher by this factor.
_NOT_THE_SAME = 0.02
_RATHER_TURNED = 10.0


@dataclass(frozen=True, slots=True)
class Track:
    """A tracked tile.

    Attributes:
        tile: Current position, and pips combined from all readings.
        looks: Number of readings, at most 9. 0 if they are outdated, because the reader has changed.
        beneath: Tiles stacked below it, lowest first.
    """

    tile: SeenTile
    looks: int = 1
    beneath: tuple[SeenTile, ...] = ()

    @property
    def is_unsure(self) -> bool:
        """True if another reading could improve the pips."""
        is_confident = self.looks > 0 and all(half.confidence >= _SURE for half in self.tile.halves)
        return self.looks < _ENOUGH_LOOKS and bool(self.tile.halves) and not is_confident


def carried(track: Track, change: PictureDifference) -> Track:
    """Return a track moved by the image motion of *change*."""
    tile = moved_tile(track.tile, change.motion)
    return replace(track, tile=tile, beneath=tuple(moved_tile(below, change.motion) for below in track.beneath))


def moved_tile(tile: SeenTile, motion: Motion) -> SeenTile:
    """Return a tile moved by an image motion, shape (2, 3)."""

    def go(point: PointPx) -> PointPx:
        x, y = (motion[:, :2] @ point + motion[:, 2]).tolist()
        return (x, y)

    a, b, c, d = (go(corner) for corner in tile.corners_px)
    if not tile.halves:
        return replace(tile, corners_px=(a, b, c, d))
    first, second = (replace(half, center_px=go(half.center_px)) for half in tile.halves)
    return replace(tile, corners_px=(a, b, c, d), halves=(first, second))


def looked_at(track: Track, seen: SeenTile) -> Track:
    """Return a track updated with another reading of its tile."""
    if not track.looks:
        return replace(track, tile=seen, looks=1)
    if not track.tile.halves or not seen.halves:
        return replace(track, tile=seen)
    pairs = zip(_in_order_of(seen, track.tile), seen.halves, strict=True)
    first, second = (_combine(old, new, track.looks) for old, new in pairs)
    return replace(track, tile=replace(seen, halves=(first, second)), looks=min(track.looks + 1, _MAX_LOOKS))


def is_turned(old: SeenTile, new: SeenTile) -> bool:
    """Return True if a tile was turned by half a turn in place, so that its pips are swapped."""
    as_it_lay, turned = _equal_probabilities(old, new)
    return as_it_lay < _NOT_THE_SAME and turned > _RATHER_TURNED * as_it_lay and turned > _NOT_THE_SAME


def is_another(old: SeenTile, new: SeenTile) -> bool:
    """Return True if two readings at one place are of different tiles, in either orientation."""
    return max(_equal_probabilities(old, new)) < _NOT_THE_SAME


def poses_of(tiles: tuple[SeenTile, ...]) -> Poses:
    """Return the poses of tiles, shape (N, 6). Half 0 is towards -u."""
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
    """Return the maximum distance between matching corners of two tiles, in sides of a half of the first."""
    # Plain floats, because numpy takes twelve times as long for four points, and all pairs of tiles are compared.
    p, q = a.corners_px, b.corners_px
    farthest = (max(math.dist(p[i], q[i - start]) for i in range(4)) for start in range(4))
    return min(farthest) / side_px(a)


def in_place_of(tile: SeenTile, others: Sequence[SeenTile]) -> int | None:
    """Return the index of the nearest of *others*, or None if no corner match is within half a side."""
    x, y = tile.center_px
    reach = SAME_PLACE * side_px(tile)
    # Centres are never farther apart than corners. This test excludes nearly all tiles in a tenth of the time.
    centers = (other.center_px for other in others)
    near = [i for i, (u, v) in enumerate(centers) if abs(u - x) < reach and abs(v - y) < reach]
    best = min(near, key=lambda i: corner_distance(tile, others[i]), default=None)
    return None if best is None or corner_distance(tile, others[best]) >= SAME_PLACE else best


def side_px(tile: SeenTile) -> float:
    """Return the side of a half in pixels."""
    a, b, c, _ = tile.corners_px
    return math.sqrt(math.dist(a, b) * math.dist(b, c) / 2)


def has_same_pips(a: SeenTile, b: SeenTile) -> bool:
    """Return True if two tiles have the same face and pips, in either orientation."""
    return a.face is b.face and sorted(h.pips for h in a.halves) == sorted(h.pips for h in b.halves)


def _equal_probabilities(old: SeenTile, new: SeenTile) -> tuple[float, float]:
    """Return the probabilities that two tiles at one place are equal: in the same orientation, and turned."""
    (a, b), (c, d) = _in_order_of(new, old), _in_order_of(new, new)
    return _equal_probability(a, c) * _equal_probability(b, d), _equal_probability(b, c) * _equal_probability(a, d)


def _in_order_of(tile: SeenTile, other: SeenTile) -> tuple[Half, Half]:
    """Return the halves of *other*, starting with the one nearer to the first half of *tile*."""
    assert other.halves  # callers pass face-up tiles
    first, second = other.halves
    place = tile.half_centers_px[0]
    return (
        (first, second) if math.dist(first.center_px, place) <= math.dist(second.center_px, place) else (second, first)
    )


def _combine(old: Half, new: Half, looks: int) -> Half:
    # Log probabilities are averaged and scaled by the square root of the number of readings, because readings of one
    # table share their errors.
    if not old.chances or not new.chances:
        return replace(old, center_px=new.center_px) if old.confidence > new.confidence else new
    count = max(len(old.chances), len(new.chances))
    mean = (_logs(old, count) * np.sqrt(looks) + _logs(new, count)) / (looks + 1)
    logs = mean * np.sqrt(looks + 1)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    best, other = (Guess(int(pips), float(chances[pips])) for pips in np.argsort(-chances, kind="stable")[:2])
    return Half(best.pips, best.confidence, new.center_px, other, tuple(chances.tolist()))


def _equal_probability(a: Half, b: Half) -> float:
    if not a.chances or not b.chances:
        return max(a.confidence, b.confidence) if a.pips == b.pips else 1 - min(a.confidence, b.confidence)
    return float(sum(p * q for p, q in zip(a.chances, b.chances, strict=False)))


def _logs(half: Half, count: int) -> NDArray[np.float64]:
    """Return the log probabilities of the first *count* numbers, clipped and normalised."""
    chances = np.full(count, _FLOOR)
    chances[: len(half.chances)] = np.maximum(half.chances, _FLOOR)
    return np.asarray(np.log(chances / chances.sum()))


# A tile appeared or disappeared if more than this share of each of its halves changed.
_TOUCHED = 0.25
# A tile may show other pips, because it was turned or stacked, if more than this share of either half changed.
_DIFFERS = 0.03
# A tile that overlaps a known one by more than this is not a new tile beside it.
_MAX_OVERLAP = 0.2
# If more than this share of either half is covered, a known tile is neither reread nor removed, and a new one is not
# added before it has been seen twice.
_HIDDEN = 0.1


@dataclass(frozen=True, slots=True)
class KeptTile:
    """A known tile that is still in place.

    Attributes:
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
    """Match the tiles in an image to the known ones."""
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
        t for t in left if all(overlap_share(np.array(t.corners_px), outline) < _MAX_OVERLAP for outline in outlines)
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
