"""The printed mat: positions of corner blocks, seats, boneyard and layout."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.sheets.boards import BLOCK_MM, BLOCKS, block_boxes
from calibration.sheets.sheet import GREY, Shape, Text, outline

# Three by three sheets of A4 or Letter in landscape format, without their margins.
SHEETS_ACROSS, SHEETS_DOWN = 3, 3
MAT_WIDTH_MM, MAT_HEIGHT_MM = 759.0, 558.0
# Depth of a seat's zone. It fits an upright tile of 5 cm.
STRIP_MM = 62.0
_GAP_MM = 8.0
_BONEYARD_WIDTH_MM = 130.0
_LABEL_MM, _EDGE_MM = 9.0, 4.0
# Minimum size that fits a boneyard and four tiles in a row between the corner blocks.
LEAST_WIDTH_MM, LEAST_HEIGHT_MM = 520.0, 320.0


@dataclass(frozen=True, slots=True)
class MatZone:
    """A rectangle of the mat.

    Attributes:
        name: Printed name.
        left_mm, top_mm: Top left corner, measured from the top left of the mat, y down.
        width_mm, height_mm: Size.
        quarters: Clockwise rotation of the name in quarter turns, to face the player.
    """

    name: str
    left_mm: float
    top_mm: float
    width_mm: float
    height_mm: float
    quarters: int = 0


def mat_zones(players: int) -> tuple[MatZone, ...]:
    """Return the zones of the printed mat: one for each seat, clockwise from the lower edge, then boneyard and layout.

    Args:
        players: Number of players, 2 to 4.

    Raises:
        ValueError: If *players* is out of range.
    """
    return zones_within(MAT_WIDTH_MM, MAT_HEIGHT_MM, players)


def zones_within(width_mm: float, height_mm: float, players: int) -> tuple[MatZone, ...]:
    """Return zones for a table with corner blocks in its corners, arranged as on the mat.

    Args:
        width_mm, height_mm: Size of the table, at least 520 x 320 mm.
        players: Number of players, 2 to 4.

    Raises:
        ValueError: If *players* is out of range, or the table is too small.
    """
    if players not in (2, 3, 4):
        raise ValueError(f"players: expected 2 to 4, got {players}")
    if width_mm < LEAST_WIDTH_MM or height_mm < LEAST_HEIGHT_MM:
        raise ValueError(
            f"zones need a table of {LEAST_WIDTH_MM:.0f} x {LEAST_HEIGHT_MM:.0f} mm or more, and this one has"
            f" {width_mm:.0f} x {height_mm:.0f} mm"
        )
    inset_mm = BLOCK_MM + _GAP_MM
    across_mm, down_mm = width_mm - 2 * inset_mm, height_mm - 2 * inset_mm
    low_mm, right_mm = height_mm - STRIP_MM - _EDGE_MM, width_mm - STRIP_MM - _EDGE_MM
    bottom = (inset_mm, low_mm, across_mm, STRIP_MM, 0)
    left = (_EDGE_MM, inset_mm, STRIP_MM, down_mm, 1)
    top = (inset_mm, _EDGE_MM, across_mm, STRIP_MM, 2)
    right = (right_mm, inset_mm, STRIP_MM, down_mm, 3)
    places = {2: (bottom, top), 3: (bottom, left, top), 4: (bottom, left, top, right)}[players]
    seats = [MatZone(f"Seat {at + 1}", *place) for at, place in enumerate(places)]
    yard_right_mm = right_mm - _GAP_MM if players == 4 else width_mm - _EDGE_MM
    yard_left_mm = yard_right_mm - _BONEYARD_WIDTH_MM
    boneyard = MatZone("Boneyard", yard_left_mm, inset_mm, _BONEYARD_WIDTH_MM, down_mm)
    top_mm = _EDGE_MM + STRIP_MM + _GAP_MM
    layout_mm = (yard_left_mm - _GAP_MM - inset_mm, low_mm - _GAP_MM - top_mm)
    layout = MatZone("Layout", inset_mm, top_mm, *layout_mm)
    return (*seats, boneyard, layout)


def block_places_mm() -> tuple[tuple[float, float], ...]:
    """Return the top left corner of each corner block on the mat, in block order."""
    right_mm, low_mm = MAT_WIDTH_MM - BLOCK_MM, MAT_HEIGHT_MM - BLOCK_MM
    return ((0.0, 0.0), (right_mm, 0.0), (right_mm, low_mm), (0.0, low_mm))


def draw_mat(players: int) -> tuple[Shape, ...]:
    """Return the drawing of the whole mat, relative to its top left corner."""
    shapes: list[Shape] = []
    for zone in mat_zones(players):
        shapes += outline(zone.left_mm, zone.top_mm, zone.width_mm, zone.height_mm, dash_mm=3.0)
        shapes.append(Text(_label_start(zone), zone.name, _LABEL_MM, zone.quarters, GREY))
    for block, (left_mm, top_mm) in zip(range(BLOCKS), block_places_mm(), strict=True):
        shapes += block_boxes(block, left_mm, top_mm)
    return tuple(shapes)


def _label_start(zone: MatZone) -> tuple[float, float]:
    """Return the start of the name, in the corner that is the top left one for its reader."""
    near_mm, deep_mm = 4.0, 4.0 + _LABEL_MM
    right_mm, low_mm = zone.left_mm + zone.width_mm, zone.top_mm + zone.height_mm
    return (
        (zone.left_mm + near_mm, zone.top_mm + deep_mm),
        (right_mm - deep_mm, zone.top_mm + near_mm),
        (right_mm - near_mm, low_mm - deep_mm),
        (zone.left_mm + deep_mm, low_mm - near_mm),
    )[zone.quarters]
