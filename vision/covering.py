"""What covers the table for a while, hands first of all: large differences that no tile explains."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.changes import Difference
from vision.reading import Tile
from vision.tracks import side_px

Mask = NDArray[np.bool_]

# A hand covers at least as much as so many tiles, and tiles that came or went explain less of it than this share.
_LEAST_TILES, _MOST_EXPLAINED = 2.5, 0.5
# A tile with its shadow is this much larger than its face.
_WITH_SHADOW = 1.35
# Pixels of the small picture that a hand's outline may be broken or blurred by.
_JOINED_PX, _MARGIN_PX = 9, 7


def covered(change: Difference, tiles: Sequence[Tile]) -> Mask:
    """Return what is covered, shape (h, w) as the mask of the difference.

    Args:
        change: What differs.
        tiles: All that lay there and all that is seen there now.
    """
    nothing = np.zeros_like(change.mask)
    if not tiles:
        return nothing
    explained = nothing.astype(np.uint8)
    for tile in tiles:
        corners = np.array(tile.corners_px)
        grown = corners.mean(axis=0) + _WITH_SHADOW * (corners - corners.mean(axis=0))
        cv2.fillConvexPoly(explained, np.round(grown / change.scale).astype(np.int32), 1)
    side = float(np.median([side_px(tile) for tile in tiles])) / change.scale
    joined = cv2.morphologyEx(
        change.mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((_JOINED_PX, _JOINED_PX), np.uint8)
    )
    count, labels = cv2.connectedComponents(joined, connectivity=8)
    areas = np.bincount(labels.ravel(), minlength=count)
    by_tiles = np.bincount(labels[explained > 0], minlength=count)
    is_hand = (areas >= _LEAST_TILES * 2 * side**2) & (by_tiles < _MOST_EXPLAINED * areas)
    is_hand[0] = False
    hands = is_hand[labels].astype(np.uint8)
    return np.asarray(cv2.dilate(hands, np.ones((_MARGIN_PX, _MARGIN_PX), np.uint8)) > 0)
