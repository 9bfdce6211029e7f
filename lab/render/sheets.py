"""Draw printed sheets as grey pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import assert_never

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.sheets.prints import LineSegment, Rectangle, Shape, Sheet, Text, Window
from vision.arrays import GreyImage

# Fractional bits of OpenCV drawing coordinates.
_SHIFT = 8
# Font size that matches OpenCV's font at scale 1.
_FONT_PX = 30.0


def draw_sheet(sheet: Sheet, px_per_mm: float) -> GreyImage:
    """Return a sheet as a grey picture of shape (H, W). Texts use a simpler font than in the PDF."""
    width_px, height_px = round(sheet.width_mm * px_per_mm), round(sheet.height_mm * px_per_mm)
    picture = np.full((height_px, width_px), 255, np.uint8)
    _draw(picture, sheet.shapes, px_per_mm)
    return picture


def _draw(picture: GreyImage, shapes: Iterable[Shape], px_per_mm: float) -> None:
    for shape in shapes:
        match shape:
            case Rectangle():
                # Paint a rectangle with anti-aliased edges, for subpixel accuracy.
                height_px, width_px = picture.shape
                across, shares = _covered(
                    shape.left_mm * px_per_mm, (shape.left_mm + shape.width_mm) * px_per_mm, width_px
                )
                down, lines = _covered(
                    shape.top_mm * px_per_mm, (shape.top_mm + shape.height_mm) * px_per_mm, height_px
                )
                share = lines[:, None] * shares
                region = picture[down, across]
                region[:] = np.round(region * (1 - share) + _level(shape.grey) * share).astype(np.uint8)
            case LineSegment():
                ends = [
                    np.round((np.array(end) * px_per_mm - 0.5) * 2**_SHIFT).astype(int).tolist()
                    for end in (shape.from_mm, shape.to_mm)
                ]
                thickness = max(1, round(shape.width_mm * px_per_mm))
                cv2.line(picture, ends[0], ends[1], _level(shape.grey), thickness, cv2.LINE_AA, _SHIFT)
            case Text():
                _draw_text(picture, shape, px_per_mm)
            case Window():
                _draw_window(picture, shape, px_per_mm)
            case _:
                assert_never(shape)


def _covered(start_px: float, end_px: float, count: int) -> tuple[slice, NDArray[np.float64]]:
    """Return the range of pixels, out of *count*, between two coordinates, and the covered share of each."""
    first, last = max(0, math.floor(start_px)), min(count, math.ceil(end_px))
    at = np.arange(first, max(first, last))
    return slice(first, max(first, last)), np.minimum(end_px, at + 1) - np.maximum(start_px, at)


def _draw_text(picture: GreyImage, text: Text, px_per_mm: float) -> None:
    scale = text.height_mm * px_per_mm / _FONT_PX
    (width_px, height_px), below_px = cv2.getTextSize(text.text, cv2.FONT_HERSHEY_SIMPLEX, scale, 1)
    patch = np.zeros((height_px + below_px + 2, width_px + 2), np.uint8)
    cv2.putText(patch, text.text, (0, height_px), cv2.FONT_HERSHEY_SIMPLEX, scale, 255, 1, cv2.LINE_AA)
    start = np.array(text.start_mm) * px_per_mm
    cos, sin = ((1, 0), (0, 1), (-1, 0), (0, -1))[text.quarters % 4]
    rotation = np.array([[cos, -sin], [sin, cos]], np.float64)
    motion = np.column_stack([rotation, start - rotation @ (0, height_px)])
    patch_corners = np.array([(0, 0), (patch.shape[1], 0), (0, patch.shape[0]), patch.shape[::-1]])
    corners = patch_corners @ rotation.T + motion[:, 2]
    left, top = np.maximum(np.floor(corners.min(axis=0)), 0).astype(int).tolist()
    right, bottom = np.minimum(np.ceil(corners.max(axis=0)) + 1, picture.shape[::-1]).astype(int).tolist()
    if right <= left or bottom <= top:
        return
    motion[:, 2] -= (left, top)
    opacity = cv2.warpAffine(patch, motion, (right - left, bottom - top)).astype(np.float64) / 255
    region = picture[top:bottom, left:right]
    region[:] = np.round(region * (1 - opacity) + _level(text.grey) * opacity).astype(np.uint8)


def _draw_window(picture: GreyImage, window: Window, px_per_mm: float) -> None:
    """Draw the whole drawing at its position on a copy, and copy the part inside the window."""
    left_mm, top_mm = window.at_mm
    shift = (left_mm - window.from_mm[0], top_mm - window.from_mm[1])
    copy = np.full_like(picture, 255)
    _draw(copy, [_translated(shape, shift) for shape in window.shapes], px_per_mm)
    left, top = round(left_mm * px_per_mm), round(top_mm * px_per_mm)
    right, bottom = round((left_mm + window.width_mm) * px_per_mm), round((top_mm + window.height_mm) * px_per_mm)
    picture[top:bottom, left:right] = copy[top:bottom, left:right]


def _translated(shape: Shape, shift_mm: tuple[float, float]) -> Shape:
    """Return a shape moved by *shift_mm*."""
    x_mm, y_mm = shift_mm
    match shape:
        case Rectangle():
            return Rectangle(shape.left_mm + x_mm, shape.top_mm + y_mm, shape.width_mm, shape.height_mm, shape.grey)
        case LineSegment():
            start, end = ((x + x_mm, y + y_mm) for x, y in (shape.from_mm, shape.to_mm))
            return LineSegment(start, end, shape.width_mm, shape.dash_mm, shape.grey)
        case Text():
            x, y = shape.start_mm
            return Text((x + x_mm, y + y_mm), shape.text, shape.height_mm, shape.quarters, shape.grey)
        case Window():
            x, y = shape.at_mm
            return Window(shape.shapes, shape.from_mm, (x + x_mm, y + y_mm), shape.width_mm, shape.height_mm)
        case _:
            assert_never(shape)


def _level(grey: float) -> int:
    return round(grey * 255)
