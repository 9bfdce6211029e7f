"""Detect the markers of corner blocks in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from cv2 import aruco
from numpy.typing import NDArray

from calibration.sheets.prints import BLOCKS, MARKERS_PER_BLOCK, corner_dictionary
from vision.arrays import Image, Points
from vision.reading import PointPx

# Margin of the paper around the markers of a block, relative to the side of the square that they span.
_EDGE = 0.15


@dataclass(frozen=True, slots=True)
class SeenMarker:
    """A detected marker of a corner block.

    Attributes:
        block: Corner of the table seen from the first seat, 0 to 3: top left, top right, bottom right, bottom left.
        place: Position of the marker in the block, in the same order.
        corners_px: Corners, clockwise from the printed top left.
    """

    block: int
    place: int
    corners_px: tuple[PointPx, PointPx, PointPx, PointPx]


def find_corner_marks(picture: Image) -> tuple[SeenMarker, ...]:
    """Detect the markers of corner blocks in a picture of shape (H, W, 3) or (H, W), sorted by number."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    parameters = aruco.DetectorParameters()
    # The most accurate refinement, with an error of 0.07 px. Fitting lines to the edges gives 0.15 px.
    parameters.cornerRefinementMethod = aruco.CORNER_REFINE_SUBPIX
    outlines, numbers, _ = aruco.ArucoDetector(corner_dictionary(), parameters).detectMarkers(grey)
    markers: dict[int, Points] = {}
    # If there are no markers, OpenCV returns None instead of an array of ids.
    for number, corners in zip(np.asarray(numbers).ravel() if outlines else (), outlines, strict=True):
        if number < BLOCKS * MARKERS_PER_BLOCK:
            markers[int(number)] = np.asarray(corners, np.float64).reshape(4, 2)
    return tuple(_marker(number, markers[number]) for number in sorted(markers))


def beside_blocks(markers: Sequence[SeenMarker], points_px: Points) -> NDArray[np.bool_]:
    """Return a mask of the points, shape (N, 2), outside corner blocks, whose markers can resemble tiles."""
    beside = np.ones(len(points_px), np.bool_)
    for block in {marker.block for marker in markers}:
        corners = [corner for marker in markers if marker.block == block for corner in marker.corners_px]
        outline = cv2.convexHull(np.array(corners, np.float32))
        edge_px = _EDGE * float(np.sqrt(cv2.contourArea(outline)))
        inside_px = [cv2.pointPolygonTest(outline, (float(x), float(y)), measureDist=True) for x, y in points_px]
        beside &= np.array(inside_px).reshape(-1) < -edge_px
    return beside


def _marker(number: int, corners_px: Points) -> SeenMarker:
    a, b, c, d = ((float(x), float(y)) for x, y in corners_px)
    return SeenMarker(number // MARKERS_PER_BLOCK, number % MARKERS_PER_BLOCK, (a, b, c, d))
