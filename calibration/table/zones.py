"""Zones of a table in millimetres, and in the picture: boneyard, layout, and the open tiles of each seat."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from calibration import RefusedError
from calibration.lens.lens import Lens
from calibration.sheets.prints import BLOCK_MM, MatZone, block_places_mm, mat_zones, zones_within
from calibration.table.table import BlockPose, Table
from engine.phrases import plural
from vision.arrays import Points

PointMm = tuple[float, float]
OutlineMm = tuple[PointMm, ...]
"""Polygon in millimetres from the centre of the table, x right and y away from the first seat, closed implicitly."""

# Tolerance for recognising blocks printed on a mat. Joining its sheets causes errors of a millimetre or two.
_MAT_OFF_MM = 5.0
_MAT_TURN_RAD = math.radians(3)
# Accepted scale of a mat, for prints whose scale was entered incorrectly.
_MAT_SCALE = (0.92, 1.08)
_FARTHEST_MM = 5000.0
# Seats in use if fewer than four play. Two players sit opposite each other.
_PLAYING = {2: (0, 2), 3: (0, 1, 2)}


class ZoneSource(StrEnum):
    """Origin of the zones."""

    MAT = "mat"
    BLOCKS = "corner blocks"
    SIZE = "size of the table"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class TableZones:
    """Zones of a table.

    Attributes:
        source: Origin of the zones. GIVEN if any of them was entered.
        seats: Zone for the open tiles of each seat, from the lower edge clockwise seen from above.
        boneyard: Zone of the boneyard, or None.
        layout: Zone of the layout, or None.
    """

    source: ZoneSource
    seats: tuple[OutlineMm, ...] = ()
    boneyard: OutlineMm | None = None
    layout: OutlineMm | None = None

    def __post_init__(self) -> None:
        for name, outline in self.named():
            if len(outline) < 3:
                raise ValueError(f"{name}: expected 3 corners or more, got {len(outline)}")
            if not all(math.isfinite(value) and abs(value) <= _FARTHEST_MM for point in outline for value in point):
                raise ValueError(f"{name}: expected corners within {_FARTHEST_MM:.0f} mm, got {outline}")
            if _area(np.array(outline)) < 1.0:
                raise ValueError(f"{name}: its corners lie in one line: {outline}")

    def named(self) -> tuple[tuple[str, OutlineMm], ...]:
        """Return all zones with their names: seats from 1, then boneyard and layout."""
        seats = [(f"seat {at + 1}", outline) for at, outline in enumerate(self.seats)]
        others = [("boneyard", self.boneyard), ("layout", self.layout)]
        return (*seats, *((name, outline) for name, outline in others if outline is not None))

    def playing(self, players: int) -> tuple[OutlineMm, ...]:
        """Return the seat zones for the given number of players. Empty if there are none."""
        if players == len(self.seats):
            return self.seats
        if len(self.seats) == 4 and players in _PLAYING:
            return tuple(self.seats[seat] for seat in _PLAYING[players])
        return ()


def zones_on(marks: Sequence[BlockPose], players: int) -> TableZones:
    """Return the zones of a table with corner blocks.

    If the blocks are printed on a mat, the zones are those of the mat. Otherwise, similar zones are placed between the
    blocks.

    Args:
        marks: Poses of the blocks.
        players: Number of players, 2 to 4.

    Raises:
        RefusedError: If the blocks do not determine the size of the table, or it is too small.
    """
    on_mat = _mat_motion(marks)
    if on_mat is not None:
        return _zones(ZoneSource.MAT, mat_zones(players), *on_mat)
    at = {mark.block: mark for mark in marks}
    if not ({0, 2} <= set(at) or {1, 3} <= set(at)):
        raise RefusedError(
            plural(
                "1 corner block is not enough to work out the size of the table: use three, or two at opposite"
                " corners, or --size",
                "{number} corner blocks are not enough to work out the size of the table: use three, or two at"
                " opposite corners, or --size",
                number=len(at),
            )
        )
    half_mm = BLOCK_MM / 2
    left_mm, right_mm = min(mark.x_mm for mark in marks) - half_mm, max(mark.x_mm for mark in marks) + half_mm
    low_mm, top_mm = min(mark.y_mm for mark in marks) - half_mm, max(mark.y_mm for mark in marks) + half_mm
    zones = _zones_within(right_mm - left_mm, top_mm - low_mm, players)
    return _zones(ZoneSource.BLOCKS, zones, complex(left_mm, top_mm), 1.0)


def zones_of_size(width_mm: float, depth_mm: float, players: int) -> TableZones:
    """Return the zones of a table of known size, centred on the origin.

    Raises:
        RefusedError: If the table is too small.
    """
    corner = complex(-width_mm / 2, depth_mm / 2)
    return _zones(ZoneSource.SIZE, _zones_within(width_mm, depth_mm, players), corner, 1.0)


def updated_zones(zones: TableZones, table: Table) -> TableZones:
    """Return zones for a remeasured table. Only zones that were derived from corner blocks change.

    They stay unchanged if the blocks detected now do not determine them.
    """
    if zones.source in (ZoneSource.MAT, ZoneSource.BLOCKS) and table.marks:
        try:
            return zones_on(table.marks, len(zones.seats))
        except RefusedError:
            return zones
    return zones


def _zones_within(width_mm: float, depth_mm: float, players: int) -> tuple[MatZone, ...]:
    try:
        return zones_within(width_mm, depth_mm, players)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _mat_motion(marks: Sequence[BlockPose]) -> tuple[complex, complex] | None:
    """Return the top left corner of the mat, and its rotation and scale as a complex factor."""
    # None if the blocks are not printed on a mat.
    if len(marks) < 2:
        return None
    half_mm = BLOCK_MM / 2
    printed = {
        block: complex(left_mm + half_mm, -(top_mm + half_mm))
        for block, (left_mm, top_mm) in enumerate(block_places_mm())
    }
    measured = [complex(mark.x_mm, mark.y_mm) for mark in marks]
    expected = [printed[mark.block] for mark in marks]
    measured_center, center = sum(measured) / len(measured), sum(expected) / len(expected)
    spread = sum(abs(point - center) ** 2 for point in expected)
    pairs = list(zip(measured, expected, strict=True))
    turn = sum((seen - measured_center) * (own - center).conjugate() for seen, own in pairs) / spread
    corner = measured_center - turn * center
    has_positions = all(abs(corner + turn * own - seen) <= _MAT_OFF_MM for seen, own in pairs)
    angle_rad = math.atan2(turn.imag, turn.real)
    has_angles = all(abs(math.remainder(mark.turn_rad - angle_rad, math.tau)) <= _MAT_TURN_RAD for mark in marks)
    has_scale = _MAT_SCALE[0] <= abs(turn) <= _MAT_SCALE[1]
    return (corner, turn) if has_positions and has_angles and has_scale else None


def _zones(source: ZoneSource, zones: Sequence[MatZone], corner: complex, turn: complex) -> TableZones:
    """Return *zones*, given from the top left corner with y down, in table coordinates."""
    outlines: dict[str, OutlineMm] = {}
    for zone in zones:
        right_mm, low_mm = zone.left_mm + zone.width_mm, zone.top_mm + zone.height_mm
        corners = ((zone.left_mm, zone.top_mm), (right_mm, zone.top_mm), (right_mm, low_mm), (zone.left_mm, low_mm))
        points = [corner + turn * complex(x_mm, -y_mm) for x_mm, y_mm in corners]
        outlines[zone.name] = tuple((point.real, point.imag) for point in points)
    boneyard, layout = outlines.pop("Boneyard"), outlines.pop("Layout")
    return TableZones(source, tuple(outlines.values()), boneyard, layout)


Shares = tuple[tuple[float, float], ...]
"""Corners in shares of the picture's width and height, from 0 to 1. Empty for a zone outside the picture."""

# Maximum spacing of the points added along long edges, which lens distortion bends.
_STEP_MM = 25.0
_BORDER_POINTS = 24
# Factor by which the visible area is enlarged, as the polygon through points on its border is slightly too small.
_GROWN = 1.03
# Minimum downward component of a line of sight. Lines near or above the horizon are bent down to it.
_MIN_DOWN = 0.05


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
    is_above = rays @ axes[2] > -_MIN_DOWN
    rays[is_above] -= (rays[is_above] @ axes[2] + _MIN_DOWN)[:, None] * axes[2]
    origin = np.array(table.origin_mm)
    depth = (axes[2] @ origin + table.thickness_mm) / (rays @ axes[2])
    flat = (rays * depth[:, None] - origin) @ axes[:2].T
    hull = _hull(flat)
    middle = hull.mean(axis=0)
    return np.asarray(middle + _GROWN * (hull - middle))


def _hull(points: Points) -> Points:
    """Return the convex hull, anticlockwise with y up (Andrew's monotone chain)."""
    order = sorted(map(tuple, points.tolist()))

    def cross(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def half(points: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        chain: list[tuple[float, ...]] = []
        for point in points:
            while len(chain) > 1 and cross(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return np.array([*half(order), *half(order[::-1])])


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
