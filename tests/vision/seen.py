"""Tiles as returned by a reader, created without an image."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.vision.shapes import tile_at
from vision.poses import corners, half_centers
from vision.reading import Face, Half, PointPx, SeenTile


def seen_tile(
    first: int | None,
    second: int = 0,
    *,
    x_px: float = 100.0,
    y_px: float = 100.0,
    side_px: float = 20.0,
    degrees: float = 0.0,
) -> SeenTile:
    """Return a tile read with confidence. Without pips it is face down."""
    pose = tile_at(x_px, y_px, side_px=side_px, degrees=degrees)
    a, b, c, d = (_point(corner) for corner in corners(pose)[0].tolist())
    if first is None:
        return SeenTile(Face.DOWN, (a, b, c, d), ())
    first_center, second_center = (_point(center) for center in half_centers(pose)[0].tolist())
    return SeenTile(Face.UP, (a, b, c, d), (_half(first, first_center), _half(second, second_center)))


def unsure_tile(*, x_px: float = 100.0, y_px: float = 100.0, side_px: float = 20.0) -> SeenTile:
    """Return an object that looks like a tile but cannot be read."""
    return replace(seen_tile(None, x_px=x_px, y_px=y_px, side_px=side_px), face=Face.UNSURE)


def _half(pips: int, center_px: PointPx) -> Half:
    chances = tuple(0.994 if value == pips else 0.001 for value in range(7))
    return Half(pips, 0.994, center_px, None, chances)


def _point(xy: list[float]) -> PointPx:
    assert all(math.isfinite(value) for value in xy)
    return (xy[0], xy[1])
