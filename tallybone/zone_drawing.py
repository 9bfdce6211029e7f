"""Draws zones and a scale over a picture of the table, so that a person sees whether they lie where they should."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens import Lens
from calibration.table import Table
from calibration.zone_view import show_zone
from calibration.zones import TableZones
from vision.annotate import CASING, ORANGE, PURPLE, SKY, YELLOW

Image = NDArray[np.uint8]
Bgr = tuple[int, int, int]

_GRID_MM, _FARTHEST_MM = 100, 1500
_SHIFT_BITS = 4


def draw_zones(image: Image, zones: TableZones, table: Table, lens: Lens) -> Image:
    """Return a copy of a picture, shape (H, W, 3), with each zone, and the axes of the table in steps of 100 mm.

    Args:
        image: Of the table.
        zones: What is drawn.
        table: Where it is.
        lens: For pictures of this size.
    """
    canvas = image.copy()
    size_px = np.array([lens.width_px, lens.height_px], np.float64)
    for name, outline in zones.named():
        shares = show_zone(outline, table, lens).shares
        if not shares:
            continue
        corners = np.array(shares) * size_px - 0.5
        color = {"boneyard": ORANGE, "layout": SKY}.get(name, PURPLE)
        _outline(canvas, corners, color)
        _text(canvas, name, corners.mean(axis=0), color)
    _draw_axes(canvas, table, lens)
    return canvas


def _draw_axes(canvas: Image, table: Table, lens: Lens) -> None:
    """Mark x and y every 100 mm, as far as the picture shows them, so that corners of zones can be said."""
    steps = np.arange(-_FARTHEST_MM, _FARTHEST_MM + 1, _GRID_MM, dtype=np.float64)
    for along_x in (True, False):
        places = np.column_stack([steps, 0 * steps] if along_x else [0 * steps, steps])
        ahead = np.array(table.origin_mm)[2] + places @ np.array(table.axes).reshape(3, 3)[:2, 2] > 0
        places = places[ahead]
        for (x_mm, y_mm), point in zip(
            places, table.to_picture(places, lens, height_mm=table.thickness_mm), strict=True
        ):
            if not (0 <= point[0] < lens.width_px and 0 <= point[1] < lens.height_px):
                continue
            _text(canvas, f"{x_mm if along_x else y_mm:.0f}", point, YELLOW, scale=0.4)


def _outline(canvas: Image, corners: NDArray[np.float64], color: Bgr) -> None:
    points = [np.round(corners * (1 << _SHIFT_BITS)).astype(np.int32)]
    for paint, width in ((CASING, 4), (color, 2)):
        cv2.polylines(
            canvas, points, isClosed=True, color=paint, thickness=width, lineType=cv2.LINE_AA, shift=_SHIFT_BITS
        )


def _text(canvas: Image, text: str, middle: NDArray[np.float64], color: Bgr, scale: float = 0.6) -> None:
    (width_px, height_px), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 1)
    at = (round(float(middle[0]) - width_px / 2), round(float(middle[1]) + height_px / 2))
    for paint, width in ((CASING, 4), (color, 1)):
        cv2.putText(canvas, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, paint, width, cv2.LINE_AA)
