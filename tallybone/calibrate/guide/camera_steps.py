"""Steps of the guide for lens, table and zones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from calibration import RefusedError
from calibration.lens.lens import CELLS, Lens, LensView, find_view, fit_lens, guide
from calibration.sheets.prints import BLOCKS, MARKERS_PER_BLOCK
from calibration.table.picture import SeenMarker, find_corner_marks
from calibration.table.table import Table, TileSize, table_from_markers, table_from_tiles
from calibration.table.zones import TableZones, ZoneSource, show_zone, updated_zones, zones_of_size, zones_on
from engine.phrases import Phrase, phrase
from tallybone.calibrate.guide import steps
from tallybone.calibrate.known import ENOUGH_SEEN, HALF_TABLE_MM, zone_name, zone_names
from tallybone.calibrate.lens_and_table import ReadTiles, TableGiven, lens_for, write_drawn
from tallybone.calibrate.look import AskedScene
from tallybone.show.reading import draw_zones
from tallybone.store.calibration_file import Calibration
from vision.arrays import Image
from vision.reading import PointPx, SeenTile

# The board is still if its corners move by at most this share of the picture's width between two pictures.
_STILL = 0.003
# A view is new if the corners are farther than this from those in every earlier view, as a share of the picture's
# width.
_NEW = 0.06
_MAX_VIEWS = 24

_FLAT_ERROR_PX = 1.0
# Distance between the grid lines drawn over the result, and between the points of a line. Users check the pose of the
# table by the grid.
_GRID_MM = 100.0
_GRID_STEP_MM = 20.0

_SOURCES = {
    ZoneSource.MAT: phrase("from the mat"),
    ZoneSource.BLOCKS: phrase("from the corner blocks"),
    ZoneSource.SIZE: phrase("from the size of the table in the picture"),
    ZoneSource.GIVEN: phrase("as drawn"),
}
_SEATS = "234"


class LensStep(steps.GuideStep):
    """Collects views of the board while it is held still, and lists missing views."""

    name, scene = steps.StepName.LENS, AskedScene.BOARD
    choices = (steps.GuideChoice(steps.GO_ON, phrase("measure with the views so far")),)

    def __init__(self, before: Calibration) -> None:
        self._before = before
        self._views: list[LensView] = []
        self._coverage = guide(())
        self._last: LensView | None = None
        self._seen: Phrase = phrase("The board is not visible yet.")
        self._reports_view = False

    todo = (
        phrase(
            "Hold the printed board flat in front of the camera, and keep it still for a moment in each place."
            " Views are captured automatically."
        ),
    )

    @property
    def seen(self) -> tuple[str, ...]:
        """The next required view, the last message, and the number of views so far."""
        coverage = self._coverage
        instructions = coverage.instructions()
        turned, parts = 4 - len(coverage.lacking_tilts), len(CELLS) - len(coverage.empty_cells)
        return (
            phrase("Next: {what}", what=instructions[0]) if instructions else phrase("Enough views."),
            self._seen,
            phrase(
                "{views} views. Tilts: {turned} of 4. Parts of the picture: {parts} of 9.",
                views=len(self._views),
                turned=turned,
                parts=parts,
            ),
        )

    @property
    def drawn(self) -> tuple[steps.Drawn, ...]:
        """The nine picture cells, marked as missing until a view covers them, and the board's corners."""
        if self._last is None:
            return ()
        empty = self._coverage.empty_cells
        wide, high = self._last.width_px / 3, self._last.height_px / 3
        cells = tuple(
            steps.Drawn(steps.Kind.CELL, _box(column * wide, row * high, wide, high), name, is_good=name not in empty)
            for (row, column), name in zip(((at // 3, at % 3) for at in range(len(CELLS))), CELLS, strict=True)
        )
        corners = steps.Drawn(steps.Kind.CORNERS, steps.points_of(self._last.points_px()), is_good=self._last.is_useful)
        return (*cells, corners)

    @property
    def is_enough(self) -> bool:
        """True if no views are missing, or there are already _MAX_VIEWS."""
        return self._coverage.is_enough or len(self._views) >= _MAX_VIEWS

    def see(self, image: Image) -> None:
        """Add a view if the board is still, and the view differs from all others."""
        view = find_view(image)
        before, self._last = self._last, view
        if not view.is_useful:
            little = phrase("Too little of the board is visible.")
            self._report(little if view.corners else phrase("The board is not visible."))
        elif before is None or _motion(before, view) > _STILL:
            self._report(phrase("Hold it still."))
        elif all(_motion(known, view) > _NEW for known in self._views):
            self._views.append(view)
            self._coverage = guide(self._views)
            self._seen, self._reports_view = phrase("View {number} captured.", number=len(self._views)), True
        elif not self._reports_view:
            self._report(phrase("Similar to an earlier view: change the tilt or place."))

    def _report(self, text: Phrase) -> None:
        """Show a message in place of the last one, which may be that a view was captured."""
        self._seen, self._reports_view = text, False

    def result(self) -> steps.StepResult:
        """Return the fitted lens, and remove the table from the calibration, because it is only valid with its lens."""
        lens = fit_lens(self._views)
        error_px = lens.error_px or 0.0
        warnings = (phrase("A good error is below 0.3 px. Check that the board is flat."),) if error_px > 0.3 else ()
        after = replace(self._before, lens=lens, table=None)
        text = phrase("mean corner error {error} px in {views} views", error=f"{error_px:.2f}", views=lens.views)
        measured_at = tuple(steps.Drawn(steps.Kind.CORNERS, steps.points_of(view.points_px())) for view in self._views)
        return steps.StepResult(after, text, warnings, measured_at)


def _box(left: float, top: float, wide: float, high: float) -> tuple[tuple[float, float], ...]:
    return steps.points_of([(left, top), (left + wide, top), (left + wide, top + high), (left, top + high)])


def _motion(before: LensView, now: LensView) -> float:
    """Return the median motion of corners between two views, as a share of the picture's width."""
    # It is 1 if the two views have no corner in common.
    positions = {corner.number: (corner.x_px, corner.y_px) for corner in before.corners}
    both: Sequence[tuple[tuple[float, float], tuple[float, float]]] = [
        (positions[corner.number], (corner.x_px, corner.y_px)) for corner in now.corners if corner.number in positions
    ]
    if not both:
        return 1.0
    moves = np.array([(b[0] - a[0], b[1] - a[1]) for a, b in both])
    return float(np.median(np.linalg.norm(moves, axis=1))) / now.width_px


class TableStep(steps.GuideStep):
    """Measures the table by the markers of corner blocks or the mat, or without any by tiles."""

    name, scene = steps.StepName.TABLE, AskedScene.TABLE
    choices = (steps.GuideChoice(steps.GO_ON, phrase("measure")),)

    def __init__(self, before: Calibration, given: TableGiven, read_tiles: ReadTiles) -> None:
        """Measure with the calibrated lens, or a guess if there is none. *given* may contain the size of the tiles."""
        self._before, self._given, self._read_tiles = before, given, read_tiles
        self._markers: tuple[SeenMarker, ...] = ()

    @property
    def todo(self) -> tuple[str, ...]:
        """Instructions to lay out the mat or corner blocks, or else tiles."""
        lay = phrase(
            "Lay the mat on the table, or a corner block near each corner, upright as seen from the first seat."
        )
        return (lay, phrase("Without blocks, spread tiles all over the table."), phrase("Take your hands away."))

    @property
    def seen(self) -> tuple[str, ...]:
        """Number of detected markers and blocks."""
        blocks = len({marker.block for marker in self._markers})
        text = phrase(
            "{seen} of {markers} markers, {blocks} of {all} corner blocks.",
            seen=len(self._markers),
            markers=BLOCKS * MARKERS_PER_BLOCK,
            blocks=blocks,
            all=BLOCKS,
        )
        return (text,)

    @property
    def drawn(self) -> tuple[steps.Drawn, ...]:
        """The detected markers."""
        return tuple(steps.Drawn(steps.Kind.MARKER, steps.points_of(marker.corners_px)) for marker in self._markers)

    def see(self, image: Image) -> None:
        """Detect the markers."""
        self._image, self._markers = image, find_corner_marks(image)

    def result(self) -> steps.StepResult:
        """Return the measured table, with the zones updated for it."""
        image, before, given = self._picture(), self._before, self._given
        lens = lens_for(before.lens, image)
        tiles: Sequence[SeenTile] = ()
        usual = TileSize(thickness_mm=given.thickness_mm)
        if not self._markers:
            size = usual if given.tile is None else TileSize(*given.tile, given.thickness_mm)
            tiles = self._read_tiles(image)
            table = table_from_tiles(tiles, lens, size)
        else:
            scale = given.ruler_mm / 100
            table = table_from_markers(self._markers, lens, thickness_mm=given.thickness_mm, print_scale=scale)
        zones = None if before.zones is None else updated_zones(before.zones, table)
        blocks = len({marker.block for marker in self._markers})
        few = phrase("Only {seen} of {all} corner blocks are visible.", seen=blocks, all=BLOCKS)
        warnings = [few] if 0 < blocks < BLOCKS else []
        if not self._markers and given.tile is None:
            length, width = f"{usual.length_mm:g}", f"{usual.width_mm:g}"
            text = phrase(
                "The tiles are assumed to be {length} x {width} mm. Zones fit any tiles; only distances depend on it.",
                length=length,
                width=width,
            )
            warnings.append(text)
        if table.error_px > _FLAT_ERROR_PX and self._markers:
            warnings.append(
                phrase("Markers are {px} px off. Check that the paper is flat.", px=f"{table.error_px:.1f}")
            )
        shapes = (
            *self.drawn,
            *(steps.Drawn(steps.Kind.TILE, steps.points_of(tile.corners_px)) for tile in tiles),
            *_grid(table, lens),
        )
        # The table is only valid with the lens used to measure it, so a guess is stored as well.
        return steps.StepResult(
            replace(before, lens=lens, table=table, zones=zones), _about(table), tuple(warnings), shapes
        )


def _about(table: Table) -> str:
    sure_mm = max(0.1, table.doubt * HALF_TABLE_MM)
    return phrase(
        "{height} mm below the camera, tilted by {tilt} degrees, accurate to {sure} mm",
        height=f"{table.height_mm:.0f}",
        tilt=f"{np.degrees(table.tilt_rad):.1f}",
        sure=f"{sure_mm:.1f}",
    )


def _grid(table: Table, lens: Lens) -> tuple[steps.Drawn, ...]:
    """Return grid lines every 10 cm between the corner blocks or, if there are none, around the table's centre."""
    half_mm = HALF_TABLE_MM / 2
    xs = [mark.x_mm for mark in table.marks] or [-half_mm, half_mm]
    ys = [mark.y_mm for mark in table.marks] or [-half_mm, half_mm]
    lines = []
    for at_mm in _steps(min(xs), max(xs), _GRID_MM):
        lines.append([(at_mm, y_mm) for y_mm in _steps(min(ys), max(ys), _GRID_STEP_MM)])
    for at_mm in _steps(min(ys), max(ys), _GRID_MM):
        lines.append([(x_mm, at_mm) for x_mm in _steps(min(xs), max(xs), _GRID_STEP_MM)])
    return tuple(
        steps.Drawn(steps.Kind.LINE, steps.points_of(table.to_picture(np.array(line), lens)))
        for line in lines
        if len(line) > 1
    )


def _steps(least: float, most: float, step: float) -> list[float]:
    """Return the multiples of *step* between *least* and *most*, inclusive."""
    return [step * at for at in range(int(np.ceil(least / step)), int(np.floor(most / step)) + 1)]


@dataclass(frozen=True, slots=True)
class _Proposed:
    """Proposed zones with their outlines in the picture and visible shares, or the reason why there are none."""

    zones: TableZones | None
    problem: str = ""
    shapes: tuple[tuple[str, tuple[PointPx, ...], float], ...] = ()
    hidden: tuple[str, ...] = ()


class ZonesStep(steps.GuideStep):
    """Proposes the previous zones, or new ones for a number of seats, and lets the user edit the zones."""

    name, scene = steps.StepName.ZONES, AskedScene.TABLE
    choices = (
        steps.GuideChoice(steps.GO_ON, phrase("use these zones")),
        *(steps.GuideChoice(seats, phrase("{seats} seats", seats=int(seats))) for seats in _SEATS),
    )

    todo = (
        phrase(
            "How many seats does the table have? Each seat gets a zone for its open hand, and the boneyard one for"
            " tiles to draw."
        ),
    )

    def __init__(self, before: Calibration, seats: int, folder: Path) -> None:
        """Start with zones for *seats* seats. A drawing of the result is written into *folder*."""
        self._before, self._folder = before, folder
        self._lens = before.lens
        self._seats = seats
        is_known = before.zones is not None and before.table is not None and len(before.zones.seats) == seats
        self._now = self._describe(before.zones) if is_known and before.zones is not None else self._propose()

    @property
    def seen(self) -> tuple[str, ...]:
        """Names of the zones and warnings about partly invisible ones, or the reason why there are no zones."""
        zones = self._now.zones
        if zones is None:
            return (phrase("{seats} seats: {problem}.", seats=self._seats, problem=self._now.problem),)
        names = zone_names(name for name, _ in zones.named())
        how = _SOURCES[zones.source]
        text = phrase("{seats} seats, {how}: {names}.", seats=len(zones.seats), how=how, names=names)
        return (text, *self._now.hidden)

    @property
    def drawn(self) -> tuple[steps.Drawn, ...]:
        """The visible zones."""
        return tuple(
            steps.Drawn(steps.Kind.ZONE, corners, name, is_good=share >= ENOUGH_SEEN)
            for name, corners, share in self._now.shapes
            if corners
        )

    @property
    def editable(self) -> tuple[steps.EditableZone, ...]:
        """The zones with their editable corners. Empty without zones or table."""
        zones, table, lens = self._now.zones, self._before.table, self._lens
        return () if zones is None or table is None or lens is None else steps.editable(zones, table, lens)

    def see(self, image: Image) -> None:
        """Store the picture, and adapt the lens to its size."""
        self._image = image
        if self._lens is not None and image.shape[:2] != (self._lens.height_px, self._lens.width_px):
            self._lens = lens_for(self._lens, image)
            self._now = self._describe(self._now.zones) if self._now.zones is not None else self._now

    def pressed(self, key: str) -> None:
        """Propose zones for the number of seats in *key*. Ignores other keys."""
        if key in _SEATS:
            self._seats = int(key)
            self._now = self._propose()

    def edit(self, drawn: tuple[steps.EditableZone, ...]) -> None:
        """Apply zones drawn by the user.

        Raises:
            RefusedError: If there are no zones to edit, or one is invalid.
        """
        zones, table, lens = self._now.zones, self._before.table, self._lens
        if zones is None or table is None or lens is None:
            raise RefusedError(self._now.problem)
        self._now = self._describe(steps.with_zones(zones, drawn, table, lens))

    def result(self) -> steps.StepResult:
        """Return the zones.

        Raises:
            RefusedError: If there are no zones. The message is the reason.
        """
        zones = self._now.zones
        if zones is None:
            raise RefusedError(self._now.problem)
        after = replace(self._before, zones=zones)
        text, note = phrase("{seats} seats, {how}", seats=len(zones.seats), how=_SOURCES[zones.source]), ""
        if self._image is not None and after.table is not None:
            drawn = draw_zones(self._image, zones, after.table, lens_for(after.lens, self._image))
            note = f"drawn into {write_drawn(self._folder, 'zones.png', drawn)}"
        return steps.StepResult(after, text, self._now.hidden, self.drawn, note)

    def _propose(self) -> _Proposed:
        try:
            return self._describe(self._zones())
        except RefusedError as error:
            return _Proposed(None, error.text)

    def _zones(self) -> TableZones:
        table, lens = self._before.table, self._lens
        if table is None or lens is None:
            raise RefusedError(phrase("measure the table before you draw zones"))
        if not table.marks:
            return zones_of_size(*steps.size_seen(table, lens), self._seats)
        return zones_on(table.marks, self._seats)

    def _describe(self, zones: TableZones) -> _Proposed:
        table, lens = self._before.table, self._lens
        if table is None or lens is None:
            return _Proposed(zones)
        shapes = tuple((name, *_shape(outline, table, lens)) for name, outline in zones.named())
        hidden = tuple(
            phrase(
                "The picture shows {percent} % of the zone {name}.", percent=f"{100 * share:.0f}", name=zone_name(name)
            )
            for name, _, share in shapes
            if share < ENOUGH_SEEN
        )
        return _Proposed(zones, "", shapes, hidden)


def _shape(outline: tuple[PointPx, ...], table: Table, lens: Lens) -> tuple[tuple[PointPx, ...], float]:
    view = show_zone(outline, table, lens)
    return steps.points_of([(x * lens.width_px, y * lens.height_px) for x, y in view.shares]), view.visible
