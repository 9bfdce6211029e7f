"""What a step of the calibration has found in a picture, as shapes that a terminal or a page draws over it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

PointPx = tuple[float, float]


class Kind(StrEnum):
    """What a shape is; all but corners and lines are outlines, closed by themselves."""

    CORNERS = "corners"
    CELL = "cell"
    MARKER = "marker"
    LINE = "line"
    ZONE = "zone"
    TILE = "tile"
    PATCH = "patch"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A shape over a picture.

    Attributes:
        kind: What it is.
        points_px: Its corners, or points of their own; x right, y down.
        label: What is written at it.
        is_good: Whether it is as it should be.
    """

    kind: Kind
    points_px: tuple[PointPx, ...]
    label: str = ""
    is_good: bool = True


def points_of(points: NDArray[np.float64] | Iterable[PointPx]) -> tuple[PointPx, ...]:
    """Return points, shape (N, 2), as plain numbers to a tenth of a pixel."""
    return tuple((round(float(x), 1), round(float(y), 1)) for x, y in points)
