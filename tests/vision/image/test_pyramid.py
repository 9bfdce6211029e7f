"""Tests of the image pyramid: levels, coordinates and brightness."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vision.shapes import Bgr, blank, fill_circle
from vision.arrays import Image, Points
from vision.image.picture import Level, build_pyramid


def sizes(image: Image) -> list[tuple[int, int]]:
    return [(level.image.shape[1], level.image.shape[0]) for level in build_pyramid(image)]


def test_a_large_image_starts_at_1280_px_and_is_halved_and_a_small_one_not_enlarged() -> None:
    assert sizes(blank(2560, 1920)) == [(1280, 960), (640, 480), (320, 240), (160, 120), (80, 60)]
    assert sizes(blank(300, 200)) == [(300, 200), (150, 100), (75, 50)]
    assert sizes(blank(640, 480))[0] == (640, 480)
    assert sizes(blank(200, 300)) == [(200, 300), (100, 150), (50, 75)]


@pytest.mark.parametrize("width_px", [641, 700, 1000, 1279])
def test_every_larger_image_has_a_level_of_640_px(width_px: int) -> None:
    assert [width for width, _ in sizes(blank(width_px, width_px // 2))] == [width_px, 640, 320, 160, 80]


@pytest.mark.parametrize(
    ("width_px", "height_px"), [(2560, 1920), (1281, 333), (333, 1907), (641, 350), (1, 3000), (1, 1)]
)
def test_every_level_has_the_size_of_the_full_image(width_px: int, height_px: int) -> None:
    assert {level.full_size_px for level in build_pyramid(blank(width_px, height_px))} == {(width_px, height_px)}


@pytest.mark.parametrize(
    ("width_px", "height_px", "first"),
    [(1, 1, (1, 1)), (1, 3000, (1, 1280)), (3000, 1, (1280, 1)), (2, 7, (2, 7)), (39, 39, (39, 39))],
)
def test_tiny_and_thin_images_have_one_level(width_px: int, height_px: int, first: tuple[int, int]) -> None:
    (level,) = build_pyramid(blank(width_px, height_px))
    assert (level.image.shape[1], level.image.shape[0]) == first
    assert level.image.dtype == np.uint8


def test_pixel_centres_of_a_level() -> None:
    # A pixel covers two pixels of the full image, so its centre is between theirs.
    level = Level(blank(8, 6), (2.0, 4.0))
    assert level.scale == 3.0
    assert level.to_full(np.array([[0.0, 0.0], [3.0, 1.0]])).tolist() == [[0.5, 1.5], [6.5, 5.5]]
    assert level.from_full(np.array([[0.5, 1.5], [-0.5, -0.5]])).tolist() == [[0, 0], [-0.5, -0.5]]


@settings(max_examples=40, deadline=None)
@given(st.floats(1, 40), st.floats(1, 40), st.floats(-5000, 5000), st.floats(-5000, 5000))
def test_from_full_undoes_to_full(scale_x: float, scale_y: float, x_px: float, y_px: float) -> None:
    level = Level(blank(4, 4), (scale_x, scale_y))
    points = np.array([[[x_px, y_px], [y_px, x_px]]])
    np.testing.assert_allclose(level.from_full(level.to_full(points)), points, atol=1e-6)
    np.testing.assert_allclose(level.to_full(level.from_full(points)), points, atol=1e-6)


def dark_centroid(image: Image) -> Points:
    """Return the centroid of the dark region, shape (1, 2)."""
    grey = image[..., 1].max() - image[..., 1].astype(np.float64)
    rows, columns = np.mgrid[0 : grey.shape[0], 0 : grey.shape[1]]
    return np.asarray(np.array([[(columns * grey).sum(), (rows * grey).sum()]]) / grey.sum())


@pytest.mark.parametrize(("width_px", "height_px"), [(640, 480), (1000, 750), (1600, 1200), (1281, 333), (333, 1907)])
def test_a_point_maps_to_the_same_place_in_every_level(width_px: int, height_px: int) -> None:
    dot = np.array([[width_px * 0.31, height_px * 0.73]])
    image = blank(width_px, height_px, (240, 240, 240))
    fill_circle(image, dot[0], 24.0, (0, 0, 0))
    levels = build_pyramid(image)
    assert len(levels) >= 3
    for level in levels:
        found = dark_centroid(level.image)
        # An offset of half a pixel on the coarsest level, the usual bug, would be 10 px.
        assert abs(level.to_full(found) - dot).max() < 0.2 + 0.02 * level.scale
        assert abs(found - level.from_full(dot)).max() < 0.2 / level.scale + 0.02


def lit(white: int) -> Image:
    """Return a table of a tenth of the brightness of *white*, with a tile of *white*."""
    image = blank(200, 160, (white // 10,) * 3)
    image[40:80, 50:130] = white
    return image


@pytest.mark.parametrize(("white", "brightened"), [(40, 120), (60, 180), (115, 230), (200, 230)])
def test_a_dim_image_is_brightened_up_to_a_limit(white: int, brightened: int) -> None:
    for level in build_pyramid(lit(white)):
        assert abs(int(level.image.max()) - brightened) <= 1
        assert abs(int(level.image[0, 0, 0]) - brightened // 10) <= 3


@pytest.mark.parametrize("white", [230, 240, 255])
def test_a_bright_image_is_unchanged(white: int) -> None:
    image = lit(white)
    assert (build_pyramid(image)[0].image == image).all()


def test_a_brightened_image_keeps_the_original_and_black_stays_black() -> None:
    image = blank(640, 480, (20, 20, 20))
    image[100:110, 200:210] = 240
    dim, bright = build_pyramid(image), build_pyramid(blank(640, 480, (240, 240, 240)))
    assert dim[0].as_taken is not None
    assert (dim[0].as_taken == image).all()
    assert all(level.as_taken is not None and level.as_taken.shape == level.image.shape for level in dim)
    assert all(level.as_taken is None for level in bright)
    assert all(not level.image.any() for level in build_pyramid(blank(200, 160, (0, 0, 0))))
    image = lit(60)
    before = image.copy()
    build_pyramid(image)
    assert (image == before).all()


@pytest.mark.parametrize("bgr", [(40, 40, 90), (90, 40, 40)])
def test_brightening_keeps_the_hue(bgr: Bgr) -> None:
    image = blank(100, 80, bgr)
    pixel = build_pyramid(image)[0].image[0, 0].astype(float)
    assert pixel.max() == pytest.approx(230, abs=1)
    assert pixel / pixel.max() == pytest.approx(np.array(bgr) / 90, abs=0.01)


def test_coarser_levels_are_smoothed_rather_than_subsampled() -> None:
    # Smoothing turns a checkerboard of single pixels grey. Subsampling would leave it black or white.
    rows, columns = np.mgrid[0:320, 0:320]
    board = np.where((rows + columns) % 2, 255, 0).astype(np.uint8)
    levels = build_pyramid(cv2.merge([board, board, board]).astype(np.uint8))
    assert levels[1].image.min() > 100
    assert levels[1].image.max() < 160
