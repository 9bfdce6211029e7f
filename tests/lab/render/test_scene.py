"""Tests of pip patterns: real arrangements, no overlap, within the half."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.faces import OVERHEAD_GLINT, grid_of, paint_face, pip_places_mm
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import render
from lab.render.scene import MAX_PIPS, BarKind, PlacedPip, Scene, largest_radius, pip_centers, style_count
from lab.render.view import add_light, expose, take, view_of
from tests.lab.render.flat import RED
from tests.vision.tables import CAMERA, lay
from vision.arrays import Image

ALL_STYLES = [(pips, style) for pips in range(MAX_PIPS + 1) for style in range(style_count(pips))]


@pytest.mark.parametrize(("pips", "style"), ALL_STYLES)
def test_a_half_has_the_right_number_of_pips_without_overlap(pips: int, style: int) -> None:
    centers = pip_centers(pips, style)
    assert centers.shape == (pips, 2)
    radius = largest_radius(centers)
    assert radius > 0.07
    assert (np.abs(centers) + radius <= 1.0).all()
    for index in range(pips):
        others = np.delete(centers, index, axis=0)
        assert (np.linalg.norm(others - centers[index], axis=1) > 2 * radius).all()


@pytest.mark.parametrize(("pips", "style"), ALL_STYLES)
def test_every_arrangement_has_rotational_symmetry(pips: int, style: int) -> None:
    centers = np.round(pip_centers(pips, style), 9)
    assert {(x, y) for x, y in centers + 0.0} == {(x, y) for x, y in -centers + 0.0}


def test_the_common_six_has_its_rows_of_three_along_the_tile() -> None:
    centers = pip_centers(6, 0)
    assert len(np.unique(centers[:, 0])) == 2
    assert len(np.unique(centers[:, 1])) == 3
    assert len(np.unique(pip_centers(6, 1)[:, 0])) == 3


def test_staggered_columns_are_offset_from_the_outer_ones() -> None:
    """The eight as a ring has rows of three. If staggered, its inner two pips are between the rows."""
    ring, staggered = pip_centers(8, 0), pip_centers(8, 4)
    assert len(np.unique(np.round(ring[:, 1], 6))) == 3
    assert len(np.unique(np.round(staggered[:, 1], 6))) == 5


def test_two_and_three_occur_on_both_diagonals() -> None:
    for pips in (2, 3):
        slopes = {float(np.sign((pip_centers(pips, style)[:2].prod(axis=1)).sum())) for style in (0, 1)}
        assert slopes == {-1.0, 1.0}


def test_styles_of_a_number_differ() -> None:
    for pips in range(6, MAX_PIPS + 1):
        seen = {tuple(sorted(map(tuple, np.round(pip_centers(pips, s), 6).tolist()))) for s in range(style_count(pips))}
        assert len(seen) >= style_count(pips) - (pips in (8, 9, 16))  # a square equals its crosswise variant


@pytest.mark.parametrize(("pips", "style"), [(-1, 0), (19, 0), (6, 2), (0, 1)])
def test_rejects_unknown_arrangements(pips: int, style: int) -> None:
    with pytest.raises(ValueError, match="expected 0 to"):
        pip_centers(pips, style)


def test_half_1_is_half_0_rotated_unless_mirrored() -> None:
    first, radii_mm = pip_places_mm(CLASSIC, 2, 0)
    assert np.allclose(first, [[-12 + 6.96, -6.96], [-12 - 6.96, 6.96]])
    assert radii_mm.tolist() == pytest.approx([0.19 * 12] * 2)
    assert np.allclose(pip_places_mm(CLASSIC, 2, 1)[0], -first)
    mirrored = pip_places_mm(replace(CLASSIC, is_mirrored=True), 2, 1)[0]
    assert np.allclose(mirrored, first * [-1, 1])


def test_placed_pips_replace_the_pattern_only_for_the_given_numbers() -> None:
    look = replace(CLASSIC, placed_pips=((), (PlacedPip(0.5, -0.25, 0.1),)))
    places_mm, radii_mm = pip_places_mm(look, 1, 0)
    assert places_mm.tolist() == [[-12 + 0.25 * 12, 0.5 * 12]]
    assert radii_mm.tolist() == pytest.approx([0.1 * 12])
    assert pip_places_mm(look, 1, 1)[0].tolist() == [[12 - 0.25 * 12, -0.5 * 12]]
    assert np.array_equal(pip_places_mm(look, 2, 0)[0], pip_places_mm(CLASSIC, 2, 0)[0])


def test_rejects_a_wrong_number_of_placed_pips() -> None:
    with pytest.raises(ValueError, match=r"placed_pips\[1\]: expected 1 pips, got 0"):
        replace(CLASSIC, placed_pips=((), ()))


SCALE = 6.0
PLAIN = replace(RED, bar_kind=BarKind.NONE)


def _spots(pips: tuple[int, int], jitter: float, seed: int) -> NDArray[np.bool_]:
    """Return a mask of the pips of a handpainted tile, seen from above."""
    look = replace(PLAIN, pip_jitter=jitter)
    texture = paint_face(grid_of(look, SCALE), look, pips, OVERHEAD_GLINT, 1.0, np.random.default_rng(seed))
    return np.asarray(texture[..., 1] > 100)  # faces have no green


@pytest.mark.parametrize("pips", [1, 3, 6, 12, 18])
@pytest.mark.parametrize("half", [0, 1])
def test_handpainted_pips_stay_on_their_half(pips: int, half: int) -> None:
    for seed in range(20):
        spots = _spots((pips, 0) if half == 0 else (0, pips), 0.14, seed)
        centre, beyond = spots.shape[1] // 2, round(0.4 * pip_places_mm(PLAIN, pips, half)[1][0] * SCALE)
        assert not (spots[:, centre + beyond :] if half == 0 else spots[:, : centre - beyond]).any()
        if pips <= 3:  # with more pips, some may touch
            assert cv2.connectedComponents(spots.astype(np.uint8))[0] - 1 == pips, "a pip is off the tile"


def test_handpainted_pips_are_displaced_and_uneven() -> None:
    even = _spots((5, 0), 0.0, 0)
    areas = []
    for seed in range(8):
        spots = _spots((5, 0), 0.06, seed)
        assert (spots != even).mean() > 0.01
        count, _, stats, _ = cv2.connectedComponentsWithStats(spots.astype(np.uint8))
        assert count - 1 == 5
        areas += stats[1:, cv2.CC_STAT_AREA].tolist()
    assert np.std(areas) > 0.05 * np.mean(areas)


# Tests of the rendered camera: exposure like that of a Raspberry Pi camera, and lens bloom.


AUTOMATIC = replace(CAMERA, metering=1.0, noise=0.0, jpeg_quality=None)
EVEN = np.full((240, 320, 3), 128, np.uint8)


def _light(picture: Image) -> np.ndarray:
    """Return the linear light of all pixels, 0 to 1, in ascending order."""
    return np.sort((picture[..., 1].ravel() / 255.0) ** 2.2)


@pytest.mark.parametrize("level", [20, 60, 100, 180, 240])
def test_a_uniform_table_is_exposed_to_mid_grey(level: int) -> None:
    exposed = expose(np.full((240, 320, 3), level, np.uint8), EVEN, LAMP, AUTOMATIC)
    assert _light(exposed).mean() == pytest.approx(0.2, abs=0.02)  # the brightest fiftieth raises the exposure slightly


@pytest.mark.parametrize("share", [0.02, 0.05, 0.2])
def test_white_on_black_is_not_overexposed(share: float) -> None:
    table = np.full((240, 320, 3), 12, np.uint8)
    table[:, : round(320 * share)] = 200
    exposed = expose(table, EVEN, LAMP, AUTOMATIC)
    assert _light(exposed)[-len(table) :].mean() == pytest.approx(0.8, abs=0.05)


def test_a_camera_without_metering_keeps_the_scene() -> None:
    table = np.full((240, 320, 3), 40, np.uint8)
    assert (expose(table, EVEN, LAMP, replace(AUTOMATIC, metering=0.0)) == table).all()


def test_black_pips_stay_black_on_white_tiles_on_a_dark_table() -> None:
    dark = replace(FELT, base_bgr=(9.0, 9.0, 9.0), second_bgr=(5.0, 5.0, 5.0), third_bgr=(12.0, 12.0, 12.0))
    tiles = tuple(lay(6, pips, 60 * (pips % 3) - 60, 60 * (pips // 3) - 60) for pips in range(9))
    rendered = render(Scene(tiles, CLASSIC, dark, LAMP, AUTOMATIC), np.random.default_rng(3))
    for tile in rendered.truth.tiles:
        x, y = np.array(tile.corners_px).T
        face = rendered.image[int(y.min()) : int(y.max()), int(x.min()) : int(x.max()), 1]
        assert np.percentile(face, 90) < 253
        assert np.percentile(face, 90) - np.percentile(face, 2) > 120


def test_lighting_above_white_is_preserved_until_exposure() -> None:
    table = np.full((240, 320, 3), 200, np.uint8)
    table[:, 160:] = 230
    exposed = expose(table, np.full_like(EVEN, 220), LAMP, AUTOMATIC)
    dark, bright = (float(exposed[120, x, 1]) for x in (80, 240))
    assert bright < 230
    assert bright / dark == pytest.approx(230 / 200, rel=0.03)


def _bloomed(picture: Image, share: float) -> Image:
    camera = replace(CAMERA, bloom=share, noise=0.0, blur_px=0.0, jpeg_quality=None)
    return take(picture, camera, view_of(camera), np.random.default_rng(1))


def test_bloom_spreads_light_without_adding_any() -> None:
    lamp = np.full((240, 320, 3), 10, np.uint8)
    lamp[100:140, 140:180] = 250
    bloomed = _bloomed(lamp, 0.1)
    assert 10 < bloomed[98, 160, 1] < 100, "no glow beside the lamp"
    assert 235 < bloomed[120, 160, 1] < 250
    assert _light(bloomed).sum() == pytest.approx(_light(lamp).sum(), rel=0.1)
    even = np.full((240, 320, 3), 180, np.uint8)
    assert (_bloomed(even, 0.1) == even).all()


def test_light_is_added_linearly_rather_than_as_grey_levels() -> None:
    grey = np.repeat(np.array([[0, 30, 120, 200, 250]], np.uint8)[..., None], 3, axis=2)
    lit = add_light(grey, np.array([[90, 40, 160, 150, 0]], np.uint8))
    assert lit[0, :, 0].tolist() == [90, 50, 200, 250, 250]
    assert (add_light(grey, np.full((1, 5), 255, np.uint8)) == 255).all()
