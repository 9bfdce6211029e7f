"""Outlines of pips and signs from complex numbers, with x right and y down."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lab.render.look_types import Polygon


def corners(line: Sequence[complex] | np.ndarray) -> Polygon:
    """Convert complex numbers to corners."""
    at = np.asarray(line, np.complex128)
    return tuple(zip(at.real.tolist(), at.imag.tolist(), strict=True))


def star(points: int, inner: float, radius: float = 1.0) -> Polygon:
    """Return a star with a point at the top. Three points and *inner* 0.5 give a triangle."""
    turns = math.pi * np.arange(2 * points) / points - math.pi / 2
    return corners(np.where(np.arange(2 * points) % 2, inner, 1.0) * radius * np.exp(1j * turns))
