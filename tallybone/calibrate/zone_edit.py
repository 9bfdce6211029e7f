"""Edit zones in the picture, and convert them back to millimetres on the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from calibration.errors import RefusedError
from calibration.lens.model import Lens
from calibration.sheets.prints import MAT_HEIGHT_MM, MAT_WIDTH_MM
from calibration.table.table import Table
from calibration.table.zones import OutlineMm, TableZones, ZoneSource, seen_part
from engine.phrases import phrase
from tallybone.calibrate.guide.steps import points_of
from tallybone.calibrate.known import zone_name
from vision.arrays import Points
from vision.reading import PointPx

MAX_CORNERS = 24
# Maximum distance of a corner from the centre of the table. More distant points are too near to the horizon.
_FARTHEST_MM = 4000.0
# Maximum error when nearly collinear corners are removed from zones that were clipped at the border of the picture.
_LINE_MM = 3.0
_HALVINGS = 12


@dataclass(frozen=True, slots=True)
class EditableZone:
    """A zone in the picture: its name as in `TableZones.named`, and its corners."""

    name: str
    corners_px: tuple[PointPx, ...]


def editable(zones: TableZones, table: Table, lens: Lens) -> tuple[EditableZone, ...]:
    """Return the zones with their editable corners, clipped to the picture.

    Zones outside the picture have no corners.
    """
    drawn = []
    for name, outline in zones.named():
        part = seen_part(outline, table, lens)
        if part != outline and len(part) > 2:
            flat = np.array(part, np.float32).reshape(-1, 1, 2)
            part = tuple((float(x), float(y)) for x, y in cv2.approxPolyDP(flat, _LINE_MM, closed=True)[:, 0])
        corners = () if len(part) < 3 else points_of(_in_picture(part, table, lens))
        drawn.append(EditableZone(name, corners))
    return tuple(drawn)


def with_zones(zones: TableZones, drawn: tuple[EditableZone, ...], table: Table, lens: Lens) -> TableZones:
    """Return the zones with the drawn ones replaced. All other zones are unchanged, including their invisible parts.

    Raises:
        RefusedError: If a zone is unknown or invalid.
    """
    known = [name for name, _ in zones.named()]
    for zone in drawn:
        if zone.name not in known:
            raise RefusedError(f"unknown zone {zone.name}")
    given = {zone.name: _on_table(zone, table, lens) for zone in drawn}
    outlines = {name: given.get(name, outline) for name, outline in zones.named()}
    seats = tuple(outlines[name] for name in known if name.startswith("seat"))
    try:
        return replace(
            zones,
            source=ZoneSource.GIVEN if given else zones.source,
            seats=seats,
            boneyard=outlines.get("boneyard"),
            layout=outlines.get("layout"),
        )
    except ValueError as error:
        raise RefusedError(str(error)) from None


def size_seen(table: Table, lens: Lens) -> tuple[float, float]:
    """Return width and depth in millimetres of the largest visible rectangle with the mat's centre and proportions."""
    least, most = 0.0, _FARTHEST_MM
    for _ in range(_HALVINGS):
        width_mm = (least + most) / 2
        least, most = (width_mm, most) if _is_visible(_corners(width_mm), table, lens) else (least, width_mm)
    return least, least * MAT_HEIGHT_MM / MAT_WIDTH_MM


def _corners(width_mm: float) -> OutlineMm:
    x_mm, y_mm = width_mm / 2, width_mm / 2 * MAT_HEIGHT_MM / MAT_WIDTH_MM
    return ((-x_mm, y_mm), (x_mm, y_mm), (x_mm, -y_mm), (-x_mm, -y_mm))


def _is_visible(outline: OutlineMm, table: Table, lens: Lens) -> bool:
    points = _in_picture(outline, table, lens)
    is_inside = bool(((points >= 0) & (points < (lens.width_px, lens.height_px))).all())
    # Distortion can map points far outside the picture into it, as can projection of points behind the camera.
    return is_inside and bool(np.allclose(table.tops_to_table(points, lens), outline, atol=1.0))


def _in_picture(outline: OutlineMm, table: Table, lens: Lens) -> Points:
    return table.to_picture(np.array(outline, np.float64), lens, height_mm=table.thickness_mm)


def _on_table(zone: EditableZone, table: Table, lens: Lens) -> OutlineMm:
    """Return the outline of a drawn zone in millimetres.

    Raises:
        RefusedError: If it has too few or too many corners, its edges cross, or a corner is not on the table.
    """
    if not 3 <= len(zone.corners_px) <= MAX_CORNERS:
        raise RefusedError(phrase("{zone}: use 3 to {most} corners", zone=zone_name(zone.name), most=MAX_CORNERS))
    drawn = np.array(zone.corners_px, np.float64)
    if _crosses_itself(drawn):
        raise RefusedError(phrase("{zone}: its edges cross each other", zone=zone_name(zone.name)))
    flat = table.tops_to_table(drawn, lens)
    if not _is_before_camera(flat, table) or float(np.abs(flat).max()) > _FARTHEST_MM:
        raise RefusedError(phrase("{zone}: a corner is off the table", zone=zone_name(zone.name)))
    return tuple((float(x), float(y)) for x, y in flat)


def _is_before_camera(flat: Points, table: Table) -> bool:
    """Return True if all points, at the height of tile tops, are in front of the camera.

    Pixels above the horizon map to points behind the camera.
    """
    spots = np.column_stack([flat, np.full(len(flat), table.thickness_mm)])
    depth_mm = spots @ np.array(table.axes).reshape(3, 3)[:, 2] + table.origin_mm[2]
    return bool(np.isfinite(depth_mm).all() and (depth_mm > 0).all())


def _crosses_itself(corners: Points) -> bool:
    """Return True if two edges that are not adjacent cross."""
    count = len(corners)
    edges = [(corners[at], corners[(at + 1) % count]) for at in range(count)]
    return any(
        _cross(*edges[first], *edges[second])
        for first in range(count)
        for second in range(first + 2, count)
        if (second + 1) % count != first
    )


def _cross(a: Points, b: Points, c: Points, d: Points) -> bool:
    """Return True if the segment from a to b crosses the one from c to d."""

    def side(p: Points, q: Points, r: Points) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
