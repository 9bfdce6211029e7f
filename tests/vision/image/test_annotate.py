"""Tests of annotated images: marks, colours, legibility and edge cases."""

from __future__ import annotations

import math
from itertools import combinations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision.arrays import Bgr
from vision.image.annotate import LEGIBLE_HALF_PX, ORANGE, PURPLE, SKY, YELLOW, annotate
from vision.reading import Contact, Face, Guess, Half, Join, PointPx, Reading, SeenTile

SIDE = 80.0


def tile(left: float, top: float, *, confidence: float = 1.0, face: Face = Face.UP, side: float = SIDE) -> SeenTile:
    """Return a horizontal tile."""
    right, bottom = left + 2 * side, top + side
    centre_y = top + side / 2
    second = Guess(5, (1 - confidence) / 2)
    halves = (
        Half(6, confidence, (left + side / 2, centre_y), second),
        Half(4, confidence, (left + side * 1.5, centre_y)),
    )
    corners: tuple[PointPx, ...] = ((left, top), (right, top), (right, bottom), (left, bottom))
    return SeenTile(face, (corners[0], corners[1], corners[2], corners[3]), halves if face is Face.UP else ())


def annotated(*tiles: SeenTile, joins: tuple[Join, ...] = (), grey: int = 128) -> NDArray[np.uint8]:
    return annotate(np.full((300, 500, 3), grey, np.uint8), Reading(500, 300, tiles, joins))


def pixels_near(image: NDArray[np.uint8], color: Bgr) -> NDArray[np.int64]:
    """Return the pixels near a colour, shape (N, 2) as x, y."""
    rows, columns = np.nonzero((abs(image.astype(int) - color) <= 24).all(axis=2))
    return np.column_stack([columns, rows])


def test_an_empty_table_gets_no_marks_and_the_image_is_not_modified() -> None:
    image = np.full((300, 500, 3), 128, np.uint8)
    result = annotate(image, Reading(500, 300, (tile(50, 50),), ()))
    assert (image == 128).all()
    assert result.shape == image.shape
    assert result.dtype == np.uint8
    assert (annotated() == 128).all()


def test_the_outline_follows_the_edges() -> None:
    points = pixels_near(annotated(tile(50, 60)), SKY)
    assert abs(points.min(axis=0) - (50, 60)).max() <= 3
    assert abs(points.max(axis=0) - (50 + 2 * SIDE, 60 + SIDE)).max() <= 3


@pytest.mark.parametrize(("confidence", "color", "other"), [(0.99, YELLOW, ORANGE), (0.6, ORANGE, YELLOW)])
def test_uncertain_pips_get_another_colour_and_a_wider_label(confidence: float, color: Bgr, other: Bgr) -> None:
    image = annotated(tile(50, 60, confidence=confidence))
    assert len(pixels_near(image, other)) < len(pixels_near(image, color)) / 10
    first = pixels_near(image, color)
    first = first[first[:, 0] < 50 + SIDE]
    assert first[:, 1].max() <= 62  # above the tile, with its tick
    text = first[first[:, 1] < 52]
    assert abs((text[:, 0].min() + text[:, 0].max()) / 2 - (50 + SIDE / 2)) <= 3
    width, height = np.ptp(text, axis=0)
    assert (width > height) == (confidence < 0.9)  # "6?5" is wider than high, "6" is not
    assert 0.2 * SIDE < height < 0.7 * SIDE


def centres(image: NDArray[np.uint8], color: Bgr) -> list[tuple[int, int]]:
    """Return the rounded centres of the areas with a colour, as x, y."""
    mask = np.zeros(image.shape[:2], np.uint8)
    for x, y in pixels_near(image, color):
        cv2.circle(mask, (int(x), int(y)), 6, 1, cv2.FILLED)  # joins a number and its tick
    _, _, _, found = cv2.connectedComponentsWithStats(mask)
    return [(round(x), round(y)) for x, y in found[1:]]


@pytest.mark.parametrize(
    ("other", "is_above"), [((50.0, 60.0 + SIDE), True), ((50.0, 60.0 - SIDE), False), ((400.0, 200.0), True)]
)
def test_numbers_are_beside_their_halves_where_there_is_room(other: tuple[float, float], is_above: bool) -> None:
    image = annotated(tile(50, 60), tile(*other, face=Face.DOWN))
    for x, y in centres(image, YELLOW):
        assert min(abs(x - 50 - SIDE / 2), abs(x - 50 - 1.5 * SIDE)) < 5
        assert y < 60 if is_above else y > 60 + SIDE


def test_numbers_do_not_cover_each_other() -> None:
    tiles = (tile(50, 20), tile(50, 21.7 + 1.5 * SIDE), tile(230, 60), tile(320, 200))
    numbers = centres(annotated(*tiles), YELLOW)
    assert len(numbers) == 8
    assert min(math.dist(a, b) for a, b in combinations(numbers, 2)) > 0.4 * SIDE


def test_a_number_without_room_is_on_its_half() -> None:
    places = [(x, y) for x in (-60, 100, 260, 420) for y in (20, 100, 180) if (x, y) != (100, 100)]
    image = annotated(tile(100, 100), *(tile(x, y, face=Face.DOWN) for x, y in places))
    text = pixels_near(image, YELLOW)
    assert (abs(text - (100 + SIDE, 100 + SIDE / 2)) < (SIDE, SIDE / 2)).all()


@pytest.mark.parametrize("grey", [0, 255])
def test_marks_are_visible_on_black_and_on_white(grey: int) -> None:
    image = annotated(tile(50, 60), tile(300, 60, face=Face.DOWN), grey=grey)
    assert len(pixels_near(image, YELLOW)) > 200
    assert len(pixels_near(image, SKY)) > 1000
    darkest = image.astype(int).sum(axis=2).min()
    assert darkest < 100  # the casing


def test_joins_end_at_halves_or_at_the_centre_of_a_side() -> None:
    image = annotated(tile(50, 60), tile(60 + 2 * SIDE, 60), joins=(Join(0, 1, 1, 0),))
    points = pixels_near(image, PURPLE)
    assert len(points) > 50
    assert points[:, 0].min() > 50 + 1.5 * SIDE
    assert points[:, 0].max() < 60 + 2.5 * SIDE
    assert abs(points[:, 1].mean() - (60 + SIDE / 2)) < 2
    image = np.full((300, 500, 3), 128, np.uint8)
    reading = Reading(500, 300, (tile(50, 60), tile(60 + 2 * SIDE, 60)), (), (Contact(0, 1, 1, 0),))
    assert len(pixels_near(annotate(image, reading), PURPLE)) == 0
    below = tile(50, 60 + SIDE)
    points = pixels_near(annotated(tile(50, 60), below, joins=(Join(0, 0, 1, None),)), PURPLE)
    assert len(points) > 50
    assert points[:, 1].min() > 60 + SIDE / 2
    assert points[:, 1].max() < below.center_px[1]


def test_tiles_that_are_not_up_have_no_number_but_hatching_or_a_question_mark() -> None:
    image = annotated(tile(50, 60, face=Face.DOWN))
    assert len(pixels_near(image, YELLOW)) == 0
    points = pixels_near(image, SKY)
    inside = points[(abs(points - (50 + SIDE, 60 + SIDE / 2)) < (SIDE * 0.8, SIDE * 0.3)).all(axis=1)]
    assert len(inside) > 100
    points = pixels_near(annotated(tile(50, 60, face=Face.UNSURE)), ORANGE)
    assert abs(points.min(axis=0) - (50, 60)).max() <= 3
    assert abs(points.max(axis=0) - (50 + 2 * SIDE, 60 + SIDE)).max() <= 3
    edge = points[abs(points[:, 1] - 60) <= 1][:, 0]
    assert np.diff(np.unique(edge)).max() > 0.1 * SIDE  # a gap
    inside = points[(abs(points - (50 + SIDE, 60 + SIDE / 2)) < (SIDE * 0.8, SIDE * 0.4)).all(axis=1)]
    assert math.dist((inside.min(axis=0) + inside.max(axis=0)) / 2, (50 + SIDE, 60 + SIDE / 2)) <= 3
    assert len(pixels_near(annotated(tile(50, 60, face=Face.UNSURE)), SKY)) == 0


def test_small_tiles_are_enlarged_until_legible_unless_the_picture_is_large() -> None:
    small = annotated(tile(50, 60, side=30))
    assert small.shape == (600, 1000, 3)
    assert annotated(tile(50, 60, side=5)).shape == (900, 1500, 3)
    assert annotated(tile(50, 60, side=LEGIBLE_HALF_PX + 1)).shape == (300, 500, 3)
    points = pixels_near(small, SKY)
    assert abs(points.min(axis=0) - (100, 120)).max() <= 4
    image = np.zeros((3000, 4000, 3), np.uint8)
    assert annotate(image, Reading(4000, 3000, (tile(50, 60, side=20),), ())).shape == image.shape


@pytest.mark.parametrize("origin", [(-100, -40), (480, 290), (-1000, 5000), (1e9, -1e9)])
def test_marks_are_clipped_at_the_image_border(origin: tuple[float, float]) -> None:
    assert annotated(tile(*origin), tile(100, 100), joins=(Join(0, 0, 1, 0),)).shape == (300, 500, 3)


def test_accepts_a_tile_without_extent() -> None:
    point = (100.0, 100.0)
    degenerate = SeenTile(Face.UP, (point, point, point, point), (Half(0, 1.0, point), Half(18, 0.2, point)))
    back = SeenTile(Face.DOWN, (point, point, point, point), ())
    assert annotated(degenerate, back, joins=(Join(0, 0, 1, None),)).ndim == 3


def test_rejects_a_reading_of_another_image() -> None:
    with pytest.raises(ValueError, match=r"\(300, 500, 3\) as the reading says, but got \(300, 400, 3\)"):
        annotate(np.zeros((300, 400, 3), np.uint8), Reading(500, 300, (), ()))
