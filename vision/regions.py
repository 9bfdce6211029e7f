"""Regions of one colour against the table: single tiles, faces and backs, and packed rows and blocks of them."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.poses import Poses, empty_poses, upright_poses
from vision.pyramid import Image, Level

_LONG_SIDE_PX = 640
_LEAST_SIDE_PX = 7.0
_MOST_OF_PICTURE = 0.3
# A rectangle with rounded corners fills 0.95 of its box; a blurred or slightly hidden one less.
_LEAST_FILL = 0.82
_ASPECTS = (1.6, 2.45)
_MOST_IN_BLOCK, _MOST_ROWS = 14, 3
_AROUND_PX, _CLEARLY = 101, 6


def region_proposals(levels: tuple[Level, ...]) -> Poses:
    """Return tiles whose outline, or the outline of a packed block of them, stands out from the table, shape (N, 6)."""
    level = next((lv for lv in levels if max(lv.image.shape[:2]) <= _LONG_SIDE_PX), levels[-1])
    boxes = np.array([box for mask in colour_masks(level.image) for box in _boxes(mask)]).reshape(-1, 5)
    boxes = _distinct(boxes)
    center = level.to_full(boxes[:, :2])
    return _tiles_of_blocks(center, boxes[:, 2] * level.scale, boxes[:, 3] * level.scale, boxes[:, 4])


def colour_masks(image: Image) -> Iterator[Image]:
    """Yield masks of what is above thresholds in lightness and both colour axes; the rest shows as holes."""
    for plane in cv2.split(cv2.cvtColor(cv2.GaussianBlur(image, (3, 3), 0), cv2.COLOR_BGR2LAB)):
        channel = np.asarray(plane, np.uint8)
        middle = _otsu(channel.ravel())
        if middle is None:
            continue
        around = cv2.blur(channel, (_AROUND_PX, _AROUND_PX))
        thresholds = {middle, _otsu(channel[channel > middle]), _otsu(channel[channel <= middle])} - {None}
        for threshold in sorted(t for t in thresholds if t is not None):
            yield np.asarray(cv2.threshold(channel, threshold, 255, cv2.THRESH_BINARY)[1], np.uint8)
        # Clearly above or below what is around: on an even table noise would make thousands of specks otherwise.
        beyond = np.subtract(channel, around, dtype=np.int16)
        yield np.asarray(beyond > _CLEARLY, np.uint8)
        yield np.asarray(beyond < -_CLEARLY, np.uint8)


def _otsu(values: NDArray[np.uint8]) -> int | None:
    """Return Otsu's threshold, or None where the values hardly differ."""
    if len(values) < 100 or int(values.max()) - int(values.min()) < 8:
        return None
    return int(cv2.threshold(values.reshape(-1, 1), 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[0])


def _boxes(mask: Image) -> Iterator[tuple[float, float, float, float, float]]:
    """Yield centre x, y, long and short side and direction of each rectangular region of a mask, in its pixels."""
    area_limit = _MOST_OF_PICTURE * mask.size
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    for contour in contours:
        if len(contour) < 4:
            continue
        area = cv2.contourArea(contour)
        if area < 2 * _LEAST_SIDE_PX**2 or area > area_limit:
            continue
        (x, y), (width, height), degrees = cv2.minAreaRect(contour)
        if area < _LEAST_FILL * width * height:
            continue
        theta = np.radians(degrees if width >= height else degrees + 90)
        # The contour runs through the middles of border pixels.
        yield x, y, max(width, height) + 1, min(width, height) + 1, float(theta)


def _distinct(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the boxes without repeats, which several thresholds give."""
    pitch = np.maximum(boxes[:, 3:4] / 8, 1)
    cells = np.column_stack([np.round(boxes[:, :4] / pitch), np.round(boxes[:, 4] / np.pi * 24) % 24])
    _, first = np.unique(cells, axis=0, return_index=True)
    return boxes[np.sort(first)]


def _tiles_of_blocks(
    center_px: NDArray[np.float64],
    long_px: NDArray[np.float64],
    short_px: NDArray[np.float64],
    theta_rad: NDArray[np.float64],
) -> Poses:
    """Return the tiles of packed blocks: along them and across them, in one or several rows."""
    parts = [empty_poses()]
    for along in (True, False):
        for rows in range(1, _MOST_ROWS + 1):
            tile_short = short_px / rows if along else short_px / (2 * rows)
            columns = np.maximum(1, np.round(long_px / tile_short / (2 if along else 1)))
            aspect = long_px / columns / tile_short if along else 2 * tile_short * columns / long_px
            fits = (aspect > _ASPECTS[0]) & (aspect < _ASPECTS[1]) & (rows * columns <= _MOST_IN_BLOCK)
            for count in np.unique(columns[fits]).astype(int):
                block = np.nonzero(fits & (columns == count))[0]
                u, v = np.meshgrid(np.arange(count) - (count - 1) / 2, np.arange(rows) - (rows - 1) / 2)
                pitch_u, pitch_v = long_px[block, None] / count, short_px[block, None] / rows
                cos, sin = np.cos(theta_rad[block, None]), np.sin(theta_rad[block, None])
                along_px, across_px = u.ravel() * pitch_u, v.ravel() * pitch_v
                x = center_px[block, :1] + along_px * cos - across_px * sin
                y = center_px[block, 1:] + along_px * sin + across_px * cos
                theta = np.repeat(theta_rad[block] + (0 if along else np.pi / 2), u.size)
                sizes = (pitch_u, pitch_v) if along else (pitch_v, pitch_u)
                long_side, short_side = (np.repeat(size.ravel(), u.size) for size in sizes)
                parts.append(upright_poses(np.column_stack([x.ravel(), y.ravel()]), theta, long_side, short_side))
    return np.concatenate(parts)
