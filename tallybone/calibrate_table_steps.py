"""The steps of the guide that find the table by what lies on it, and its zones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from calibration.boards import BLOCKS, MARKERS_PER_BLOCK
from calibration.corner_marks import SeenMarker, find_corner_marks
from calibration.errors import RefusedError
from calibration.table_fit import TileSize, table_from_markers, table_from_tiles
from calibration.zone_view import show_zone
from calibration.zones import TableZones, zones_anew, zones_on
from tallybone.calibrate_command import ReadTiles, TableGiven, lens_for
from tallybone.calibrate_light import write_drawn
from tallybone.calibrate_look import Image, Scene
from tallybone.calibrate_steps import LookStep, Result, StepName
from tallybone.calibration_file import Calibration
from tallybone.zone_drawing import draw_zones

_ENOUGH = 0.7
_FLAT_ERROR_PX = 1.0


class TableStep(LookStep):
    """Looks for corner blocks or the mat, or for tiles of known size, and measures where the table is."""

    name, scene = StepName.TABLE, Scene.TABLE
    keys = "Enter: measure"

    def __init__(self, before: Calibration, given: TableGiven, read_tiles: ReadTiles) -> None:
        """Measure with the lens that is known, or a guess; *given* says how large tiles are."""
        self._before, self._given, self._read_tiles = before, given, read_tiles
        self._image: Image | None = None
        self._markers: tuple[SeenMarker, ...] = ()

    @property
    def todo(self) -> tuple[str, ...]:
        """What to lay down."""
        said = "Lay the mat on the table, or a corner block near each corner, upright as seen from the first seat."
        other = "" if self._given.tile is None else " Without them, spread tiles all over the table."
        return (f"{said}{other} Take your hands away, then press Enter.",)

    @property
    def seen(self) -> tuple[str, ...]:
        """Which blocks there are."""
        blocks = len({one.block for one in self._markers})
        return (f"{len(self._markers)} of {BLOCKS * MARKERS_PER_BLOCK} markers, {blocks} of {BLOCKS} corner blocks.",)

    def see(self, image: Image) -> None:
        """Look for the blocks."""
        self._image, self._markers = image, find_corner_marks(image)

    def result(self) -> Result:
        """Return the table, and zones that are refreshed."""
        if self._image is None:
            raise RefusedError("the camera has given no picture yet")
        before, given = self._before, self._given
        lens = lens_for(before.lens, self._image)
        if not self._markers and given.tile is not None:
            size = TileSize(*given.tile, given.thickness_mm)
            table = table_from_tiles(self._read_tiles(self._image), lens, size)
        else:
            scale = given.ruler_mm / 100
            table = table_from_markers(self._markers, lens, thickness_mm=given.thickness_mm, print_scale=scale)
        zones = None if before.zones is None else zones_anew(before.zones, table)
        blocks = len({one.block for one in self._markers})
        warnings = [f"Only {blocks} of {BLOCKS} corner blocks are seen."] if 0 < blocks < BLOCKS else []
        if table.error_px > _FLAT_ERROR_PX and self._markers:
            warnings.append(f"Markers lie {table.error_px:.1f} px off: is the paper flat?")
        words = f"{table.height_mm:.0f} mm below the camera, tilted by {np.degrees(table.tilt_rad):.1f} degrees"
        # A table measured with a guess keeps the guess: places are the same with it.
        return Result(replace(before, lens=lens, table=table, zones=zones), words, tuple(warnings))


class ZonesStep(LookStep):
    """Proposes zones for a number of seats."""

    name, scene = StepName.ZONES, Scene.TABLE
    keys = "2 3 4: so many seats. Enter: keep them"

    def __init__(self, before: Calibration, seats: int, folder: Path) -> None:
        """Begin with so many seats; the picture is drawn into *folder*."""
        self._before, self._folder = before, folder
        self._image: Image | None = None
        self._seats = seats

    @property
    def todo(self) -> tuple[str, ...]:
        """What is decided."""
        return ("How many seats are there at most? Tiles to draw and open hands are seen in their zones.",)

    @property
    def seen(self) -> tuple[str, ...]:
        """Which zones there are."""
        try:
            zones = self._zones()
        except RefusedError as error:
            return (f"{self._seats} seats: {error}.",)
        hidden = self._hidden(zones)
        said = f"{self._seats} seats, by the {zones.source.value}: {', '.join(name for name, _ in zones.named())}."
        return (said, *hidden)

    def see(self, image: Image) -> None:
        """Keep it, to draw on."""
        self._image = image

    def pressed(self, key: str) -> None:
        """Take another number of seats."""
        if key in "234":
            self._seats = int(key)

    def result(self) -> Result:
        """Return the zones."""
        zones = self._zones()
        after = replace(self._before, zones=zones)
        words = f"{len(zones.seats)} seats, by the {zones.source.value}"
        if self._image is not None and after.table is not None:
            drawn = draw_zones(self._image, zones, after.table, lens_for(after.lens, self._image))
            words += f", drawn into {write_drawn(self._folder, 'zones.png', drawn)}"
        return Result(after, words, self._hidden(zones))

    def _zones(self) -> TableZones:
        table = self._before.table
        if table is None:
            raise RefusedError("the table is not measured, so there is nothing to put zones on")
        if not table.marks:
            raise RefusedError("without corner blocks: say the size with `tallybone calibrate zones --size`")
        return zones_on(table.marks, self._seats)

    def _hidden(self, zones: TableZones) -> tuple[str, ...]:
        table, lens = self._before.table, self._before.lens
        if table is None or lens is None:
            return ()
        shares = [(name, show_zone(outline, table, lens).visible) for name, outline in zones.named()]
        return tuple(
            f"The picture shows {100 * share:.0f} % of the zone {name}." for name, share in shares if share < _ENOUGH
        )
