"""Tests of the zones of a table, from the printed mat or from loose corner blocks."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from calibration import RefusedError
from calibration.sheets.prints import BLOCK_MM, MAT_HEIGHT_MM, MAT_WIDTH_MM, block_places_mm, mat_zones
from calibration.table.table import BlockPose
from calibration.table.zones import TableZones, ZoneSource, zones_of_size, zones_on


def marks_of_a_mat(
    turn_rad: float = 0.0, shift: complex = 0j, blocks: tuple[int, ...] = (0, 1, 2, 3)
) -> list[BlockPose]:
    """Return the poses of the blocks of a mat with its centre at *shift*."""
    marks = []
    for block in blocks:
        left_mm, top_mm = block_places_mm()[block]
        own = complex(left_mm + BLOCK_MM / 2 - MAT_WIDTH_MM / 2, MAT_HEIGHT_MM / 2 - top_mm - BLOCK_MM / 2)
        at = shift + cmath.exp(1j * turn_rad) * own
        marks.append(BlockPose(block, at.real, at.imag, turn_rad))
    return marks


def loose(*places: tuple[int, float, float]) -> list[BlockPose]:
    return [BlockPose(block, x, y, 0.1 * block) for block, x, y in places]


@pytest.mark.parametrize("blocks", [(0, 1, 2, 3), (0, 2), (1, 2, 3), (0, 1)])
def test_a_mat_is_recognised_by_the_positions_of_its_blocks(blocks: tuple[int, ...]) -> None:
    turn_rad, shift = math.radians(7), 30 - 12j
    zones = zones_on(marks_of_a_mat(turn_rad, shift, blocks), 3)
    assert zones.source is ZoneSource.MAT
    assert zones.boneyard is not None
    printed = next(zone for zone in mat_zones(3) if zone.name == "Boneyard")
    corner = complex(printed.left_mm - MAT_WIDTH_MM / 2, MAT_HEIGHT_MM / 2 - printed.top_mm)
    assert complex(*zones.boneyard[0]) == pytest.approx(shift + cmath.exp(1j * turn_rad) * corner, abs=1e-6)
    assert [name for name, _ in zones.named()] == ["seat 1", "seat 2", "seat 3", "boneyard", "layout"]


def test_zones_fill_the_table_between_loose_blocks() -> None:
    zones = zones_on(loose((0, -400, 200), (1, 410, 195), (2, 405, -190), (3, -395, -205)), 4)
    assert zones.source is ZoneSource.BLOCKS
    corners = np.array([point for _, outline in zones.named() for point in outline])
    assert corners[:, 0].min() >= -400 - BLOCK_MM / 2
    assert corners[:, 0].max() <= 410 + BLOCK_MM / 2
    first, left, across, right = (np.array(seat).mean(axis=0) for seat in zones.seats)
    assert first[1] < left[1] < across[1]
    assert left[0] < first[0] < right[0]


def test_two_diagonal_blocks_are_enough_but_not_two_of_one_side() -> None:
    assert zones_on(loose((0, -400, 200), (2, 400, -200)), 2).boneyard is not None
    with pytest.raises(RefusedError, match="2 corner blocks are not enough to work out the size"):
        zones_on(loose((0, -400, 200), (1, 390, 200)), 2)


def test_a_table_without_room_for_zones_is_refused() -> None:
    with pytest.raises(RefusedError, match="500 x 400 mm"):
        zones_of_size(500, 400, 2)
    assert len(zones_of_size(800, 600, 3).seats) == 3


def test_two_players_at_four_seats_sit_opposite() -> None:
    zones = zones_of_size(900, 700, 4)
    assert zones.playing(2) == (zones.seats[0], zones.seats[2])
    assert zones.playing(3) == zones.seats[:3]
    assert zones.playing(4) == zones.seats
    assert zones.playing(5) == ()
    assert zones_of_size(900, 700, 2).playing(3) == ()


@pytest.mark.parametrize(
    ("outline", "reason"),
    [
        (((0.0, 0.0), (1.0, 1.0)), "3 corners"),
        (((0.0, 0.0), (10.0, 10.0), (20.0, 20.0)), "one line"),
        (((0.0, 0.0), (float("nan"), 1.0), (5.0, 0.0)), "within"),
    ],
)
def test_invalid_outlines_are_refused(outline: tuple[tuple[float, float], ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        TableZones(ZoneSource.GIVEN, boneyard=outline)
