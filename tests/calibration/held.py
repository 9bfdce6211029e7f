"""Pictures of the calibration board in front of a rendered camera with known parameters."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from calibration.lens.lens import LensView, SeenCorner, find_view
from calibration.sheets.prints import BOARD_COLUMNS, BOARD_TOP_MM, SQUARE_MM, Paper, draw_prints, lens_board
from lab.render.prints import SheetPose, held_view, lay_sheet
from lab.render.scene import CameraLook
from lab.render.view import View, take
from vision.arrays import Image

SIZE_PX = (1280, 720)
FOCAL_PX = 1010.0
LENS = 0.06
# Tilt right, tilt top (degrees), distance (mm), and centre of the board as shares of half a picture.
GOOD = (
    (0, 0, 320, 0.0, 0.0), (28, 0, 330, -0.4, -0.3), (-28, 0, 330, 0.4, -0.3), (0, 28, 330, -0.4, 0.4),
    (0, -28, 330, 0.4, 0.4), (20, 20, 340, -0.5, 0.0), (-20, 20, 340, 0.5, 0.0), (20, -20, 450, 0.6, 0.6),
    (-20, -20, 450, -0.6, -0.6), (25, 0, 480, 0.6, -0.6), (-25, 5, 480, -0.6, 0.6), (5, 30, 380, 0.0, 0.2),
)  # fmt: skip


def held(tilt_right: float, tilt_top: float, distance_mm: float, x: float, y: float) -> View:
    """Return the camera view of the sheet with the board."""
    pose = SheetPose(math.radians(tilt_right), math.radians(tilt_top), distance_mm, x, y)
    return held_view(pose, (Paper.A4.long_mm / 2, 98.0), FOCAL_PX, SIZE_PX, LENS)


def picture_of(place: tuple[float, float, float, float, float], seed: int = 1) -> Image:
    view = held(*place)
    picture = np.full((SIZE_PX[1], SIZE_PX[0], 3), 90, np.uint8)
    lay_sheet(picture, draw_prints(Paper.A4, 4)[1], np.eye(2, 3), view)
    camera = CameraLook(width_px=SIZE_PX[0], height_px=SIZE_PX[1], lens=LENS, blur_px=0.7, noise=3.0)
    return take(picture, camera, view, np.random.default_rng(seed))


@cache
def views(places: tuple[tuple[float, float, float, float, float], ...] = GOOD) -> tuple[LensView, ...]:
    return tuple(find_view(picture_of(place, seed)) for seed, place in enumerate(places))


def board_view_of(place: tuple[float, float, float, float, float]) -> LensView:
    """Return the corners seen by an ideal reader in this pose."""
    view = held(*place)
    left_mm = (Paper.A4.long_mm - BOARD_COLUMNS * SQUARE_MM) / 2
    on_sheet = np.asarray(lens_board().getChessboardCorners(), np.float64)[:, :2] + (left_mm, BOARD_TOP_MM)
    seen = view.distort(view.project(on_sheet, 0.0))
    inside = ((seen >= 0) & (seen <= np.array(SIZE_PX) - 1)).all(axis=1)
    corners = (SeenCorner(int(at), float(seen[at, 0]), float(seen[at, 1])) for at in np.flatnonzero(inside))
    return LensView(*SIZE_PX, tuple(corners))
