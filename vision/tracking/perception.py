"""Track a table over settled images: tiles placed, moved or removed, hands, and unreadable objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import GreyImage, Image, Mask, Motion
from vision.networks.detector import Focus
from vision.poses import Poses, overlap_share, sides_px
from vision.reader.candidates import Filter
from vision.reader.reader import Reader
from vision.reading import Join, PointPx, Reading, SeenTile
from vision.tracking import tracks as tracked
from vision.tracking.camera_motion import STRAIGHT_ON, Agreement, Alignment, Anchor, estimate_alignment, find_motion
from vision.tracking.table_view import Change, ChangeKind, TableView, came_and_went, kept, reread

# An object that overlaps a known tile by more than this is that tile, or lies on it.
_MAX_OVERLAP = 0.2


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
        once, still = (tuple(tracked.moved_tile(tile, motion) for tile in tiles) for tiles in (self.once, self.still))
        before = (*still, *once)
        places = {tile: tracked.in_place_of(tile, before) for tile in seen}
        stayed = {place for place in places.values() if place is not None}
        stayed |= {place for place, tile in enumerate(still) if not is_looked_at(tile.center_px)}
        fresh = tuple(tile for tile, place in places.items() if place is None and not _is_known(tile, known))
        outside = tuple(before[place] for place in sorted(stayed) if not _is_known(before[place], known))
        return Unread(fresh, outside, is_due=bool(fresh) and not self.is_due)


def _is_known(tile: SeenTile, known: tuple[SeenTile, ...]) -> bool:
    outline = np.array(tile.corners_px)
    return any(overlap_share(outline, np.array(other.corners_px)) > _MAX_OVERLAP for other in known)


# A changed region is a hand if it has at least the area of _MIN_TILES tiles, and tiles explain less than
# _MAX_EXPLAINED of it.
_MIN_TILES = 2.5
_MAX_EXPLAINED = 0.5
# Size of a tile with its shadow, relative to its face.
_WITH_SHADOW = 1.35
# Minimum size of an unexplained change that may be a missed tile: in tile areas, or in pixels if no tile is known.
_MIN_OVERLOOKED = 0.4
_MIN_OVERLOOKED_PX = 60
# Changes narrower than this are ignored. They come from light, or from tiles that were nudged.
_RIM_PX = 3
# Sides of the squares, in pixels of the small image, with which gaps in the outline of a hand are closed, and with
# which it is then dilated.
_JOINED_PX = 9
_MARGIN_PX = 7


def covered(change: tracked.PictureDifference, tiles: Sequence[SeenTile]) -> Mask:
    """Return a mask of the regions covered by hands, of the same shape as `change.mask`. All False without tiles.

    Args:
        change: Difference from the previous image.
        tiles: Tiles known before, and tiles read now.
    """
    nothing = np.zeros_like(change.mask)
    if not tiles:
        return nothing
    explained = _explained(change, tiles)
    side = _side(change, tiles)
    joined = cv2.morphologyEx(
        change.mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((_JOINED_PX, _JOINED_PX), np.uint8)
    )
    count, labels = cv2.connectedComponents(joined, connectivity=8)
    areas = np.bincount(labels.ravel().astype(np.intp), minlength=count)
    by_tiles = np.bincount(labels[explained > 0].astype(np.intp), minlength=count)
    is_hand = (areas >= _MIN_TILES * 2 * side**2) & (by_tiles < _MAX_EXPLAINED * areas)
    is_hand[0] = False
    hands = is_hand[labels].astype(np.uint8)
    return np.asarray(cv2.dilate(hands, np.ones((_MARGIN_PX, _MARGIN_PX), np.uint8)) > 0)


def overlooked(change: tracked.PictureDifference, tiles: Sequence[SeenTile], hidden: Mask) -> Mask:
    """Return a mask of unexplained changes that may be a missed tile, of the same shape as `change.mask`.

    Changes smaller than 0.4 of a tile are omitted. The mask has a margin of 3 px.
    """
    rest = (change.mask & ~hidden & (_explained(change, tiles) == 0)).astype(np.uint8)
    rest = cv2.morphologyEx(rest, cv2.MORPH_OPEN, np.ones((_RIM_PX, _RIM_PX), np.uint8)).astype(np.uint8, copy=False)
    min_px = _MIN_OVERLOOKED * 2 * _side(change, tiles) ** 2 if tiles else float(_MIN_OVERLOOKED_PX)
    count, labels = cv2.connectedComponents(rest, connectivity=8)
    is_large = np.bincount(labels.ravel().astype(np.intp), minlength=count) >= min_px
    is_large[0] = False
    found = is_large[labels].astype(np.uint8)
    return np.asarray(cv2.dilate(found, np.ones((_MARGIN_PX, _MARGIN_PX), np.uint8)) > 0)


def _explained(change: tracked.PictureDifference, tiles: Sequence[SeenTile]) -> GreyImage:
    """Return an image with 1 for tiles and their shadows, and 0 elsewhere."""
    explained = np.zeros(change.mask.shape, np.uint8)
    for tile in tiles:
        corners = np.array(tile.corners_px)
        grown = corners.mean(axis=0) + _WITH_SHADOW * (corners - corners.mean(axis=0))
        cv2.fillConvexPoly(explained, np.round(grown / change.scale).astype(np.int32), 1)
    return explained


def _side(change: tracked.PictureDifference, tiles: Sequence[SeenTile]) -> float:
    """Return the median side of a half, in pixels of the mask."""
    return float(np.median([tracked.side_px(tile) for tile in tiles])) / change.scale


# A detected tile is part of the table if at most this share of its less changed half differs from the empty table.
_NEW_TO_TABLE = 0.4
# If this share of the image, or of the tiles, has changed, the camera may have moved.
_MAY_BE_AIMED_ANEW = 0.3
_MAX_TOUCHED = 0.6
# If this share of the image has changed after alignment, the table is lost.
_NOT_THE_TABLE = 0.5
# The table is lost if more than this share of either half of a known tile is outside the image.
_OUT_OF_SIGHT = 0.5
# Side of the square, in pixels of the small image, with which changes are dilated before the reference is updated
# there, to include shadows and soft edges.
_CHANGED_AROUND_PX = 9
# An unexplained change is reread this many times. Then it becomes part of the table.
_MAX_OVERLOOKED = 5
_LOST = "the table is not recognized: the camera moved or the light changed; restore both, or start again"
_TOO_FAR = "the camera moved and no longer sees all the tiles; the game waits until you put it back"


class Start(StrEnum):
    """Content of the first image.

    `EMPTY`: the table without tiles. Everything printed on it is ignored later. `IN_PLAY`: a game in progress.
    Everything that looks like a tile counts as one, including a printed domino.
    """

    EMPTY = "empty"
    IN_PLAY = "in play"


class Perception:
    """Tracks a table over settled images.

    All positions are in the coordinates of the first image. If the camera has moved since, images are aligned with it
    before they are read.
    """

    def __init__(self, reader: Reader, start: Start = Start.EMPTY) -> None:
        self._reader, self._start = reader, start
        self._empty: tracked.TablePicture | None = None
        self._last: tracked.TablePicture | None = None
        self._tracks: tuple[tracked.Track, ...] = ()
        self._unconfirmed: tuple[SeenTile, ...] = ()
        self._overlooked = 0
        self._unread = Unread()
        self._joins: tuple[Join, ...] = ()
        self._size_px: tuple[int, int] | None = None
        self._aim = STRAIGHT_ON
        self._anchor: Anchor | None = None
        self._has_detail = False

    @classmethod
    def resumed(
        cls,
        reader: Reader,
        *,
        empty: Image | None,
        last: Image,
        tiles: tuple[SeenTile, ...],
        aim: Alignment = STRAIGHT_ON,
    ) -> Perception:
        """Resume from a stored state. The first image fed is compared with *last*.

        Args:
            reader: Reader of tiles.
            empty: Image of the empty table, shape (H, W, 3), BGR. None if there is none.
            last: Last image of the table, of the same size.
            tiles: Tiles on the table in that image.
            aim: Camera alignment in that image.
        """
        perception = cls(reader, Start.IN_PLAY if empty is None else Start.EMPTY)
        perception._empty = None if empty is None else tracked.TablePicture.of(empty)
        perception._aim = aim
        last = perception._aim.straightened(last)
        perception._last, perception._size_px = tracked.TablePicture.of(last), (last.shape[1], last.shape[0])
        perception._anchor = Anchor.of(last)
        perception._tracks = tuple(tracked.Track(tile) for tile in tiles)
        return perception

    @property
    def view(self) -> TableView:
        """Current state of the table, without changes."""
        return self._view(())

    @property
    def is_unconfirmed(self) -> bool:
        """True if another image should be read, because of unexpected or unreadable objects, or unexplained changes."""
        return bool(self._unconfirmed) or self._overlooked > 0 or self._unread.is_due

    @property
    def is_unsure(self) -> bool:
        """True if another image could improve the reading of a half."""
        return any(track.is_unsure for track in self._tracks)

    @property
    def reader(self) -> Reader:
        """Reader of the images."""
        return self._reader

    def use(self, reader: Reader) -> None:
        """Read with another reader from now on. The readings of tracked tiles are then outdated."""
        self._reader = reader
        self._tracks = tuple(replace(track, looks=0) for track in self._tracks)

    def feed(self, image: Image) -> TableView:
        """Return the state of the table after an image without motion.

        If the table is not recognised, or tiles are out of sight, `TableView.lost` is set and no change is reported.

        Args:
            image: Shape (H, W, 3), BGR, of the same size as the previous images.

        Raises:
            PictureSizeError: If the image has another size.
        """
        if self._last is None or self._anchor is None:
            return self._begin(image)
        if (image.shape[1], image.shape[0]) != self._size_px:
            raise tracked.PictureSizeError(
                f"pictures must have the same size, but got {self._size_px} and {image.shape[1::-1]} pixels"
            )
        is_found, left = self._align(self._anchor, self._last, image)
        image = self._aim.straightened(image)
        unseen = self._aim.unseen(self._last.small.shape[:2], self._last.scale)
        picture = tracked.TablePicture.of(image)
        picture = picture.covered_by(self._last, unseen) if unseen.any() else picture
        since_last = tracked.differences_between(self._last, picture, left)
        if not is_found or since_last.mask.mean() > _NOT_THE_TABLE:
            return replace(self._view(()), lost=_LOST, is_settled=False)
        poses = tracked.poses_of(tuple(track.tile for track in self._tracks))
        if unseen.any() and (since_last.halves_within(unseen, poses) > _OUT_OF_SIGHT).any():
            return replace(self._view(()), lost=_TOO_FAR, is_settled=False)
        focus = self._focus(since_last)
        full_reading = self._reader.read(image, self._plausible(picture, unseen, left), focus)
        reading = full_reading.without_unsure()
        known = tuple(tracked.carried(track, since_last) for track in self._tracks)
        hidden = covered(since_last, (*(track.tile for track in known), *reading.tiles)) | unseen
        changes = self._follow(known, reading, since_last, hidden)
        self._unread = self._unread_after(full_reading.unsure, since_last, hidden, focus)
        hidden |= self._unexplained(since_last, (*(track.tile for track in known), *reading.tiles), hidden)
        self._joins = self._joins_after(tuple(track.tile for track in known), reading)
        self._last = picture.covered_by(self._last.seen_by(since_last.motion), hidden)
        around = cv2.dilate(
            since_last.mask.astype(np.uint8), np.ones((_CHANGED_AROUND_PX, _CHANGED_AROUND_PX), np.uint8)
        )
        self._anchor = self._anchor.renewed(image, (around > 0) & ~hidden)
        return self._view(changes)

    def is_aimed_elsewhere(self, image: Image) -> bool:
        """Return True if the camera has moved since the last image. Used to detect slow motion that the gate misses.

        False as long as no alignment was found from the texture of the table.

        Args:
            image: Shape (H, W, 3), BGR.
        """
        if self._anchor is None or not self._has_detail:
            return False
        return estimate_alignment(self._anchor, image, self._aim).agreement is Agreement.MOVED

    def look_again(self, image: Image) -> TableView:
        """Reread all face-up tiles, update those that are unsure, and return the table.

        Args:
            image: Shape (H, W, 3), BGR, without motion since the last image that was fed.
        """
        places = [i for i, track in enumerate(self._tracks) if track.tile.halves]
        tracks = list(self._tracks)
        changes: list[Change] = []
        seen = self._reader.read_again(
            self._aim.straightened(image), tracked.poses_of(tuple(tracks[i].tile for i in places))
        )
        for i, tile in zip(places, seen, strict=True):
            if tracks[i].is_unsure:
                before, tracks[i] = tracks[i].tile, tracked.looked_at(tracks[i], tile)
                changes += reread(before, tracks[i].tile)
        self._tracks = tuple(tracks)
        return self._view(tuple(changes))

    def _begin(self, image: Image) -> TableView:
        """Return the table after the first image."""
        self._last, self._size_px = tracked.TablePicture.of(image), (image.shape[1], image.shape[0])
        self._anchor = Anchor.of(image)
        if self._start is Start.EMPTY:
            self._empty = self._last
            return self._view(())
        full_reading = self._reader.read(image)
        reading = full_reading.without_unsure()
        self._unread = Unread(full_reading.unsure, is_due=bool(full_reading.unsure))
        self._tracks, self._joins = tuple(tracked.Track(tile) for tile in reading.tiles), reading.joins
        return self._view(tuple(Change(ChangeKind.PLACED, tile) for tile in reading.tiles))

    def _align(self, anchor: Anchor, last: tracked.TablePicture, image: Image) -> tuple[bool, Motion | None]:
        """Update the camera alignment.

        A bare table without texture gives no alignment. The camera is then assumed not to have moved, unless the tiles
        indicate otherwise.

        Returns:
            Whether the alignment is known, and the residual motion of the image. The motion is None if it must still be
            estimated, because the alignment comes only from tiles.
        """
        found = estimate_alignment(anchor, image, self._aim)
        if found.agreement is not Agreement.NONE:
            self._aim, self._has_detail = found.aim, True
            return True, STRAIGHT_ON.motion
        change = tracked.differences_between(last, tracked.TablePicture.of(self._aim.straightened(image)))
        tiles = tuple(track.tile for track in self._tracks)
        shaken = tuple(tracked.moved_tile(tile, change.motion) for tile in tiles)
        share = sum(tracked.touched(shaken, change)) / max(1, len(tiles))
        is_alike = change.mask.mean() < _MAY_BE_AIMED_ANEW and share < _MAX_TOUCHED
        if is_alike and (tiles or not self._has_detail):
            return True, None  # Most tiles are in place, so noise or poor light has hidden the texture.
        motion = find_motion(tiles, self._reader.read(image).tiles)
        if motion is None:
            return not self._has_detail, None
        self._aim = Alignment.of(motion)
        return True, None

    def _focus(self, change: tracked.PictureDifference) -> Focus | None:
        """Return the region that changed, with the size of tiles, or None if nothing changed."""
        if change.box_px is None:
            return None
        sides = sides_px(tracked.poses_of(tuple(track.tile for track in self._tracks)))
        # Without a given set, all tiles must be read to estimate it.
        is_all = self._reader.max_pips is not None and not self._overlooked
        return Focus(change.box_px, float(np.median(sides)) if len(sides) else None, is_all)

    def _joins_after(self, known: tuple[SeenTile, ...], reading: Reading) -> tuple[Join, ...]:
        """Return the joins in the new reading, plus earlier joins of tiles that were not both read."""
        tiles = tuple(track.tile for track in self._tracks)
        now, before = tracked.places_among(reading.tiles, tiles), tracked.places_among(known, tiles)
        seen = set(now.values())
        kept = tuple(join for join in tracked.joins_among(self._joins, before) if not {join.a, join.b} <= seen)
        return (*tracked.joins_among(reading.joins, now), *kept)

    def _plausible(
        self, picture: tracked.TablePicture, unseen: NDArray[np.bool_], left: Motion | None
    ) -> Filter | None:
        """Return a filter that excludes poses outside the image or on unchanged table, or None if not needed."""
        if self._empty is None and not unseen.any():
            return None
        since = tracked.differences_between(self._empty or picture, picture, left)

        def is_new(poses: Poses) -> NDArray[np.bool_]:
            is_seen = since.halves_within(unseen, poses).max(axis=1) < _OUT_OF_SIGHT
            return np.asarray(is_seen if self._empty is None else is_seen & (since.share(poses) > _NEW_TO_TABLE))

        return is_new

    def _follow(
        self,
        known: tuple[tracked.Track, ...],
        reading: Reading,
        change: tracked.PictureDifference,
        hidden: NDArray[np.bool_],
    ) -> tuple[Change, ...]:
        """Update the tracks from a reading, and return the changes."""
        found = tracked.match_tracks(known, reading.tiles, change, hidden)
        # A new tile where the image did not change must be seen twice, because nothing can have been placed there.
        earlier = tuple(tracked.moved_tile(tile, change.motion) for tile in self._unconfirmed)
        twice = tuple(
            t
            for t in found.unexpected
            if any(tracked.corner_distance(t, other) < tracked.SAME_PLACE for other in earlier)
        )
        self._unconfirmed = tuple(tile for tile in found.unexpected if tile not in twice)
        # In the order of the reading: from top to bottom.
        fresh = tuple(tile for tile in reading.tiles if tile in (*found.fresh, *twice))
        stayed = [kept(kept_tile) for kept_tile in found.kept]
        self._tracks = (*(track for track, _ in stayed), *(tracked.Track(tile) for tile in fresh))
        return (*(change for _, changes in stayed for change in changes), *came_and_went(found.gone, fresh))

    def _unread_after(
        self,
        unsure: tuple[SeenTile, ...],
        change: tracked.PictureDifference,
        hidden: NDArray[np.bool_],
        focus: Focus | None,
    ) -> Unread:
        """Return the unreadable objects after an image. Objects that are covered or were not searched for are kept."""
        height, width = hidden.shape

        def is_hidden(point: PointPx) -> bool:
            x, y = (int(at / change.scale) for at in point)
            return bool(hidden[min(max(y, 0), height - 1), min(max(x, 0), width - 1)])

        def is_looked_at(point: PointPx) -> bool:
            return (focus is None or not focus.is_all or focus.holds(point)) and not is_hidden(point)

        seen = tuple(tile for tile in unsure if not is_hidden(tile.center_px))
        return self._unread.after(seen, tuple(track.tile for track in self._tracks), change.motion, is_looked_at)

    def _unexplained(
        self, change: tracked.PictureDifference, tiles: tuple[SeenTile, ...], hidden: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return a mask of changes that no tile explains, which stay new in the next image."""
        # After 5 images they become part of the table, and the mask is empty.
        unseen = overlooked(change, tiles, hidden)
        self._overlooked = self._overlooked + 1 if unseen.any() else 0
        if self._overlooked < _MAX_OVERLOOKED:
            return unseen
        self._overlooked = 0
        return np.zeros_like(unseen)

    def _view(self, changes: tuple[Change, ...]) -> TableView:
        tiles = tuple(track.tile for track in self._tracks)
        return TableView(tiles, self._joins, changes, unsure=self._unread.still, size_px=self._size_px, aim=self._aim)
