"""Describe each mistake in the reading of a photo, and draw all mistakes on contact sheets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import cv2
import numpy as np
from numpy.typing import NDArray

from lab.evaluate.labels import TileLabel
from lab.evaluate.photos import PhotoJudged, TileJudged
from vision.arrays import Bgr, Image
from vision.image.annotate import ORANGE, PURPLE, SKY, YELLOW
from vision.reading import Join, PointPx, SeenTile

MistakeOutline = tuple[PointPx, ...]
# Radius of the ring that marks a missed face-down tile, in sides of a half. The label gives only the tile's centre.
_BACK_REACH = 1.1

MAX_CELLS = 200
_COLUMNS = 7
_CELL_PX = 232
_GAP_PX = 12
_HEADING_PX = 44
_WORDS_PX = 44
_PAPER: Bgr = (250, 250, 250)
_INK: Bgr = (24, 20, 16)
_FAINT: Bgr = (110, 110, 110)
_OUTSIDE: Bgr = (200, 200, 200)
# Margin of a crop on each side of its tiles, as a share of their extent. It shows the neighbouring tiles.
_MARGIN = 0.3


class MistakeKind(StrEnum):
    """Kind of mistake."""

    MISSED = "missed tile"
    MISREAD = "wrong pips"
    SPARE = "spare tile"
    SPARE_UNSURE = "spare unsure"
    MISSED_BACK = "missed back"
    SPARE_BACK = "spare back"
    MISSED_JOIN = "missed join"
    SPARE_JOIN = "spare join"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a reading.

    Attributes:
        text: Description, such as `2-5 read as 2-6 (0.71)`.
        link_px: The two ends of a wrong join, or None.
    """

    wrong: MistakeKind
    text: str
    outlines_px: tuple[MistakeOutline, ...]
    link_px: tuple[PointPx, PointPx] | None = None

    @property
    def center_px(self) -> PointPx:
        """Mean of all outline points."""
        points = [point for outline in self.outlines_px for point in outline]
        return (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))


def mistakes_in(photo: PhotoJudged) -> tuple[Mistake, ...]:
    """Return all mistakes in a reading: of face-up tiles, of face-down tiles, then of joins."""
    return (*_tiles(photo), *_backs(photo), *_joins(photo))


def _tiles(photo: PhotoJudged) -> Iterator[Mistake]:
    for tile in photo.tiles:
        if tile.seen is None:
            text = f"missed {_name(tile.label)}{'' if tile.is_silent else ', reported as unsure'}"
            yield Mistake(MistakeKind.MISSED, text, (_outline(tile.label),))
        elif text := _misread(tile):
            yield Mistake(MistakeKind.MISREAD, text, (tile.seen.corners_px,))
    for spare in photo.spare:
        sure = min(half.confidence for half in spare.halves)
        yield Mistake(MistakeKind.SPARE, f"spare {_name(spare)} ({sure:.2f})", (spare.corners_px,))
    for spare in photo.unsure_spare:
        yield Mistake(MistakeKind.SPARE_UNSURE, "reported as unsure, but not a tile", (spare.corners_px,))


def _backs(photo: PhotoJudged) -> Iterator[Mistake]:
    # The median side of a half in pixels: of the labels, else of the reading, else 40.
    sides_px = sorted(tile.label.half_px for tile in photo.tiles)
    sides_px = sides_px or sorted(math.dist(*tile.half_centers_px) for tile in photo.reading.tiles)
    reach_px = _BACK_REACH * (sides_px[len(sides_px) // 2] if sides_px else 40.0)
    for label in photo.backs_missed:
        yield Mistake(MistakeKind.MISSED_BACK, "missed face-down tile", (_ring(label.center_px, reach_px),))
    for tile in photo.backs_spare:
        yield Mistake(MistakeKind.SPARE_BACK, "spare face-down tile", (tile.corners_px,))


def _joins(photo: PhotoJudged) -> Iterator[Mistake]:
    if photo.joins is None:
        return
    for join in photo.joins.missed:
        yield _wrong_join(MistakeKind.MISSED_JOIN, join, photo.label.tiles)
    for join in photo.joins.spare:
        yield _wrong_join(MistakeKind.SPARE_JOIN, join, photo.reading.tiles)


def _wrong_join(kind: MistakeKind, join: Join, tiles: Sequence[SeenTile | TileLabel]) -> Mistake:
    a, b = tiles[join.a], tiles[join.b]
    link = (_end_px(a, join.a_half), _end_px(b, join.b_half))
    return Mistake(kind, f"{kind} {_name(a)} to {_name(b)}", (_outline(a), _outline(b)), link)


def _end_px(tile: SeenTile | TileLabel, half: int | None) -> PointPx:
    return tile.center_px if half is None or not tile.halves else tile.halves[half].center_px


def _misread(tile: TileJudged) -> str:
    """Describe a misread tile with the confidence of each wrong half."""
    # Empty if the tile was read correctly or missed.
    wrong = [half for half in tile.halves if half.seen.pips != half.pips]
    if not wrong:
        return ""
    read = "-".join(str(half.seen.pips) for half in tile.halves)
    return f"{_name(tile.label)} read as {read} ({', '.join(f'{half.seen.confidence:.2f}' for half in wrong)})"


def _name(tile: SeenTile | TileLabel) -> str:
    return "-".join(str(half.pips) for half in tile.halves) or "face-down tile"


def _outline(tile: SeenTile | TileLabel) -> MistakeOutline:
    """Return the outline of a tile. For a label, it is the 2:1 rectangle around the half centres."""
    if isinstance(tile, SeenTile):
        return tile.corners_px
    (ax, ay), (bx, by) = (half.center_px for half in tile.halves)
    x, y = tile.center_px
    along, across = (bx - ax, by - ay), ((ay - by) / 2, (bx - ax) / 2)
    return tuple(
        (x + i * along[0] + j * across[0], y + i * along[1] + j * across[1])
        for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    )


def _ring(center: PointPx, radius_px: float) -> MistakeOutline:
    angles = [math.tau * step / 24 for step in range(24)]
    return tuple((center[0] + radius_px * math.cos(a), center[1] + radius_px * math.sin(a)) for a in angles)


_LINES: dict[MistakeKind, Bgr] = {
    MistakeKind.MISSED: ORANGE,
    MistakeKind.MISREAD: YELLOW,
    MistakeKind.SPARE: PURPLE,
    MistakeKind.SPARE_UNSURE: PURPLE,
    MistakeKind.MISSED_BACK: ORANGE,
    MistakeKind.SPARE_BACK: PURPLE,
    MistakeKind.MISSED_JOIN: SKY,
    MistakeKind.SPARE_JOIN: PURPLE,
}


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A mistake on a contact sheet.

    Attributes:
        source: First folder of the picture's path. Cells are grouped by source.
        picture: Path of the picture within its source.
        crop: BGR, shape (232, 232, 3).
    """

    source: str
    picture: str
    text: str
    crop: Image


def crop_mistake(image: Image, mistake: Mistake) -> Image:
    """Crop a picture around a mistake and outline its tiles.

    Args:
        image: Upright picture, BGR, shape (H, W, 3).

    Returns:
        Shape (232, 232, 3), grey outside the picture.
    """
    points = np.array([point for outline in mistake.outlines_px for point in outline], np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    side_px = max(float((high - low).max()) * (1 + 2 * _MARGIN), 8.0)
    scale = _CELL_PX / side_px
    corner = (low + high) / 2 - side_px / 2
    # Account for pixel centres at half pixels. The error would be visible in strongly enlarged crops.
    shift = -corner * scale + (scale - 1) / 2
    to_cell = np.array([[scale, 0.0, shift[0]], [0.0, scale, shift[1]]])
    shrinks = scale < 1
    if shrinks:  # blur, to avoid aliasing
        sigma_px = 0.5 * math.sqrt(1 / scale**2 - 1)
        image = cv2.GaussianBlur(image, (0, 0), max(sigma_px, 0.1)).astype(np.uint8, copy=False)
    crop = cv2.warpAffine(
        image,
        to_cell,
        (_CELL_PX, _CELL_PX),
        flags=cv2.INTER_LINEAR if shrinks else cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=_OUTSIDE,
    ).astype(np.uint8, copy=False)
    _mark(crop, mistake, scale, shift)
    return crop


def draw_sheets(cells: Sequence[Cell]) -> Iterator[Image]:
    """Yield sheets of at most 200 cells each. Consecutive cells of a source share a heading."""
    for start in range(0, len(cells), MAX_CELLS):
        groups = groupby(cells[start : start + MAX_CELLS], lambda cell: cell.source)
        bands = [band for source, group in groups for band in _bands(source, list(group))]
        yield np.concatenate([*bands, _paper(_GAP_PX)]).astype(np.uint8, copy=False)


def _bands(source: str, cells: Sequence[Cell]) -> Iterator[Image]:
    """Yield the heading of a source, then each row of its cells."""
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
            _write(row, cell.text, (left, _CELL_PX + 18), scale=0.52, ink=_INK)
            _write(row, cell.picture, (left, _CELL_PX + 37), scale=0.42, ink=_FAINT)
        yield row


def _paper(height_px: int) -> Image:
    width_px = _GAP_PX + _COLUMNS * (_CELL_PX + _GAP_PX)
    return np.full((height_px, width_px, 3), _PAPER, np.uint8)


def _write(canvas: Image, text: str, corner: tuple[int, int], *, scale: float, ink: Bgr, thick_px: int = 1) -> None:
    """Write a line of text in place, reduced to fit its width. Non-ASCII characters become `?`."""
    shown = text.encode("ascii", "replace").decode()
    font = cv2.FONT_HERSHEY_SIMPLEX
    room_px = _CELL_PX if thick_px == 1 else canvas.shape[1] - 2 * _GAP_PX
    width_px = max(cv2.getTextSize(shown, font, scale, thick_px)[0][0], 1)
    fitted_scale = scale * min(1.0, room_px / width_px)
    cv2.putText(canvas, shown, corner, font, fitted_scale, ink, thick_px, cv2.LINE_AA)


def _mark(crop: Image, mistake: Mistake, scale: float, shift: NDArray[np.float64]) -> None:
    """Outline the tiles just outside their edges, to keep the pips visible, and join the ends of a join by a line."""
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
