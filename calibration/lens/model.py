"""Lens model: map pixels to directions and back, with parameters that are measured once for a camera."""

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
    """Where the numbers come from."""

    MEASURED = "measured"
    KNOWN_CAMERA = "known camera"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Lens:
    """A camera's lens.

    Attributes:
        width_px, height_px: Size of the pictures that it is said for.
        focal_px: Focal length across and down.
        center_px: Where the axis of the lens meets the picture; the middle of the first pixel is 0, 0.
        distortion: k1, k2, p1, p2 and k3 of OpenCV's model.
        source: Where this comes from.
        error_px: How far corners of the board lay from where they should, root mean square; None where not measured.
        views: How many pictures of the board it rests on.
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
        if not all(math.isfinite(one) for one in (*self.center_px, *self.distortion)):
            raise ValueError(f"center_px and distortion: expected numbers, got {self.center_px}, {self.distortion}")

    @property
    def width_rad(self) -> float:
        """Angle of view across the picture, without distortion."""
        return 2 * math.atan(self.width_px / 2 / self.focal_px[0])

    def at(self, width_px: int, height_px: int) -> Lens:
        """Return the same lens for pictures of another size and the same shape.

        Raises:
            ValueError: If the shape is another: then the camera shows another part of what the lens sees.
        """
        across, down = width_px / self.width_px, height_px / self.height_px
        if abs(across / down - 1) > 0.01:
            raise ValueError(
                f"the lens is known for pictures of {self.width_px} x {self.height_px}, which have another shape than"
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
        """Return where straight lines through points of the picture meet the plane at distance 1, shape (N, 2)."""
        flat = np.ascontiguousarray(points_px, np.float64).reshape(-1, 1, 2)
        # Until it is exact to a thousandth of a pixel; OpenCV alone stops after five steps.
        until = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 60, 1e-9)
        rays = cv2.undistortPoints(
            flat, self.matrix(), np.array(self.distortion), R=np.eye(3), P=np.eye(3), criteria=until
        )
        return np.asarray(rays, np.float64).reshape(-1, 2)

    def to_picture(self, rays: Points) -> Points:
        """Return where points at distance 1 in front of the camera, shape (N, 2), appear, in pixels."""
        spots = np.column_stack([rays, np.ones(len(rays))])
        nowhere = np.zeros(3)
        shown = cv2.projectPoints(spots, nowhere, nowhere, self.matrix(), np.array(self.distortion))[0]
        return np.asarray(shown, np.float64).reshape(-1, 2)


def lens_of_angle(width_px: int, height_px: int, width_rad: float, source: LensSource) -> Lens:
    """Return a lens without distortion that sees an angle across the picture."""
    focal_px = width_px / 2 / math.tan(width_rad / 2)
    return Lens(width_px, height_px, (focal_px, focal_px), ((width_px - 1) / 2, (height_px - 1) / 2), source=source)


def guessed_lens(width_px: int, height_px: int) -> Lens:
    """Return a lens for a camera of which nothing is known: most see 60 to 70 degrees across."""
    return lens_of_angle(width_px, height_px, math.radians(65), LensSource.GUESS)


def known_lens(camera: PiCamera, width_px: int, height_px: int) -> Lens:
    """Return the lens of a Pi camera for pictures that show the whole width of its sensor."""
    return lens_of_angle(width_px, height_px, camera.width_rad, LensSource.KNOWN_CAMERA)
