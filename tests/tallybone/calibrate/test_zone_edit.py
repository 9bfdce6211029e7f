"""Tests of zones drawn over a picture, and of refusals with the reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration import RefusedError
from calibration.table.zones import TableZones, ZoneSource, zones_on
from tallybone.calibrate.guide.steps import EditableZone, editable, size_seen, with_zones
from tests.tallybone.calibrate.bare_table import LENS, MARKS, table_below

TABLE = table_below()
ZONES = zones_on(MARKS, 4)
SQUARE = ((600.0, 300.0), (700.0, 300.0), (700.0, 400.0), (600.0, 400.0))


def drawn(name: str, *corners: tuple[float, float]) -> TableZones:
    return with_zones(ZONES, (EditableZone(name, corners),), TABLE, LENS)


def test_a_square_in_the_picture_is_mapped_to_the_table() -> None:
    layout = drawn("layout", *SQUARE).layout
    assert layout is not None
    # Tile tops are 1190 mm below a camera with a focal length of 1000 px. The y axis of the table points up.
    assert layout[0] == pytest.approx((-39.5 * 1.19, 59.5 * 1.19), abs=1e-6)
    assert layout[2] == pytest.approx((60.5 * 1.19, -40.5 * 1.19), abs=1e-6)


def test_only_drawn_zones_are_changed() -> None:
    after = drawn("seat 2", *SQUARE)
    assert after.source is ZoneSource.GIVEN
    assert (after.boneyard, after.layout) == (ZONES.boneyard, ZONES.layout)
    assert [each == two for each, two in zip(after.seats, ZONES.seats, strict=True)] == [True, False, True, True]
    assert with_zones(ZONES, (), TABLE, LENS) == ZONES


@pytest.mark.parametrize(
    ("corners", "reason"),
    [
        (SQUARE[:2], "use 3 to 24 corners"),
        (tuple((600.0 + at, 300.0 + at**2) for at in range(25)), "use 3 to 24 corners"),
        ((SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]), "its edges cross each other"),
        (((600.0, 300.0), (650.0, 300.0), (700.0, 300.0)), "its corners lie in one line"),
    ],
)
def test_invalid_zones_are_refused_with_the_reason(corners: tuple[tuple[float, float], ...], reason: str) -> None:
    with pytest.raises(RefusedError, match=f"^layout: {reason}"):
        drawn("layout", *corners)


def test_an_unknown_zone_and_a_corner_above_the_horizon_are_refused() -> None:
    # The camera looks along the table, with the wall in its upper half.
    axes = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0)
    table = type(TABLE)(axes, (0.0, 400.0, 900.0), 10.0, TABLE.source, 0.1, 0.0005)
    with pytest.raises(RefusedError, match="unknown zone seat 5"):
        drawn("seat 5", *SQUARE)
    with pytest.raises(RefusedError, match="layout: a corner is off the table"):
        with_zones(ZONES, (EditableZone("layout", ((600.0, 100.0), *SQUARE[1:])),), table, LENS)


def test_editable_zones_are_in_the_picture_and_match_the_drawn_ones() -> None:
    near = table_below(700.0)
    for zone in editable(ZONES, near, LENS):
        corners = np.array(zone.corners_px)
        assert len(corners) >= 3
        assert (corners >= -40).all()
        assert (corners <= (1320, 760)).all()
    whole = {zone.name: zone.corners_px for zone in editable(drawn("layout", *SQUARE), TABLE, LENS)}
    assert np.allclose(whole["layout"], SQUARE, atol=0.1)


def test_without_blocks_the_zones_fill_the_visible_area() -> None:
    width_mm, depth_mm = size_seen(TABLE, LENS)
    # 720 pixels at 1190 mm are 857 mm deep. The mat is 759 mm wide and 558 mm deep.
    assert depth_mm == pytest.approx(719 * 1.19, abs=3)
    assert width_mm == pytest.approx(depth_mm * 759 / 558, abs=0.1)


@given(st.lists(st.tuples(st.integers(0, 1279), st.integers(0, 719)), min_size=3, max_size=8))
def test_any_corners_are_a_zone_or_refused(corners: list[tuple[int, int]]) -> None:
    try:
        layout = drawn("layout", *corners).layout
    except RefusedError:
        return
    assert layout is not None
    back = TABLE.to_picture(np.array(layout), LENS, height_mm=TABLE.thickness_mm)
    assert np.allclose(back, corners, atol=1e-6)
