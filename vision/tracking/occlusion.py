"""Find changed regions that no known tile explains, such as hands."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.arrays import GreyImage, Mask
from vision.reading import SeenTile
from vision.tracking.changes import PictureDifference
from vision.tracking.tracks import side_px

# A changed region is a hand if it has at least the area of _LEAST_TILES tiles, and tiles explain less than
# _MOST_EXPLAINED of it.
_LEAST_TILES, _MOST_EXPLAINED = 2.5, 0.5
# Size of a tile with its shadow, relative to its face.
_WITH_SHADOW = 1.35
# Minimum size of an unexplained change that may be a missed tile: in tile areas, or in pixels if no tile is known.
_LEAST_OVERLOOKED, _LEAST_OVERLOOKED_PX = 0.4, 60
# Changes narrower than this are ignored. They come from light, or from tiles that were nudged.
_RIM_PX = 3
# Sides of the squares, in pixels of the small image, with which gaps in the outline of a hand are closed, and with
# which it is then dilated.
_JOINED_PX, _MARGIN_PX = 9, 7


def covered(change: PictureDifference, tiles: Sequence[SeenTile]) -> Mask:
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
    is_hand = (areas >= _LEAST_TILES * 2 * side**2) & (by_tiles < _MOST_EXPLAINED * areas)
    is_hand[0] = False
    hands = is_hand[labels].astype(np.uint8)
    return np.asarray(cv2.dilate(hands, np.ones((_MARGIN_PX, _MARGIN_PX), np.uint8)) > 0)


def overlooked(change: PictureDifference, tiles: Sequence[SeenTile], hidden: Mask) -> Mask:
    """Return a mask of unexplained changes that may be a missed tile, of the same shape as `change.mask`.

    Changes smaller than 0.4 of a tile are omitted. The mask has a margin of 3 px.

    Args:
        change: Difference from the previous image.
        tiles: Tiles known before, and tiles read now.
        hidden: Mask of covered regions, shape (h, w).
    """
    rest = (change.mask & ~hidden & (_explained(change, tiles) == 0)).astype(np.uint8)
    rest = cv2.morphologyEx(rest, cv2.MORPH_OPEN, np.ones((_RIM_PX, _RIM_PX), np.uint8)).astype(np.uint8, copy=False)
    least_px = _LEAST_OVERLOOKED * 2 * _side(change, tiles) ** 2 if tiles else float(_LEAST_OVERLOOKED_PX)
    count, labels = cv2.connectedComponents(rest, connectivity=8)
    is_large = np.bincount(labels.ravel().astype(np.intp), minlength=count) >= least_px
    is_large[0] = False
    found = is_large[labels].astype(np.uint8)
    return np.asarray(cv2.dilate(found, np.ones((_MARGIN_PX, _MARGIN_PX), np.uint8)) > 0)


def _explained(change: PictureDifference, tiles: Sequence[SeenTile]) -> GreyImage:
    """Return an image with 1 for tiles and their shadows, and 0 elsewhere."""
    explained = np.zeros(change.mask.shape, np.uint8)
    for tile in tiles:
        corners = np.array(tile.corners_px)
        grown = corners.mean(axis=0) + _WITH_SHADOW * (corners - corners.mean(axis=0))
        cv2.fillConvexPoly(explained, np.round(grown / change.scale).astype(np.int32), 1)
    return explained


def _side(change: PictureDifference, tiles: Sequence[SeenTile]) -> float:
    """Return the median side of a half, in pixels of the mask."""
    return float(np.median([side_px(tile) for tile in tiles])) / change.scale
