"""Tiles as an eye would say it sees them, without a picture."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.vision.shapes import tile_at
from vision.geometry.poses import corners, half_centers
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
    """One tile, read without doubt; with no pips it lies face down."""
    pose = tile_at(x_px, y_px, side_px=side_px, degrees=degrees)
    a, b, c, d = (_point(corner) for corner in corners(pose)[0].tolist())
    if first is None:
        return SeenTile(Face.DOWN, (a, b, c, d), ())
    one, other = (_point(center) for center in half_centers(pose)[0].tolist())
    return SeenTile(Face.UP, (a, b, c, d), (_half(first, one), _half(second, other)))


def unsure_tile(*, x_px: float = 100.0, y_px: float = 100.0, side_px: float = 20.0) -> SeenTile:
    """Something that looks like a tile, but cannot be read."""
    return replace(seen_tile(None, x_px=x_px, y_px=y_px, side_px=side_px), face=Face.UNSURE)


def _half(pips: int, center_px: PointPx) -> Half:
    chances = tuple(0.994 if number == pips else 0.001 for number in range(7))
    return Half(pips, 0.994, center_px, None, chances)


def _point(xy: list[float]) -> PointPx:
    assert all(math.isfinite(value) for value in xy)
    return (xy[0], xy[1])
