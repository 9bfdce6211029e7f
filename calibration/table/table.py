"""Pose of the table relative to the camera, which maps pixels to millimetres on the cloth or on tile tops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from calibration.lens.model import Lens
from vision.arrays import Points


class TableSource(StrEnum):
    """Features by which the table was measured."""

    MARKERS = "markers"
    TILES = "tiles"
    CORNERS = "corners"


@dataclass(frozen=True, slots=True)
class BlockPose:
    """Pose of a corner block: its centre on the table, and its rotation, anticlockwise seen from above."""

    block: int
    x_mm: float
    y_mm: float
    turn_rad: float


@dataclass(frozen=True, slots=True)
class Table:
    """A table in front of a camera.

    Positions are in millimetres from the origin of the table: x right and y away from the first seat, z up from the
    cloth.

    Attributes:
        axes: Directions of x, y and z in the camera's frame (x right, y down, z away), nine numbers, row by row.
        origin_mm: Origin of the table, usually its centre, in the camera's frame.
        thickness_mm: Thickness of a tile, and so the height of tile tops above the cloth.
        source: Features by which it was measured.
        error_px: Root mean square reprojection error.
        doubt: Relative standard deviation of the scale.
        marks: Poses of the detected corner blocks.
    """

    axes: tuple[float, float, float, float, float, float, float, float, float]
    origin_mm: tuple[float, float, float]
    thickness_mm: float
    source: TableSource
    error_px: float
    doubt: float
    marks: tuple[BlockPose, ...] = ()

    def __post_init__(self) -> None:
        rotation = self._axes()
        if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6):
            raise ValueError(f"axes: expected three directions at right angles, got {self.axes}")
        if not 0 <= self.thickness_mm <= 50:
            raise ValueError(f"thickness_mm: expected 0 to 50, got {self.thickness_mm}")

    def _axes(self) -> NDArray[np.float64]:
        return np.array(self.axes).reshape(3, 3)

    @property
    def height_mm(self) -> float:
        """Height of the camera above the cloth."""
        return -float(self._axes()[2] @ np.array(self.origin_mm))

    @property
    def tilt_rad(self) -> float:
        """Angle between the optical axis and the vertical."""
        return math.acos(min(1.0, abs(float(self._axes()[2, 2]))))

    def to_table(self, points_px: Points, lens: Lens, *, height_mm: float = 0.0) -> Points:
        """Map pixels to the table, for points at a given height above the cloth.

        Args:
            points_px: Pixels with lens distortion, shape (N, 2).
            lens: Lens for pictures of this size.
            height_mm: Height of the points above the cloth.

        Returns:
            Positions in millimetres from the centre of the table, shape (N, 2).
        """
        rays = lens.to_rays(points_px)
        directions = np.column_stack([rays, np.ones(len(rays))])
        axes, origin = self._axes(), np.array(self.origin_mm)
        depth = (axes[2] @ origin + height_mm) / (directions @ axes[2])
        return np.asarray((directions * depth[:, None] - origin) @ axes[:2].T)

    def tops_to_table(self, points_px: Points, lens: Lens) -> Points:
        """Map pixels on tile tops to the table, shape (N, 2)."""
        return self.to_table(points_px, lens, height_mm=self.thickness_mm)

    def to_picture(self, points_mm: Points, lens: Lens, *, height_mm: float = 0.0) -> Points:
        """Map points at a given height above the cloth, shape (N, 2), to pixels."""
        points = np.column_stack([points_mm, np.full(len(points_mm), height_mm)])
        in_camera = points @ self._axes() + np.array(self.origin_mm)
        return lens.to_picture(in_camera[:, :2] / in_camera[:, 2:])

    def homography(self, lens: Lens, *, height_mm: float = 0.0) -> NDArray[np.float64]:
        """Return the homography from millimetres at a given height to pixels, shape (3, 3). Ignores lens distortion."""
        axes = self._axes()
        origin = np.array(self.origin_mm) + height_mm * axes[2]
        return np.asarray(lens.matrix() @ np.column_stack([axes[0], axes[1], origin]))
