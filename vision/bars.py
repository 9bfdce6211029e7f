"""Divider bars: short straight lines across the middle of a tile, the surest sign of one at any angle and size."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.poses import Poses, upright_poses
from vision.pyramid import Level

# Thin enough to keep pips (wider than a bar) out, so that a pip that touches the bar does not spoil its shape:
# with 13 px, which shows pips too, 59 % of the bars of a printed board were found, with 5 px all.
_KERNEL_PX = 5
_CONTRASTS = (20, 60)
_LENGTH_PX = (9.0, 70.0)
_SLENDERNESS = (3.0, 28.0)
_LEAST_FILL = 0.7
_LEAST_AREA_PX = 12
# Bars span 70 to 100 % of the width of a tile; mending bridges what lies between two widths.
_WIDTHS_PER_BAR = (1.06, 1.32)


def find_lines(levels: tuple[Level, ...]) -> NDArray[np.float64]:
    """Return the bar-like lines of a picture, shape (N, 4): centre x and y, length, direction."""
    found = [_lines(mask, level) for level in levels for mask in _contrast_masks(level)]
    return _distinct(np.concatenate(found)) if found else np.empty((0, 4))


def tiles_around(lines: NDArray[np.float64]) -> Poses:
    """Return tiles that could lie around lines, shape (N, 4), seen from straight above; shape (M, 6)."""
    center, length, theta = lines[:, :2], lines[:, 2], lines[:, 3]
    return np.concatenate(
        [upright_poses(center, theta + np.pi / 2, 2 * k * length, k * length) for k in _WIDTHS_PER_BAR]
    )


def _distinct(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lines without repeats, which several contrasts and sizes of the picture give."""
    across = lines[:, 2] / 6
    coarse = np.column_stack(
        [
            np.round(lines[:, :2] / np.exp(np.round(np.log(across) * 2) / 2)[:, None]),
            np.round(np.log(lines[:, 2]) * 8),
            np.round(lines[:, 3] / np.pi * 24) % 24,
        ]
    )
    _, first = np.unique(coarse, axis=0, return_index=True)
    return lines[np.sort(first)]


def _contrast_masks(level: Level) -> list[NDArray[np.uint8]]:
    """Return masks of what is thin and darker, and thin and lighter, than its surroundings, at several contrasts."""
    kernel = np.ones((_KERNEL_PX, _KERNEL_PX), np.uint8)
    smooth = cv2.GaussianBlur(level.image, (3, 3), 0)
    masks = []
    for operation in (cv2.MORPH_BLACKHAT, cv2.MORPH_TOPHAT):
        blue, green, red = cv2.split(cv2.morphologyEx(smooth, operation, kernel))
        contrast = cv2.max(cv2.max(blue, green), red)  # numpy's max over the last axis takes 20 times as long
        masks += [np.asarray(contrast > least, np.uint8) for least in _CONTRASTS]
    return masks


def _lines(mask: NDArray[np.uint8], level: Level) -> NDArray[np.float64]:
    """Return rows of cx, cy, length, theta (full pixels) of the connected parts of a mask that are like bars."""
    count, names, stats, centroids = cv2.connectedComponentsWithStats(mask, connectivity=4, ltype=cv2.CV_32S)
    extent = np.hypot(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT])
    area = stats[:, cv2.CC_STAT_AREA]
    plausible = (
        (area >= _LEAST_AREA_PX) & (extent >= _LENGTH_PX[0]) & (extent <= 1.2 * _LENGTH_PX[1]) & (area < extent**2 / 2)
    )
    plausible[0] = False
    if not plausible.any():
        return np.empty((0, 4))
    x, y = cv2.findNonZero(mask).reshape(-1, 2).T
    name = names[y, x]
    of_plausible = plausible[name]
    x, y, name = x[of_plausible], y[of_plausible], name[of_plausible]
    center_x, center_y = centroids[:, 0], centroids[:, 1]
    dx, dy = x - center_x[name], y - center_y[name]
    moments = [
        np.bincount(name, weights=w, minlength=count)[plausible] / area[plausible] for w in (dx * dx, dx * dy, dy * dy)
    ]
    # A pixel is a square with a variance of 1/12, not a point.
    vxx, vxy, vyy = moments[0] + 1 / 12, moments[1], moments[2] + 1 / 12
    middle, spread = (vxx + vyy) / 2, np.hypot((vxx - vyy) / 2, vxy)
    length, thickness = np.sqrt(12 * (middle + spread)), np.sqrt(12 * np.maximum(middle - spread, 1e-3))
    slenderness, fill = length / thickness, area[plausible] / (length * thickness)
    bars = (
        (slenderness > _SLENDERNESS[0])
        & (slenderness < _SLENDERNESS[1])
        & (fill > _LEAST_FILL)
        & (length > _LENGTH_PX[0])
        & (length < _LENGTH_PX[1])
    )
    center = level.to_full(np.column_stack([center_x[plausible], center_y[plausible]]))
    theta = 0.5 * np.arctan2(2 * vxy, vxx - vyy)
    return np.asarray(np.column_stack([center, length * level.scale, theta])[bars])
