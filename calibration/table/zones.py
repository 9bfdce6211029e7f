"""Zones of a table in millimetres: where boneyard, layout and each seat's open tiles lie, and how they are found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from calibration.errors import RefusedError
from calibration.sheets.boards import BLOCK_MM
from calibration.sheets.mat import MatZone, block_places_mm, mat_zones, zones_within
from calibration.table.table import BlockPose, Table
from engine.phrases import plural

PointMm = tuple[float, float]
OutlineMm = tuple[PointMm, ...]
"""Corners in millimetres from the middle of the table, x right and y away from the first seat; closed by itself."""

# Blocks that lie on the mat are so near to where it was printed; paper edge to edge is off by a millimetre or two.
_MAT_OFF_MM, _MAT_TURN_RAD = 5.0, math.radians(3)
# A mat in another scale than said is still a mat.
_MAT_SCALE = (0.92, 1.08)
_FARTHEST_MM = 5000.0
# Who of four seats plays when fewer do: two sit opposite each other.
_PLAYING = {2: (0, 2), 3: (0, 1, 2)}


class ZoneSource(StrEnum):
    """What says where the zones are."""

    MAT = "mat"
    BLOCKS = "corner blocks"
    SIZE = "size of the table"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class TableZones:
    """What lies where on a table.

    Attributes:
        source: What says so; GIVEN as soon as one of them was.
        seats: Where each lays its tiles open: the first at the lower edge, then clockwise seen from above.
        boneyard: Where the tiles lie that are left to draw.
        layout: Where tiles are played.
    """

    source: ZoneSource
    seats: tuple[OutlineMm, ...] = ()
    boneyard: OutlineMm | None = None
    layout: OutlineMm | None = None

    def __post_init__(self) -> None:
        for name, outline in self.named():
            _check(name, outline)

    def named(self) -> tuple[tuple[str, OutlineMm], ...]:
        """Return every zone with its name: seats from 1, then boneyard and layout."""
        seats = [(f"seat {at + 1}", outline) for at, outline in enumerate(self.seats)]
        others = [("boneyard", self.boneyard), ("layout", self.layout)]
        return (*seats, *((name, outline) for name, outline in others if outline is not None))

    def playing(self, players: int) -> tuple[OutlineMm, ...]:
        """Return the zones of those who play, by seat; none where there are not enough."""
        if players == len(self.seats):
            return self.seats
        if len(self.seats) == 4 and players in _PLAYING:
            return tuple(self.seats[seat] for seat in _PLAYING[players])
        return ()


def zones_on(marks: Sequence[BlockPose], players: int) -> TableZones:
    """Return the zones of a table on which corner blocks lie: those of the mat if they are its own, else alike.

    Args:
        marks: Where the blocks lie.
        players: Seats, 2 to 4.

    Raises:
        RefusedError: If the blocks do not say where the table ends, or it is too small.
    """
    on_mat = _mat_motion(marks)
    if on_mat is not None:
        return _zones(ZoneSource.MAT, mat_zones(players), *on_mat)
    at = {mark.block: mark for mark in marks}
    if not ({0, 2} <= set(at) or {1, 3} <= set(at)):
        raise RefusedError(
            plural(
                "1 corner block does not say how large the table is: three, or two that lie across from each other, are"
                " needed; or say --size",
                "{number} corner blocks do not say how large the table is: three, or two that lie across from each"
                " other, are needed; or say --size",
                number=len(at),
            )
        )
    half_mm = BLOCK_MM / 2
    left_mm, right_mm = min(one.x_mm for one in marks) - half_mm, max(one.x_mm for one in marks) + half_mm
    low_mm, top_mm = min(one.y_mm for one in marks) - half_mm, max(one.y_mm for one in marks) + half_mm
    zones = _zones_within(right_mm - left_mm, top_mm - low_mm, players)
    return _zones(ZoneSource.BLOCKS, zones, complex(left_mm, top_mm), 1.0)


def zones_of_size(width_mm: float, depth_mm: float, players: int) -> TableZones:
    """Return the zones of a table of which only the size is known, around its middle.

    Raises:
        RefusedError: If it is too small.
    """
    corner = complex(-width_mm / 2, depth_mm / 2)
    return _zones(ZoneSource.SIZE, _zones_within(width_mm, depth_mm, players), corner, 1.0)


def zones_anew(zones: TableZones, table: Table) -> TableZones:
    """Return zones for a table that was measured anew: by its blocks where those have said them, else as they were."""
    if zones.source in (ZoneSource.MAT, ZoneSource.BLOCKS) and table.marks:
        try:
            return zones_on(table.marks, len(zones.seats))
        except RefusedError:
            return zones
    return zones


def _zones_within(width_mm: float, depth_mm: float, players: int) -> tuple[MatZone, ...]:
    try:
        return zones_within(width_mm, depth_mm, players)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _mat_motion(marks: Sequence[BlockPose]) -> tuple[complex, complex] | None:
    """Return where the top left of the mat lies, and its turn and scale; None if the blocks are not those of a mat."""
    if len(marks) < 2:
        return None
    half_mm = BLOCK_MM / 2
    printed = {
        block: complex(left_mm + half_mm, -(top_mm + half_mm))
        for block, (left_mm, top_mm) in enumerate(block_places_mm())
    }
    lying = [complex(mark.x_mm, mark.y_mm) for mark in marks]
    there = [printed[mark.block] for mark in marks]
    middle, center = sum(lying) / len(lying), sum(there) / len(there)
    spread = sum(abs(one - center) ** 2 for one in there)
    pairs = list(zip(lying, there, strict=True))
    turn = sum((seen - middle) * (own - center).conjugate() for seen, own in pairs) / spread
    corner = middle - turn * center
    is_there = all(abs(corner + turn * own - seen) <= _MAT_OFF_MM for seen, own in pairs)
    way = math.atan2(turn.imag, turn.real)
    is_straight = all(abs(math.remainder(mark.turn_rad - way, math.tau)) <= _MAT_TURN_RAD for mark in marks)
    is_sized = _MAT_SCALE[0] <= abs(turn) <= _MAT_SCALE[1]
    return (corner, turn) if is_there and is_straight and is_sized else None


def _zones(source: ZoneSource, places: Sequence[MatZone], corner: complex, turn: complex) -> TableZones:
    """Return zones that are said from the top left corner of the table, y down, in millimetres of the table."""
    outlines = {zone.name: _outline(zone, corner, turn) for zone in places}
    boneyard, layout = outlines.pop("Boneyard"), outlines.pop("Layout")
    return TableZones(source, tuple(outlines.values()), boneyard, layout)


def _outline(zone: MatZone, corner: complex, turn: complex) -> OutlineMm:
    right_mm, low_mm = zone.left_mm + zone.width_mm, zone.top_mm + zone.height_mm
    corners = ((zone.left_mm, zone.top_mm), (right_mm, zone.top_mm), (right_mm, low_mm), (zone.left_mm, low_mm))
    placed = [corner + turn * complex(x_mm, -y_mm) for x_mm, y_mm in corners]
    return tuple((one.real, one.imag) for one in placed)


def _check(name: str, outline: OutlineMm) -> None:
    """Refuse what is no area of a table."""
    if len(outline) < 3:
        raise ValueError(f"{name}: expected 3 corners or more, got {len(outline)}")
    if not all(math.isfinite(value) and abs(value) <= _FARTHEST_MM for point in outline for value in point):
        raise ValueError(f"{name}: expected corners within {_FARTHEST_MM:.0f} mm, got {outline}")
    twice_area = sum(x * outline[at - 1][1] - y * outline[at - 1][0] for at, (x, y) in enumerate(outline))
    if abs(twice_area) < 2.0:
        raise ValueError(f"{name}: its corners lie in one line: {outline}")
