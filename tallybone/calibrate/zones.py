"""Run `tallybone calibrate zones`: place boneyard, layout and seats, or take them as drawn by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.errors import CalibrationError, RefusedError
from calibration.lens import Lens
from calibration.mat import MAT_HEIGHT_MM, MAT_WIDTH_MM
from calibration.table import Table, TableSource
from calibration.zone_view import seen_part
from calibration.zones import Outline, TableZones, ZoneSource, zones_of_size, zones_on
from engine.phrases import phrase
from tallybone.calibrate.guide.steps import PointPx, points_of
from tallybone.calibrate.lens_and_table import Talk, lens_for, load_image, zone_name, zone_words
from tallybone.show.over_pictures import draw_zones
from tallybone.store.calibration_file import Calibration, load_calibration, save_calibration
from vision.errors import VisionError

_ANNOTATED = "zones.png"

Points = NDArray[np.float64]
MOST_CORNERS = 24
# No table is larger; near the horizon places are farther away than that.
_FARTHEST_MM = 4000.0
# Where a zone is cut off at the border of the picture, corners that lie nearly in one line are left out.
_LINE_MM = 3.0
_HALVINGS = 12


@dataclass(frozen=True, slots=True)
class ZonesGiven:
    """What is said about zones.

    Attributes:
        seats: How many there are, 2 to 4; None for as many as before, or 4.
        size_mm: Width and depth of the table, where no blocks say them.
        boneyard, layout: Their corners, in millimetres from the middle of the table.
        seat_outlines: The same of single seats, by their numbers from 0.
    """

    seats: int | None = None
    size_mm: tuple[float, float] | None = None
    boneyard: Outline | None = None
    layout: Outline | None = None
    seat_outlines: tuple[tuple[int, Outline], ...] = ()


def calibrate_zones(
    into: Path,
    given: ZonesGiven,
    *,
    picture: Path | None = None,
    annotate: Path | None = None,
    talk: Talk | None = None,
) -> int:
    """Find the zones of a measured table and keep them.

    Args:
        into: The calibration file.
        given: What is said.
        picture: Of the table, to draw the zones on.
        annotate: The folder for that.
        talk: Where is said what was found.

    Returns:
        The exit code: 0, or 1 if there are none, or nothing can be written.
    """
    talk = talk or Talk()
    try:
        before = load_calibration(into)
        if before.table is None:
            raise RefusedError(f"{into}: measure the table first: `tallybone calibrate table PICTURE`")
        zones = _with_given(_found(before, before.table, given), given)
        after = replace(before, zones=zones)
        save_calibration(after, into)
        for words in zone_words(after):
            talk.say(words)
        if picture is not None and annotate is not None:
            talk.say(f"Drawn into {_annotated(picture, annotate, after)}")
    except (CalibrationError, VisionError, OSError, ValueError) as error:
        return talk.complain(str(error))
    talk.say(f"Written to {into}")
    return 0


def _found(before: Calibration, table: Table, given: ZonesGiven) -> TableZones:
    seats = given.seats or (len(before.zones.seats) if before.zones is not None else 0) or 4
    if given.size_mm is not None:
        return zones_of_size(*given.size_mm, seats)
    if table.source is TableSource.MARKERS:
        return zones_on(table.marks, seats)
    if before.zones is not None and given.seats is None:
        return before.zones
    if given.boneyard is not None or given.layout is not None or given.seat_outlines:
        return TableZones(ZoneSource.GIVEN)
    raise RefusedError(
        "the table was measured without corner blocks, so nobody knows where it ends: say its size, such as"
        " --size 800x600, or the zones themselves"
    )


def _with_given(zones: TableZones, given: ZonesGiven) -> TableZones:
    if given.boneyard is None and given.layout is None and not given.seat_outlines:
        return zones
    seats = list(zones.seats)
    for seat, outline in sorted(given.seat_outlines, key=lambda one: one[0]):
        if not 0 <= seat <= len(seats):
            raise RefusedError(f"seat {seat + 1}: there are {len(seats)} seats; say the others first")
        seats[seat : seat + 1] = [outline]
    return TableZones(ZoneSource.GIVEN, tuple(seats), given.boneyard or zones.boneyard, given.layout or zones.layout)


def _annotated(picture: Path, folder: Path, calibration: Calibration) -> Path:
    """Draw the zones over a picture, and return where that is."""
    image = load_image(picture)
    assert calibration.table is not None
    assert calibration.zones is not None
    drawn = draw_zones(image, calibration.zones, calibration.table, lens_for(calibration.lens, image))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _ANNOTATED
    done, data = cv2.imencode(".png", drawn)
    assert done
    path.write_bytes(data.tobytes())
    return path


@dataclass(frozen=True, slots=True)
class EditableZone:
    """A zone as it is drawn: its name as `TableZones.named` has it, and its corners in the picture."""

    name: str
    corners_px: tuple[PointPx, ...]


def editable(zones: TableZones, table: Table, lens: Lens) -> tuple[EditableZone, ...]:
    """Return zones with the corners that can be moved: of one that reaches out of the picture, the part in it."""
    drawn = []
    for name, outline in zones.named():
        part = seen_part(outline, table, lens)
        if part != outline and len(part) > 2:
            flat = np.array(part, np.float32).reshape(-1, 1, 2)
            part = tuple((float(x), float(y)) for x, y in cv2.approxPolyDP(flat, _LINE_MM, closed=True)[:, 0])
        seen = () if len(part) < 3 else points_of(_in_picture(part, table, lens))
        drawn.append(EditableZone(name, seen))
    return tuple(drawn)


def with_zones(zones: TableZones, drawn: tuple[EditableZone, ...], table: Table, lens: Lens) -> TableZones:
    """Return zones of which some were drawn; the others stay as they are, also out of the picture.

    Raises:
        RefusedError: If a zone is none; says which and why.
    """
    known = [name for name, _ in zones.named()]
    for one in drawn:
        if one.name not in known:
            raise RefusedError(f"there is no zone {one.name}")
    given = {one.name: _on_table(one, table, lens) for one in drawn}
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
    """Return width and depth of the largest rectangle around the middle of the table that the picture shows."""
    least, most = 0.0, _FARTHEST_MM
    for _ in range(_HALVINGS):
        width_mm = (least + most) / 2
        least, most = (width_mm, most) if _is_seen(_corners(width_mm), table, lens) else (least, width_mm)
    return least, least * MAT_HEIGHT_MM / MAT_WIDTH_MM


def _corners(width_mm: float) -> Outline:
    x_mm, y_mm = width_mm / 2, width_mm / 2 * MAT_HEIGHT_MM / MAT_WIDTH_MM
    return ((-x_mm, y_mm), (x_mm, y_mm), (x_mm, -y_mm), (-x_mm, -y_mm))


def _is_seen(outline: Outline, table: Table, lens: Lens) -> bool:
    seen = _in_picture(outline, table, lens)
    is_inside = bool(((seen >= 0) & (seen < (lens.width_px, lens.height_px))).all())
    # Far outside of it a bent lens, or a point behind the camera, comes in from the other side.
    return is_inside and bool(np.allclose(table.tops_to_table(seen, lens), outline, atol=1.0))


def _in_picture(outline: Outline, table: Table, lens: Lens) -> Points:
    return table.to_picture(np.array(outline, np.float64), lens, height_mm=table.thickness_mm)


def _on_table(zone: EditableZone, table: Table, lens: Lens) -> Outline:
    """Return where a drawn zone lies.

    Raises:
        RefusedError: If that is no area of the table.
    """
    if not 3 <= len(zone.corners_px) <= MOST_CORNERS:
        raise RefusedError(
            phrase("{zone}: 3 to {most} corners are possible", zone=zone_name(zone.name), most=MOST_CORNERS)
        )
    drawn = np.array(zone.corners_px, np.float64)
    if _crosses_itself(drawn):
        raise RefusedError(phrase("{zone}: its edges cross each other", zone=zone_name(zone.name)))
    flat = table.tops_to_table(drawn, lens)
    if not _is_before_camera(flat, table) or float(np.abs(flat).max()) > _FARTHEST_MM:
        raise RefusedError(phrase("{zone}: a corner does not lie on the table", zone=zone_name(zone.name)))
    return tuple((float(x), float(y)) for x, y in flat)


def _is_before_camera(flat: Points, table: Table) -> bool:
    """Return whether places on the tile tops are all below the horizon: a line of sight above it meets them behind."""
    spots = np.column_stack([flat, np.full(len(flat), table.thickness_mm)])
    depth_mm = spots @ np.array(table.axes).reshape(3, 3)[:, 2] + table.origin_mm[2]
    return bool(np.isfinite(depth_mm).all() and (depth_mm > 0).all())


def _crosses_itself(corners: Points) -> bool:
    """Return whether two edges that are no neighbours meet."""
    count = len(corners)
    edges = [(corners[at], corners[(at + 1) % count]) for at in range(count)]
    return any(
        _cross(*edges[one], *edges[other])
        for one in range(count)
        for other in range(one + 2, count)
        if (other + 1) % count != one
    )


def _cross(a: Points, b: Points, c: Points, d: Points) -> bool:
    """Return whether the line from a to b crosses that from c to d."""

    def side(p: Points, q: Points, r: Points) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
