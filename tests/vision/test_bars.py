"""Divider bars: whatever its colours and angle, a tile with a bar is proposed where it lies."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.shapes import Bgr, blank, fill, fill_circle, nearest_errors, tile_at, tiles_at
from vision.bars import find_lines, tiles_around
from vision.poses import Poses, corners, to_image
from vision.pyramid import Image, build_pyramid

# Good enough for the pose head to mend (vision/training/samples.py teaches it up to 0.6).
MENDABLE = 0.35
WHITE: Bgr = (235, 235, 235)
BLACK: Bgr = (25, 25, 25)


def draw_tile(
    image: Image, pose: Poses, *, face: Bgr = WHITE, bar: Bgr = BLACK, length: float = 0.8, thickness: float = 0.08
) -> None:
    """A face with its divider bar; length and thickness as a share of the width of the tile."""
    fill(image, corners(pose)[0], face)
    u, v = thickness / 2, length
    fill(image, to_image(pose, np.array([(-u, -v), (u, -v), (u, v), (-u, v)]))[0], bar)


def proposed(image: Image) -> Poses:
    return tiles_around(find_lines(build_pyramid(image)))


@pytest.mark.parametrize("degrees", range(0, 180, 15))
def test_a_bar_at_any_angle_shows_its_tile(degrees: int) -> None:
    image, truth = blank(), tile_at(150.3, 121.8, side_px=30, degrees=degrees)
    draw_tile(image, truth)
    assert nearest_errors(truth, proposed(image)) < [MENDABLE]


@pytest.mark.parametrize("side_px", [14, 20, 40, 70, 150, 250])
def test_tiles_of_any_size_are_found(side_px: int) -> None:
    width_px = max(300, 5 * side_px)
    image = blank(width_px, width_px * 3 // 4)
    truth = tile_at(width_px * 0.5, width_px * 0.4, side_px=side_px, degrees=20)
    draw_tile(image, truth, thickness=max(0.06, 1.5 / side_px))
    assert nearest_errors(truth, proposed(image)) < [MENDABLE]


@pytest.mark.parametrize("length", [0.7, 0.8, 0.9, 1.0])
def test_bars_of_any_length_show_their_tile(length: float) -> None:
    image, truth = blank(), tile_at(150, 120, side_px=32, degrees=33)
    draw_tile(image, truth, length=length)
    assert nearest_errors(truth, proposed(image)) < [MENDABLE]


@pytest.mark.parametrize(
    ("face", "bar"),
    [
        (WHITE, BLACK),
        (BLACK, WHITE),
        ((60, 160, 60), WHITE),
        ((190, 150, 230), (60, 60, 60)),
        ((60, 90, 40), (200, 200, 60)),  # the face has the colour of the table
        (WHITE, (190, 190, 190)),  # pale
    ],
    ids=["black on white", "white on black", "white on green", "grey on pink", "face as table", "pale"],
)
def test_dark_and_light_bars_are_found(face: Bgr, bar: Bgr) -> None:
    image, truth = blank(), tile_at(160, 115, side_px=30, degrees=70)
    draw_tile(image, truth, face=face, bar=bar)
    assert nearest_errors(truth, proposed(image)) < [MENDABLE]


def of_lightness(light: int, a: int, b: int) -> Bgr:
    """A colour from 8-bit Lab."""
    blue, green, red = cv2.cvtColor(np.array([[[light, a, b]]], np.uint8), cv2.COLOR_LAB2BGR)[0, 0].tolist()
    return (blue, green, red)


@pytest.mark.parametrize(
    ("a", "b"), [(128, 200), (190, 128), (90, 128), (128, 70)], ids=["yellow", "red", "green", "blue"]
)
def test_a_bar_of_the_faces_lightness_is_found_by_its_colour(a: int, b: int) -> None:
    face, bar = of_lightness(150, 128, 128), of_lightness(150, a, b)
    image, truth = blank(), tile_at(160, 115, side_px=30, degrees=120)
    draw_tile(image, truth, face=face, bar=bar)
    assert nearest_errors(truth, proposed(image)) < [MENDABLE]


@pytest.mark.parametrize("degrees", [0, 25, 60, 90])
def test_a_pip_that_touches_the_bar_does_not_hide_it(degrees: int) -> None:
    image, truth = blank(), tile_at(160, 115, side_px=34, degrees=degrees)
    draw_tile(image, truth)
    for u, v in ((0.21, 0.0), (-0.21, 0.5)):
        fill_circle(image, to_image(truth, np.array([(u, v)]))[0, 0], 34 * 0.09, BLACK)
    assert nearest_errors(truth, proposed(image)) < [MENDABLE]


def test_every_tile_of_a_packed_block_is_found() -> None:
    truth = tiles_at(*(tile_at(80 + 61 * i, 60 + 31 * j, side_px=30) for i in range(3) for j in range(4)))
    image = blank()
    for i in range(len(truth)):
        draw_tile(image, truth[i : i + 1])
    assert max(nearest_errors(truth, proposed(image))) < MENDABLE


@pytest.mark.parametrize(("width_px", "height_px"), [(320, 240), (1, 1), (1, 3000), (3000, 1)])
@pytest.mark.parametrize("bgr", [(0, 0, 0), (255, 255, 255), (60, 90, 40)])
def test_a_plain_picture_shows_nothing(width_px: int, height_px: int, bgr: Bgr) -> None:
    assert proposed(blank(width_px, height_px, bgr)).shape == (0, 6)


def test_a_disc_is_no_bar() -> None:
    image = blank()
    fill_circle(image, np.array([160.0, 120.0]), 6.0, WHITE)
    assert len(proposed(image)) == 0


def test_a_line_across_the_picture_is_no_bar() -> None:
    image = blank(1280, 960)
    image[500:503] = WHITE
    assert len(proposed(image)) == 0
