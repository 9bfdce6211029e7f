"""Regions: single tiles and packed blocks that stand out from the table are proposed tile by tile."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.shapes import Bgr, blank, fill, nearest_errors, tile_at, tiles_at
from vision.poses import Poses, corners
from vision.pyramid import Image, build_pyramid
from vision.regions import colour_masks, region_proposals

# In sides of a half; the pose head mends what is left.
CLOSE = 0.2
WHITE: Bgr = (235, 235, 235)
GREEN: Bgr = (60, 90, 40)


def proposed(image: Image) -> Poses:
    return region_proposals(build_pyramid(image))


def table_with(truth: Poses, face: Bgr = WHITE, table: Bgr = GREEN, width_px: int = 400, height_px: int = 300) -> Image:
    """Plain tiles without bars, pips or gaps on a plain table."""
    image = blank(width_px, height_px, table)
    for outline in corners(truth):
        fill(image, outline, face)
    return image


def turned(block: Poses, degrees: float, around_px: tuple[float, float] = (200.0, 150.0)) -> Poses:
    """All tiles turned together."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.array([[c, s], [-s, c]])
    axes = (block.reshape(-1, 3, 2) @ turn).reshape(-1, 6)
    middle = np.array(around_px)
    axes[:, :2] = (block[:, :2] - middle) @ turn + middle
    return np.asarray(axes)


SINGLE = tile_at(200, 150, side_px=30)
ROW_OF_3 = tiles_at(*(tile_at(200, 150 + 30 * i, side_px=30) for i in (-1, 0, 1)))
TWO_ROWS = tiles_at(*(tile_at(200 + 30 * x, 150 + 30 * y, side_px=30) for x in (-1, 1) for y in (-1, 0, 1)))
CHAIN_OF_4 = tiles_at(*(tile_at(200 + 48 * i, 150, side_px=24) for i in (-1.5, -0.5, 0.5, 1.5)))
BLOCKS = {"single": SINGLE, "row of three": ROW_OF_3, "two rows": TWO_ROWS, "chain of four": CHAIN_OF_4}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("degrees", [0, 17, 45, 90, 150])
def test_packed_tiles_come_out_one_by_one(name: str, degrees: float) -> None:
    truth = turned(BLOCKS[name], degrees)
    assert max(nearest_errors(truth, proposed(table_with(truth)))) < CLOSE


@pytest.mark.parametrize(
    ("face", "table"),
    [
        (WHITE, GREEN),
        ((25, 25, 25), (180, 190, 200)),
        ((90, 60, 200), (60, 110, 90)),
        ((190, 150, 230), (230, 230, 230)),
        ((40, 120, 40), (30, 60, 110)),
    ],
    ids=["white on green", "black on light", "red on green", "pink on white", "green on brown"],
)
def test_no_colour_is_assumed(face: Bgr, table: Bgr) -> None:
    truth = tiles_at(tile_at(90, 80, side_px=24, degrees=30), tile_at(280, 200, side_px=24, degrees=100))
    assert max(nearest_errors(truth, proposed(table_with(truth, face, table)))) < CLOSE


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.5, 5.0])
def test_tiles_are_found_at_any_size_of_the_picture(scale: float) -> None:
    truth = turned(SINGLE, 25) * scale
    image = table_with(truth, width_px=round(400 * scale), height_px=round(300 * scale))
    assert nearest_errors(truth, proposed(image)) < [CLOSE]


def test_white_tiles_on_two_tables_at_once() -> None:
    truth = tiles_at(tile_at(90, 150, side_px=26, degrees=10), tile_at(310, 150, side_px=26, degrees=80))
    image = table_with(truth)
    image[:, 200:] = (130, 150, 170)
    fill(image, corners(truth)[1], WHITE)
    assert max(nearest_errors(truth, proposed(image))) < CLOSE


@pytest.mark.parametrize(("width_px", "height_px"), [(400, 300), (1, 1), (1, 3000), (3000, 1), (50, 50)])
@pytest.mark.parametrize("bgr", [(0, 0, 0), (255, 255, 255), (60, 90, 40)])
def test_a_plain_picture_shows_nothing(width_px: int, height_px: int, bgr: Bgr) -> None:
    assert proposed(blank(width_px, height_px, bgr)).shape == (0, 6)


def test_masks_of_a_plain_picture_are_none() -> None:
    assert list(colour_masks(blank())) == []


def test_some_mask_shows_the_tile_and_nothing_else() -> None:
    truth = turned(SINGLE, 25)
    image = table_with(truth)
    face = (image > 200).all(axis=2)
    shares = []
    for mask in colour_masks(image):
        assert mask.shape == face.shape
        shares.append(max(((mask > 0) == face).mean(), ((mask > 0) != face).mean()))
    assert max(shares) > 0.99


def test_a_square_is_no_tile() -> None:
    image = blank(400, 300, GREEN)
    image[120:180, 170:230] = WHITE  # two tiles side by side, but not one
    found = proposed(image)
    assert nearest_errors(tile_at(200, 150, side_px=42), found) > [CLOSE]
    assert max(nearest_errors(tiles_at(tile_at(200, 135, side_px=30), tile_at(200, 165, side_px=30)), found)) < CLOSE
