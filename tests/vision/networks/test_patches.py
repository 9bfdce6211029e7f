"""Tests of patches: normalised contrasts that ignore colour, size and orientation."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.shapes import Bgr, blank, fill, fill_circle, tile_at, tiles_at
from vision.arrays import Image
from vision.image.picture import Level, build_pyramid
from vision.networks.network import PatchGrid, contrasts, half_grid, sample, tile_grid
from vision.poses import Poses, corners, empty_poses, to_image

GRIDS = {"tile": tile_grid(), "half 0": half_grid(0), "half 1": half_grid(1)}
WHITE: Bgr = (235, 235, 235)
BLACK: Bgr = (20, 20, 20)
ROTATED = np.array([1, 1, -1, -1, -1, -1.0])
# Three on half 0, one on half 1, plus the bar.
PIPS_UV = ((-0.75, -0.5), (-0.5, 0.0), (-0.25, 0.5), (0.5, 0.0))


def drawn(pose: Poses, face: Bgr, ink: Bgr, table: Bgr, *, scale: int = 1) -> Image:
    image = blank(320 * scale, 240 * scale, table)
    fill(image, corners(pose)[0], face)
    bar = np.array([(-0.05, -0.9), (0.05, -0.9), (0.05, 0.9), (-0.05, 0.9)])
    fill(image, to_image(pose, bar)[0], ink)
    for uv in PIPS_UV:
        fill_circle(image, to_image(pose, np.array([uv]))[0, 0], float(np.hypot(*pose[0, 4:6])) * 0.2, ink)
    return image


def patch_contrasts(image: Image, poses: Poses, grid: PatchGrid) -> NDArray[np.float32]:
    found = contrasts(sample(build_pyramid(image), poses, grid), grid)
    assert found.shape == (len(poses), 3, grid.rows, grid.columns)
    return found


@pytest.mark.parametrize("name", GRIDS)
def test_a_negative_image_gives_negated_contrasts(name: str) -> None:
    pose = tile_at(150, 120, side_px=50, degrees=20)
    positive = patch_contrasts(drawn(pose, (255, 255, 255), (0, 0, 0), (0, 0, 0)), pose, GRIDS[name])[0]
    negative = patch_contrasts(drawn(pose, (0, 0, 0), (255, 255, 255), (255, 255, 255)), pose, GRIDS[name])[0]
    # Exclude intermediate greys at edges: they are not equidistant from black and white.
    flat = (abs(positive[0]) < 0.01) | (positive[0] < -0.85)
    assert flat.mean() > 0.5
    assert (positive[0] < -0.85).any()
    np.testing.assert_allclose(positive[0][flat], -negative[0][flat], atol=0.15)


def test_sample_spacing_is_equal_along_and_across_a_tile() -> None:
    for grid in GRIDS.values():
        u, v = (uv.reshape(grid.rows, grid.columns) for uv in grid.uv.T)
        # One unit of u is a side, one of v half a side.
        along_sides, across_sides = abs(np.diff(u, axis=1)), abs(np.diff(v, axis=0)) / 2
        assert along_sides.ravel() == pytest.approx(np.full(along_sides.size, grid.step))
        assert across_sides.ravel() == pytest.approx(np.full(across_sides.size, grid.step))


def test_a_tile_patch_includes_the_surroundings_on_all_sides() -> None:
    pose = tile_at(150, 120, side_px=40, degrees=50)
    white, table = (250, 250, 250), (250, 190, 250)
    green_red = patch_contrasts(drawn(pose, white, white, table), pose, tile_grid())[0, 1]
    assert (abs(green_red) < 0.01).any()
    for edge in (green_red[:4], green_red[-4:], green_red[:, :4], green_red[:, -4:]):
        assert edge.min() > 0.5


def of_lab(light: int, a: int, b: int) -> Bgr:
    blue, green, red = cv2.cvtColor(np.array([[[light, a, b]]], np.uint8), cv2.COLOR_LAB2BGR)[0, 0].tolist()
    return (blue, green, red)


def test_colour_differences_weigh_as_much_as_lightness() -> None:
    pose = tile_at(150, 120, side_px=50, degrees=20)
    by_lightness = drawn(pose, of_lab(180, 128, 128), of_lab(180 - 102, 128, 128), of_lab(180 - 102, 128, 128))
    by_colour = drawn(pose, of_lab(150, 128, 128), of_lab(150, 128, 168), of_lab(150, 128, 168))
    for grid in GRIDS.values():
        light, colour = patch_contrasts(by_lightness, pose, grid)[0], patch_contrasts(by_colour, pose, grid)[0]
        np.testing.assert_allclose(-light[0], colour[2], atol=0.12)
        assert light[0].min() < -0.6
        assert abs(light[1:]).max() < 0.2
        assert abs(colour[:2]).max() < 0.35


def test_contrasts_are_relative_to_the_face_and_nearly_one_for_black_on_white() -> None:
    pose = tile_at(150, 120, side_px=60)
    size = half_grid(0).rows
    pip_row, pip_column = size // 2, int((1.1 - 0.5) / 1.2 * size)
    white, black = (255, 255, 255), (0, 0, 0)
    for face, ink, sign in ((white, black, -1), (black, white, 1)):
        half = patch_contrasts(drawn(pose, face, ink, ink), pose, half_grid(0))[0]
        # log(1 + 100 / 6) / log(1 + 120 / 6)
        assert half[0, pip_row, pip_column] == pytest.approx(sign * 0.94, abs=0.01)
        assert half[0, size // 4, pip_column] == 0.0  # between pips
    pose, grid = tile_at(150, 120, side_px=60, degrees=20), half_grid(0)
    light, red, yellow = patch_contrasts(drawn(pose, (250, 250, 250), (30, 30, 200), (60, 90, 40)), pose, grid)[0]
    pip_row, pip_column = grid.rows // 2, int((1.1 - 0.5) / 1.2 * grid.columns)
    assert light[pip_row, pip_column] < -0.5  # a red pip is darker than the face
    assert red[pip_row, pip_column] > 0.5
    assert yellow[pip_row, pip_column] > 0.3
    between = (channel[grid.rows // 4, pip_column] for channel in (light, red, yellow))
    assert [abs(value) for value in between] == [0.0, 0.0, 0.0]  # the face itself


def test_a_half_patch_shows_its_pips_and_the_bar_at_its_right_edge() -> None:
    pose = tile_at(150, 120, side_px=60, degrees=-30)
    image = drawn(pose, WHITE, BLACK, WHITE)
    for half in (0, 1):
        patch = abs(patch_contrasts(image, pose, half_grid(half))[0, 0])
        assert patch[6:-6, -3:].max(axis=1).min() > 0.7  # the bar
        assert patch[:, :2].max() < 0.1  # beyond the end
    pose = tile_at(150, 120, side_px=60)
    image = drawn(pose, WHITE, BLACK, WHITE)
    counts = []
    for half in (0, 1):
        dark = patch_contrasts(image, pose, half_grid(half))[0, 0][:, :-4] < -0.7
        counts.append(cv2.connectedComponents(dark.astype(np.uint8))[0] - 1)
    assert counts == [3, 1]


@pytest.mark.parametrize("degrees", [0, 35, 200])
def test_rotating_the_tile_rotates_the_patch_and_swaps_the_halves(degrees: float) -> None:
    pose = tile_at(150, 120, side_px=40, degrees=degrees)
    image = drawn(pose, WHITE, BLACK, (60, 90, 40))
    np.testing.assert_allclose(
        patch_contrasts(image, pose, half_grid(1)), patch_contrasts(image, pose * ROTATED, half_grid(0)), atol=1e-3
    )
    grid = tile_grid()
    np.testing.assert_allclose(
        patch_contrasts(image, pose, grid)[0, :, ::-1, ::-1], patch_contrasts(image, pose * ROTATED, grid)[0], atol=1e-3
    )


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("scale", [2, 4])
def test_patches_do_not_depend_on_image_scale(name: str, scale: int) -> None:
    pose = tile_at(150, 120, side_px=40, degrees=10)
    enlarged = pose * scale
    enlarged[:, :2] += (scale - 1) / 2  # from pixel centre to pixel centre
    small = patch_contrasts(drawn(pose, WHITE, BLACK, (60, 90, 40)), pose, GRIDS[name])
    large = patch_contrasts(drawn(enlarged, WHITE, BLACK, (60, 90, 40), scale=scale), enlarged, GRIDS[name])
    # Edges are sharper in the larger image.
    assert np.median(abs(small - large)) < 0.05
    assert np.corrcoef(small.ravel(), large.ravel())[0, 1] > 0.9


def test_fine_detail_is_averaged_rather_than_subsampled() -> None:
    # Stripes of two pixels on a tile of 200 px: a patch of 7 samples per side must average them, without moiré.
    image = blank(1280, 960)
    image[:, ::4] = image[:, 1::4] = 255
    image[:, 2::4] = image[:, 3::4] = 0
    patch = sample(build_pyramid(image), tile_at(640, 480, side_px=200, degrees=3), tile_grid())
    assert patch.std() < 40  # subsampling gives 120


def test_each_pose_has_its_own_row_regardless_of_size() -> None:
    image = blank(1200, 900)
    poses = tiles_at(tile_at(200, 200, side_px=15), tile_at(700, 400, side_px=200), tile_at(100, 800, side_px=40))
    for pose, grey in zip(poses, (50, 120, 200), strict=True):
        fill(image, corners(pose[None])[0], (grey, grey, grey))
    image[0, :] = 240  # bright enough that the image is not brightened
    image[:60] = 240
    patches = sample(build_pyramid(image), poses, tile_grid())
    assert patches[:, tile_grid().face].mean(axis=(1, 2)) == pytest.approx([50, 120, 200], abs=3)


@pytest.mark.parametrize("name", GRIDS)
def test_tiles_beyond_the_image_show_its_border(name: str) -> None:
    image = blank(100, 80, (240, 240, 240))
    image[:, 90:] = (30, 60, 200)
    poses = tiles_at(
        tile_at(5000, 40), tile_at(-1e6, 1e6, degrees=40), tile_at(99, 79, side_px=30), tile_at(50, 40, side_px=3000)
    )
    patches = sample(build_pyramid(image), poses, GRIDS[name])
    assert (abs(patches[0].astype(int) - (30, 60, 200)) <= 1).all()
    assert (abs(patches[1].astype(int) - 240) <= 1).all()
    assert np.isfinite(contrasts(patches, GRIDS[name])).all()
    assert patch_contrasts(blank(), empty_poses(), GRIDS[name]).size == 0


def test_samples_more_tiles_than_the_opencv_limit() -> None:
    image = blank(64, 64, (240, 240, 240))
    image[:, 32:] = 10
    poses = np.repeat(tile_at(16, 32, side_px=4), 33_000, axis=0)
    poses[1::2, 0] = 48
    patches = sample(build_pyramid(image), poses, tile_grid())
    assert (patches[::2, 99] == 240).all()
    assert (patches[1::2, 99] == 10).all()


def bright_tile_on_a_dark_table(side_px: float) -> tuple[Image, Poses]:
    """Return an image with a bright pink tile with white pips on a dark table, and its pose."""
    pose = tile_at(600, 400, side_px=side_px, degrees=20)
    image = blank(1200, 900, (20, 30, 20))
    fill(image, corners(pose)[0], (150, 140, 195))
    for uv in PIPS_UV:
        fill_circle(image, to_image(pose, np.array([uv]))[0, 0], 0.2 * side_px, (240, 235, 228))
    return image, pose


def test_dim_and_bright_tiles_are_brightened_apart_without_saturation() -> None:
    image, pose = bright_tile_on_a_dark_table(40.0)
    grid = half_grid(0)
    levels = build_pyramid(image)
    assert levels[0].image[400 - 15, 600, 2] == 255, "brightening the whole image must saturate the tile"
    patch = sample(levels, pose, grid)[0].reshape(grid.rows, grid.columns, 3)
    face, pip = patch[grid.rows // 2, 5].astype(int), patch[grid.rows // 2, grid.columns // 2].astype(int)
    assert (pip - face).min() >= 30
    assert (patch == 255).mean() < 0.02
    image, pose = bright_tile_on_a_dark_table(40.0)
    dim = tile_at(200, 200, side_px=40.0, degrees=70)
    fill(image, corners(dim)[0], (60, 60, 60))
    first, second = sample(build_pyramid(image), tiles_at(pose, dim), tile_grid())
    assert np.median(second[tile_grid().face]) == 180
    assert np.median(first[tile_grid().face], axis=0) == pytest.approx([150, 140, 195], abs=15)


def test_an_unsaturated_patch_comes_from_the_brightened_image() -> None:
    image = blank(1200, 900, (20, 30, 20))
    pose = tile_at(600, 400, side_px=60.0, degrees=20)
    fill(image, corners(pose)[0], (70, 65, 60))
    levels = build_pyramid(image)
    brightened = tuple(Level(level.image, level.scale_xy) for level in levels)
    assert (sample(levels, pose, tile_grid()) == sample(brightened, pose, tile_grid())).all()
