"""Detect the markers of corner blocks, glare and low contrast in a picture of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from cv2 import aruco
from numpy.typing import NDArray

from calibration.sheets.prints import BLOCKS, MARKERS_PER_BLOCK, corner_dictionary
from engine.phrases import phrase, plural
from vision.arrays import Crop, GreyImage, Image, Points
from vision.reading import Face, OutlinePx, PointPx, SeenTile

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
    markers: dict[int, SeenMarker] = {}
    # If there are no markers, OpenCV returns None instead of an array of ids.
    for number, corners in zip(np.asarray(numbers).ravel() if outlines else (), outlines, strict=True):
        if number < BLOCKS * MARKERS_PER_BLOCK:
            block, place = divmod(int(number), MARKERS_PER_BLOCK)
            a, b, c, d = ((float(x), float(y)) for x, y in np.asarray(corners, np.float64).reshape(4, 2))
            markers[int(number)] = SeenMarker(block, place, (a, b, c, d))
    return tuple(markers[number] for number in sorted(markers))


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


# Minimum contrast between face and pips in grey levels. The reader starts to fail below 12 at a noise of 2 levels. At a
# noise of 7, typical of dark pictures, it fails below 20 (docs/experiments/calibration.md).
MIN_CONTRAST = 25.0
# Maximum saturated share of a tile. Of halves with more glare one in six is misread, and none without glare.
MAX_SATURATED = 0.05
# If more than this share of the tiles and markers is saturated, no glare is reported on them: the exposure is long but
# readable. Of 686 such halves none was misread.
_ALL_BRIGHT = 0.5
# Grey level from which a pixel counts as saturated.
_SATURATED = 250
# Percentiles for pips and face. More extreme levels are dirt, edges or glints.
_DARK_PERCENT = 3.0
_BRIGHT_PERCENT = 80.0
# Minimum diameter of a reported patch of glare, as a share of the picture's width. A patch of this size hides a pip or
# two.
_PATCH_SHARE = 0.012
# Above this share of white pixels, the picture is reported as overexposed instead of glaring.
_OVEREXPOSED = 0.15
# Minimum brightest level if there are no tiles or markers. Below, even white would be too dark.
_DARK_LEVEL = 40.0
_STEP_PX = 4


class Trouble(StrEnum):
    """Problem with the light at a tile or marker."""

    GLARE = "glare"
    DULL = "too little contrast"


@dataclass(frozen=True, slots=True)
class LightSample:
    """Light on a tile or marker.

    Attributes:
        corners_px: Outline.
        contrast: Difference between bright and dark parts, in grey levels from 0 to 255.
        saturated: Saturated share, from 0 to 1.
    """

    corners_px: OutlinePx
    contrast: float
    saturated: float


@dataclass(frozen=True, slots=True)
class LightMeasurement:
    """Light in a picture, measured on its tiles and markers.

    Attributes:
        patches: Centre and radius in pixels of each patch of glare outside tiles and markers.
        white: Saturated share of the picture, from 0 to 1.
        brightest: 98th percentile of the grey levels.
    """

    samples: tuple[LightSample, ...]
    patches: tuple[tuple[float, float, float], ...]
    white: float
    brightest: float

    @property
    def is_bright(self) -> bool:
        """True if more than half of the samples are partly saturated. This is a bright exposure rather than glare."""
        saturated = sum(sample.saturated > MAX_SATURATED for sample in self.samples)
        return saturated > _ALL_BRIGHT * max(1, len(self.samples))

    def trouble_at(self, sample: LightSample) -> Trouble | None:
        """Return the problem at a tile or marker, or None."""
        if sample.contrast < MIN_CONTRAST:
            return Trouble.DULL
        return Trouble.GLARE if sample.saturated > MAX_SATURATED and not self.is_bright else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings, one sentence each. Empty if all pips should be visible."""
        warnings = []
        glaring, dull = (
            sum(self.trouble_at(sample) is kind for sample in self.samples) for kind in (Trouble.GLARE, Trouble.DULL)
        )
        if self.white > _OVEREXPOSED:
            white = f"{100 * self.white:.0f}"
            warnings.append(phrase("{percent} % of the picture is pure white: it is overexposed.", percent=white))
        elif glaring or self.patches:
            glare = plural(
                "Glare in 1 place may hide pips. Move the lamp to the side, or diffuse it with a cloth.",
                "Glare in {number} places may hide pips. Move the lamp to the side, or diffuse it with a cloth.",
                number=glaring + len(self.patches),
            )
            warnings.append(glare)
        if dull:
            contrast = plural(
                "Too little contrast in 1 place: pips must differ from the face by {least} grey levels. Add"
                " light there.",
                "Too little contrast in {number} places: pips must differ from the face by {least} grey levels."
                " Add light there.",
                number=dull,
                least=f"{MIN_CONTRAST:.0f}",
            )
            warnings.append(contrast)
        if not self.samples and self.brightest < _DARK_LEVEL:
            warnings.append(phrase("The picture is too dark."))
        return tuple(warnings)

    @property
    def contrast(self) -> tuple[float, float] | None:
        """The lowest and the highest contrast. None if there are no samples."""
        if not self.samples:
            return None
        return min(sample.contrast for sample in self.samples), max(sample.contrast for sample in self.samples)


def examine_light(picture: Image, outlines: Sequence[OutlinePx]) -> LightMeasurement:
    """Measure the light in a picture.

    Args:
        picture: BGR picture, shape (H, W, 3).
        outlines: Outlines of face-up tiles and markers, which contain both dark and bright parts.
    """
    grey, minimum = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), picture.min(axis=2)
    white = (minimum >= _SATURATED).astype(np.uint8)
    samples, free = [], white.copy()
    for corners in outlines:
        sample, box, mask = _sample(grey, white, corners)
        if sample is None:
            continue
        samples.append(sample)
        free[box] *= 1 - mask
    brightest = float(np.percentile(grey[::_STEP_PX, ::_STEP_PX], 98))
    return LightMeasurement(tuple(samples), _patches(free), float(white.mean()), brightest)


def outlines_of(tiles: Sequence[SeenTile], markers: Sequence[SeenMarker]) -> tuple[OutlinePx, ...]:
    """Return the outlines of face-up tiles and of markers, for `examine_light`."""
    faces = (tile.corners_px for tile in tiles if tile.face is Face.UP)
    return (*faces, *(marker.corners_px for marker in markers))


def _sample(
    grey: GreyImage | NDArray[np.generic], white: GreyImage, corners: OutlinePx
) -> tuple[LightSample | None, Crop, GreyImage]:
    """Return the light on a tile or marker (None if it is outside the picture), its bounding box, and its mask."""
    points = np.round(np.array(corners)).astype(np.int32)
    height_px, width_px = white.shape
    left, top = np.clip(points.min(axis=0), 0, (width_px, height_px)).tolist()
    right, bottom = np.clip(points.max(axis=0) + 1, 0, (width_px, height_px)).tolist()
    box = (slice(top, bottom), slice(left, right))
    mask = np.zeros((max(0, bottom - top), max(0, right - left)), np.uint8)
    if mask.size == 0:
        return None, box, mask
    cv2.fillConvexPoly(mask, points - (left, top), 1)
    inside = np.asarray(grey)[box][mask > 0]
    if inside.size == 0:
        return None, box, mask
    dark, bright = np.percentile(inside, (_DARK_PERCENT, _BRIGHT_PERCENT)).tolist()
    return LightSample(corners, bright - dark, float(white[box][mask > 0].mean())), box, mask


def _patches(free: GreyImage) -> tuple[tuple[float, float, float], ...]:
    """Return centre and radius of each large patch in *free*, a mask of the saturated pixels outside samples."""
    min_px = _PATCH_SHARE * free.shape[1]
    cleaned = cv2.morphologyEx(free, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3)))
    count, _, boxes, centroids = cv2.connectedComponentsWithStats(cleaned, connectivity=8)
    patches = []
    for at in range(1, count):
        radius_px = float(np.sqrt(boxes[at, cv2.CC_STAT_AREA] / np.pi))
        if 2 * radius_px >= min_px:
            patches.append((float(centroids[at, 0]), float(centroids[at, 1]), radius_px))
    return tuple(patches)
