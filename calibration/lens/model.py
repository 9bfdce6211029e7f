"""Lens model that maps pixels to rays and back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.lens.raspberry_pi import PiCamera
from vision.arrays import Points


class LensSource(StrEnum):
    """Origin of lens parameters."""

    MEASURED = "measured"
    KNOWN_CAMERA = "known camera"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Lens:
    """Lens of a camera.

    Attributes:
        width_px, height_px: Size of the pictures.
        focal_px: Horizontal and vertical focal length.
        center_px: Principal point. (0, 0) is the centre of the first pixel.
        distortion: k1, k2, p1, p2 and k3 of OpenCV's model.
        source: Origin of the parameters.
        error_px: Root mean square reprojection error of the board corners. None if not measured.
        views: Number of views of the board used for the fit.
    """

    width_px: int
    height_px: int
    focal_px: tuple[float, float]
    center_px: tuple[float, float]
    distortion: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)
    source: LensSource = LensSource.MEASURED
    error_px: float | None = None
    views: int = 0

    def __post_init__(self) -> None:
        if self.width_px < 1 or self.height_px < 1:
            raise ValueError(f"size: expected 1 px or more each way, got {self.width_px} x {self.height_px}")
        if not all(math.isfinite(f) and f > 0 for f in self.focal_px):
            raise ValueError(f"focal_px: expected two numbers above 0, got {self.focal_px}")
        if not all(math.isfinite(value) for value in (*self.center_px, *self.distortion)):
            raise ValueError(f"center_px and distortion: expected numbers, got {self.center_px}, {self.distortion}")

    @property
    def width_rad(self) -> float:
        """Horizontal angle of view, ignoring distortion."""
        return 2 * math.atan(self.width_px / 2 / self.focal_px[0])

    def at(self, width_px: int, height_px: int) -> Lens:
        """Return the lens for pictures of another size with the same aspect ratio.

        Raises:
            ValueError: If the aspect ratio differs by more than 1 %, which means that the field of view differs.
        """
        across, down = width_px / self.width_px, height_px / self.height_px
        if abs(across / down - 1) > 0.01:
            raise ValueError(
                f"the lens is known for pictures of {self.width_px} x {self.height_px}, whose aspect ratio differs from"
                f" {width_px} x {height_px}"
            )
        center_px = ((self.center_px[0] + 0.5) * across - 0.5, (self.center_px[1] + 0.5) * down - 0.5)
        focal_px = (self.focal_px[0] * across, self.focal_px[1] * down)
        return replace(self, width_px=width_px, height_px=height_px, focal_px=focal_px, center_px=center_px)

    def matrix(self) -> NDArray[np.float64]:
        """Return the camera matrix, shape (3, 3)."""
        (fx, fy), (cx, cy) = self.focal_px, self.center_px
        return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1.0]])

    def to_rays(self, points_px: Points) -> Points:
        """Return the rays through pixels as their intersections with the plane at distance 1, shape (N, 2)."""
        points = np.ascontiguousarray(points_px, np.float64).reshape(-1, 1, 2)
        # OpenCV's default of five iterations is less exact than a thousandth of a pixel.
        criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-9)
        rays = cv2.undistortPoints(
            points, self.matrix(), np.array(self.distortion), R=np.eye(3), P=np.eye(3), criteria=criteria
        )
        return np.asarray(rays, np.float64).reshape(-1, 2)

    def to_picture(self, rays: Points) -> Points:
        """Return the pixels at which rays appear, shape (N, 2).

        Each ray is given by its intersection with the plane at distance 1.
        """
        points = np.column_stack([rays, np.ones(len(rays))])
        zero = np.zeros(3)
        pixels = cv2.projectPoints(points, zero, zero, self.matrix(), np.array(self.distortion))[0]
        return np.asarray(pixels, np.float64).reshape(-1, 2)


def lens_of_angle(width_px: int, height_px: int, width_rad: float, source: LensSource) -> Lens:
    """Return a lens without distortion that has the given horizontal angle of view."""
    focal_px = width_px / 2 / math.tan(width_rad / 2)
    return Lens(width_px, height_px, (focal_px, focal_px), ((width_px - 1) / 2, (height_px - 1) / 2), source=source)


def guessed_lens(width_px: int, height_px: int) -> Lens:
    """Return a lens with a typical angle of view for an unknown camera. Most have 60 to 70 degrees."""
    return lens_of_angle(width_px, height_px, math.radians(65), LensSource.GUESS)


def known_lens(camera: PiCamera, width_px: int, height_px: int) -> Lens:
    """Return the nominal lens of a Pi camera, for pictures of the full width of its sensor."""
    return lens_of_angle(width_px, height_px, camera.width_rad, LensSource.KNOWN_CAMERA)
