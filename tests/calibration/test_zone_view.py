"""Tests of projecting zones to the picture, with tilt and distortion."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from calibration.lens.lens import Lens
from calibration.table.picture import find_corner_marks
from calibration.table.table import Table, TableSource, table_from_markers
from calibration.table.zones import OutlineMm, show_zone
from lab.render.view import view_of
from tallybone.session.observations import Zones
from tests.calibration import laid

THICKNESS_MM = 9.0
# A non-convex seat around a corner.
ANGLE: OutlineMm = (
    (-300.0, -180.0),
    (100.0, -180.0),
    (100.0, -120.0),
    (-240.0, -120.0),
    (-240.0, 100.0),
    (-300.0, 100.0),
)


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


def test_a_zone_behind_the_camera_is_not_visible() -> None:
    low = tilted(75)
    shown = show_zone(((-100.0, -3000.0), (100.0, -3000.0), (100.0, -2500.0), (-100.0, -2500.0)), low, LENS)
    behind = show_zone(((-100.0, 3000.0), (100.0, 3000.0), (100.0, 2500.0), (-100.0, 2500.0)), low, LENS)
    assert sorted([shown.visible, behind.visible])[0] == 0.0
