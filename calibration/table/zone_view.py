"""From zones in millimetres of the table to the picture: through the lens, onto the plane of the tile tops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.lens.model import Lens
from calibration.table.table import Table
from calibration.table.zones import OutlineMm
from vision.arrays import Points

Shares = tuple[tuple[float, float], ...]
"""Corners in shares of the picture's width and height, 0 to 1; none for what is not in the picture."""

# A lens bends straight edges: a corner is put in every so many millimetres where it does.
_STEP_MM = 25.0
_BORDER_POINTS = 24
# What the picture shows is taken a little larger, because its border is rounded off between the points on it.
_GROWN = 1.03
# Nearer to the horizon than that there is no table.
_LEAST_DOWN = 0.05


@dataclass(frozen=True, slots=True)
class ZoneInView:
    """A zone as the picture shows it.

    Attributes:
        shares: Its outline, cut off at the border of the picture.
        visible: Which share of its area the picture shows, 0 to 1.
    """

    shares: Shares
    visible: float


def show_zone(outline: OutlineMm, table: Table, lens: Lens) -> ZoneInView:
    """Return how a zone appears on the plane of the tile tops."""
    whole = np.array(outline, np.float64)
    seen = _clipped(whole, _edges_of(_seen_mm(table, lens)))
    if len(seen) < 3:
        return ZoneInView((), 0.0)
    fine = seen if not any(lens.distortion) else _fine(seen)
    pixels = table.to_picture(fine, lens, height_mm=table.thickness_mm)
    # The middle of the first pixel is 0, 0: the picture begins half a pixel before.
    shares = _clipped((pixels + 0.5) / (lens.width_px, lens.height_px), _edges_of(_SQUARE))
    if len(shares) < 3 or _area(shares) == 0.0:
        return ZoneInView((), 0.0)
    back = table.tops_to_table(shares * (lens.width_px, lens.height_px) - 0.5, lens)
    visible = min(1.0, _area(back) / _area(whole))
    corners = tuple((float(x), float(y)) for x, y in np.clip(shares, 0.0, 1.0))
    return ZoneInView(corners, visible)


def seen_part(outline: OutlineMm, table: Table, lens: Lens) -> OutlineMm:
    """Return the part of a zone that the picture shows, or a little more; none of it is ()."""
    whole = np.array(outline, np.float64)
    seen = _clipped(whole, _edges_of(_seen_mm(table, lens)))
    if len(seen) == len(whole) and np.array_equal(seen, whole):
        return outline
    return tuple((float(x), float(y)) for x, y in seen) if len(seen) > 2 else ()


def middle_share(outline: OutlineMm, table: Table, lens: Lens) -> tuple[float, float]:
    """Return where the middle of a zone is in shares of the picture's size; it may lie outside of it."""
    middle = np.array(outline, np.float64).mean(axis=0, keepdims=True)
    ((x_px, y_px),) = table.to_picture(middle, lens, height_mm=table.thickness_mm).tolist()
    return (x_px + 0.5) / lens.width_px, (y_px + 0.5) / lens.height_px


_SQUARE = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])


def _seen_mm(table: Table, lens: Lens) -> Points:
    """Return the convex outline of what the picture shows of the plane of the tile tops."""
    ways = np.linspace(0.0, 1.0, _BORDER_POINTS, endpoint=False)[:, None]
    corners = _SQUARE * (lens.width_px, lens.height_px) - 0.5
    border = np.concatenate([a + ways * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)])
    axes = np.array(table.axes).reshape(3, 3)
    rays = np.column_stack([lens.to_rays(border), np.ones(len(border))])
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    # Above the horizon a line of sight never meets the table: it is bent down to just below.
    is_above = rays @ axes[2] > -_LEAST_DOWN
    rays[is_above] -= (rays[is_above] @ axes[2] + _LEAST_DOWN)[:, None] * axes[2]
    origin = np.array(table.origin_mm)
    depth = (axes[2] @ origin + table.thickness_mm) / (rays @ axes[2])
    flat = (rays * depth[:, None] - origin) @ axes[:2].T
    hull = _hull(flat)
    middle = hull.mean(axis=0)
    return np.asarray(middle + _GROWN * (hull - middle))


def _hull(points: Points) -> Points:
    """Return the convex hull, anticlockwise with y up."""
    order = sorted(map(tuple, points.tolist()))

    def half(walk: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        kept: list[tuple[float, ...]] = []
        for one in walk:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], one) <= 0:
                kept.pop()
            kept.append(one)
        return kept[:-1]

    return np.array([*half(order), *half(order[::-1])])


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


_Inside = Callable[[Points], Points]


def _edges_of(convex: Points) -> list[_Inside]:
    """Return for each edge of a convex outline how far on its inner side points are."""
    middle = convex.mean(axis=0)

    def edge(a: Points, b: Points) -> _Inside:
        normal = np.array([a[1] - b[1], b[0] - a[0]])
        inward = normal * np.sign((middle - a) @ normal)
        return lambda points: np.asarray((points - a) @ inward)

    return [edge(a, b) for a, b in zip(convex, np.roll(convex, -1, axis=0), strict=True)]


def _clipped(outline: Points, edges: Sequence[_Inside]) -> Points:
    """Return the part of an outline on the inner side of all edges (Sutherland and Hodgman)."""
    for inside in edges:
        if len(outline) < 3:
            break
        depth, following = inside(outline), np.roll(outline, -1, axis=0)
        depth_there = np.roll(depth, -1)
        kept: list[Points] = []
        for at, (here, there) in enumerate(zip(outline, following, strict=True)):
            if depth[at] >= 0:
                kept.append(here)
            if (depth[at] >= 0) != (depth_there[at] >= 0):
                kept.append(here + depth[at] / (depth[at] - depth_there[at]) * (there - here))
        outline = np.array(kept).reshape(-1, 2)
    return outline


def _fine(outline: Points) -> Points:
    """Return an outline with corners put into its long edges."""
    parts = []
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        count = max(1, int(np.ceil(np.linalg.norm(b - a) / _STEP_MM)))
        parts.append(a + np.linspace(0, 1, count, endpoint=False)[:, None] * (b - a))
    return np.concatenate(parts)


def _area(outline: Points) -> float:
    x, y = outline.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
