"""Run `tallybone calibrate print`, `lens`, `table` and `light`: print sheets, and measure lens, table and light."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from calibration import CalibrationError
from calibration.lens.lens import (
    Lens,
    LensSource,
    LensView,
    PiCamera,
    find_view,
    fit_lens,
    guessed_lens,
    guide,
    known_lens,
)
from calibration.sheets.prints import BLOCK_MM, BLOCKS, MARKERS_PER_BLOCK, Paper, draw_prints, format_pdf
from calibration.table.picture import MIN_CONTRAST, LightMeasurement, examine_light, find_corner_marks, outlines_of
from calibration.table.table import (
    Table,
    TableSource,
    TileSize,
    table_from_corners,
    table_from_markers,
    table_from_tiles,
    tile_length_mm,
)
from calibration.table.zones import updated_zones
from hardware.camera.device import Light
from hardware.camera.watched import levels_of
from hardware.part import Clock
from tallybone.calibrate.known import GOOD_ERROR_PX, HALF_TABLE_MM
from tallybone.calibrate.look import AskedScene, CalibrationCamera, open_look, wait_for_picture
from tallybone.files import reason_of
from tallybone.show.reading import draw_light
from tallybone.store.calibration_file import LightKept, load_calibration, save_calibration
from tallybone.terminal import Output, quiet_libraries
from vision import VisionError
from vision.arrays import Image
from vision.image.picture import load_picture
from vision.reading import PointPx, SeenTile

ReadTiles = Callable[[Image], Sequence[SeenTile]]
# Above this error, the user is warned that the paper may not lie flat. With flat paper and a measured lens, the error
# is about 0.2 px.
_FLAT_ERROR_PX = 0.4
# Above this relative difference between measured and true tile length, the print has the wrong scale. Tiles are
# measured to 0.5 %, and a print fitted to the page is off by 3 to 6 %.
_SCALE_DIFFERS = 0.02
_MIN_TILES = 3


@dataclass(frozen=True, slots=True)
class TableGiven:
    """Options for measuring a table.

    Attributes:
        tile: Length and width of a tile in millimetres, or None if unknown.
        ruler_mm: Actual length of the printed 100 mm ruler.
        corners_px: Corners of the table in the picture, clockwise from the top left. Empty if they were not clicked.
        size_mm: Width and depth of the table between *corners_px*. None if unknown.
    """

    tile: tuple[float, float] | None = None
    thickness_mm: float = 10.0
    ruler_mm: float = 100.0
    corners_px: tuple[PointPx, ...] = ()
    size_mm: tuple[float, float] | None = None


def print_sheets(out: Path, *, paper: Paper, players: int, output: Output | None = None) -> int:
    """Write all sheets as a PDF file, and return the exit code."""
    output = output or Output("calibrate")
    sheets = draw_prints(paper, players)
    try:
        out.write_bytes(format_pdf(sheets))
    except OSError as error:
        return output.complain(f"--out {out}: cannot save: {reason_of(error)}")
    output.say(
        f"{out}: {len(sheets)} sheets of {paper.value.capitalize()}. 1: corner blocks to cut out. 2: the board for the"
        " lens. 3 to 11: the mat. Print at 100 % and measure the line of 100 mm."
    )
    return 0


def calibrate_lens(
    pictures: Sequence[Path], into: Path, *, known: PiCamera | None = None, output: Output | None = None
) -> int:
    """Measure a lens from pictures of the board, and store it.

    With *known*, store the nominal lens of that camera instead, for pictures of the size of the first one.

    Returns:
        Exit code: 0, or 1 if it could not be measured or written.
    """
    output = output or Output("calibrate")
    try:
        if known is not None:
            height_px, width_px = load_image(pictures[0]).shape[:2]
            lens = known_lens(known, width_px, height_px)
        else:
            views = [_view(path, output) for path in pictures]
            for instruction in guide(views).instructions():
                output.say(f"Still missing: {instruction}")
            lens = fit_lens(views)
        _print_lens(lens, output)
        before = load_calibration(into)
        # A table measured with another lens is invalid.
        save_calibration(replace(before, lens=lens, table=None), into)
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    if before.table is not None:
        output.say("The table was measured with the previous lens: measure it again.")
    output.say(f"Written to {into}")
    return 0


def calibrate_table(
    picture: Path, into: Path, given: TableGiven, *, read_tiles: ReadTiles | None = None, output: Output | None = None
) -> int:
    """Measure a table by the first available of clicked corners, corner blocks and tiles, and store it.

    Returns:
        Exit code: 0, or 1 if it could not be measured or written.
    """
    output = output or Output("calibrate")
    try:
        image = load_image(picture)
        before = load_calibration(into)
        lens = lens_for(before.lens, image)
        table = _measure_table(image, lens, given, read_tiles or detect_tiles, output)
        zones = None if before.zones is None else updated_zones(before.zones, table)
        # The table is only valid with the lens used to measure it, so a guess is stored as well.
        stored = lens if before.lens is None or before.lens.source is LensSource.GUESS else before.lens
        save_calibration(replace(before, lens=stored, table=table, zones=zones), into)
    except (CalibrationError, VisionError, OSError, ValueError) as error:
        return output.complain(error)
    _print_table(table, lens, output)
    if zones is not None and zones == before.zones:
        output.say("The zones keep their distances from the centre of the table: check them.")
    output.say(f"Written to {into}")
    return 0


def _view(path: Path, output: Output) -> LensView:
    view = find_view(load_image(path))
    text = f"{len(view.corners)} corners of the board" if view.is_useful else "too little of the board is visible"
    output.say(f"{path}: {text}")
    return view


def load_image(path: Path) -> Image:
    """Load a picture, and suppress messages of libraries."""
    with quiet_libraries():
        return load_picture(path)


def lens_for(lens: Lens | None, image: Image) -> Lens:
    """Return the lens scaled to the size of *image*, or a guess if the lens is unknown or itself a guess.

    Raises:
        ValueError: If the lens is known for another aspect ratio.
    """
    height_px, width_px = image.shape[:2]
    if lens is None or lens.source is LensSource.GUESS:
        return guessed_lens(width_px, height_px)
    return lens.at(width_px, height_px)


def _measure_table(image: Image, lens: Lens, given: TableGiven, read_tiles: ReadTiles, output: Output) -> Table:
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
        output.say(f"{len(tiles)} tiles are visible.")
        return table_from_tiles(tiles, lens, size)
    blocks = len({marker.block for marker in markers})
    output.say(
        f"{len(markers)} of {BLOCKS * MARKERS_PER_BLOCK} markers are visible, on {blocks} of {BLOCKS} corner blocks."
    )
    table = table_from_markers(markers, lens, thickness_mm=thickness_mm, print_scale=given.ruler_mm / 100)
    if size is not None:
        _compare_scales(table, lens, size, read_tiles(image), output)
    return table


def _compare_scales(table: Table, lens: Lens, size: TileSize, tiles: Sequence[SeenTile], output: Output) -> None:
    """Compare tile lengths measured by the markers with the true length, and print if the print scale is right."""
    apart = [tile for tile in tiles if not is_on_block(tile, table, lens)]
    if len(apart) < _MIN_TILES:
        output.say(f"Fewer than {_MIN_TILES} tiles are visible, so the scale of the print was not checked.")
        return
    length_mm = tile_length_mm(apart, table, lens)
    text = f"By the markers, {len(apart)} tiles measure {length_mm:.1f} mm and should measure {size.length_mm:.1f} mm"
    if abs(length_mm / size.length_mm - 1) <= _SCALE_DIFFERS:
        output.say(f"{text}: the scale is right.")
        return
    percent = 100 * size.length_mm / length_mm
    output.say(
        f"Warning: {text}. The sheets seem to be printed at {percent:.0f} %. Measure the printed line of 100 mm, then"
        f" print again at 100 % or use --ruler {percent:.0f}."
    )


def is_on_block(tile: SeenTile, table: Table, lens: Lens) -> bool:
    """Return True if a detected tile lies on a corner block, so it is probably a part of the printed block."""
    ((x_mm, y_mm),) = table.tops_to_table(np.array([tile.center_px]), lens).tolist()
    return any(math.dist((x_mm, y_mm), (mark.x_mm, mark.y_mm)) < BLOCK_MM * 0.7 for mark in table.marks)


def _print_lens(lens: Lens, output: Output) -> None:
    text = f"The lens covers {math.degrees(lens.width_rad):.1f} degrees, focal length {lens.focal_px[0]:.0f} px"
    if lens.error_px is None:
        output.say(f"{text}, from its data sheet. Measuring it is more accurate.")
        return
    output.say(
        f"{text}. Mean corner error {lens.error_px:.2f} px in {lens.views} views."
        + (
            ""
            if lens.error_px <= GOOD_ERROR_PX
            else " A good error is below 0.3 px: check that the board is flat and in focus."
        )
    )


def _print_table(table: Table, lens: Lens, output: Output) -> None:
    ways = {
        TableSource.MARKERS: "the corner blocks",
        TableSource.TILES: "the tiles",
        TableSource.CORNERS: "the four corners",
    }
    sure_mm = max(0.1, table.doubt * HALF_TABLE_MM)
    output.say(
        f"Measured from {ways[table.source]}: the camera is {table.height_mm:.0f} mm above the cloth, tilted by"
        f" {math.degrees(table.tilt_rad):.1f} degrees. The scale is accurate to {sure_mm:.1f} mm over"
        f" {HALF_TABLE_MM:.0f} mm. Assumed thickness of tiles: {table.thickness_mm:g} mm."
    )
    if table.source is TableSource.MARKERS and table.error_px > _FLAT_ERROR_PX:
        output.say(
            f"Warning: the markers are {table.error_px:.1f} px off. Check that all paper is flat, and that this is the"
            " camera whose lens was measured, in the same mode."
        )
    if lens.source is not LensSource.MEASURED:
        output.say(
            f"The lens is {'an estimate' if lens.source is LensSource.GUESS else 'that of the data sheet'}: positions"
            " may be some millimetres off. `tallybone calibrate lens` removes the error."
        )


def detect_tiles(image: Image) -> Sequence[SeenTile]:
    """Return the tiles that the shipped reader detects in a picture, without unsure ones."""
    from vision.reader.reader import load_reader

    return load_reader().read(image).without_unsure().tiles


_ANNOTATED = "light.png"


@dataclass(frozen=True, slots=True)
class LightSeen:
    """Light of a picture."""

    found: LightMeasurement
    kept: LightKept


def calibrate_light(
    source: str,
    into: Path,
    *,
    annotate: Path | None = None,
    read_tiles: ReadTiles | None = None,
    clock: Clock = time.monotonic_ns,
    output: Output | None = None,
) -> int:
    """Measure the light of a table and store it.

    Args:
        source: Camera or picture, as for `calibrate.look.open_look`.
        into: Calibration file.
        annotate: Folder for an annotated picture. By default, a picture is written next to the file only if there are
            warnings.
        read_tiles: Detects tiles in a picture, by default with the shipped reader.
        clock: Monotonic clock in nanoseconds.
        output: Output for the result.

    Returns:
        Exit code: 0, or 1 if there are warnings, or the measurement failed.
    """
    output = output or Output("calibrate")
    try:
        before = load_calibration(into)
        with closing(open_look(source, clock)) as look:
            look.present(AskedScene.TILES)
            image = wait_for_picture(look, clock)
            seen = look_at_light(image, (read_tiles or detect_tiles)(image), look)
        save_calibration(replace(before, light=seen.kept), into)
        print_light(seen, output)
        if annotate is not None or seen.found.warnings:
            output.say(
                f"Drawn into {write_drawn(annotate or into.with_suffix(''), _ANNOTATED, draw_light(image, seen.found))}"
            )
    except (CalibrationError, VisionError, OSError) as error:
        return output.complain(error)
    output.say(f"Written to {into}")
    return 1 if seen.found.warnings else 0


def look_at_light(image: Image, tiles: Sequence[SeenTile], look: CalibrationCamera | None) -> LightSeen:
    """Measure the light of a picture. *look* is the camera that took it, or None."""
    found = examine_light(image, outlines_of(tiles, find_corner_marks(image)))
    light = Light.FREE if look is None else look.light
    is_held = {Light.HELD: True, Light.CANNOT_BE_HELD: False}.get(light)
    return LightSeen(found, LightKept(levels_of(image), found.contrast, is_held, found.warnings))


def print_light(seen: LightSeen, output: Output) -> None:
    """Print the state of the light, and its warnings."""
    if seen.kept.is_held is not None:
        output.say(
            "Exposure and white balance are locked; a game locks them in the same way."
            if seen.kept.is_held
            else "This camera cannot lock exposure and white balance: a hand over the table changes its colours."
        )
    if seen.kept.contrast is not None:
        low, high = seen.kept.contrast
        output.say(
            f"{len(seen.found.samples)} tiles and markers: {low:.0f} to {high:.0f} grey levels between dark and bright"
            f" ({MIN_CONTRAST:.0f} are needed)."
        )
    else:
        output.say("No tiles or markers are visible: lay tiles face up all over the table to check their contrast.")
    if seen.found.is_bright:
        output.say(
            "Most tiles are partly overexposed. They can be read, but less light or exposure would reveal glare."
        )
    for warning in seen.found.warnings:
        output.say(f"Warning: {warning}")
    if not seen.found.warnings:
        output.say("The light is good.")


def write_drawn(folder: Path, name: str, image: Image) -> Path:
    """Write a picture as PNG, and return its path.

    Raises:
        OSError: If the picture cannot be encoded or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    done, data = cv2.imencode(".png", image)
    if not done:
        raise OSError(f"{path}: it cannot be encoded")
    path.write_bytes(data.tobytes())
    return path
