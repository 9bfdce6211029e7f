"""Draw a reading over its image, so that a person can check it at a glance.

Each tile has an outline, and each half a number beside it, or over it if there is no room. Lines connect joined halves,
and face-down tiles are hatched. Marks have a dark casing to be visible on light and dark tiles and on any cloth. An
uncertain half has another colour and both numbers with a question mark between, which does not rely on colour vision.
An object that looks like a tile but cannot be read has a dashed outline and a question mark.
"""

from __future__ import annotations

import math
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.arrays import Bgr, GreyImage, Image
from vision.reading import Face, Half, PointPx, Reading, SeenTile

# Okabe and Ito's palette, safe for all kinds of colour vision, as BGR.
SKY: Bgr = (233, 180, 86)
YELLOW: Bgr = (66, 228, 240)
ORANGE: Bgr = (0, 159, 230)
PURPLE: Bgr = (167, 121, 204)
CASING: Bgr = (24, 20, 16)

# Numbers on smaller halves are illegible, so the image is enlarged within these limits.
LEGIBLE_HALF_PX = 56.0
MAX_ENLARGEMENT = 3
MAX_ENLARGED_PIXELS = 16_000_000

# Number of dashes and gaps per edge. It starts and ends with a dash.
_DASHES = 7
# Distance of a number from its half, in sides, and the largest part of it that may cover a tile or another number.
_GAP = 0.2
_MAX_COVERED = 0.15
_SHIFT_BITS = 4  # OpenCV draws with coordinates in 1/16 pixel.


def annotate(image: Image, reading: Reading) -> Image:
    """Return a copy of an image with a reading drawn over it.

    Args:
        image: Image that was read, shape (H, W, 3), BGR.
        reading: Its reading.

    Returns:
        Shape (k*H, k*W, 3). The factor k is 1, or up to 3 if the tiles are too small for a number.

    Raises:
        ValueError: If the image size does not match *reading*.
    """
    expected = (reading.height_px, reading.width_px, 3)
    if image.shape != expected:
        raise ValueError(f"image must have shape {expected} as the reading says, but got {image.shape}")
    scale = _enlargement(reading)
    size = (reading.width_px * scale, reading.height_px * scale)
    canvas = image.copy() if scale == 1 else cv2.resize(image, size, interpolation=cv2.INTER_CUBIC)
    pen = _Pen(canvas.astype(np.uint8, copy=False), scale)
    for tile in reading.tiles:
        pen.outline(tile)
    for join in reading.joins:
        pen.join(reading.tiles[join.a], join.a_half, reading.tiles[join.b], join.b_half)
    room = _Room(reading)
    for tile in reading.tiles:
        for half in tile.halves:
            pen.pips(tile, half, room)
    for tile in reading.unsure:
        pen.question(tile)
    return pen.canvas


def _enlargement(reading: Reading) -> int:
    sides_px = sorted(_half_px(tile) for tile in reading.tiles)
    if not sides_px:
        return 1
    wanted = math.ceil(LEGIBLE_HALF_PX / max(sides_px[len(sides_px) // 2], 1.0))
    room = math.isqrt(max(MAX_ENLARGED_PIXELS // (reading.width_px * reading.height_px), 1))
    return max(min(wanted, room, MAX_ENLARGEMENT), 1)


def _half_px(tile: SeenTile) -> float:
    corners = np.array(tile.corners_px, np.float64)
    x, y = corners[:, 0], corners[:, 1]
    area = abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
    return math.sqrt(area / 2)


class _Pen:
    """Draw marks at positions in pixels of the original image, with line widths relative to the tile size."""

    def __init__(self, canvas: Image, scale: int) -> None:
        self.canvas = canvas
        self._scale = scale

    def outline(self, tile: SeenTile) -> None:
        """Draw the outline of a tile, hatched if it is face down and dashed if it cannot be read."""
        side_px = _half_px(tile)
        if tile.face is Face.UNSURE:
            # Draw the outline of a tile with gaps and a dash at each corner.
            width_px = side_px * 0.06
            for (ax, ay), (bx, by) in pairwise((*tile.corners_px, tile.corners_px[0])):
                for begin in range(0, _DASHES, 2):
                    at, to = begin / _DASHES, (begin + 1) / _DASHES
                    ends = [(ax + (bx - ax) * part, ay + (by - ay) * part) for part in (at, to)]
                    self._line(ends[0], ends[1], ORANGE, width_px=width_px)
            return
        if tile.face is Face.DOWN:
            corners = np.array(tile.corners_px, np.float64)
            for along in np.linspace(0, 1, 8)[1:-1]:
                self._line(_on_edge(corners, along), _on_edge(corners, -along), SKY, width_px=side_px * 0.025)
        points = np.array([self._fixed(corner) for corner in tile.corners_px], np.int32)
        for paint, width in self._strokes(SKY, side_px * 0.05):
            # Positional: closed, colour, thickness.
            cv2.polylines(self.canvas, [points], True, paint, width, cv2.LINE_AA, _SHIFT_BITS)  # noqa: FBT003 - OpenCV

    def join(self, a: SeenTile, a_half: int | None, b: SeenTile, b_half: int | None) -> None:
        """Draw a line with a dot at each end between two halves. A half of None means the centre of the tile."""
        ends = (_end(a, a_half), _end(b, b_half))
        side_px = min(_half_px(a), _half_px(b))
        # Shorten the line so that it does not cover the pips.
        length_px = math.dist(*ends)
        part = min(side_px * 0.36 / length_px, 0.4) if length_px > 0 else 0.0
        start, stop = _between(*ends, part), _between(*ends, 1 - part)
        self._line(start, stop, PURPLE, width_px=side_px * 0.08)
        rim = 1 << _SHIFT_BITS
        radius = round(max(side_px * 0.08 * self._scale, 1.5) * rim)
        for point in (start, stop):
            for paint, reach in ((CASING, radius + rim), (PURPLE, radius)):
                cv2.circle(self.canvas, self._fixed(point), reach, paint, cv2.FILLED, cv2.LINE_AA, _SHIFT_BITS)

    def pips(self, tile: SeenTile, half: Half, room: _Room) -> None:
        """Write the number of pips of a half, or its two most likely numbers if it is uncertain."""
        side_px = _half_px(tile)
        color, max_wide = (YELLOW, 0.66) if half.is_sure else (ORANGE, 0.86)
        label = self._label(half.written, side_px=side_px, max_wide_px=side_px * max_wide)
        size_px = (label.shape[1] / self._scale, label.shape[0] / self._scale)
        edge_px, center_px = room.beside(tile, half, size_px)
        if edge_px != center_px:
            self._line(edge_px, _between(edge_px, center_px, 0.5), color, width_px=side_px * 0.05)
        self._write(label, center_px, color, side_px=side_px)

    def question(self, tile: SeenTile) -> None:
        """Write a question mark at the centre of a tile."""
        side_px = _half_px(tile)
        label = self._label("?", side_px=1.4 * side_px, max_wide_px=side_px)
        self._write(label, tile.center_px, ORANGE, side_px=1.4 * side_px)

    def _label(self, text: str, *, side_px: float, max_wide_px: float) -> GreyImage:
        """Return the opacity mask of a text, in a size that fits a half with this side."""
        height_px = side_px * self._scale * 0.44
        return _glyphs(text, height_px=height_px, max_wide_px=max_wide_px * self._scale)

    def _write(self, glyphs: GreyImage, center_px: PointPx, color: Bgr, *, side_px: float) -> None:
        """Write a text with a casing, centred at a point."""
        reach_px = max(round(side_px * self._scale * 0.05), 1)
        glyphs = np.pad(glyphs, reach_px + 1)
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach_px + 1, 2 * reach_px + 1))
        x, y = (value * self._scale for value in center_px)
        corner = (round(x - glyphs.shape[1] / 2), round(y - glyphs.shape[0] / 2))
        self._stamp(_as_mask(cv2.dilate(glyphs, disc)), corner, CASING)
        self._stamp(glyphs, corner, color)

    def _stamp(self, mask: GreyImage, corner: tuple[int, int], color: Bgr) -> None:
        """Blend in a colour through an opacity mask, 0 to 255. Parts outside the image are dropped."""
        (x, y), (height, width) = corner, mask.shape
        left, top = max(x, 0), max(y, 0)
        part = self.canvas[top : max(y + height, 0), left : max(x + width, 0)]
        if part.size == 0:
            return
        opacity = mask[top - y :, left - x :][: part.shape[0], : part.shape[1], None] / 255.0
        part[:] = np.rint(part * (1 - opacity) + np.array(color) * opacity).astype(np.uint8)

    def _line(self, start: PointPx, stop: PointPx, color: Bgr, *, width_px: float) -> None:
        for paint, width in self._strokes(color, width_px):
            cv2.line(self.canvas, self._fixed(start), self._fixed(stop), paint, width, cv2.LINE_AA, _SHIFT_BITS)

    def _strokes(self, color: Bgr, width_px: float) -> tuple[tuple[Bgr, int], tuple[Bgr, int]]:
        width = max(round(width_px * self._scale), 1)
        return ((CASING, width + 2 * max(round(width * 0.4), 1)), (color, width))

    def _fixed(self, point: PointPx) -> tuple[int, int]:
        unit = self._scale << _SHIFT_BITS
        # Clamp points far outside the image, so that OpenCV's fixed-point numbers do not overflow.
        return (round(min(max(point[0], -1e5), 1e5) * unit), round(min(max(point[1], -1e5), 1e5) * unit))


class _Room:
    """Finds room for numbers beside their halves, outside tiles and other numbers."""

    def __init__(self, reading: Reading) -> None:
        self._taken = np.zeros((reading.height_px, reading.width_px), np.uint8)
        for tile in (*reading.tiles, *reading.unsure):
            corners = np.clip(np.array(tile.corners_px, np.float64), -1e4, 1e5).round().astype(np.int32)
            cv2.fillConvexPoly(self._taken, corners, 1)

    def beside(self, tile: SeenTile, half: Half, size_px: tuple[float, float]) -> tuple[PointPx, PointPx]:
        """Return a point on the edge of a half, and the centre of its number, for which the room is kept.

        Both are the centre of the half if there is no room beside it.
        """
        center, side_px = np.array(half.center_px), _half_px(tile)
        out = center - tile.center_px
        length_px = float(np.hypot(*out))
        if not 0 < length_px < math.inf:
            return half.center_px, half.center_px
        out /= length_px
        # On its long side, above or to the left if possible, else at its end, else at a corner.
        sides = sorted(((-out[1], out[0]), (out[1], -out[0])), key=lambda way: (round(way[1], 2), way[0]))
        corners = [(out + side) / math.sqrt(2) for side in np.array(sides)]
        places = []
        for way in (*np.array(sides), out, *corners):
            inner = (abs(float(way @ out)) + abs(float(way[1] * out[0] - way[0] * out[1]))) * side_px / 2
            outer = (abs(way[0]) * size_px[0] + abs(way[1]) * size_px[1]) / 2
            places.append((_point(center + way * inner), _point(center + way * (inner + outer + _GAP * side_px))))
        covered = [self._covered(place, size_px) for _, place in places]
        least = min(covered)
        edge, best = (half.center_px, half.center_px) if least > _MAX_COVERED else places[covered.index(least)]
        self._part(best, size_px)[:] = 1
        return edge, best

    def _covered(self, place: PointPx, size_px: tuple[float, float]) -> float:
        """Return the part of a number that would cover a tile or number, or be outside the image, rounded."""
        part = self._part(place, size_px)
        free = part.size - int(part.sum())
        return round(max(1 - free / max(size_px[0] * size_px[1], 1), 0), 1)

    def _part(self, place: PointPx, size_px: tuple[float, float]) -> GreyImage:
        """Return the cells of a number, without those outside the image."""
        (left, right), (top, bottom) = (
            (max(round(at - size / 2), 0), max(round(at + size / 2), 0))
            for at, size in zip(place, size_px, strict=True)
        )
        return self._taken[top:bottom, left:right]


def _glyphs(text: str, *, height_px: float, max_wide_px: float) -> GreyImage:
    """Return a tight opacity mask of a text, 0 to 255."""
    # The rendered ink is measured, because OpenCV 5 uses another font than OpenCV 4.
    scale, thick_px = 4.0, 14
    sheet = np.zeros((160, 130 * len(text)), np.uint8)
    cv2.putText(sheet, text, (20, 130), cv2.FONT_HERSHEY_SIMPLEX, scale, 255, thick_px, cv2.LINE_AA)
    left, top, width, height = cv2.boundingRect(sheet)
    factor = min(height_px / height, max_wide_px / width)
    size = (max(round(width * factor), 1), max(round(height * factor), 1))
    return _as_mask(cv2.resize(sheet[top : top + height, left : left + width], size, interpolation=cv2.INTER_AREA))


def _as_mask(image: NDArray[np.generic]) -> GreyImage:
    # OpenCV's type stubs do not express that 8-bit input gives 8-bit output.
    return image.astype(np.uint8, copy=False)


def _end(tile: SeenTile, half: int | None) -> PointPx:
    return tile.center_px if half is None else tile.halves[half].center_px


def _point(at: NDArray[np.float64]) -> PointPx:
    return (float(at[0]), float(at[1]))


def _between(start: PointPx, stop: PointPx, part: float) -> PointPx:
    return (start[0] + (stop[0] - start[0]) * part, start[1] + (stop[1] - start[1]) * part)


def _on_edge(corners: NDArray[np.float64], along: float) -> PointPx:
    """Return a point on the path from corner 0 to corner 2: clockwise for 0 to 1, counterclockwise for 0 to -1."""
    middle = corners[1] if along > 0 else corners[3]
    lengths = np.hypot(*(middle - corners[0])), np.hypot(*(corners[2] - middle))
    reach = abs(along) * (lengths[0] + lengths[1])
    if reach <= lengths[0]:
        point = corners[0] + (middle - corners[0]) * (reach / max(lengths[0], 1e-9))
    else:
        point = middle + (corners[2] - middle) * ((reach - lengths[0]) / max(lengths[1], 1e-9))
    return (float(point[0]), float(point[1]))
