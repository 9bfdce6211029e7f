"""Run `tallybone calibrate print, lens, table`: print sheets, measure lens and table, report accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from calibration.errors import CalibrationError
from calibration.lens.fit import fit_lens
from calibration.lens.guide import guide
from calibration.lens.model import Lens, LensSource, guessed_lens, known_lens
from calibration.lens.raspberry_pi import PiCamera
from calibration.lens.views import LensView, find_view
from calibration.sheets.boards import BLOCK_MM, BLOCKS, MARKERS_PER_BLOCK
from calibration.sheets.pdf import format_pdf
from calibration.sheets.prints import draw_prints
from calibration.sheets.sheet import Paper
from calibration.table.corner_marks import find_corner_marks
from calibration.table.fit import TileSize, table_from_corners, table_from_markers, table_from_tiles, tile_length_mm
from calibration.table.table import Table, TableSource
from calibration.table.zones import updated_zones
from tallybone.calibrate.known import GOOD_ERROR_PX, HALF_TABLE_MM
from tallybone.files import reason_of
from tallybone.store.calibration_file import load_calibration, save_calibration
from tallybone.terminal import Output, quiet_libraries
from vision.arrays import Image
from vision.errors import VisionError
from vision.image.picture import load_picture
from vision.reading import PointPx, SeenTile

ReadTiles = Callable[[Image], Sequence[SeenTile]]
# Flat markers seen through a measured lens lie within 0.2 px.
_FLAT_ERROR_PX = 0.4
# Tiles are measured to about half a percent; a print fitted to the page is 3 to 6 % off.
_SCALE_DIFFERS = 0.02
_LEAST_TILES = 3


@dataclass(frozen=True, slots=True)
class TableGiven:
    """Facts about a table beside its picture.

    Attributes:
        tile: Size of the tiles on it; None where that is not known.
        thickness_mm: Of a tile.
        ruler_mm: True length of the ruler of 100 mm on the printed sheet.
        corners_px: The table's corners, clockwise from the top left, or none.
        size_mm: Width and depth of the table between these corners.
    """

    tile: tuple[float, float] | None = None
    thickness_mm: float = 10.0
    ruler_mm: float = 100.0
    corners_px: tuple[PointPx, ...] = ()
    size_mm: tuple[float, float] | None = None


def print_sheets(out: Path, *, paper: Paper, players: int, output: Output | None = None) -> int:
    """Write all sheets as a PDF; return the exit code."""
    output = output or Output("calibrate")
    sheets = draw_prints(paper, players)
    try:
        out.write_bytes(format_pdf(sheets))
    except OSError as error:
        return output.complain(f"--out {out}: it cannot be written: {reason_of(error)}")
    output.say(
        f"{out}: {len(sheets)} sheets of {paper.value.capitalize()}. 1: corner blocks to cut out. 2: the board for the"
        " lens. 3 to 11: the mat. Print at 100 % and measure the line of 100 mm."
    )
    return 0


def calibrate_lens(
    pictures: Sequence[Path], into: Path, *, known: PiCamera | None = None, output: Output | None = None
) -> int:
    """Measure a lens from pictures of the board, or take that of a known camera for pictures like the first.

    Returns:
        The exit code: 0, or 1 if it could not be measured or written.
    """
    output = output or Output("calibrate")
    try:
        if known is not None:
            height_px, width_px = load_image(pictures[0]).shape[:2]
            lens = known_lens(known, width_px, height_px)
        else:
            views = [_view(path, output) for path in pictures]
            for want in guide(views).instructions():
                output.say(f"Still missing: {want}")
            lens = fit_lens(views)
        _print_lens(lens, output)
        before = load_calibration(into)
        # Measurements through another lens do not hold any longer.
        save_calibration(replace(before, lens=lens, table=None), into)
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    if before.table is not None:
        output.say("The table was measured through the lens as it was known before: measure it again.")
    output.say(f"Written to {into}")
    return 0


def calibrate_table(
    picture: Path, into: Path, given: TableGiven, *, read_tiles: ReadTiles | None = None, output: Output | None = None
) -> int:
    """Measure a table from a picture by clicked corners, corner blocks or tiles, whichever there are, in this order.

    Returns:
        The exit code: 0, or 1 if it could not be measured or written.
    """
    output = output or Output("calibrate")
    try:
        image = load_image(picture)
        before = load_calibration(into)
        lens = lens_for(before.lens, image)
        table = _measured(image, lens, given, read_tiles or shipped_eye, output)
        zones = None if before.zones is None else updated_zones(before.zones, table)
        # Places are the same only through the lens that they were measured through, also where that is a guess.
        kept = lens if before.lens is None or before.lens.source is LensSource.GUESS else before.lens
        save_calibration(replace(before, lens=kept, table=table, zones=zones), into)
    except (CalibrationError, VisionError, OSError, ValueError) as error:
        return output.complain(error)
    _print_table(table, lens, output)
    if zones is not None and zones == before.zones:
        output.say("The zones lie as they did before, from the middle of the table: look at them.")
    output.say(f"Written to {into}")
    return 0


def _view(path: Path, output: Output) -> LensView:
    view = find_view(load_image(path))
    seen = f"{len(view.corners)} corners of the board" if view.is_useful else "too little of the board is seen"
    output.say(f"{path}: {seen}")
    return view


def load_image(path: Path) -> Image:
    """Return a picture; remarks of libraries are swallowed."""
    with quiet_libraries():
        return load_picture(path)


def lens_for(lens: Lens | None, image: Image) -> Lens:
    """Return the lens for pictures of this size; a guess where it is not known."""
    height_px, width_px = image.shape[:2]
    if lens is None or lens.source is LensSource.GUESS:
        return guessed_lens(width_px, height_px)
    return lens.at(width_px, height_px)


def _measured(image: Image, lens: Lens, given: TableGiven, read_tiles: ReadTiles, output: Output) -> Table:
    thickness_mm = given.thickness_mm
    if given.corners_px:
        width_mm, depth_mm = given.size_mm or (0.0, 0.0)
        return table_from_corners(
            given.corners_px, lens, width_mm=width_mm, depth_mm=depth_mm, thickness_mm=thickness_mm
        )
    markers = find_corner_marks(image)
    size = None if given.tile is None else TileSize(*given.tile, thickness_mm)
    if not markers and size is not None:
        tiles = read_tiles(image)
        output.say(f"{len(tiles)} tiles are seen.")
        return table_from_tiles(tiles, lens, size)
    output.say(
        f"{len(markers)} of {BLOCKS * MARKERS_PER_BLOCK} markers are seen, of {len({one.block for one in markers})} of"
        f" {BLOCKS} corner blocks."
    )
    table = table_from_markers(markers, lens, thickness_mm=thickness_mm, print_scale=given.ruler_mm / 100)
    if size is not None:
        _compare_scales(table, lens, size, read_tiles(image), output)
    return table


def _compare_scales(table: Table, lens: Lens, size: TileSize, tiles: Sequence[SeenTile], output: Output) -> None:
    """Print whether tiles are as long by the markers as they should be: else the print has another scale."""
    apart = [tile for tile in tiles if not is_on_block(tile, table, lens)]
    if len(apart) < _LEAST_TILES:
        output.say(f"Fewer than {_LEAST_TILES} tiles are seen, so the scale of the print is not checked.")
        return
    length_mm = tile_length_mm(apart, table, lens)
    said = f"By the markers {len(apart)} tiles are {length_mm:.1f} mm long, and should be {size.length_mm:.1f} mm"
    if abs(length_mm / size.length_mm - 1) <= _SCALE_DIFFERS:
        output.say(f"{said}: the scale is right.")
        return
    percent = 100 * size.length_mm / length_mm
    output.say(
        f"Attention: {said}. The sheets seem to be printed at {percent:.0f} %. Measure the printed line of 100 mm, and"
        f" print again at 100 %, or say --ruler {percent:.0f}."
    )


def is_on_block(tile: SeenTile, table: Table, lens: Lens) -> bool:
    """Return whether an apparent tile is two squares of a corner block."""
    ((x_mm, y_mm),) = table.tops_to_table(np.array([tile.center_px]), lens).tolist()
    return any(math.dist((x_mm, y_mm), (mark.x_mm, mark.y_mm)) < BLOCK_MM * 0.7 for mark in table.marks)


def _print_lens(lens: Lens, output: Output) -> None:
    said = f"The lens sees {math.degrees(lens.width_rad):.1f} degrees across, focal length {lens.focal_px[0]:.0f} px"
    if lens.error_px is None:
        output.say(f"{said}, as its data sheet says. Measuring it is more exact.")
        return
    output.say(
        f"{said}. Corners lie {lens.error_px:.2f} px from where they should, in {lens.views} views."
        + ("" if lens.error_px <= GOOD_ERROR_PX else " Below 0.3 px would be good: is the board flat and in focus?")
    )


def _print_table(table: Table, lens: Lens, output: Output) -> None:
    ways = {
        TableSource.MARKERS: "the corner blocks",
        TableSource.TILES: "the tiles",
        TableSource.CORNERS: "the four corners",
    }
    sure_mm = max(0.1, table.doubt * HALF_TABLE_MM)
    output.say(
        f"Measured by {ways[table.source]}: the camera is {table.height_mm:.0f} mm over the cloth, tilted by"
        f" {math.degrees(table.tilt_rad):.1f} degrees. The scale is sure to {sure_mm:.1f} mm over"
        f" {HALF_TABLE_MM:.0f} mm. Tiles are taken to be {table.thickness_mm:g} mm thick."
    )
    if table.source is TableSource.MARKERS and table.error_px > _FLAT_ERROR_PX:
        output.say(
            f"Attention: the markers lie {table.error_px:.1f} px from where they should. Is all paper flat, and is this"
            " the camera whose lens was measured, in the same mode?"
        )
    if lens.source is not LensSource.MEASURED:
        output.say(
            f"The lens is {'a guess' if lens.source is LensSource.GUESS else 'that of the data sheet'}: places may be"
            " some millimetres off. `tallybone calibrate lens` makes them exact."
        )


def shipped_eye(image: Image) -> Sequence[SeenTile]:
    """Return the tiles that the shipped reader finds in a picture."""
    from vision.reader.reader import load_reader

    return load_reader().read(image).without_unsure().tiles
