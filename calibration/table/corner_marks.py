"""The corner blocks in a picture: which of their markers are seen, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from cv2 import aruco
from numpy.typing import NDArray

from calibration.sheets.boards import BLOCKS, MARKERS_PER_BLOCK, corner_dictionary
from vision.arrays import Image, Points
from vision.reading import PointPx

# What of a block's paper lies around its markers, in lengths of these.
_EDGE = 0.15


@dataclass(frozen=True, slots=True)
class SeenMarker:
    """A marker of a corner block.

    Attributes:
        block: Which corner of the table, 0 to 3: top left, top right, bottom right, bottom left from the first seat.
        place: Which marker of the block, 0 to 3 alike.
        corners_px: Its corners, clockwise from the one that is its top left in print.
    """

    block: int
    place: int
    corners_px: tuple[PointPx, PointPx, PointPx, PointPx]


def find_corner_marks(picture: Image) -> tuple[SeenMarker, ...]:
    """Return the markers of corner blocks that a picture, shape (H, W, 3) or (H, W), shows, in their order."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    parameters = aruco.DetectorParameters()
    # Of the refinements this is the most exact: 0.07 px where lines fitted to the edges give 0.15 px.
    parameters.cornerRefinementMethod = aruco.CORNER_REFINE_SUBPIX
    found, numbers, _ = aruco.ArucoDetector(corner_dictionary(), parameters).detectMarkers(grey)
    seen: dict[int, Points] = {}
    # With none found there are no numbers either: None, as OpenCV has it.
    for number, corners in zip(np.asarray(numbers).ravel() if found else (), found, strict=True):
        if number < BLOCKS * MARKERS_PER_BLOCK:
            seen[int(number)] = np.asarray(corners, np.float64).reshape(4, 2)
    return tuple(_marker(number, seen[number]) for number in sorted(seen))


def beside_blocks(markers: Sequence[SeenMarker], points_px: Points) -> NDArray[np.bool_]:
    """Return which points, shape (N, 2), do not lie on a corner block: two of its squares look like a tile."""
    beside = np.ones(len(points_px), np.bool_)
    for block in {marker.block for marker in markers}:
        corners = [corner for marker in markers if marker.block == block for corner in marker.corners_px]
        outline = cv2.convexHull(np.array(corners, np.float32))
        edge_px = _EDGE * float(np.sqrt(cv2.contourArea(outline)))
        far_px = [cv2.pointPolygonTest(outline, (float(x), float(y)), measureDist=True) for x, y in points_px]
        beside &= np.array(far_px).reshape(-1) < -edge_px
    return beside


def _marker(number: int, corners_px: Points) -> SeenMarker:
    a, b, c, d = ((float(x), float(y)) for x, y in corners_px)
    return SeenMarker(number // MARKERS_PER_BLOCK, number % MARKERS_PER_BLOCK, (a, b, c, d))
