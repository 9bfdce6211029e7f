"""Views of the lens board: detect its corners, and estimate its pose."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from cv2 import aruco

from calibration.lens.model import Lens, guessed_lens
from calibration.sheets.boards import BOARD_CORNERS, lens_board
from vision.arrays import GreyImage, Image, Points

# A view with fewer corners is ignored, because a false detection is likely and the view would contribute little.
LEAST_CORNERS = 8


@dataclass(frozen=True, slots=True)
class SeenCorner:
    """A detected corner of the board: its number, and its position in the picture."""

    number: int
    x_px: float
    y_px: float

    def __post_init__(self) -> None:
        if not 0 <= self.number < BOARD_CORNERS:
            raise ValueError(f"number: expected 0 to {BOARD_CORNERS - 1}, got {self.number}")


@dataclass(frozen=True, slots=True)
class LensView:
    """View of the board in a picture.

    Attributes:
        width_px, height_px: Size of the picture.
        corners: Detected corners in the order of their numbers.
    """

    width_px: int
    height_px: int
    corners: tuple[SeenCorner, ...]

    @property
    def is_useful(self) -> bool:
        """True if there are enough corners, and they are not collinear."""
        if len(self.corners) < LEAST_CORNERS:
            return False
        spread = np.linalg.svd(self.board_mm() - self.board_mm().mean(axis=0), compute_uv=False)
        return bool(spread[1] > 1.0)

    def points_px(self) -> Points:
        """Return the positions of the corners in the picture, shape (N, 2)."""
        return np.array([(corner.x_px, corner.y_px) for corner in self.corners]).reshape(-1, 2)

    def board_mm(self) -> Points:
        """Return the positions of the corners on the board, shape (N, 2)."""
        all_mm = np.asarray(lens_board().getChessboardCorners(), np.float64)[:, :2]
        return all_mm[[corner.number for corner in self.corners]]


@dataclass(frozen=True, slots=True)
class BoardPose:
    """Pose of the board relative to the camera.

    Attributes:
        tilt_right_rad: Tilt of the right side away from the camera. Negative if the left side is farther.
        tilt_top_rad: Tilt of the upper side away from the camera. Negative if the lower side is farther.
        distance_mm: Distance of the nearest detected corner.
    """

    tilt_right_rad: float
    tilt_top_rad: float
    distance_mm: float

    @property
    def tilt_rad(self) -> float:
        """Total tilt relative to facing the camera."""
        return math.hypot(self.tilt_right_rad, self.tilt_top_rad)


def find_view(picture: Image | GreyImage) -> LensView:
    """Detect the corners of the board in a picture of shape (H, W, 3) or (H, W)."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    height_px, width_px = grey.shape
    found_px, numbers, _, _ = aruco.CharucoDetector(lens_board()).detectBoard(grey)
    # Without corners OpenCV returns None or empty arrays, depending on its version. The type stub lacks None.
    detected: tuple[object, object] = (found_px, numbers)
    if detected[0] is None or detected[1] is None:
        return LensView(width_px, height_px, ())
    points = np.asarray(found_px, np.float64).reshape(-1, 2)
    corners = [
        SeenCorner(int(number), float(x), float(y))
        for number, (x, y) in zip(np.asarray(numbers).ravel(), points, strict=True)
    ]
    return LensView(width_px, height_px, tuple(sorted(corners, key=lambda corner: corner.number)))


def board_pose(view: LensView, lens: Lens | None = None) -> BoardPose:
    """Estimate the pose of the board in a useful view. Without a *lens*, a typical one is assumed."""
    lens = lens or guessed_lens(view.width_px, view.height_px)
    board = np.column_stack([view.board_mm(), np.zeros(len(view.corners))])
    rays = lens.to_rays(view.points_px())
    _, rotation, translation = cv2.solvePnP(board, rays, np.eye(3), np.zeros(5), flags=cv2.SOLVEPNP_ITERATIVE)
    matrix = np.asarray(cv2.Rodrigues(rotation)[0], np.float64)
    points = board @ matrix.T + np.asarray(translation, np.float64).reshape(3)
    # The normal pointing away from the camera. If it points right, the right side is nearer.
    normal = matrix[:, 2] * np.sign(matrix[2, 2])
    return BoardPose(-math.asin(float(normal[0])), math.asin(float(normal[1])), float(points[:, 2].min()))
