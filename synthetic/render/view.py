"""Project the table onto the picture: a pinhole camera over it, then a small lens distortion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from synthetic.render.look_types import CameraLook
from vision.arrays import Points

# Nothing is painted nearer to the camera than this share of its distance to the table.
NEAREST = 0.2
# A picture that shows a table this many times as far away as at its middle shows it up to the horizon, which makes no
# sense of its extent: 9 is what a seat camera shows at most. Such a picture is sharp up to CLEAR.
_FARTHEST = 12.0
CLEAR = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A camera at its place.

    Attributes:
        matrix: Shape (3, 4), from (x, y, z, 1) in millimetres to pixels; x right, y down, z up from the table.
        center_px: Middle of the picture.
        lens: See `CameraLook`.
    """

    matrix: NDArray[np.float64]
    center_px: tuple[float, float]
    lens: float

    def project(self, points_mm: Points, height_mm: float) -> Points:
        """Return where points at one height, shape (N, 2), appear before the lens distorts them."""
        points = points_mm @ self.matrix[:, :2].T + (self.matrix[:, 2] * height_mm + self.matrix[:, 3])
        flat: Points = points[:, :2] / points[:, 2:]
        return flat

    def cut_near(self, outline_mm: Points, height_mm: float) -> Points:
        """Return the part of an outline at one height, shape (N, 2), that is not too near to the camera or behind it.

        What is behind the camera has no place in the picture. May be empty.
        """
        depth = outline_mm @ self.matrix[2, :2] + (self.matrix[2, 2] * height_mm + self.matrix[2, 3])
        depth = depth - NEAREST * self.matrix[2, 3]
        if (depth > 0).all():
            return outline_mm
        following, depth_there = np.roll(outline_mm, -1, axis=0), np.roll(depth, -1)
        crosses = (depth > 0) != (depth_there > 0)
        share = (depth / np.where(crosses, depth - depth_there, 1.0))[:, None]
        met = (outline_mm + share * (following - outline_mm))[crosses]
        return np.concatenate([outline_mm[depth > 0], met])

    def frame_mm(self, width_px: int, height_px: int, height_mm: float) -> Points:
        """Return the outline of what the picture shows of the plane at *height_mm*, shape (N, 2).

        Where the picture reaches the horizon, or nearly, it ends a few times as far away as the middle of the picture.
        """
        frame = np.array([[0, 0], [width_px, 0], [width_px, height_px], [0, height_px]], dtype=np.float64)
        to_plane = np.linalg.inv(self.plane(height_mm))
        if self.shows_horizon(width_px, height_px, height_mm):
            nearness = self.nearness(frame, height_mm)
            there, nearness_there = np.roll(frame, -1, axis=0), np.roll(nearness, -1)
            crosses = (nearness > 1 / CLEAR) != (nearness_there > 1 / CLEAR)
            share = (nearness - 1 / CLEAR) / np.where(crosses, nearness - nearness_there, 1.0)
            met = (frame + share[:, None] * (there - frame))[crosses]
            hull = cv2.convexHull(np.concatenate([frame[nearness > 1 / CLEAR], met]).astype(np.float32))
            frame = hull[:, 0].astype(np.float64)
        seen: Points = cv2.perspectiveTransform(frame[None], to_plane)[0].astype(np.float64, copy=False)
        return seen

    def shows_horizon(self, width_px: int, height_px: int, height_mm: float) -> bool:
        """Return whether the picture shows the horizon of the plane at *height_mm*, or nearly."""
        frame = np.array([[0, 0], [width_px, 0], [width_px, height_px], [0, height_px]], dtype=np.float64)
        return bool((self.nearness(frame, height_mm) < 1 / _FARTHEST).any())

    def nearness(self, points_px: Points, height_mm: float) -> NDArray[np.float64]:
        """Return how near a plane is to the camera at points of the picture, shape (N, 2): 1 at its middle.

        Half is twice as far away; 0 is the horizon, and what is less is above it.
        """
        row = np.linalg.inv(self.plane(height_mm))[2]
        near: NDArray[np.float64] = (points_px @ row[:2] + row[2]) / (np.asarray(self.center_px) @ row[:2] + row[2])
        return near

    def plane(self, height_mm: float) -> NDArray[np.float64]:
        """Return the homography, shape (3, 3), from the plane at *height_mm* to pixels, without lens."""
        return np.column_stack(
            [self.matrix[:, 0], self.matrix[:, 1], height_mm * self.matrix[:, 2] + self.matrix[:, 3]]
        )

    def camera_mm(self) -> NDArray[np.float64]:
        """Return where the camera is, shape (3,): x, y and height over the table."""
        place: NDArray[np.float64] = -np.linalg.inv(self.matrix[:, :3]) @ self.matrix[:, 3]
        return place

    def nadir_mm(self) -> tuple[float, float]:
        """Return the point of the table right below the camera."""
        place = self.camera_mm()
        return (float(place[0]), float(place[1]))

    def slant(self, points_mm: Points) -> float:
        """Return the tangent of the angle from above at which the camera sees points on the table, shape (N, 2)."""
        place = self.camera_mm()
        return float(np.linalg.norm(points_mm.mean(axis=0) - place[:2]) / place[2])

    def distort(self, points_px: Points) -> Points:
        """Return where the lens moves points of the pinhole picture, shape (N, 2)."""
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
        moved: Points = center + offset * factor[:, None] * diagonal_px
        return moved

    @property
    def _zoom(self) -> float:
        return 1.0 / (1.0 + max(self.lens, 0.0))

    def lens_maps(self, width_px: int, height_px: int) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
        """Return the maps for `cv2.remap` that apply the lens to the pinhole picture."""
        diagonal_px = math.hypot(*self.center_px)
        center_x, center_y = self.center_px
        seen = np.array([[diagonal_px, 0, center_x], [0, diagonal_px, center_y], [0, 0, 1]])
        source = seen.copy()
        source[0, 0] = source[1, 1] = diagonal_px * self._zoom
        lens = np.array([self.lens, 0.0, 0.0, 0.0])
        return cv2.initUndistortRectifyMap(source, lens, np.eye(3), seen, (width_px, height_px), cv2.CV_16SC2)  # type: ignore[return-value]  # the stub knows no array types


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
