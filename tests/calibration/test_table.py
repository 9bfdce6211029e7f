"""Tests of measuring a rendered table by corner blocks, tiles or clicked corners."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from calibration import RefusedError
from calibration.sheets.prints import marker_corners_mm
from calibration.table.picture import find_corner_marks
from calibration.table.table import (
    FlatTarget,
    Table,
    TableSource,
    TileSize,
    fit_plane,
    table_from_corners,
    table_from_markers,
    table_from_tiles,
    tile_length_mm,
)
from lab.render.cover import truth_of
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.scene import PlacedTile, Scene
from lab.render.view import view_of
from tests.calibration.laid import BLOCKS_MM, CAMERA, Laid, grid_mm, picture_of, true_lens, worst_mm
from vision.reading import Face, SeenTile

LENS = true_lens(CAMERA)
VIEW = view_of(CAMERA)
SIZE = TileSize(CLASSIC.length_mm, CLASSIC.width_mm, CLASSIC.thickness_mm)


@pytest.fixture(scope="module")
def by_markers() -> Table:
    return table_from_markers(find_corner_marks(picture_of(Laid())), LENS)


def test_four_blocks_determine_the_table_within_half_a_millimetre(by_markers: Table) -> None:
    assert _worst_mm(by_markers) < 0.5
    assert math.degrees(by_markers.tilt_rad) == pytest.approx(25, abs=0.1)
    assert by_markers.height_mm == pytest.approx(VIEW.camera_mm()[2], rel=0.002)
    places = {mark.block: mark for mark in by_markers.marks}
    assert [sign(places[block].x_mm, places[block].y_mm) for block in range(4)] == [(-1, 1), (1, 1), (1, -1), (-1, -1)]
    assert sum(mark.x_mm for mark in by_markers.marks) == pytest.approx(0, abs=1e-6)
    # The renderer rotates clockwise.
    assert places[2].turn_rad - places[3].turn_rad == pytest.approx(-(BLOCKS_MM[2][2] - BLOCKS_MM[3][2]), abs=0.002)
    grid = grid_mm()
    tops_px, cloth_px = VIEW.project(grid, 10.0), VIEW.project(grid, 0.0)
    assert by_markers.tops_to_table(tops_px, LENS) == pytest.approx(by_markers.to_table(cloth_px, LENS), abs=0.1)
    # Without the correction they would be off by several millimetres.
    shifted = by_markers.to_table(tops_px, LENS) - by_markers.to_table(cloth_px, LENS)
    assert np.linalg.norm(shifted, axis=1).max() > 5
    there = by_markers.to_picture(grid_mm(), LENS, height_mm=10.0)
    assert by_markers.tops_to_table(there, LENS) == pytest.approx(grid_mm(), abs=1e-6)
    flat = np.column_stack([grid_mm(), np.ones(63)]) @ by_markers.homography(LENS, height_mm=10.0).T
    assert flat[:, :2] / flat[:, 2:] == pytest.approx(there, abs=1e-6)
    with pytest.raises(ValueError, match="right angles"):
        replace(by_markers, axes=(1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))


def test_half_hidden_blocks_determine_the_table_within_a_millimetre() -> None:
    hidden = tuple((x_mm + 40.0, y_mm + 40.0, 84.0) for x_mm, y_mm, _ in BLOCKS_MM)
    markers = find_corner_marks(picture_of(Laid(hidden=hidden)))
    assert len(markers) <= 8
    assert _worst_mm(table_from_markers(markers, LENS)) < 1.0


def test_a_scaled_print_needs_its_scale() -> None:
    markers = find_corner_marks(picture_of(Laid(print_scale=0.95)))
    assert _worst_mm(table_from_markers(markers, LENS)) > 10
    assert _worst_mm(table_from_markers(markers, LENS, print_scale=0.95)) < 0.5


def test_a_scaled_print_changes_the_measured_length_of_tiles(by_markers: Table) -> None:
    fitted = table_from_markers(find_corner_marks(picture_of(Laid(print_scale=0.95))), LENS)
    thick = replace(by_markers, thickness_mm=SIZE.thickness_mm), replace(fitted, thickness_mm=SIZE.thickness_mm)
    lengths = [tile_length_mm(_tiles(6), table, LENS) for table in thick]
    assert lengths == pytest.approx([48.0, 48.0 / 0.95], rel=0.003)


@pytest.mark.parametrize(("blocks", "reason"), [((), "0 of the 4"), ((2,), "1 of the 4")])
def test_too_few_blocks_are_refused(blocks: tuple[int, ...], reason: str) -> None:
    camera = replace(CAMERA, width_px=1152, height_px=648, px_per_mm=1.3)
    markers = find_corner_marks(picture_of(Laid(camera=camera, blocks=blocks)))
    with pytest.raises(RefusedError, match=reason):
        table_from_markers(markers, true_lens(camera))


def test_tiles_of_known_size_determine_the_table() -> None:
    table = table_from_tiles(_tiles(6), LENS, SIZE)
    tops_px = VIEW.project(grid_mm(), SIZE.thickness_mm)
    assert table.source is TableSource.TILES
    assert worst_mm(table.tops_to_table(tops_px, LENS), grid_mm()) < 0.2
    tiles = _tiles(8)
    (x, y), *others = tiles[0].corners_px
    wrong = replace(tiles[0], corners_px=((x - 30, y - 20), *others))  # type: ignore[arg-type]
    table = table_from_tiles([wrong, *tiles[1:]], LENS, SIZE)
    assert worst_mm(table.tops_to_table(VIEW.project(grid_mm(), SIZE.thickness_mm), LENS), grid_mm()) < 1.0


def test_tiles_that_are_few_or_of_several_sizes_are_refused() -> None:
    with pytest.raises(RefusedError, match="2 tiles are visible, but at least 4"):
        table_from_tiles(_tiles(2), LENS, SIZE)
    tiles = [_grown(tile, 1 + 0.3 * at) for at, tile in enumerate(_tiles(6))]
    with pytest.raises(RefusedError, match="the tiles do not fit one plane"):
        table_from_tiles(tiles, LENS, SIZE)


def test_four_clicked_corners_determine_the_table() -> None:
    corners = np.array([(-400.0, -200.0), (400, -200), (400, 200), (-400, 200)])
    clicked = VIEW.project(corners, 0.0) + np.array([(1, -1), (0, 1), (-1, 0), (1, 1)])
    seen = [(x, y) for x, y in clicked.tolist()]
    table = table_from_corners(seen, LENS, width_mm=800, depth_mm=400)
    assert _worst_mm(table) < 3
    assert table.to_table(clicked, LENS) == pytest.approx(corners * (1, -1), abs=3)
    corners = VIEW.project(np.array([(-400.0, -200.0), (400, 200), (400, -200), (-400, 200)]), 0.0)
    with pytest.raises(RefusedError, match="the corners"):
        table_from_corners([(x, y) for x, y in corners.tolist()], LENS, width_mm=800, depth_mm=400)


def test_shrunken_black_areas_do_not_change_the_scale() -> None:
    shape = np.concatenate([marker_corners_mm(place) for place in range(4)])
    outward = np.sign(shape - np.repeat(shape.reshape(4, 4, 2).mean(axis=1), 4, axis=0))
    targets = []
    for x_mm, y_mm in ((-300.0, -100.0), (300, -100), (300, 120), (-300, 120)):
        # About 0.4 px at 2.6 px per millimetre.
        at = (shape - 0.15 * outward) * (1, -1) + (x_mm, y_mm)
        targets.append(FlatTarget(shape, VIEW.project(at, 0.0), outward=outward))
    plane = fit_plane(targets, LENS)
    assert plane.distance_mm == pytest.approx(VIEW.camera_mm()[2], rel=1e-3)
    assert plane.growth_px == pytest.approx(-0.15 * 2.6, abs=0.1)
    with pytest.raises(ValueError, match=r"\(4, 2\) and \(3, 2\)"):
        FlatTarget(np.zeros((4, 2)), np.zeros((3, 2)))


def sign(*values: float) -> tuple[int, ...]:
    return tuple(1 if value > 0 else -1 for value in values)


def _worst_mm(table: Table) -> float:
    return worst_mm(table.to_table(VIEW.project(grid_mm(), 0.0), LENS), grid_mm())


def _tiles(count: int) -> tuple[SeenTile, ...]:
    """Return tiles all over the table, as from an ideal reader."""
    places = [(x, y) for x in (-240, -80, 80, 240) for y in (-110, 110)][:count]
    laid = tuple(PlacedTile((1, 2), (float(x), float(y)), 0.7 * at) for at, (x, y) in enumerate(places))
    return truth_of(Scene(laid, CLASSIC, FELT, LAMP, CAMERA), VIEW).reading.tiles


def _grown(tile: SeenTile, factor: float) -> SeenTile:
    x, y = tile.center_px
    a, b, c, d = ((x + (u - x) * factor, y + (v - y) * factor) for u, v in tile.corners_px)
    return SeenTile(Face.DOWN, (a, b, c, d), ())
