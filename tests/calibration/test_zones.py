"""Tests of the zones of a table, from the printed mat or from loose corner blocks, and of their view in the picture."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace

import numpy as np
import pytest

from calibration import RefusedError
from calibration.lens.lens import Lens
from calibration.sheets.prints import BLOCK_MM, MAT_HEIGHT_MM, MAT_WIDTH_MM, block_places_mm, mat_zones
from calibration.table.picture import find_corner_marks
from calibration.table.table import BlockPose, Table, TableSource, table_from_markers
from calibration.table.zones import OutlineMm, TableZones, ZoneSource, show_zone, zones_of_size, zones_on
from lab.render.view import view_of
from tallybone.session.observations import Zones
from tests.calibration import laid


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


def test_zones_need_two_diagonal_blocks_and_room() -> None:
    assert zones_on(loose((0, -400, 200), (2, 400, -200)), 2).boneyard is not None
    with pytest.raises(RefusedError, match="2 corner blocks are not enough to work out the size"):
        zones_on(loose((0, -400, 200), (1, 390, 200)), 2)
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


THICKNESS_MM = 9.0
# A non-convex seat around a corner.
ANGLE: OutlineMm = (
    (-300.0, -180.0), (100.0, -180.0), (100.0, -120.0), (-240.0, -120.0), (-240.0, 100.0), (-300.0, 100.0)
)  # fmt: skip


def tilted(tilt_deg: float, turn_deg: float = 0.0) -> Table:
    """Return a table at 800 mm, with the camera tilted towards the first seat and rotated."""
    tilt, turn = math.radians(tilt_deg), math.radians(turn_deg)
    about_x = np.array([[1, 0, 0], [0, math.cos(tilt), -math.sin(tilt)], [0, math.sin(tilt), math.cos(tilt)]])
    about_z = np.array([[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]])
    axes = np.diag([1.0, -1.0, -1.0]) @ about_x @ about_z
    nine = tuple(axes.ravel().tolist())
    assert len(nine) == 9
    return Table(nine, (0.0, 0.0, 800.0), THICKNESS_MM, TableSource.MARKERS, 0.1, 0.001)


def agreement(outline: OutlineMm, table: Table, lens: Lens) -> float:
    """Return the share of points with equal zone membership on the table and in the picture."""
    shares = show_zone(outline, table, lens).shares
    zones = Zones(boneyard=shares)
    on_table = Zones(boneyard=tuple(((x + 1000) / 2000, (y + 1000) / 2000) for x, y in outline))
    places = np.random.default_rng(1).uniform((-420, -260), (420, 260), (4000, 2))
    shown = (table.to_picture(places, lens, height_mm=THICKNESS_MM) + 0.5) / (lens.width_px, lens.height_px)
    seen = [
        (zones.is_boneyard(*share), on_table.is_boneyard(*((place + 1000) / 2000)))
        for place, share in zip(places.tolist(), shown.tolist(), strict=True)
        if 0 < share[0] < 1 and 0 < share[1] < 1
        for place in [np.array(place)]
    ]
    assert sum(each for _, each in seen) > 50
    return sum(here == there for here, there in seen) / len(seen)


LENS = Lens(1280, 720, (1000.0, 1000.0), (639.5, 359.5))


@pytest.mark.parametrize("tilt", [0, 15, 25, 40])
@pytest.mark.parametrize(
    "bent", [(0.0, 0.0, 0.0, 0.0, 0.0), (-0.25, 0.08, 0.001, -0.001, 0.0), (0.1, 0.0, 0.0, 0.0, 0.0)]
)
def test_zone_membership_agrees_on_the_table_and_in_the_picture(
    tilt: float, bent: tuple[float, float, float, float, float]
) -> None:
    assert agreement(ANGLE, tilted(tilt, 20), replace(LENS, distortion=bent)) > 0.998


def test_a_measured_zone_matches_the_renderer() -> None:
    camera = laid.CAMERA
    lens = laid.true_lens(camera)
    table = table_from_markers(find_corner_marks(laid.picture_of(laid.Laid())), lens, thickness_mm=THICKNESS_MM)
    # The origin of the table is the centre of the blocks.
    corners: OutlineMm = ((-200.0, -100.0), (200.0, -100.0), (200.0, 100.0), (-200.0, 100.0))
    shown = np.array(show_zone(corners, table, lens).shares) * (lens.width_px, lens.height_px) - 0.5
    centre = np.array([(x, y) for x, y, _ in laid.BLOCKS_MM]).mean(axis=0)
    own = table.tops_to_table(view_of(camera).project(centre[None] + [[0.0, 0.0], [100.0, 0.0]], THICKNESS_MM), lens)
    assert own[0] == pytest.approx((0, 0), abs=0.3)
    back = table.tops_to_table(shown, lens)
    assert back == pytest.approx(np.array(corners), abs=0.01)


def test_zones_are_clipped_to_the_picture() -> None:
    table = tilted(0)
    # The picture shows 512 mm to each side on the cloth, and less at the height of the tops.
    edge_mm = 640 / 1000 * (800 - THICKNESS_MM)
    shown = show_zone(((edge_mm - 30, -50), (edge_mm + 70, -50), (edge_mm + 70, 50), (edge_mm - 30, 50)), table, LENS)
    assert shown.visible == pytest.approx(0.3, abs=0.01)
    assert max(x for x, _ in shown.shares) == 1.0
    nothing = show_zone(((900.0, 0.0), (1000.0, 0.0), (1000.0, 50.0)), table, LENS)
    assert (nothing.shares, nothing.visible) == ((), 0.0)
    low = tilted(75)
    shown = show_zone(((-100.0, -3000.0), (100.0, -3000.0), (100.0, -2500.0), (-100.0, -2500.0)), low, LENS)
    behind = show_zone(((-100.0, 3000.0), (100.0, 3000.0), (100.0, 2500.0), (-100.0, 2500.0)), low, LENS)
    assert sorted([shown.visible, behind.visible])[0] == 0.0
