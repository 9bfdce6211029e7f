"""Run `tallybone calibrate zones`: derive the zones of boneyard, layout and seats, or use given ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from calibration.errors import CalibrationError, RefusedError
from calibration.table.table import Table, TableSource
from calibration.table.zones import OutlineMm, TableZones, ZoneSource, zones_of_size, zones_on
from tallybone.calibrate.known import zone_words
from tallybone.calibrate.lens_and_table import lens_for, load_image
from tallybone.calibrate.light import write_drawn
from tallybone.show.over_pictures import draw_zones
from tallybone.store.calibration_file import Calibration, load_calibration, save_calibration
from tallybone.terminal import Output
from vision.errors import VisionError

_ANNOTATED = "zones.png"


@dataclass(frozen=True, slots=True)
class ZonesGiven:
    """Options for zones.

    Attributes:
        seats: Number of seats, 2 to 4. None for the previous number, or 4.
        size_mm: Width and depth of the table, if given, from which the zones are derived even if there are blocks.
        boneyard, layout: Outlines in millimetres from the centre of the table.
        seat_outlines: Outlines that replace or follow the derived ones of seats, each with the seat's number from 0.
    """

    seats: int | None = None
    size_mm: tuple[float, float] | None = None
    boneyard: OutlineMm | None = None
    layout: OutlineMm | None = None
    seat_outlines: tuple[tuple[int, OutlineMm], ...] = ()


def calibrate_zones(
    into: Path,
    given: ZonesGiven,
    *,
    picture: Path | None = None,
    annotate: Path | None = None,
    output: Output | None = None,
) -> int:
    """Derive the zones of a measured table, and store them.

    Args:
        into: Calibration file.
        given: Options for zones.
        picture: Picture of the table to draw the zones on.
        annotate: Folder for that drawing. Nothing is drawn unless both are given.
        output: Output for the result.

    Returns:
        Exit code: 0, or 1 if there are no zones, or they cannot be written.
    """
    output = output or Output("calibrate")
    try:
        before = load_calibration(into)
        if before.table is None:
            raise RefusedError(f"{into}: measure the table first: `tallybone calibrate table PICTURE`")
        zones = _with_given(_derived(before, before.table, given), given)
        after = replace(before, zones=zones)
        save_calibration(after, into)
        for text in zone_words(after):
            output.say(text)
        if picture is not None and annotate is not None:
            image = load_image(picture)
            drawn = draw_zones(image, zones, before.table, lens_for(before.lens, image))
            output.say(f"Drawn into {write_drawn(annotate, _ANNOTATED, drawn)}")
    except (CalibrationError, VisionError, OSError, ValueError) as error:
        return output.complain(error)
    output.say(f"Written to {into}")
    return 0


def _derived(before: Calibration, table: Table, given: ZonesGiven) -> TableZones:
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
        "the table was measured without corner blocks, so its size is unknown: give it, such as --size 800x600, or give"
        " the zones"
    )


def _with_given(zones: TableZones, given: ZonesGiven) -> TableZones:
    if given.boneyard is None and given.layout is None and not given.seat_outlines:
        return zones
    seats = list(zones.seats)
    for seat, outline in sorted(given.seat_outlines, key=lambda numbered: numbered[0]):
        if not 0 <= seat <= len(seats):
            raise RefusedError(f"seat {seat + 1}: there are {len(seats)} seats; define the others first")
        seats[seat : seat + 1] = [outline]
    return TableZones(ZoneSource.GIVEN, tuple(seats), given.boneyard or zones.boneyard, given.layout or zones.layout)
