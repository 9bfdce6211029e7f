"""Detect glare and low contrast in an image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.table.corner_marks import SeenMarker
from engine.phrases import phrase, plural
from vision.arrays import Crop, GreyImage, Image
from vision.reading import Face, OutlinePx, SeenTile

# Grey levels between face and pips. The reader begins to fail below 12 of them at a noise of 2 levels, and below 20 at
# a noise of 7, as dark pictures have (benchmarks/bench_light.py; it prints the table).
LEAST_CONTRAST = 25.0
# Share of a tile that is pure white. Of halves with as much glare on them one in six is misread, and none without.
MOST_SATURATED = 0.05
# Where more of the tiles are so white, they are exposed long, and can be read: of 686 such halves none was misread.
_ALL_BRIGHT = 0.5
# From there on a sensor says nothing any more of what is there.
_SATURATED = 250
# Darker and brighter parts of a tile are not its pips and its face, but dirt, an edge, a glint.
_DARK_PERCENT, _BRIGHT_PERCENT = 3.0, 80.0
# A patch on the table is worth a word if a pip or two would be lost in it: so wide, as a share of the picture's width.
_PATCH_SHARE = 0.012
# As much of the picture is not glare, but too long an exposure.
_OVEREXPOSED = 0.15
# Where nothing of black and white is seen: below that even white would be too dark.
_DARK_LEVEL = 40.0
_STEP_PX = 4


class Trouble(StrEnum):
    """What is wrong with the light at a place."""

    GLARE = "glare"
    DULL = "too little contrast"


@dataclass(frozen=True, slots=True)
class LightSample:
    """The light on one tile or marker.

    Attributes:
        corners_px: Its outline.
        contrast: Grey levels between its dark and its bright parts, 0 to 255.
        saturated: Share of it that is pure white, 0 to 1.
    """

    corners_px: OutlinePx
    contrast: float
    saturated: float


@dataclass(frozen=True, slots=True)
class LightMeasurement:
    """The light in a picture, measured on the tiles and markers that it shows.

    Attributes:
        samples: Tiles and markers.
        patches: Middle and radius in pixels of glare between them.
        white: Share of the picture that is pure white, 0 to 1.
        brightest: The grey level that 2 % of the picture exceed.
    """

    samples: tuple[LightSample, ...]
    patches: tuple[tuple[float, float, float], ...]
    white: float
    brightest: float

    @property
    def is_bright(self) -> bool:
        """Whether tiles are exposed so long that most are white in parts: they can be read, and show no glare."""
        return sum(one.saturated > MOST_SATURATED for one in self.samples) > _ALL_BRIGHT * max(1, len(self.samples))

    def trouble_at(self, sample: LightSample) -> Trouble | None:
        """Return what is wrong with a tile or marker."""
        if sample.contrast < LEAST_CONTRAST:
            return Trouble.DULL
        return Trouble.GLARE if sample.saturated > MOST_SATURATED and not self.is_bright else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong, a sentence each; none where every pip will be seen."""
        said = []
        glaring, dull = (
            sum(self.trouble_at(one) is kind for one in self.samples) for kind in (Trouble.GLARE, Trouble.DULL)
        )
        if self.white > _OVEREXPOSED:
            white = f"{100 * self.white:.0f}"
            said.append(phrase("{percent} % of the picture are pure white: it is exposed too long.", percent=white))
        elif glaring or self.patches:
            glare = plural(
                "Glare at 1 place: pips may not be seen there. Move the lamp to the side, or hang a cloth before it.",
                "Glare at {number} places: pips may not be seen there. Move the lamp to the side, or hang a cloth"
                " before it.",
                number=glaring + len(self.patches),
            )
            said.append(glare)
        if dull:
            contrast = plural(
                "Too little contrast at 1 place: {least} grey levels between face and pips are needed. More light is"
                " needed there.",
                "Too little contrast at {number} places: {least} grey levels between face and pips are needed. More"
                " light is needed there.",
                number=dull,
                least=f"{LEAST_CONTRAST:.0f}",
            )
            said.append(contrast)
        if not self.samples and self.brightest < _DARK_LEVEL:
            said.append(phrase("The picture is too dark."))
        return tuple(said)

    @property
    def contrast(self) -> tuple[float, float] | None:
        """The lowest and the highest contrast; None where nothing of black and white is seen."""
        if not self.samples:
            return None
        return min(one.contrast for one in self.samples), max(one.contrast for one in self.samples)


def examine_light(picture: Image, outlines: Sequence[OutlinePx]) -> LightMeasurement:
    """Measure the light in a picture.

    Args:
        picture: Shape (H, W, 3), BGR.
        outlines: Of tiles that lie open, and of markers: each has black and white in it.
    """
    grey, least = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), picture.min(axis=2)
    white = (least >= _SATURATED).astype(np.uint8)
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
    """Return what of a picture shows black and white: open tiles, and markers of corner blocks."""
    return (*(tile.corners_px for tile in tiles if tile.face is Face.UP), *(one.corners_px for one in markers))


def _sample(
    grey: GreyImage | NDArray[np.generic], white: GreyImage, corners: OutlinePx
) -> tuple[LightSample | None, Crop, GreyImage]:
    """Return how a thing is lit, the part of the picture around it, and in that what is it."""
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
    """Return middle and radius of each white patch that lies on none of the things."""
    least_px = _PATCH_SHARE * free.shape[1]
    calm = cv2.morphologyEx(free, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3)))
    count, _, boxes, middles = cv2.connectedComponentsWithStats(calm, connectivity=8)
    found = []
    for at in range(1, count):
        radius_px = float(np.sqrt(boxes[at, cv2.CC_STAT_AREA] / np.pi))
        if 2 * radius_px >= least_px:
            found.append((float(middles[at, 0]), float(middles[at, 1]), radius_px))
    return tuple(found)
