"""Print numerals or signs on tile halves, for sets that use them instead of pips."""

from __future__ import annotations

import cv2
import numpy as np

from synthetic.render.face_grid import FaceGrid, blend, filled
from synthetic.render.look_types import Polygon, TileLook
from vision.arrays import FloatImage

# Oversampling factor for drawing signs.
_OVERSAMPLING = 4


def paint_numeral(face: FloatImage, grid: FaceGrid, look: TileLook, number: int, half: int) -> None:
    """Print a number on a half in place, as the set's sign for it, or as a numeral if it has no sign."""
    if look.numerals is None:
        return
    height, width = grid.alpha.shape
    side = min(height, width // 2)
    ink = _sign(side, look.signs[number]) if number < len(look.signs) else _numeral(side, number, look.pip_radius)
    turned = np.rot90(ink, look.numerals + (2 if half == 1 and not look.is_mirrored else 0))
    top = (height - side) // 2
    left = width // 4 - side // 2 if half == 0 else width - width // 4 - side + side // 2
    blend(face[:, top : top + side, left : left + side], turned, look.pip_bgr[number])


def _numeral(side: int, number: int, bold: float) -> FloatImage:
    """Return the ink of a numeral, shape (side, side), 0 to 1. 0 is blank. 6 and 9 are underlined."""
    ink = np.zeros((side, side), np.uint8)
    if number == 0:
        return ink.astype(np.float32)
    text, thick = str(number), max(1, round(side * bold * 0.5))
    (wide, high), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, 1.0, 1)
    size = min(0.62 * side / high, 0.72 * side / wide)
    origin = (round((side - size * wide) / 2), round((side + size * high) / 2))
    cv2.putText(ink, text, origin, cv2.FONT_HERSHEY_DUPLEX, size, 255, thick, cv2.LINE_AA)
    if number in (6, 9):
        cv2.line(ink, (side // 3, side * 8 // 9), (side - side // 3, side * 8 // 9), 255, thick)
    return ink.astype(np.float32) / 255


def _sign(side: int, outlines: tuple[Polygon, ...]) -> FloatImage:
    """Return the ink of a sign, shape (side, side), 0 to 1."""
    corners = ((np.array(outline) + 1) * (_OVERSAMPLING * side - 1) / 2 for outline in outlines)
    return filled(corners, (side, side), _OVERSAMPLING)
