"""The step of the guide that proposes zones for a number of seats, and takes what somebody draws instead."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from calibration.errors import RefusedError
from calibration.lens import Lens
from calibration.table import Table
from calibration.zone_view import show_zone
from calibration.zones import TableZones, ZoneSource, zones_of_size, zones_on
from engine.phrases import phrase
from tallybone.calibrate.guide.steps import GO_ON, Choice, Drawn, Kind, LookStep, PointPx, Result, StepName, points_of
from tallybone.calibrate.lens_and_table import ENOUGH_SEEN, lens_for, zone_name, zone_names
from tallybone.calibrate.light import write_drawn
from tallybone.calibrate.look import Image, Scene
from tallybone.calibrate.zones import EditableZone, editable, size_seen, with_zones
from tallybone.show.over_pictures import draw_zones
from tallybone.store.calibration_file import Calibration

_SAID = {
    ZoneSource.MAT: phrase("by the mat"),
    ZoneSource.BLOCKS: phrase("by the corner blocks"),
    ZoneSource.SIZE: phrase("as large as the picture shows the table"),
    ZoneSource.GIVEN: phrase("as they were drawn"),
}
_SEATS = "234"


@dataclass(frozen=True, slots=True)
class _Proposed:
    """Zones, or why there are none; how they appear, and which of them the picture does not show."""

    zones: TableZones | None
    problem: str = ""
    shapes: tuple[tuple[str, tuple[PointPx, ...], float], ...] = ()
    hidden: tuple[str, ...] = ()


class ZonesStep(LookStep):
    """Begins with the zones there are, or those for a number of seats."""

    name, scene = StepName.ZONES, Scene.TABLE
    choices = (
        Choice(GO_ON, phrase("keep them")),
        *(Choice(seats, phrase("{seats} seats", seats=int(seats))) for seats in _SEATS),
    )

    todo = (phrase("How many seats are there at most? Tiles to draw and open hands are seen in their zones."),)

    def __init__(self, before: Calibration, seats: int, folder: Path) -> None:
        """Begin with so many seats; the picture is drawn into *folder*."""
        self._before, self._folder = before, folder
        self._image: Image | None = None
        self._lens = before.lens
        self._seats = seats
        is_known = before.zones is not None and before.table is not None and len(before.zones.seats) == seats
        self._now = self._shown(before.zones) if is_known and before.zones is not None else self._proposed()

    @property
    def seen(self) -> tuple[str, ...]:
        """Which zones there are."""
        zones = self._now.zones
        if zones is None:
            return (phrase("{seats} seats: {problem}.", seats=self._seats, problem=self._now.problem),)
        names = zone_names(name for name, _ in zones.named())
        how = _SAID[zones.source]
        said = phrase("{seats} seats, {how}: {names}.", seats=len(zones.seats), how=how, names=names)
        return (said, *self._now.hidden)

    @property
    def drawn(self) -> tuple[Drawn, ...]:  # type: ignore[override]  # here it depends on what was decided
        """The zones."""
        return tuple(
            Drawn(Kind.ZONE, corners, name, is_good=share >= ENOUGH_SEEN)
            for name, corners, share in self._now.shapes
            if corners
        )

    @property
    def editable(self) -> tuple[EditableZone, ...]:
        """The zones as somebody can change them in the picture."""
        zones, table, lens = self._now.zones, self._before.table, self._lens
        return () if zones is None or table is None or lens is None else editable(zones, table, lens)

    def see(self, image: Image) -> None:
        """Keep it, to draw on."""
        self._image = image
        if self._lens is not None and image.shape[:2] != (self._lens.height_px, self._lens.width_px):
            self._lens = lens_for(self._lens, image)
            self._now = self._shown(self._now.zones) if self._now.zones is not None else self._now

    def pressed(self, key: str) -> None:
        """Take the zones for another number of seats."""
        if key in _SEATS:
            self._seats = int(key)
            self._now = self._proposed()

    def edit(self, drawn: tuple[EditableZone, ...]) -> None:
        """Take zones that somebody has drawn.

        Raises:
            RefusedError: If they cannot be; says which and why.
        """
        zones, table, lens = self._now.zones, self._before.table, self._lens
        if zones is None or table is None or lens is None:
            raise RefusedError(self._now.problem)
        self._now = self._shown(with_zones(zones, drawn, table, lens))

    def result(self) -> Result:
        """Return the zones."""
        zones = self._now.zones
        if zones is None:
            raise RefusedError(self._now.problem)
        after = replace(self._before, zones=zones)
        words, note = phrase("{seats} seats, {how}", seats=len(zones.seats), how=_SAID[zones.source]), ""
        if self._image is not None and after.table is not None:
            drawn = draw_zones(self._image, zones, after.table, lens_for(after.lens, self._image))
            note = f"drawn into {write_drawn(self._folder, 'zones.png', drawn)}"
        return Result(after, words, self._now.hidden, self.drawn, note)

    def _proposed(self) -> _Proposed:
        try:
            return self._shown(self._zones())
        except RefusedError as error:
            return _Proposed(None, error.words)

    def _zones(self) -> TableZones:
        table, lens = self._before.table, self._lens
        if table is None or lens is None:
            raise RefusedError(phrase("the table is not measured, so there is nothing to put zones on"))
        if not table.marks:
            return zones_of_size(*size_seen(table, lens), self._seats)
        return zones_on(table.marks, self._seats)

    def _shown(self, zones: TableZones) -> _Proposed:
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
    shown = show_zone(outline, table, lens)
    return points_of([(x * lens.width_px, y * lens.height_px) for x, y in shown.shares]), shown.visible
