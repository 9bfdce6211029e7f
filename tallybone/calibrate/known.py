"""Describe a calibration and its accuracy in sentences for terminal and page."""

from __future__ import annotations

import math
from collections.abc import Iterable

from calibration.knock import KnockCalibration
from calibration.lens.lens import Lens, LensSource
from calibration.sheets.prints import BLOCKS
from calibration.table.table import Table, TableSource
from calibration.table.zones import ZoneSource, show_zone
from calibration.tiles.tile_set import LearnedSet
from engine.phrases import Phrase, listed, phrase
from tallybone.store.calibration_file import Calibration, LightKept

# Maximum mean corner error of a good lens. With more, the lens is usable, but the board was bent or a picture was
# blurred.
GOOD_ERROR_PX = 0.3
HALF_TABLE_MM = 400.0
PARTS = ("lens", "table", "zones", "light", "knock", "set")
# Minimum share of a zone in the picture. With less, tiles in the zone may be missed.
ENOUGH_SEEN = 0.7
_ZONES = {
    ZoneSource.MAT: phrase("the mat"),
    ZoneSource.BLOCKS: phrase("the corner blocks"),
    ZoneSource.SIZE: phrase("the size of the table"),
    ZoneSource.GIVEN: phrase("drawing or command line"),
}
_NAMES = {"boneyard": phrase("boneyard"), "layout": phrase("layout")}


def calibrated_parts(calibration: Calibration) -> tuple[str, ...]:
    """Return the names of the parts that are calibrated."""
    return tuple(name for name in PARTS if getattr(calibration, name) is not None)


def calibration_texts(calibration: Calibration) -> tuple[Phrase, ...]:
    """Return sentences on the accuracy of each part, also on missing ones except the tile set, and on hidden zones."""
    return (
        _about_lens(calibration.lens),
        _about_table(calibration.table),
        *zone_text(calibration),
        _about_light(calibration.light),
        phrase("Knocks: not calibrated.") if calibration.knock is None else about_knock(calibration.knock),
        *(() if calibration.set is None else (_about_set(calibration.set),)),
    )


def zone_text(calibration: Calibration) -> tuple[Phrase, ...]:
    """Return a sentence on the zones, and one on each zone that is not sufficiently visible."""
    zones, table, lens = calibration.zones, calibration.table, calibration.lens
    if zones is None:
        return (phrase("Zones: none."),)
    names = zone_names(name for name, _ in zones.named())
    summary = phrase("Zones (source: {source}): {names}.", source=_ZONES[zones.source], names=names)
    if table is None or lens is None:
        return (summary,)
    visible = ((name, show_zone(outline, table, lens).visible) for name, outline in zones.named())
    return (summary, *(_hidden(name, share) for name, share in visible if share < ENOUGH_SEEN))


def zone_names(names: Iterable[str]) -> Phrase:
    """Return a list of zone names for users."""
    return listed(zone_name(name) for name in names)


def zone_name(name: str) -> Phrase:
    """Return the name that users see for a zone with a name from `TableZones.named`."""
    return _NAMES.get(name) or phrase("seat {seat}", seat=name.rpartition(" ")[2])


def about_knock(result: KnockCalibration) -> Phrase:
    """Return a sentence on the accuracy of knock detection, or on why the calibration is not used."""
    if result.is_outdated:
        return phrase("Knocks: calibrated with another version of Tallybone, so not used; calibrate them again.")
    return phrase(
        "Knocks: {found} of {knocks} detected, {passed} of {tiles} tile sounds mistaken for knocks. Lowest"
        " confidence of a knock {weakest} %, highest of a tile {likest} %.",
        found=result.found,
        knocks=result.knocks,
        passed=result.passed,
        tiles=result.tiles,
        weakest=f"{100 * result.weakest:.0f}",
        likest=f"{100 * result.likest:.0f}",
    )


def _about_lens(lens: Lens | None) -> Phrase:
    if lens is None:
        return phrase("Lens: not measured; an estimate is used.")
    size = phrase(
        "{width} x {height} pixels, {degrees} degrees wide",
        width=lens.width_px,
        height=lens.height_px,
        degrees=f"{math.degrees(lens.width_rad):.1f}",
    )
    if lens.source is LensSource.KNOWN_CAMERA:
        return phrase("Lens: {size}, from the data sheet. Measuring is more accurate.", size=size)
    if lens.source is LensSource.GUESS or lens.error_px is None:
        return phrase("Lens: {size}, estimated.", size=size)
    is_good = lens.error_px <= GOOD_ERROR_PX
    grade = phrase("good") if is_good else phrase("high: below 0.3 px is good")
    return phrase(
        "Lens: {size}, measured from {views} views, error {error} px ({grade}).",
        size=size,
        views=lens.views,
        error=f"{lens.error_px:.2f}",
        grade=grade,
    )


def _about_table(table: Table | None) -> Phrase:
    if table is None:
        return phrase("Table: not measured.")
    ways = {
        TableSource.MARKERS: phrase("{seen} of {blocks} corner blocks", seen=len(table.marks), blocks=BLOCKS),
        TableSource.TILES: phrase("tiles"),
        TableSource.CORNERS: phrase("its four corners"),
    }
    return phrase(
        "Table: measured from {way}; camera {height} mm above it, tilted by {tilt} degrees. Positions are"
        " accurate to {sure} mm at {from_middle} mm from the centre; tiles are {thick} mm thick.",
        way=ways[table.source],
        height=f"{table.height_mm:.0f}",
        tilt=f"{math.degrees(table.tilt_rad):.1f}",
        sure=f"{max(0.1, table.doubt * HALF_TABLE_MM):.1f}",
        from_middle=f"{HALF_TABLE_MM:.0f}",
        thick=f"{table.thickness_mm:g}",
    )


def _hidden(name: str, share: float) -> Phrase:
    return phrase(
        "Warning: the picture shows only {percent} % of the zone {name}.",
        percent=f"{100 * share:.0f}",
        name=zone_name(name),
    )


def _about_light(light: LightKept | None) -> Phrase:
    if light is None:
        return phrase("Light: not measured.")
    held = {
        True: phrase("locked by the camera"),
        False: phrase("not locked: the camera cannot"),
        None: phrase("from a single picture"),
    }[light.is_held]
    # The warnings are stored as finished text, so they are shown as they are.
    good = listed(light.warnings, " ") if light.warnings else phrase("Good.")
    if light.contrast is None:
        return phrase("Light: {held}. {good}", held=held, good=good)
    low = f"{light.contrast[0]:.0f}"
    return phrase(
        "Light: {held}; pips differ from the face by at least {low} grey levels. {good}", held=held, low=low, good=good
    )


def _about_set(stored: LearnedSet) -> Phrase:
    used = phrase("learned") if stored.weights else phrase("read like any other set")
    return phrase(
        "Tiles: {tiles} of a set to double-{highest}, {used}.",
        tiles=len(stored.tiles),
        highest=stored.max_pips,
        used=used,
    )
