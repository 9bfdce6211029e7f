"""Draws a contact sheet of mistakes: a crop around each, turned as in the picture, and what is wrong in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from tallybone.evaluate.photo_mistakes import Mistake, Wrong
from vision.annotate import ORANGE, PURPLE, SKY, YELLOW, Bgr

Image: TypeAlias = NDArray[np.uint8]

MOST_CELLS = 200
_COLUMNS = 7
_CELL_PX, _GAP_PX, _HEADING_PX, _WORDS_PX = 232, 12, 44, 44
_PAPER: Bgr = (250, 250, 250)
_INK: Bgr = (24, 20, 16)
_FAINT: Bgr = (110, 110, 110)
_OUTSIDE: Bgr = (200, 200, 200)
# What a crop shows around what it is about, as a share of its size: enough to see how tiles lie to each other.
_MARGIN = 0.3
_LINES: dict[Wrong, Bgr] = {
    Wrong.MISSED: ORANGE,
    Wrong.MISREAD: YELLOW,
    Wrong.SPARE: PURPLE,
    Wrong.MISSED_BACK: ORANGE,
    Wrong.SPARE_BACK: PURPLE,
    Wrong.MISSED_JOIN: SKY,
    Wrong.SPARE_JOIN: PURPLE,
}


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A mistake on the sheet.

    Attributes:
        source: Whose picture it is; cells of a source stand together under its name.
        picture: Name of the picture within its source.
        words: What is wrong.
        crop: Shape (232, 232, 3), BGR.
    """

    source: str
    picture: str
    words: str
    crop: Image


def crop_mistake(image: Image, mistake: Mistake) -> Image:
    """Return the part of a picture that a mistake is about, with the tiles outlined.

    Args:
        image: Shape (H, W, 3), BGR, the upright picture.
        mistake: Where to look, in its pixels.

    Returns:
        Shape (232, 232, 3), grey where the picture ends.
    """
    points = np.array([point for outline in mistake.outlines_px for point in outline], np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    side_px = max(float((high - low).max()) * (1 + 2 * _MARGIN), 8.0)
    scale = _CELL_PX / side_px
    corner = (low + high) / 2 - side_px / 2
    # Pixel centres lie half a pixel inside; without that the outline is off where little is enlarged much.
    shift = -corner * scale + (scale - 1) / 2
    to_cell = np.array([[scale, 0.0, shift[0]], [0.0, scale, shift[1]]])
    shrinks = scale < 1
    crop = cv2.warpAffine(
        _smoothed(image, scale) if shrinks else image,
        to_cell,
        (_CELL_PX, _CELL_PX),
        flags=cv2.INTER_LINEAR if shrinks else cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=_OUTSIDE,
    ).astype(np.uint8, copy=False)
    _mark(crop, mistake, scale, shift)
    return crop


def draw_sheets(cells: Sequence[Cell]) -> Iterator[Image]:
    """Yield sheets of at most 200 cells each, grouped by source in the order given."""
    for start in range(0, len(cells), MOST_CELLS):
        yield _sheet(cells[start : start + MOST_CELLS])


def _sheet(cells: Sequence[Cell]) -> Image:
    bands = [band for source, group in groupby(cells, lambda cell: cell.source) for band in _bands(source, list(group))]
    return np.concatenate([*bands, _paper(_GAP_PX)]).astype(np.uint8, copy=False)


def _bands(source: str, cells: Sequence[Cell]) -> Iterator[Image]:
    """Yield the heading of a source, then its cells row by row."""
    heading = _paper(_HEADING_PX)
    count = f"{len(cells)} mistake{'' if len(cells) == 1 else 's'}"
    title = "pictures in the root" if source == "." else source
    _write(heading, f"{title}: {count}", (_GAP_PX, _HEADING_PX - 12), scale=0.75, ink=_INK, thick_px=2)
    yield heading
    for start in range(0, len(cells), _COLUMNS):
        row = _paper(_CELL_PX + _WORDS_PX + _GAP_PX)
        for column, cell in enumerate(cells[start : start + _COLUMNS]):
            left = _GAP_PX + column * (_CELL_PX + _GAP_PX)
            row[:_CELL_PX, left : left + _CELL_PX] = cell.crop
            _write(row, cell.words, (left, _CELL_PX + 18), scale=0.52, ink=_INK)
            _write(row, cell.picture, (left, _CELL_PX + 37), scale=0.42, ink=_FAINT)
        yield row


def _paper(height_px: int) -> Image:
    width_px = _GAP_PX + _COLUMNS * (_CELL_PX + _GAP_PX)
    return np.full((height_px, width_px, 3), _PAPER, np.uint8)


def _write(canvas: Image, text: str, corner: tuple[int, int], *, scale: float, ink: Bgr, thick_px: int = 1) -> None:
    """Write a line of text, smaller where it would be wider than its place; what the font lacks becomes `?`."""
    shown = text.encode("ascii", "replace").decode()
    font = cv2.FONT_HERSHEY_SIMPLEX
    room_px = _CELL_PX if thick_px == 1 else canvas.shape[1] - 2 * _GAP_PX
    width_px = max(cv2.getTextSize(shown, font, scale, thick_px)[0][0], 1)
    fitting = scale * min(1.0, room_px / width_px)
    cv2.putText(canvas, shown, corner, font, fitting, ink, thick_px, cv2.LINE_AA)


def _mark(crop: Image, mistake: Mistake, scale: float, shift: NDArray[np.float64]) -> None:
    """Outline the tiles just outside of their edge, so that the pips stay free, and join the ends of a join."""
    color = _LINES[mistake.wrong]
    for outline in mistake.outlines_px:
        points = np.array(outline, np.float64) * scale + shift
        middle = points.mean(axis=0)
        corners = np.rint(middle + (points - middle) * 1.06).astype(np.int32)
        for ink, thick_px in ((_INK, 4), (color, 2)):
            cv2.polylines(crop, [corners], isClosed=True, color=ink, thickness=thick_px, lineType=cv2.LINE_AA)
    if mistake.link_px is None:
        return
    start, stop = (np.rint(np.array(end) * scale + shift).astype(int) for end in mistake.link_px)
    for ink, thick_px in ((_INK, 5), (color, 3)):
        cv2.line(crop, (int(start[0]), int(start[1])), (int(stop[0]), int(stop[1])), ink, thick_px, cv2.LINE_AA)


def _smoothed(image: Image, scale: float) -> Image:
    """Return a picture without what is finer than a pixel after shrinking: otherwise pips crumble."""
    sigma_px = 0.5 * math.sqrt(1 / scale**2 - 1)
    return cv2.GaussianBlur(image, (0, 0), max(sigma_px, 0.1)).astype(np.uint8, copy=False)
