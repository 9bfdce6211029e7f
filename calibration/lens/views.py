"""Pictures of the board for the lens: which of its corners each shows, and how the board is held in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from cv2 import aruco

from calibration.lens.model import Lens, guessed_lens
from calibration.sheets.boards import BOARD_CORNERS, lens_board
from vision.arrays import GreyImage, Image, Points

# With fewer the board cannot be told from a wrong find, and tells little of the lens.
LEAST_CORNERS = 8


@dataclass(frozen=True, slots=True)
class SeenCorner:
    """A corner of the board: its number, and where it is in the picture."""

    number: int
    x_px: float
    y_px: float

    def __post_init__(self) -> None:
        if not 0 <= self.number < BOARD_CORNERS:
            raise ValueError(f"number: expected 0 to {BOARD_CORNERS - 1}, got {self.number}")


@dataclass(frozen=True, slots=True)
class LensView:
    """What one picture shows of the board.

    Attributes:
        width_px, height_px: Size of the picture.
        corners: Those that were found, in the order of their numbers.
    """

    width_px: int
    height_px: int
    corners: tuple[SeenCorner, ...]

    @property
    def is_useful(self) -> bool:
        """Whether enough of the board is seen, and not all of it in one line."""
        if len(self.corners) < LEAST_CORNERS:
            return False
        spread = np.linalg.svd(self.board_mm() - self.board_mm().mean(axis=0), compute_uv=False)
        return bool(spread[1] > 1.0)

    def points_px(self) -> Points:
        """Return the corners in the picture, shape (N, 2)."""
        return np.array([(one.x_px, one.y_px) for one in self.corners]).reshape(-1, 2)

    def board_mm(self) -> Points:
        """Return the corners on the board, shape (N, 2)."""
        all_mm = np.asarray(lens_board().getChessboardCorners(), np.float64)[:, :2]
        return all_mm[[one.number for one in self.corners]]


@dataclass(frozen=True, slots=True)
class BoardPose:
    """The pose in which the board is held before the camera.

    Attributes:
        tilt_right_rad: How far its right side is turned away from the camera; below 0 for the left side.
        tilt_top_rad: How far its upper side is turned away; below 0 for the lower side.
        distance_mm: How far away its nearest seen part is.
    """

    tilt_right_rad: float
    tilt_top_rad: float
    distance_mm: float

    @property
    def tilt_rad(self) -> float:
        """How far it is turned from facing the camera."""
        return math.hypot(self.tilt_right_rad, self.tilt_top_rad)


def find_view(picture: Image | GreyImage) -> LensView:
    """Return what a picture, shape (H, W, 3) or (H, W), shows of the board."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    height_px, width_px = grey.shape
    found_px, numbers, _, _ = aruco.CharucoDetector(lens_board()).detectBoard(grey)
    # Where there are none, OpenCV gives None or nothing, as its version has it; the stub knows neither.
    found: tuple[object, object] = (found_px, numbers)
    if found[0] is None or found[1] is None:
        return LensView(width_px, height_px, ())
    points = np.asarray(found_px, np.float64).reshape(-1, 2)
    corners = [
        SeenCorner(int(number), float(x), float(y))
        for number, (x, y) in zip(np.asarray(numbers).ravel(), points, strict=True)
    ]
    return LensView(width_px, height_px, tuple(sorted(corners, key=lambda one: one.number)))


def board_pose(view: LensView, lens: Lens | None = None) -> BoardPose:
    """Return how the board of a useful view is held; without a *lens* about so."""
    lens = lens or guessed_lens(view.width_px, view.height_px)
    board = np.column_stack([view.board_mm(), np.zeros(len(view.corners))])
    rays = lens.to_rays(view.points_px())
    _, turn, shift = cv2.solvePnP(board, rays, np.eye(3), np.zeros(5), flags=cv2.SOLVEPNP_ITERATIVE)
    matrix = np.asarray(cv2.Rodrigues(turn)[0], np.float64)
    away = board @ matrix.T + np.asarray(shift, np.float64).reshape(3)
    # The board's normal, away from the camera; where it points right, the right side is the nearer one.
    normal = matrix[:, 2] * np.sign(matrix[2, 2])
    return BoardPose(-math.asin(float(normal[0])), math.asin(float(normal[1])), float(away[:, 2].min()))
