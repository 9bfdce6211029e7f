"""Tiles as poses and as drawings, shared by the tests of geometry."""

from __future__ import annotations

import math

import cv2
import numpy as np
from hypothesis import strategies as st

from lab.training.tables import corner_errors
from vision.arrays import Image, Points
from vision.poses import Poses, upright_poses

Bgr = tuple[int, int, int]
_SHIFT = 4  # fractional bits of coordinates in OpenCV drawing


def tile_at(x_px: float, y_px: float, *, side_px: float = 20.0, degrees: float = 0.0) -> Poses:
    """Return a 2:1 tile, shape (1, 6). Half 1 is in the direction of *degrees*, clockwise from the x axis."""
    return upright_poses(
        np.array([[x_px, y_px]]), np.array([math.radians(degrees)]), np.array([2 * side_px]), np.array([side_px])
    )


def tiles_at(*poses: Poses) -> Poses:
    return np.concatenate(poses)


@st.composite
def sheared_poses(draw: st.DrawFn, *, count: int | None = None) -> Poses:
    """Draw tiles as in an oblique view: any place, direction and size, not exactly square nor 2:1."""
    rows = draw(st.integers(0, 4)) if count is None else count
    places = st.floats(-1000, 1000)
    drawn = [
        (
            draw(places),
            draw(places),
            draw(st.floats(0, 2 * math.pi)),
            draw(st.floats(4, 150)),  # half the length
            draw(st.floats(0.35, 0.65)),  # width over length
            draw(st.floats(-0.4, 0.4)),  # shear
        )
        for _ in range(rows)
    ]
    poses = [
        (x, y, half * math.cos(t), half * math.sin(t), *_rotated(shear * half, ratio * half, t))
        for x, y, t, half, ratio, shear in drawn
    ]
    return np.array(poses).reshape(-1, 6)


def _rotated(along: float, across: float, theta_rad: float) -> tuple[float, float]:
    c, s = math.cos(theta_rad), math.sin(theta_rad)
    return along * c - across * s, along * s + across * c


def blank(width_px: int = 320, height_px: int = 240, bgr: Bgr = (60, 90, 40)) -> Image:
    return np.full((height_px, width_px, 3), bgr, np.uint8)


def fill(image: Image, outline_px: Points, bgr: Bgr) -> None:
    """Fill an outline, shape (N, 2), with antialiased edges, in place."""
    points = np.round(outline_px * (1 << _SHIFT)).astype(np.int32)
    cv2.fillPoly(image, [points], bgr, cv2.LINE_AA, _SHIFT)


def fill_circle(image: Image, center_px: Points, radius_px: float, bgr: Bgr) -> None:
    x, y = np.round(center_px * (1 << _SHIFT)).astype(int).tolist()
    cv2.circle(image, (x, y), round(radius_px * (1 << _SHIFT)), bgr, -1, cv2.LINE_AA, _SHIFT)


def nearest_errors(truth: Poses, proposed: Poses) -> list[float]:
    """Return the corner error, in sides, of the best proposal for each true tile, in either orientation."""
    return [float(corner_errors(proposed, truth[i : i + 1])[0].min(initial=math.inf)) for i in range(len(truth))]
