"""Project zones on the plane of tile tops into the picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.lens.model import Lens
from calibration.table.table import Table
from calibration.table.zones import OutlineMm
from vision.arrays import Points

Shares = tuple[tuple[float, float], ...]
"""Corners in shares of the picture's width and height, from 0 to 1. Empty for a zone outside the picture."""

# Maximum spacing of the points added along long edges, which lens distortion bends.
_STEP_MM = 25.0
_BORDER_POINTS = 24
# Factor by which the visible area is enlarged, as the polygon through points on its border is slightly too small.
_GROWN = 1.03
# Minimum downward component of a line of sight. Lines near or above the horizon are bent down to it.
_LEAST_DOWN = 0.05


@dataclass(frozen=True, slots=True)
class ZoneInView:
    """A zone in the picture.

    Attributes:
        shares: Outline, clipped to the picture.
        visible: Visible share of its area, from 0 to 1.
    """

    shares: Shares
    visible: float


def show_zone(outline: OutlineMm, table: Table, lens: Lens) -> ZoneInView:
    """Project a zone on the plane of tile tops into the picture. Its outline is empty if none of it is visible."""
    whole = np.array(outline, np.float64)
    clipped = _clipped(whole, _edges_of(_visible_mm(table, lens)))
    if len(clipped) < 3:
        return ZoneInView((), 0.0)
    refined = clipped if not any(lens.distortion) else _subdivided(clipped)
    pixels = table.to_picture(refined, lens, height_mm=table.thickness_mm)
    # (0, 0) is the centre of the first pixel, so the picture starts at -0.5.
    shares = _clipped((pixels + 0.5) / (lens.width_px, lens.height_px), _edges_of(_SQUARE))
    if len(shares) < 3 or _area(shares) == 0.0:
        return ZoneInView((), 0.0)
    back = table.tops_to_table(shares * (lens.width_px, lens.height_px) - 0.5, lens)
    visible = min(1.0, _area(back) / _area(whole))
    corners = tuple((float(x), float(y)) for x, y in np.clip(shares, 0.0, 1.0))
    return ZoneInView(corners, visible)


def seen_part(outline: OutlineMm, table: Table, lens: Lens) -> OutlineMm:
    """Return the visible part of a zone, or slightly more. Empty if none of it is visible."""
    whole = np.array(outline, np.float64)
    clipped = _clipped(whole, _edges_of(_visible_mm(table, lens)))
    if len(clipped) == len(whole) and np.array_equal(clipped, whole):
        return outline
    return tuple((float(x), float(y)) for x, y in clipped) if len(clipped) > 2 else ()


def middle_share(outline: OutlineMm, table: Table, lens: Lens) -> tuple[float, float]:
    """Return the centre of a zone in shares of the picture's size. It may be outside the picture."""
    middle = np.array(outline, np.float64).mean(axis=0, keepdims=True)
    ((x_px, y_px),) = table.to_picture(middle, lens, height_mm=table.thickness_mm).tolist()
    return (x_px + 0.5) / lens.width_px, (y_px + 0.5) / lens.height_px


_SQUARE = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])


def _visible_mm(table: Table, lens: Lens) -> Points:
    """Return the convex outline of the visible part of the plane of tile tops."""
    steps = np.linspace(0.0, 1.0, _BORDER_POINTS, endpoint=False)[:, None]
    corners = _SQUARE * (lens.width_px, lens.height_px) - 0.5
    border = np.concatenate([a + steps * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)])
    axes = np.array(table.axes).reshape(3, 3)
    rays = np.column_stack([lens.to_rays(border), np.ones(len(border))])
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    # Lines of sight above the horizon do not meet the table, so they are bent to just below it.
    is_above = rays @ axes[2] > -_LEAST_DOWN
    rays[is_above] -= (rays[is_above] @ axes[2] + _LEAST_DOWN)[:, None] * axes[2]
    origin = np.array(table.origin_mm)
    depth = (axes[2] @ origin + table.thickness_mm) / (rays @ axes[2])
    flat = (rays * depth[:, None] - origin) @ axes[:2].T
    hull = _hull(flat)
    middle = hull.mean(axis=0)
    return np.asarray(middle + _GROWN * (hull - middle))


def _hull(points: Points) -> Points:
    """Return the convex hull, anticlockwise with y up (Andrew's monotone chain)."""
    order = sorted(map(tuple, points.tolist()))

    def half(points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        chain: list[tuple[float, ...]] = []
        for point in points:
            while len(chain) > 1 and _cross(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return np.array([*half(order), *half(order[::-1])])


def _cross(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


_Inside = Callable[[Points], Points]


def _edges_of(convex: Points) -> list[_Inside]:
    """Return a function for each edge of a convex outline that is positive for points on its inner side."""
    middle = convex.mean(axis=0)

    def edge(a: Points, b: Points) -> _Inside:
        normal = np.array([a[1] - b[1], b[0] - a[0]])
        inward = normal * np.sign((middle - a) @ normal)
        return lambda points: np.asarray((points - a) @ inward)

    return [edge(a, b) for a, b in zip(convex, np.roll(convex, -1, axis=0), strict=True)]


def _clipped(outline: Points, edges: Sequence[_Inside]) -> Points:
    """Return the part of an outline on the inner side of all edges (Sutherland-Hodgman algorithm)."""
    for inside in edges:
        if len(outline) < 3:
            break
        depth, following = inside(outline), np.roll(outline, -1, axis=0)
        next_depth = np.roll(depth, -1)
        clipped: list[Points] = []
        for at, (start, end) in enumerate(zip(outline, following, strict=True)):
            if depth[at] >= 0:
                clipped.append(start)
            if (depth[at] >= 0) != (next_depth[at] >= 0):
                clipped.append(start + depth[at] / (depth[at] - next_depth[at]) * (end - start))
        outline = np.array(clipped).reshape(-1, 2)
    return outline


def _subdivided(outline: Points) -> Points:
    """Return an outline with additional corners on its long edges."""
    parts = []
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        count = max(1, int(np.ceil(np.linalg.norm(b - a) / _STEP_MM)))
        parts.append(a + np.linspace(0, 1, count, endpoint=False)[:, None] * (b - a))
    return np.concatenate(parts)


def _area(outline: Points) -> float:
    x, y = outline.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
