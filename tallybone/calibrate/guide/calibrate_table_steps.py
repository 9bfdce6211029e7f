"""The step of the guide that finds the table by what lies on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibration.boards import BLOCKS, MARKERS_PER_BLOCK
from calibration.corner_marks import SeenMarker, find_corner_marks
from calibration.errors import RefusedError
from calibration.lens import Lens
from calibration.table import Table
from calibration.table_fit import TileSize, table_from_markers, table_from_tiles
from calibration.zones import zones_anew
from engine.phrases import phrase
from tallybone.calibrate.guide.steps import GO_ON, Choice, Drawn, Kind, LookStep, Result, StepName, points_of
from tallybone.calibrate.lens_and_table import HALF_TABLE_MM, ReadTiles, TableGiven, lens_for
from tallybone.calibrate.look import Image, Scene
from tallybone.store.calibration_file import Calibration
from vision.reading import Tile

_FLAT_ERROR_PX = 1.0
# Lines over the result, by which anybody sees that the table was understood.
_GRID_MM, _GRID_STEP_MM = 100.0, 20.0


class TableStep(LookStep):
    """Looks for corner blocks or the mat, or for tiles of known size, and measures where the table is."""

    name, scene = StepName.TABLE, Scene.TABLE
    choices = (Choice(GO_ON, phrase("measure")),)

    def __init__(self, before: Calibration, given: TableGiven, read_tiles: ReadTiles) -> None:
        """Measure with the lens that is known, or a guess; *given* says how large tiles are."""
        self._before, self._given, self._read_tiles = before, given, read_tiles
        self._image: Image | None = None
        self._markers: tuple[SeenMarker, ...] = ()

    @property
    def todo(self) -> tuple[str, ...]:
        """What to lay down."""
        lay = phrase(
            "Lay the mat on the table, or a corner block near each corner, upright as seen from the first seat."
        )
        other = () if self._given.tile is None else (phrase("Without them, spread tiles all over the table."),)
        return (lay, *other, phrase("Take your hands away."))

    @property
    def seen(self) -> tuple[str, ...]:
        """Which blocks there are."""
        blocks = len({one.block for one in self._markers})
        said = phrase(
            "{seen} of {markers} markers, {blocks} of {all} corner blocks.",
            seen=len(self._markers),
            markers=BLOCKS * MARKERS_PER_BLOCK,
            blocks=blocks,
            all=BLOCKS,
        )
        return (said,)

    @property
    def drawn(self) -> tuple[Drawn, ...]:  # type: ignore[override]  # here it depends on what was seen
        """The markers that are seen."""
        return tuple(Drawn(Kind.MARKER, points_of(one.corners_px)) for one in self._markers)

    def see(self, image: Image) -> None:
        """Look for the blocks."""
        self._image, self._markers = image, find_corner_marks(image)

    def result(self) -> Result:
        """Return the table, and zones that are refreshed."""
        if self._image is None:
            raise RefusedError(phrase("the camera has given no picture yet"))
        before, given = self._before, self._given
        lens = lens_for(before.lens, self._image)
        tiles: Sequence[Tile] = ()
        if not self._markers and given.tile is not None:
            size = TileSize(*given.tile, given.thickness_mm)
            tiles = self._read_tiles(self._image)
            table = table_from_tiles(tiles, lens, size)
        else:
            scale = given.ruler_mm / 100
            table = table_from_markers(self._markers, lens, thickness_mm=given.thickness_mm, print_scale=scale)
        zones = None if before.zones is None else zones_anew(before.zones, table)
        blocks = len({one.block for one in self._markers})
        few = phrase("Only {seen} of {all} corner blocks are seen.", seen=blocks, all=BLOCKS)
        warnings = [few] if 0 < blocks < BLOCKS else []
        if table.error_px > _FLAT_ERROR_PX and self._markers:
            warnings.append(phrase("Markers lie {px} px off: is the paper flat?", px=f"{table.error_px:.1f}"))
        found = (*self.drawn, *(Drawn(Kind.TILE, points_of(tile.corners_px)) for tile in tiles), *_grid(table, lens))
        # A table measured with a guess keeps the guess: places are the same with it.
        return Result(replace(before, lens=lens, table=table, zones=zones), _about(table), tuple(warnings), found)


def _about(table: Table) -> str:
    sure_mm = max(0.1, table.doubt * HALF_TABLE_MM)
    return phrase(
        "{height} mm below the camera, tilted by {tilt} degrees, places sure to {sure} mm",
        height=f"{table.height_mm:.0f}",
        tilt=f"{np.degrees(table.tilt_rad):.1f}",
        sure=f"{sure_mm:.1f}",
    )


def _grid(table: Table, lens: Lens) -> tuple[Drawn, ...]:
    """Return lines every 10 cm over the table between its corner blocks, or its middle where there are none."""
    half_mm = HALF_TABLE_MM / 2
    xs = [mark.x_mm for mark in table.marks] or [-half_mm, half_mm]
    ys = [mark.y_mm for mark in table.marks] or [-half_mm, half_mm]
    lines = []
    for at_mm in _steps(min(xs), max(xs), _GRID_MM):
        lines.append([(at_mm, y_mm) for y_mm in _steps(min(ys), max(ys), _GRID_STEP_MM)])
    for at_mm in _steps(min(ys), max(ys), _GRID_MM):
        lines.append([(x_mm, at_mm) for x_mm in _steps(min(xs), max(xs), _GRID_STEP_MM)])
    return tuple(Drawn(Kind.LINE, points_of(table.to_picture(np.array(line), lens))) for line in lines if len(line) > 1)


def _steps(least: float, most: float, step: float) -> list[float]:
    """Return the multiples of a step between two numbers."""
    return [step * at for at in range(int(np.ceil(least / step)), int(np.floor(most / step)) + 1)]
