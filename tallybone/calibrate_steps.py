"""The steps of a guided calibration: each looks at pictures, says what to do and what it sees, and gives a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import numpy as np

from calibration.boards import BLOCKS, MARKERS_PER_BLOCK
from calibration.corner_marks import SeenMarker, find_corner_marks
from calibration.errors import RefusedError
from calibration.lens_fit import fit_lens
from calibration.lens_guide import CELLS, guide
from calibration.lens_views import LensView, find_view
from calibration.table_fit import TileSize, table_from_markers, table_from_tiles
from calibration.zone_view import show_zone
from calibration.zones import TableZones, zones_anew, zones_on
from hardware.camera.device import Clock
from hardware.knock.heard import NS_PER_S
from tallybone.calibrate_command import ReadTiles, TableGiven, lens_for
from tallybone.calibrate_knock import Hearing, MakeSensor, timetable
from tallybone.calibrate_light import LightSeen, look_at_light, write_drawn
from tallybone.calibrate_look import Image, Onlooker, Scene
from tallybone.calibration_file import Calibration
from tallybone.light_drawing import draw_light
from tallybone.zone_drawing import draw_zones

# From picture to picture the board may move so much, as a share of the picture's width, and be held still.
_STILL = 0.003
# A view tells something new if its corners lie so far from those of each view before.
_NEW = 0.06
_MOST_VIEWS = 24
_ENOUGH = 0.7
_FLAT_ERROR_PX = 1.0


class StepName(StrEnum):
    """What is calibrated, in the order of the guide."""

    LENS = "lens"
    TABLE = "table"
    ZONES = "zones"
    LIGHT = "light"
    KNOCK = "knock"


@dataclass(frozen=True, slots=True)
class Result:
    """What a step has found.

    Attributes:
        calibration: With that in it.
        words: What it is, in short.
        warnings: What is not as good as it should be; a person may go on with it, or do the step again.
    """

    calibration: Calibration
    words: str
    warnings: tuple[str, ...] = ()


class Step(Protocol):
    """A step that goes on until it is done, or somebody skips it."""

    @property
    def name(self) -> StepName:
        """What it is for."""

    @property
    def scene(self) -> Scene | None:
        """What has to be before the camera; None where it looks at nothing."""

    @property
    def todo(self) -> tuple[str, ...]:
        """What to do."""

    @property
    def seen(self) -> tuple[str, ...]:
        """What it sees at the moment."""

    @property
    def keys(self) -> str:
        """What can be pressed beside s and q, in words."""

    @property
    def is_enough(self) -> bool:
        """Whether it can be finished without anybody pressing a key."""

    def see(self, image: Image) -> None:
        """Look at a picture."""

    def listen(self) -> None:
        """Hear what there is to hear; called often.

        Raises:
            RefusedError: If nothing can be heard; says why.
        """

    def pressed(self, key: str) -> None:
        """Take a key that it named."""

    def close(self) -> None:
        """Let go what it has opened."""

    def result(self) -> Result:
        """Return what was found.

        Raises:
            RefusedError: If it is not enough; says what to do.
        """


class LookStep:
    """What steps have in common that only look: nothing to hear, to press or to let go."""

    is_enough = False

    def listen(self) -> None:
        """Hear nothing."""

    def pressed(self, key: str) -> None:
        """Nothing to press."""

    def close(self) -> None:
        """Let nothing go."""


class LensStep(LookStep):
    """Collects views of the board as they come, as soon as it is held still, and says which are missing."""

    name, scene = StepName.LENS, Scene.BOARD
    keys = "Enter: measure with the views so far"

    def __init__(self, before: Calibration) -> None:
        """Begin without a view."""
        self._before = before
        self._views: list[LensView] = []
        self._last: LensView | None = None
        self._seen = "The board is not seen yet."

    todo = (
        "Hold the printed board before the camera, flat, and still for a moment in each place. Views are taken by"
        " themselves.",
    )

    @property
    def count(self) -> int:
        """How many views there are."""
        return len(self._views)

    @property
    def seen(self) -> tuple[str, ...]:
        """The views so far, where the board has been, and what is wanted next."""
        found = guide(self._views)
        cells = ["." if cell in found.empty_cells else "#" for cell in CELLS]
        rows = [" ".join(cells[at : at + 3]) for at in (0, 3, 6)]
        wants = found.wants()
        turned, parts = 4 - len(found.lacking_tilts), len(CELLS) - len(found.empty_cells)
        return (
            f"{len(self._views)} views. Sides turned away: {turned} of 4. Parts of the picture: {parts} of 9.",
            *(f"    {row}" for row in rows),
            self._seen,
            f"Next: {wants[0]}" if wants else "That is enough.",
        )

    @property
    def is_enough(self) -> bool:  # type: ignore[override]  # here it depends on what was seen
        """Whether nothing is missing."""
        return guide(self._views).is_enough or len(self._views) >= _MOST_VIEWS

    def see(self, image: Image) -> None:
        """Keep a view if the board is held still, and tells something new."""
        view = find_view(image)
        before, self._last = self._last, view
        if not view.is_useful:
            self._seen = "Too little of the board is seen." if view.corners else "The board is not seen."
        elif before is None or _apart(before, view) > _STILL:
            self._seen = "Hold it still."
        elif all(_apart(one, view) > _NEW for one in self._views):
            self._views.append(view)
            self._seen = f"View {len(self._views)} taken."
        elif not self._seen.startswith("View"):
            self._seen = "This view is known: hold the board otherwise."

    def result(self) -> Result:
        """Return the lens."""
        lens = fit_lens(self._views)
        error_px = lens.error_px or 0.0
        warnings = (f"Corners lie {error_px:.2f} px off: is the board flat?",) if error_px > 0.3 else ()
        after = replace(self._before, lens=lens, table=None)
        return Result(after, f"{error_px:.2f} px in {lens.views} views", warnings)


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


class LightStep(LookStep):
    """Holds the light, and looks whether it shows every pip."""

    name, scene = StepName.LIGHT, Scene.TILES
    keys = "Enter: look"

    def __init__(self, before: Calibration, look: Onlooker, read_tiles: ReadTiles, folder: Path) -> None:
        """Look through *look*; a picture with what is wrong is drawn into *folder*."""
        self._before, self._look, self._read_tiles, self._folder = before, look, read_tiles, folder
        self._image: Image | None = None

    todo = ("Switch on the light that you play in, and lay open tiles all over the table. Then press Enter.",)

    @property
    def seen(self) -> tuple[str, ...]:
        """What the camera does about light."""
        return (f"The camera's light: {self._look.light.value}.",)

    def see(self, image: Image) -> None:
        """Keep it."""
        self._image = image

    def result(self) -> Result:
        """Return how the light is."""
        image = self._image
        if image is None:
            raise RefusedError("the camera has given no picture yet")
        seen = look_at_light(image, self._read_tiles(image), self._look)
        if seen.kept.contrast is None:
            raise RefusedError("neither tiles nor markers are seen: lay open tiles on the table")
        drawn = self._drawn(image, seen) if seen.found.warnings else ()
        low, high = seen.kept.contrast
        words = f"{low:.0f} to {high:.0f} grey levels between face and pips"
        return Result(replace(self._before, light=seen.kept), words, (*seen.found.warnings, *drawn))

    def _drawn(self, image: Image, seen: LightSeen) -> tuple[str, ...]:
        return (f"Drawn into {write_drawn(self._folder, 'light.png', draw_light(image, seen.found))}",)


class KnockStep:
    """Listens through the timetable: quiet, tiles, then each seat."""

    name, scene = StepName.KNOCK, None
    keys = "l: listen from the begin"

    def __init__(self, before: Calibration, seats: int, made: MakeSensor, clock: Clock) -> None:
        """Listen with a sensor that *made* gives."""
        self._before, self._made, self._clock = before, made, clock
        self._parts = timetable(seats)
        self._hearing: Hearing | None = None

    @property
    def todo(self) -> tuple[str, ...]:
        """What to do in this part."""
        if self._hearing is None:
            lasts_s = self._parts[-1].to_s
            return (f"Lay the tiles ready, then press l. It takes {lasts_s} seconds, and says what to do.",)
        return (self._hearing.part.words,)

    @property
    def seen(self) -> tuple[str, ...]:
        """How long this part goes on, and how much was heard."""
        if self._hearing is None:
            return ()
        part, passed_s = self._hearing.part, self._hearing.passed_s
        if passed_s < part.from_s:
            return ("Get ready.",)
        count = sum(part.from_s <= one.t_ns / NS_PER_S < part.to_s for one in self._hearing.heard)
        return (f"{max(0, round(part.to_s - passed_s))} seconds more, {count} sounds heard.",)

    @property
    def is_enough(self) -> bool:
        """Whether the timetable is over."""
        return self._hearing is not None and self._hearing.is_over

    def see(self, image: Image) -> None:
        """Look at nothing."""

    def listen(self) -> None:
        """Take what was heard."""
        if self._hearing is None:
            return
        try:
            self._hearing.listen()
        except RefusedError:
            self.close()
            raise

    def pressed(self, key: str) -> None:
        """Begin."""
        if key == "l":
            self.close()
            self._hearing = Hearing(self._made, self._parts, self._clock)

    def result(self) -> Result:
        """Return how knocks sound."""
        hearing = self._hearing
        if hearing is None or not hearing.is_over:
            raise RefusedError("it has not been listened to the end")
        self.close()
        kept = hearing.fitted()
        words = f"{kept.found} of {kept.knocks} knocks found, {kept.passed} of {kept.tiles} tiles pass for one"
        warnings = ("Some tiles sound more like a knock than the weakest knock.",) if kept.margin < 0 else ()
        return Result(replace(self._before, knock=kept), words, warnings)

    def close(self) -> None:
        """Let the sensor go."""
        if self._hearing is not None:
            self._hearing.close()
            self._hearing = None


def _apart(before: LensView, now: LensView) -> float:
    """Return how far the board's corners have moved between two views, as a share of the picture's width."""
    places = {one.number: (one.x_px, one.y_px) for one in before.corners}
    both: Sequence[tuple[tuple[float, float], tuple[float, float]]] = [
        (places[one.number], (one.x_px, one.y_px)) for one in now.corners if one.number in places
    ]
    if not both:
        return 1.0
    moves = np.array([(b[0] - a[0], b[1] - a[1]) for a, b in both])
    return float(np.median(np.linalg.norm(moves, axis=1))) / now.width_px
