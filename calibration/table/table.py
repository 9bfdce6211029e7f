"""Pose of the table before the camera: map pixels to millimetres at the height of the cloth or of tile tops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from calibration.lens.model import Lens
from vision.arrays import Points


class TableSource(StrEnum):
    """What the table was measured by."""

    MARKERS = "markers"
    TILES = "tiles"
    CORNERS = "corners"


@dataclass(frozen=True, slots=True)
class BlockPose:
    """Where a corner block lies: its middle on the table, and its turn, anticlockwise seen from above."""

    block: int
    x_mm: float
    y_mm: float
    turn_rad: float


@dataclass(frozen=True, slots=True)
class Table:
    """A table before a camera.

    Places are in millimetres from its middle: x right and y away from the first seat, z up from the cloth.

    Attributes:
        axes: Directions of x, y and z in the camera's frame (x right, y down, z away), nine numbers, row by row.
        origin_mm: Its middle in the camera's frame.
        thickness_mm: Of a tile: so high over the cloth lie the tops that are seen.
        source: What it was measured by.
        error_px: How far points lay from where they should, root mean square.
        doubt: One standard deviation of the scale, as a share of it.
        marks: Where the corner blocks lie that were seen.
    """

    axes: tuple[float, float, float, float, float, float, float, float, float]
    origin_mm: tuple[float, float, float]
    thickness_mm: float
    source: TableSource
    error_px: float
    doubt: float
    marks: tuple[BlockPose, ...] = ()

    def __post_init__(self) -> None:
        turn = self._axes()
        if not np.allclose(turn @ turn.T, np.eye(3), atol=1e-6):
            raise ValueError(f"axes: expected three directions at right angles, got {self.axes}")
        if not 0 <= self.thickness_mm <= 50:
            raise ValueError(f"thickness_mm: expected 0 to 50, got {self.thickness_mm}")

    def _axes(self) -> NDArray[np.float64]:
        return np.array(self.axes).reshape(3, 3)

    @property
    def height_mm(self) -> float:
        """Height of the camera over the cloth."""
        return -float(self._axes()[2] @ np.array(self.origin_mm))

    @property
    def tilt_rad(self) -> float:
        """How far the camera is tilted from looking straight down."""
        return math.acos(min(1.0, abs(float(self._axes()[2, 2]))))

    def to_table(self, points_px: Points, lens: Lens, *, height_mm: float = 0.0) -> Points:
        """Return where points of the picture lie, if they are so high over the cloth.

        Args:
            points_px: Shape (N, 2), as the camera shows them, with all that its lens does.
            lens: For pictures of that size.
            height_mm: Their height over the cloth.

        Returns:
            Shape (N, 2), millimetres from the middle of the table.
        """
        rays = lens.to_rays(points_px)
        directions = np.column_stack([rays, np.ones(len(rays))])
        axes, origin = self._axes(), np.array(self.origin_mm)
        depth = (axes[2] @ origin + height_mm) / (directions @ axes[2])
        return np.asarray((directions * depth[:, None] - origin) @ axes[:2].T)

    def tops_to_table(self, points_px: Points, lens: Lens) -> Points:
        """Return where points on the tops of tiles lie, shape (N, 2)."""
        return self.to_table(points_px, lens, height_mm=self.thickness_mm)

    def to_picture(self, points_mm: Points, lens: Lens, *, height_mm: float = 0.0) -> Points:
        """Return where points at a height over the cloth, shape (N, 2), appear in the picture."""
        spots = np.column_stack([points_mm, np.full(len(points_mm), height_mm)])
        seen = spots @ self._axes() + np.array(self.origin_mm)
        return lens.to_picture(seen[:, :2] / seen[:, 2:])

    def homography(self, lens: Lens, *, height_mm: float = 0.0) -> NDArray[np.float64]:
        """Return the map, shape (3, 3), from millimetres at a height to pixels, where the lens distorts nothing."""
        axes = self._axes()
        lifted = np.array(self.origin_mm) + height_mm * axes[2]
        return np.asarray(lens.matrix() @ np.column_stack([axes[0], axes[1], lifted]))
