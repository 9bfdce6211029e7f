"""Tests of the calibration check with moved blocks or camera, and tiles of another size."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from calibration.table.picture import SeenMarker, find_corner_marks
from calibration.table.table import Table, table_from_markers
from lab.render.looks import CLASSIC
from tallybone.calibrate.stored import check_blocks, check_tiles, seen_marks
from tallybone.finding import Grade
from tests.calibration import laid
from tests.tallybone.calibrate.test_lens_and_table import tiles

LENS = laid.true_lens(laid.CAMERA)


@pytest.fixture(scope="module")
def markers() -> tuple[SeenMarker, ...]:
    return find_corner_marks(laid.picture_of(laid.Laid()))


@pytest.fixture(scope="module")
def table(markers: tuple[SeenMarker, ...]) -> Table:
    return table_from_markers(markers, LENS, thickness_mm=CLASSIC.thickness_mm)


def text(*found: object) -> str:
    return " ".join(str(getattr(finding, "text", finding)) for finding in found)


def test_an_unchanged_table_is_ok(markers: tuple[SeenMarker, ...], table: Table) -> None:
    found = check_blocks(markers, table, LENS)
    assert [finding.grade for finding in found] == [Grade.OK]
    assert "within 0." in text(*found)
    places = {mark.block: mark for mark in table.marks}
    for mark in seen_marks(markers, table, LENS):
        assert (mark.x_mm, mark.y_mm) == pytest.approx((places[mark.block].x_mm, places[mark.block].y_mm), abs=0.3)


def test_a_moved_block_is_named_with_the_distance(markers: tuple[SeenMarker, ...], table: Table) -> None:
    first = table.marks[0]
    before = replace(table, marks=(replace(first, x_mm=first.x_mm - 30), *table.marks[1:]))
    found = check_blocks(markers, before, LENS)
    assert [finding.grade for finding in found] == [Grade.PROBLEM]
    assert "top left by 30 mm" in text(*found)
    assert "top right" not in text(*found)


def test_the_motion_of_the_camera_is_measured(markers: tuple[SeenMarker, ...], table: Table) -> None:
    turn = math.radians(2)
    moved = tuple(
        replace(
            mark,
            x_mm=mark.x_mm * math.cos(turn) - mark.y_mm * math.sin(turn) + 12,
            y_mm=mark.x_mm * math.sin(turn) + mark.y_mm * math.cos(turn),
        )
        for mark in table.marks
    )
    found = check_blocks(markers, replace(table, marks=moved), LENS)
    assert [finding.grade for finding in found] == [Grade.PROBLEM]
    assert "moved by 12 mm and 2.0 degrees" in text(*found)


def test_hidden_blocks_are_reported_without_a_problem(markers: tuple[SeenMarker, ...], table: Table) -> None:
    some = [marker for marker in markers if marker.block != 2]
    found = check_blocks(some, table, LENS)
    assert {finding.grade for finding in found} == {Grade.OK}
    assert "bottom right" in text(*found)
    assert [block.grade for block in check_blocks((), table, LENS)] == [Grade.PROBLEM]


def test_tiles_reveal_a_wrong_scale_or_tilt(table: Table) -> None:
    seen = tiles(np.zeros((2, 2, 3), np.uint8))
    assert [tile.grade for tile in check_tiles(seen, table, LENS, length_mm=48.0)] == [Grade.OK]
    assert "measure 48.0 mm all over" in text(*check_tiles(seen, table, LENS, length_mm=48.0))
    assert [tile.grade for tile in check_tiles(seen, table, LENS, length_mm=50.0)] == [Grade.PROBLEM]
    flat = replace(table, axes=(1, 0, 0, 0, -1, 0, 0, 0, -1))
    assert "should be equal" in text(*check_tiles(seen, flat, LENS))
    assert "too few" in text(*check_tiles(seen[:3], table, LENS))
