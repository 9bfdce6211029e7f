"""Tests of the contact sheet of mistakes: crops, cells and sheets."""

from __future__ import annotations

import numpy as np

from lab.evaluate.mistakes import MAX_CELLS, Cell, Mistake, MistakeKind, crop_mistake, draw_sheets
from vision.image.annotate import ORANGE

OUTLINE = ((40.0, 40.0), (60.0, 40.0), (60.0, 50.0), (40.0, 50.0))
MISSED = Mistake(MistakeKind.MISSED, "missed 1-1", (OUTLINE,))


def test_a_crop_centres_the_tile_and_leaves_its_face_uncovered() -> None:
    image = np.full((100, 100, 3), 60, np.uint8)
    image[40:50, 40:60] = 255
    crop = crop_mistake(image, MISSED)
    assert crop.shape == (232, 232, 3)
    assert (crop[100:132, 80:152] == 255).all()
    assert (crop[:20] == 60).all()
    assert (crop == ORANGE).all(axis=2).any()


def test_a_crop_at_the_image_border_is_grey_outside() -> None:
    crop = crop_mistake(np.full((45, 100, 3), 60, np.uint8), MISSED)
    assert (crop[-10:] == 200).all()
    assert (crop[:10] == 60).all()


def test_a_mistake_in_a_large_image_is_smoothed_when_reduced() -> None:
    image = np.zeros((2000, 2000, 3), np.uint8)
    image[::2] = 255
    wide = Mistake(MistakeKind.MISSED, "", (((100.0, 100.0), (1900.0, 100.0), (1900.0, 1900.0), (100.0, 1900.0)),))
    centre = crop_mistake(image, wide)[100:130, 100:130]
    assert abs(int(centre.mean()) - 127) < 3
    assert int(centre.max()) - int(centre.min()) < 30


def cells(count: int, source: str = "a") -> list[Cell]:
    return [Cell(source, "p.jpg", "missed 1-1", np.zeros((232, 232, 3), np.uint8)) for _ in range(count)]


def black_cells(sheet: np.ndarray) -> int:
    return round(int((sheet == 0).all(axis=2).sum()) / 232**2)


def test_every_mistake_has_a_cell_and_a_sheet_has_two_hundred() -> None:
    sheets = list(draw_sheets(cells(MAX_CELLS + 3)))
    assert [black_cells(sheet) for sheet in sheets] == [MAX_CELLS, 3]


def test_each_source_starts_a_row_with_its_name() -> None:
    (single_source,), (two_sources,) = (list(draw_sheets(cells(2))), list(draw_sheets([*cells(1), *cells(1, "b")])))
    assert two_sources.shape[0] > single_source.shape[0] + 232
    assert black_cells(single_source) == black_cells(two_sources) == 2


def test_without_mistakes_there_is_no_sheet() -> None:
    assert list(draw_sheets([])) == []
