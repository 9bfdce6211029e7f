"""Tests of the reader on rendered tables: recall, joins, orientation, colour, sets and invalid images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.layouts import visible_area
from lab.render.looks import CLASSIC, COLORED, FELT, WALNUT, draw_table_look, draw_tile_look
from lab.render.paint import RenderedPicture
from lab.render.placements import Arrangement, blocks, chain, random_hand, scatter
from lab.render.scene import PlacedTile
from tests.vision.tables import (
    CAMERA,
    Looks,
    false_positives,
    joins_missing,
    lay,
    missing,
    reader,
    rotated_back,
    table_with,
)
from vision.arrays import Image
from vision.networks.network import UP
from vision.poses import Poses
from vision.reader.reader import load_reader
from vision.reading import Face, PointPx, Reading, SeenTile

AREA = visible_area(CAMERA)
SOME_LOOKS = ["felt", pytest.param("walnut", marks=pytest.mark.slow)]
LOOKS = {"felt": Looks(CLASSIC, FELT), "walnut": Looks(COLORED, WALNUT)}


def scattered() -> Arrangement:
    rng = np.random.default_rng(5)
    return scatter(rng, random_hand(rng, 10, 6), AREA, CLASSIC, gap_mm=4)


def packed() -> Arrangement:
    rng = np.random.default_rng(6)
    return blocks(rng, random_hand(rng, 9, 6), CLASSIC, columns=3, theta_rad=0.2, largest_gap_mm=0.5)


def chained() -> Arrangement:
    return chain(np.random.default_rng(2), 9, 6, AREA, CLASSIC, largest_gap_mm=1.0, theta_rad=0.15)


LAYOUTS = {"scatter": scattered, "block": packed, "chain": chained}


@cache
def shown(layout: str, looks: str) -> tuple[RenderedPicture, Reading]:
    """Return a table with at least nine tiles, and its reading."""
    arrangement = LAYOUTS[layout]()
    rendered = table_with(arrangement.tiles, LOOKS[looks], joins=arrangement.joins)
    assert len(rendered.truth.tiles) >= 9
    return rendered, reader().read(rendered.image)


@pytest.mark.parametrize("looks", SOME_LOOKS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reads_every_tile_of_a_calm_table(layout: str, looks: str) -> None:
    rendered, reading = shown(layout, looks)
    assert missing(rendered.truth.tiles, reading.tiles) == []
    assert false_positives(rendered.truth.tiles, reading.tiles) == []
    assert len(reading.tiles) == len(rendered.truth.tiles)
    if layout != "block":
        assert len(joins_missing(rendered.truth, reading)) <= 1
        assert len(reading.joins) <= len(rendered.truth.joins) == (8 if layout == "chain" else 0)


@pytest.mark.parametrize("seed", [3, 30])
def test_reads_a_close_up(seed: int) -> None:
    """Large pips resemble small tiles: at 640 px each of these images shows more than a dozen such patterns."""
    rng = np.random.default_rng(seed)
    look = draw_tile_look(rng)
    table = draw_table_look(rng, look.face_bgr)
    # Sides of 180 px.
    camera = replace(CAMERA, width_px=1280, height_px=960, px_per_mm=180 / look.width_mm)
    width_mm, height_mm = 1280 / camera.px_per_mm, 960 / camera.px_per_mm
    places = [(-0.3, -0.25), (0.0, -0.25), (0.3, -0.25), (-0.2, 0.25), (0.2, 0.25)]
    pips = [(6, 5), (6, 6), (4, 6), (5, 5), (6, 4)]
    tiles = [
        lay(*pair, x * width_mm, y * height_mm, 90 + rng.uniform(-5, 5))
        for pair, (x, y) in zip(pips, places, strict=True)
    ]
    rendered = table_with(tiles, Looks(look, table, camera=camera, seed=seed))
    assert len(rendered.truth.tiles) == 5
    reading = reader().read(rendered.image)
    assert missing(rendered.truth.tiles, reading.tiles) == []


def test_reads_small_tiles_in_an_image_slightly_larger_than_640_px() -> None:
    rng, width_px = np.random.default_rng(2), 700
    look = draw_tile_look(rng)
    table = draw_table_look(rng, look.face_bgr)
    camera = replace(CAMERA, width_px=width_px, height_px=width_px * 3 // 4, px_per_mm=0.017 * width_px / look.width_mm)
    area = visible_area(camera)
    tiles = [
        lay(i * 2 % 7, (i * 3 + i // 6) % 7, (i % 6 - 2.5) * area.width_mm / 6, (i // 6 - 1.5) * area.height_mm / 4, i)
        for i in range(24)
    ]
    rendered = table_with(tiles, Looks(look, table, camera=camera, seed=2))
    assert len(rendered.truth.tiles) == 24
    reading = reader().read(rendered.image)
    assert missing(rendered.truth.tiles, reading.tiles) == []
    assert false_positives(rendered.truth.tiles, reading.tiles) == []


def test_a_reading_is_sorted_and_has_confidences() -> None:
    rendered, reading = shown("scatter", "felt")
    assert (reading.width_px, reading.height_px) == (rendered.image.shape[1], rendered.image.shape[0])
    centers = [(tile.center_px[1], tile.center_px[0]) for tile in reading.tiles]
    assert centers == sorted(centers)
    for tile in reading.tiles:
        assert all(0.05 < half.confidence <= 1 for half in tile.halves)
        corners = np.array(tile.corners_px)
        following = np.roll(corners, -1, axis=0)
        assert (corners[:, 0] * following[:, 1] - corners[:, 1] * following[:, 0]).sum() > 0  # clockwise
        assert corners.sum(axis=1).argmin() == 0  # starting at the top left


@pytest.mark.parametrize("quarter_turns", [1, 2])
def test_reads_a_rotated_image(quarter_turns: int) -> None:
    rendered, _ = shown("block", "felt")
    rotated = reader().read(np.ascontiguousarray(np.rot90(rendered.image, quarter_turns)))
    tiles = rotated_back(rotated, quarter_turns=quarter_turns, image=rendered.image)
    assert missing(rendered.truth.tiles, tiles) == []
    assert false_positives(rendered.truth.tiles, tiles) == []


def grey(image: Image) -> Image:
    plane = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.merge([plane] * 3), np.uint8)


def negative(image: Image) -> Image:
    return np.asarray(255 - image, np.uint8)


def swapped(image: Image) -> Image:
    return np.ascontiguousarray(image[..., ::-1])


def dim(image: Image) -> Image:
    return np.asarray(image // 3, np.uint8)


def enlarged(image: Image) -> Image:
    return np.asarray(cv2.resize(image, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), np.uint8)


def as_enlarged(tile: SeenTile) -> SeenTile:
    """Return a tile at the position to which `enlarged` moves it."""

    def moved(point: PointPx) -> PointPx:
        return (point[0] * 2 + 0.5, point[1] * 2 + 0.5)

    a, b, c, d = (moved(corner) for corner in tile.corners_px)
    first, second = (replace(half, center_px=moved(half.center_px)) for half in tile.halves)
    return replace(tile, corners_px=(a, b, c, d), halves=(first, second))


@pytest.mark.parametrize(
    ("change", "max_missing"),
    [(grey, 1), (swapped, 1), (negative, 3), (dim, 0)],
    ids=["grey", "red for blue", "negative", "dim"],
)
def test_reads_without_or_with_wrong_colours_and_in_dim_light(
    change: Callable[[Image], Image], max_missing: int
) -> None:
    rendered, _ = shown("scatter", "felt")
    reading = reader().read(change(rendered.image))
    assert len(missing(rendered.truth.tiles, reading.tiles)) <= max_missing
    assert false_positives(rendered.truth.tiles, reading.tiles) == []


def test_reads_pale_pips_on_bright_tiles_on_a_dark_table() -> None:
    rosy = replace(CLASSIC, face_bgr=(150.0, 140.0, 195.0), pip_bgr=((240.0, 235.0, 228.0),) * 19)
    dark = replace(FELT, base_bgr=(18.0, 30.0, 14.0), second_bgr=(12.0, 22.0, 10.0), third_bgr=(20.0, 30.0, 16.0))
    tiles = (lay(6, 2, -60, 20, 15), lay(5, 1, 40, 30, 80), lay(4, 3, 0, -60, -30))
    small = replace(CAMERA, width_px=1200, height_px=900)
    rendered = table_with(tiles, Looks(rosy, dark, camera=small))
    reading = reader().read(rendered.image)
    assert missing(rendered.truth.tiles, reading.tiles) == []


def test_equal_images_give_equal_readings_and_are_not_modified() -> None:
    rendered, reading = shown("block", "felt")
    assert reader().read(rendered.image) == reading
    assert load_reader().read(rendered.image.copy()) == reading
    image = shown("block", "felt")[0].image.copy()
    before = image.copy()
    reader().read(image)
    assert (image == before).all()


@pytest.mark.parametrize("looks", LOOKS)
def test_an_empty_table_has_no_tiles(looks: str) -> None:
    reading = reader().read(table_with((), LOOKS[looks]).image)
    assert (reading.tiles, reading.joins) == ((), ())


def test_face_down_tiles_have_no_halves() -> None:
    tiles = (PlacedTile(None, (-100, -60), 0.3), PlacedTile(None, (80, 50), 1.4), lay(3, 5, 0, 0, 60))
    rendered = table_with(tiles)
    reading = reader().read(rendered.image)
    assert sorted(tile.face for tile in reading.tiles) == [Face.DOWN, Face.DOWN, Face.UP]
    assert missing(rendered.truth.tiles, reading.tiles) == []


def test_a_given_set_limits_the_pips() -> None:
    rendered = table_with([lay(9, 8, -60, 0, 20), lay(7, 9, 60, 10, 100), lay(8, 8, 0, 90)])
    halves = [half.pips for tile in load_reader(6).read(rendered.image).tiles for half in tile.halves]
    assert len(halves) == 6
    assert max(halves) <= 6
    known = load_reader(9).read(rendered.image)
    assert any(half.pips > 6 for tile in known.tiles for half in tile.halves)


def test_the_best_candidates_determine_the_set() -> None:
    tiles = [(12, 11), (10, 12), (0, 9), (7, 8)]
    flowers = [(1, 4)] * 40
    chances = np.clip(np.eye(19)[np.array(tiles + flowers)], 1e-4, 1 - 1e-4)
    look_like_tiles = np.array([4.0] * len(tiles) + [0.5] * len(flowers))
    of_set = load_reader()._limit_to_set(chances, look_like_tiles, np.full(len(chances), UP))
    assert of_set[: len(tiles)].argmax(axis=2).tolist() == [[12, 11], [10, 12], [0, 9], [7, 8]]
    chances = np.clip(np.eye(19)[np.array([(9, 8), (8, 7)] + [(1, 4)] * 40)], 1e-4, 1 - 1e-4)
    of_set = load_reader()._limit_to_set(chances, np.array([0.9, 0.8] + [0.1] * 40), np.full(len(chances), UP))
    assert of_set[:2].argmax(axis=2).tolist() == [[9, 8], [8, 7]]


def test_a_boneyard_does_not_influence_the_assumed_set() -> None:
    boneyard = [PlacedTile(None, (-140 + 40 * (i % 8), -110 + 60 * (i // 8)), 1.5) for i in range(16)]
    played = [lay(13, 2, -50, 60), lay(1, 5, 40, 70, 90)]
    rendered = table_with([*boneyard, *played], Looks(seed=3))
    reading = reader().read(rendered.image)
    assert sum(tile.face is Face.DOWN for tile in reading.tiles) == len(boneyard)
    assert missing(rendered.truth.tiles, reading.tiles) == []


def test_reads_only_plausible_poses() -> None:
    rendered, _ = shown("scatter", "felt")
    width = rendered.image.shape[1]

    def is_left(poses: Poses) -> NDArray[np.bool_]:
        return np.asarray(poses[:, 0] < width / 2)

    reading = reader().read(rendered.image, plausible=is_left)
    left = [tile for tile in rendered.truth.tiles if tile.center_px[0] < width / 2 - 20]
    assert 0 < len(left) < len(rendered.truth.tiles)
    assert missing(left, reading.tiles) == []
    assert all(tile.center_px[0] < width / 2 + 20 for tile in reading.tiles)


def test_reads_an_enlarged_image_the_same() -> None:
    rendered, _ = shown("block", "felt")
    large = reader().read(enlarged(rendered.image))
    truth = [as_enlarged(tile) for tile in rendered.truth.tiles]
    assert missing(truth, large.tiles) == []
    assert false_positives(truth, large.tiles) == []


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((10, 10), np.uint8),
        np.zeros((10, 10, 4), np.uint8),
        np.zeros((10, 10, 3), np.float32),
        np.zeros((3, 10, 10), np.uint8),
    ],
    ids=["grey", "alpha", "float", "channels first"],
)
def test_rejects_invalid_images(image: Image) -> None:
    with pytest.raises(ValueError, match=r"image must have shape \(H, W, 3\) and be uint8, but got ") as caught:
        reader().read(image)
    assert str(image.shape) in str(caught.value)
    assert str(image.dtype) in str(caught.value)


@pytest.mark.parametrize(("width_px", "height_px"), [(1, 1), (1, 3000), (3000, 1), (30, 20)])
def test_finds_nothing_in_tiny_and_thin_images(width_px: int, height_px: int) -> None:
    for bright in (0, 90, 255):
        reading = reader().read(np.full((height_px, width_px, 3), bright, np.uint8))
        assert (reading.width_px, reading.height_px, reading.tiles) == (width_px, height_px, ())
