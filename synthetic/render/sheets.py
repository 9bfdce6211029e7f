"""Draw boxes, discs and letters on a flat sheet, in millimetres from its corner."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from synthetic.render.solids import rounded_outline
from vision.arrays import Bgr, Image

# Height of letters at font scale 1.
_FONT_PX = 22.0


@dataclass(frozen=True, slots=True, eq=False)
class PrintedSheet:
    """A sheet to draw on.

    Attributes:
        picture: BGR, shape (H, W, 3).
        length_mm, width_mm: Extent along x and y.
        scale: Pixels per millimetre.
        paper: Background colour.
    """

    picture: Image
    length_mm: float
    width_mm: float
    scale: float
    paper: Bgr


def blank(length_mm: float, width_mm: float, scale: float, paper: Bgr) -> PrintedSheet:
    """Return an empty sheet."""
    shape = (max(4, round(width_mm * scale)), max(4, round(length_mm * scale)), 3)
    picture = np.empty(shape, np.uint8)
    picture[:] = paper
    return PrintedSheet(picture, length_mm, width_mm, scale, paper)


def turned(sheet: PrintedSheet) -> PrintedSheet:
    """Return a copy of a sheet, rotated by a quarter turn."""
    picture = np.ascontiguousarray(np.rot90(sheet.picture))
    return PrintedSheet(picture, sheet.width_mm, sheet.length_mm, sheet.scale, sheet.paper)


def shaded(bgr: Bgr, factor: float) -> Bgr:
    """Return *bgr* multiplied by *factor*, at most 255 per channel."""
    return (min(255.0, bgr[0] * factor), min(255.0, bgr[1] * factor), min(255.0, bgr[2] * factor))


def box(
    sheet: PrintedSheet, center_mm: tuple[float, float], size_mm: tuple[float, float], bgr: Bgr, radius_mm: float = 0.0
) -> None:
    """Fill a rectangle in place. Its corners are rounded if *radius_mm* is positive."""
    if radius_mm > 0:
        outline = rounded_outline(*size_mm, radius_mm)
    else:
        outline = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * size_mm
    # Pixel 0 covers 0 to 1, and OpenCV's origin is its middle at 0.5.
    points = (outline + np.asarray(center_mm)) * sheet.scale - 0.5
    cv2.fillConvexPoly(sheet.picture, np.round(points * 16).astype(np.int32), bgr, cv2.LINE_AA, 4)


def fill_disc(sheet: PrintedSheet, center_mm: tuple[float, float], radius_mm: float, bgr: Bgr) -> None:
    """Fill a circle in place."""
    center = (round((center_mm[0] * sheet.scale - 0.5) * 16), round((center_mm[1] * sheet.scale - 0.5) * 16))
    cv2.circle(sheet.picture, center, max(1, round(radius_mm * sheet.scale * 16)), bgr, -1, cv2.LINE_AA, 4)


def letters(sheet: PrintedSheet, text: str, start_mm: tuple[float, float], height_mm: float, bgr: Bgr) -> None:
    """Write capitals and digits in place. *start_mm* is the lower left corner."""
    size_px = height_mm * sheet.scale
    origin = (round(start_mm[0] * sheet.scale), round(start_mm[1] * sheet.scale))
    thick = max(1, round(0.13 * size_px))
    cv2.putText(
        sheet.picture, text, origin, cv2.FONT_HERSHEY_SIMPLEX, max(0.1, size_px / _FONT_PX), bgr, thick, cv2.LINE_AA
    )


def words(
    sheet: PrintedSheet, start_mm: tuple[float, float], size_mm: tuple[float, float], ink: Bgr, rng: np.random.Generator
) -> None:
    """Draw a line of illegible words in place, as small dark strokes. *size_mm* is its length and height."""
    left, top = (round(value * sheet.scale) for value in start_mm)
    width, height = (max(1, round(value * sheet.scale)) for value in size_mm)
    region = sheet.picture[top : top + height, left : left + width]
    if region.size == 0:
        return
    # Each letter is two strokes and a gap. One position in six is empty and ends a word.
    count = max(2, int(1.3 * size_mm[0] / size_mm[1]))
    is_letter = rng.random(count) < 0.83
    strokes = np.stack([rng.random((3, count)) < 0.8, rng.random((3, count)) < 0.6, np.zeros((3, count), bool)], axis=2)
    marks = (strokes & is_letter[None, :, None]).reshape(3, 3 * count).astype(np.float32)
    is_small = width < marks.shape[1]
    method = cv2.INTER_AREA if is_small else cv2.INTER_LINEAR
    cover = cv2.resize(marks, (width, height), interpolation=method)[: region.shape[0], : region.shape[1], None]
    region[:] = (region * (1 - cover) + np.asarray(ink, np.float32) * cover).astype(np.uint8)
