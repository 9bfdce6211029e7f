"""Camera model: a pinhole projection of the table, followed by a small lens distortion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render.look_types import CameraLook
from vision.arrays import Points

# Minimum depth of anything painted, as a share of the camera's distance to the table.
NEAREST = 0.2
# Beyond this multiple of the distance at the middle of the picture, the plane counts as reaching the horizon, where its
# extent is meaningless. A seat camera reaches 9 at most. Pictures with a horizon show details up to CLEAR.
_FARTHEST = 12.0
CLEAR = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Projection of a camera at a fixed position.

    Attributes:
        matrix: Projection, shape (3, 4), from (x, y, z, 1) in millimetres to pixels. x points right, y down the
            picture, z up from the table.
        center_px: Middle of the picture.
        lens: Radial distortion, as in `CameraLook`.
    """

    matrix: NDArray[np.float64]
    center_px: tuple[float, float]
    lens: float

    def project(self, points_mm: Points, height_mm: float) -> Points:
        """Return the undistorted picture positions of points at the same height, shape (N, 2)."""
        points = points_mm @ self.matrix[:, :2].T + (self.matrix[:, 2] * height_mm + self.matrix[:, 3])
        flat: Points = points[:, :2] / points[:, 2:]
        return flat

    def cut_near(self, outline_mm: Points, height_mm: float) -> Points:
        """Clip an outline at the given height, shape (N, 2), to the part farther than `NEAREST` from the camera.

        Points behind the camera have no projection. The result may be empty.
        """
        depth = outline_mm @ self.matrix[2, :2] + (self.matrix[2, 2] * height_mm + self.matrix[2, 3])
        depth = depth - NEAREST * self.matrix[2, 3]
        if (depth > 0).all():
            return outline_mm
        following, next_depth = np.roll(outline_mm, -1, axis=0), np.roll(depth, -1)
        crosses = (depth > 0) != (next_depth > 0)
        share = (depth / np.where(crosses, depth - next_depth, 1.0))[:, None]
        crossings = (outline_mm + share * (following - outline_mm))[crosses]
        return np.concatenate([outline_mm[depth > 0], crossings])

    def frame_mm(self, width_px: int, height_px: int, height_mm: float) -> Points:
        """Return the outline of the visible part of the plane at *height_mm*, shape (N, 2).

        If the picture shows the horizon, the outline ends at `CLEAR` times the distance of the picture's middle.
        """
        frame = np.array([[0, 0], [width_px, 0], [width_px, height_px], [0, height_px]], dtype=np.float64)
        to_plane = np.linalg.inv(self.plane(height_mm))
        if self.shows_horizon(width_px, height_px, height_mm):
            nearness = self.nearness(frame, height_mm)
            following, next_nearness = np.roll(frame, -1, axis=0), np.roll(nearness, -1)
            crosses = (nearness > 1 / CLEAR) != (next_nearness > 1 / CLEAR)
            share = (nearness - 1 / CLEAR) / np.where(crosses, nearness - next_nearness, 1.0)
            crossings = (frame + share[:, None] * (following - frame))[crosses]
            hull = cv2.convexHull(np.concatenate([frame[nearness > 1 / CLEAR], crossings]).astype(np.float32))
            frame = hull[:, 0].astype(np.float64)
        outline: Points = cv2.perspectiveTransform(frame[None], to_plane)[0].astype(np.float64, copy=False)
        return outline

    def shows_horizon(self, width_px: int, height_px: int, height_mm: float) -> bool:
        """Return True if a corner of the picture is near or above the horizon of the plane at *height_mm*."""
        frame = np.array([[0, 0], [width_px, 0], [width_px, height_px], [0, height_px]], dtype=np.float64)
        return bool((self.nearness(frame, height_mm) < 1 / _FARTHEST).any())

    def nearness(self, points_px: Points, height_mm: float) -> NDArray[np.float64]:
        """Return the inverse relative depth of the plane at *height_mm* for picture points of shape (N, 2).

        1 is the depth at the middle of the picture, 0.5 is twice as far, 0 is the horizon, and less is above it.
        """
        row = np.linalg.inv(self.plane(height_mm))[2]
        near: NDArray[np.float64] = (points_px @ row[:2] + row[2]) / (np.asarray(self.center_px) @ row[:2] + row[2])
        return near

    def plane(self, height_mm: float) -> NDArray[np.float64]:
        """Return the homography, shape (3, 3), from the plane at *height_mm* to undistorted pixels."""
        return np.column_stack(
            [self.matrix[:, 0], self.matrix[:, 1], height_mm * self.matrix[:, 2] + self.matrix[:, 3]]
        )

    def camera_mm(self) -> NDArray[np.float64]:
        """Return the camera position, shape (3,): x, y and height over the table."""
        position: NDArray[np.float64] = -np.linalg.inv(self.matrix[:, :3]) @ self.matrix[:, 3]
        return position

    def nadir_mm(self) -> tuple[float, float]:
        """Return the point of the table directly below the camera."""
        position = self.camera_mm()
        return (float(position[0]), float(position[1]))

    def slant(self, points_mm: Points) -> float:
        """Return the tangent of the viewing angle from the vertical, at the mean of table points of shape (N, 2)."""
        position = self.camera_mm()
        return float(np.linalg.norm(points_mm.mean(axis=0) - position[:2]) / position[2])

    def distort(self, points_px: Points) -> Points:
        """Apply the lens distortion to points of the pinhole picture, shape (N, 2)."""
        if self.lens == 0.0:
            return points_px
        center = np.asarray(self.center_px)
        diagonal_px = math.hypot(*self.center_px)
        offset = (points_px - center) / diagonal_px
        source = np.linalg.norm(offset, axis=1) / self._zoom
        radius = source.copy()
        for _ in range(6):  # Newton converges to 1e-12 in 5 steps for |lens| <= 0.1
            radius -= (radius + self.lens * radius**3 - source) / (1 + 3 * self.lens * radius**2)
        factor = np.where(source > 1e-12, radius / np.maximum(source, 1e-12), 1.0) / self._zoom
        distorted: Points = center + offset * factor[:, None] * diagonal_px
        return distorted

    @property
    def _zoom(self) -> float:
        return 1.0 / (1.0 + max(self.lens, 0.0))

    def lens_maps(self, width_px: int, height_px: int) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
        """Return the `cv2.remap` maps that apply the lens distortion to the pinhole picture."""
        diagonal_px = math.hypot(*self.center_px)
        center_x, center_y = self.center_px
        target = np.array([[diagonal_px, 0, center_x], [0, diagonal_px, center_y], [0, 0, 1]])
        source = target.copy()
        source[0, 0] = source[1, 1] = diagonal_px * self._zoom
        lens = np.array([self.lens, 0.0, 0.0, 0.0])
        return cv2.initUndistortRectifyMap(source, lens, np.eye(3), target, (width_px, height_px), cv2.CV_16SC2)  # type: ignore[return-value]  # untyped arrays in the stub


def view_of(camera: CameraLook) -> View:
    """Return the view of *camera*, whose optical axis meets the table at (0, 0)."""
    distance_mm = camera.width_px / camera.px_per_mm / (2 * math.tan(camera.fov_rad / 2))
    focal_px = camera.px_per_mm * distance_mm
    tilt_cos, tilt_sin = math.cos(camera.tilt_rad), math.sin(camera.tilt_rad)
    roll_cos, roll_sin = math.cos(camera.roll_rad), math.sin(camera.roll_rad)
    to_camera = np.array(
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, tilt_cos, -tilt_sin, 0.0],
            [0.0, -tilt_sin, -tilt_cos, distance_mm],
        ]
    )
    center_px = ((camera.width_px - 1) / 2, (camera.height_px - 1) / 2)
    to_pixels = np.array(
        [
            [focal_px * roll_cos, -focal_px * roll_sin, center_px[0]],
            [focal_px * roll_sin, focal_px * roll_cos, center_px[1]],
            [0.0, 0.0, 1.0],
        ]
    )
    return View(to_pixels @ to_camera, center_px, camera.lens)
