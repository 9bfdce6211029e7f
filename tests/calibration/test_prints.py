"""Tests of the printed sheets: scale, completeness, and detection of their markers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from calibration.lens.lens import find_view
from calibration.sheets.prints import (
    BLOCK_MM,
    BOARD_CORNERS,
    MARKER_MM,
    MAT_HEIGHT_MM,
    MAT_WIDTH_MM,
    RULER_MM,
    SQUARE_MM,
    LineSegment,
    Paper,
    Rectangle,
    Sheet,
    Text,
    Window,
    block_places_mm,
    draw_prints,
    format_pdf,
    lens_board,
    mat_zones,
)
from calibration.table.picture import find_corner_marks
from lab.render.sheets import draw_sheet
from tests.calibration.pdf_pages import contents, page_sizes_mm, picture_of

# About 150 dots per inch.
PX_PER_MM = 6.0
CORNERS, BOARD, MAT = 0, 1, 2
papers = pytest.mark.parametrize("paper", Paper)


@cache
def pdf_on(paper: Paper) -> bytes:
    return format_pdf(draw_prints(paper, 4))


@papers
def test_pages_have_the_size_of_the_paper_and_a_ruler_of_100_mm(paper: Paper) -> None:
    sizes = page_sizes_mm(pdf_on(paper))
    assert len(sizes) == 11
    assert sizes[CORNERS] == pytest.approx((paper.short_mm, paper.long_mm), abs=0.01)
    for size in sizes[BOARD:]:
        assert size == pytest.approx((paper.long_mm, paper.short_mm), abs=0.01)
    for sheet in draw_prints(paper, 3):
        rulers = [
            shape
            for shape in sheet.shapes
            if isinstance(shape, LineSegment) and shape.to_mm[0] - shape.from_mm[0] == RULER_MM
        ]
        assert len(rulers) == 1
        assert 5 < rulers[0].from_mm[1] < sheet.height_mm - 5


@papers
def test_all_sixteen_corner_markers_are_found_at_their_size(paper: Paper) -> None:
    markers = find_corner_marks(picture_of(pdf_on(paper), CORNERS, PX_PER_MM))
    assert [(marker.block, marker.place) for marker in markers] == [(b, p) for b in range(4) for p in range(4)]
    for each in markers:
        corners = np.array(each.corners_px)
        sides_mm = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) / PX_PER_MM
        assert sides_mm == pytest.approx(np.full(4, MARKER_MM), abs=0.35)
        assert corners[0].sum() == min(corners.sum(axis=1))  # upright


@papers
def test_all_board_corners_are_found_at_their_positions(paper: Paper) -> None:
    view = find_view(picture_of(pdf_on(paper), BOARD, PX_PER_MM))
    assert len(view.corners) == BOARD_CORNERS
    at_mm = (view.points_px() + 0.5) / PX_PER_MM
    true_mm = np.asarray(lens_board().getChessboardCorners())[:, :2]
    assert at_mm - at_mm[0] == pytest.approx(true_mm - true_mm[0], abs=0.2)
    assert np.linalg.norm(at_mm[1] - at_mm[0]) == pytest.approx(SQUARE_MM, abs=0.2)


@papers
def test_the_assembled_mat_has_four_corner_blocks(paper: Paper) -> None:
    part_mm = (MAT_WIDTH_MM / 3, MAT_HEIGHT_MM / 3)
    px_per_mm = 3.0
    left, top = ((paper.long_mm - part_mm[0]) / 2, (paper.short_mm - part_mm[1]) / 2 - 1)
    rows = []
    for row in range(3):
        pages = [picture_of(pdf_on(paper), MAT + 3 * row + column, px_per_mm) for column in range(3)]
        x, y = round(left * px_per_mm), round(top * px_per_mm)
        width, height = (round(extent * px_per_mm) for extent in part_mm)
        rows.append(np.hstack([page[y : y + height, x : x + width] for page in pages]))
    markers = find_corner_marks(np.vstack(rows))
    assert len(markers) == 16
    for block, place_mm in enumerate(block_places_mm()):
        centre_px = np.mean([marker.corners_px for marker in markers if marker.block == block], axis=(0, 1))
        assert centre_px / px_per_mm == pytest.approx(np.array(place_mm) + BLOCK_MM / 2, abs=0.7)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_zones_and_blocks_of_the_mat_do_not_overlap(players: int) -> None:
    zones = mat_zones(players)
    assert [zone.name for zone in zones] == [*(f"Seat {n + 1}" for n in range(players)), "Boneyard", "Layout"]
    areas = [(z.left_mm, z.top_mm, z.left_mm + z.width_mm, z.top_mm + z.height_mm) for z in zones]
    areas += [(x, y, x + BLOCK_MM, y + BLOCK_MM) for x, y in block_places_mm()]
    for at, (left, top, right, low) in enumerate(areas):
        assert 0 <= left < right <= MAT_WIDTH_MM
        assert 0 <= top < low <= MAT_HEIGHT_MM
        for other_left, other_top, other_right, other_low in areas[:at]:
            assert right <= other_left or other_right <= left or low <= other_top or other_low <= top


def test_the_xref_table_of_a_pdf_has_the_object_offsets() -> None:
    pdf = pdf_on(Paper.A4)
    at = int(pdf.split(b"startxref\n")[1].split()[0])
    places = [int(line[:10]) for line in pdf[at:].splitlines()[3:] if line.endswith(b" n ")]
    assert len(places) == 3 + 2 * 11
    assert all(pdf[place:].startswith(b"%d 0 obj" % number) for number, place in enumerate(places, start=1))
    with pytest.raises(ValueError, match="2 to 4, got 5"):
        mat_zones(5)


def test_a_window_clips_its_contents() -> None:
    window = Window((Rectangle(0.0, 0.0, 100.0, 100.0),), (10.0, 10.0), (5.0, 5.0), 20.0, 10.0)
    sheet = Sheet(40.0, 30.0, (window,))
    for picture in (draw_sheet(sheet, 2.0), picture_of(format_pdf([sheet]), 0, 2.0)):
        assert picture.shape == (60, 80)
        assert (picture[10:30, 10:50] == 0).all()
        assert (picture == 0).sum() == 20 * 40
    sheet = Sheet(100.0, 50.0, (Text((10.0, 20.0), "a (b)", 5.0, quarters=1),))
    assert contents(format_pdf([sheet]))[0].splitlines()[1] == r"BT 0 g /F 5 Tf 0 1 1 0 10 20 Tm (a \(b\)) Tj ET"
    with pytest.raises(ValueError, match="ASCII"):
        Text((0.0, 0.0), "Caf\u00e9")
