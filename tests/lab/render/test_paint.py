"""Tests of painting: the ground truth matches the pixels, and equal seeds give equal images."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.layouts import random_scene
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import Film, Moment, RenderedPicture, render
from lab.render.scene import MAX_PIPS, CameraLook, LightLook, PlacedTile, Scene, TileLook
from tests.lab.render.flat import EVEN, GREEN, RED
from tests.vision.moving import CAMERA, MARGIN_PX, hand_at
from tests.vision.tables import lay, missing, reader
from vision.arrays import Image
from vision.reading import SURE, Face, Join
from vision.tracking.settle import Side


def _flat_scene(*tiles: PlacedTile, camera: CameraLook, joins: tuple[Join, ...] = ()) -> Scene:
    return Scene(tiles, RED, GREEN, EVEN, camera, joins)


def _render(scene: Scene, seed: int = 0) -> RenderedPicture:
    return render(scene, np.random.default_rng(seed))


def _is_face(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return a mask of the pixels that show a face, a pip or the bar."""
    red, white = pixels[..., 2] > 90, pixels.min(axis=-1) > 90
    bar = (pixels[..., 0] > 90) & (pixels[..., 1] > 90)
    return np.asarray(red | white | bar, dtype=np.bool_)


CAMERAS = [
    CameraLook(640, 480, px_per_mm=2.0),
    CameraLook(640, 480, px_per_mm=2.0, tilt_rad=0.5, roll_rad=0.2),
    CameraLook(640, 480, px_per_mm=1.6, lens=0.08),
    CameraLook(640, 480, px_per_mm=2.3, tilt_rad=0.3, roll_rad=-0.1, lens=-0.08, fov_rad=1.2),
]


@pytest.mark.parametrize("camera", CAMERAS)
def test_faces_fill_exactly_their_true_outlines(camera: CameraLook) -> None:
    tiles = [
        PlacedTile((3, 5), (-80.0, -50.0), 0.4),
        PlacedTile((6, 0), (70.0, 60.0), -2.0),
        PlacedTile(None, (75.0, -40.0), 1.2),
    ]
    rendered = _render(_flat_scene(*tiles, camera=camera))
    assert len(rendered.truth.tiles) == 3
    expected = np.zeros((480, 640), np.uint8)
    for tile in rendered.truth.tiles:
        cv2.fillPoly(expected, [np.round(np.array(tile.corners_px) * 16).astype(np.int32)], 1, shift=4)
    wrong = _is_face(rendered.image) != (expected > 0)
    near_edge = cv2.dilate(expected, np.ones((3, 3))) != cv2.erode(expected, np.ones((3, 3)))
    assert not (wrong & ~near_edge).any()
    assert wrong.sum() < 0.35 * near_edge.sum()


def test_half_centres_are_on_their_half() -> None:
    """The single pip of half 0 is white at its true centre, and half 1 is blank at its centre."""
    rendered = _render(_flat_scene(PlacedTile((1, 0), (20.0, 10.0), 2.5), camera=CAMERAS[3]))
    (tile,) = rendered.truth.tiles
    ace, blank = tile.halves  # type: ignore[misc]  # face up, so there are two
    assert (ace.pips, blank.pips) == (1, 0)
    ace_x, ace_y = (round(value) for value in ace.center_px)
    blank_x, blank_y = (round(value) for value in blank.center_px)
    assert rendered.image[ace_y, ace_x].min() > 150
    assert rendered.image[blank_y, blank_x, 1] < 50
    half_center_mm = CLASSIC.length_mm / 4
    assert math.dist(ace.center_px, blank.center_px) == pytest.approx(2.3 * 2 * half_center_mm, rel=0.15)


@pytest.mark.parametrize("pips", range(MAX_PIPS + 1))
def test_paints_the_true_number_of_pips(pips: int) -> None:
    camera = CameraLook(320, 240, px_per_mm=5.0)
    rendered = _render(_flat_scene(PlacedTile((pips, 0), (0.0, 0.0), 0.3), camera=camera))
    spots = (rendered.image.min(axis=-1) > 100).astype(np.uint8)
    assert cv2.connectedComponents(spots)[0] - 1 == pips


def test_pips_with_an_outline_fill_that_outline() -> None:
    camera = CameraLook(320, 240, px_per_mm=8.0)

    def area_px(look: TileLook) -> int:
        scene = Scene((PlacedTile((5, 0), (0.0, 0.0), 0.3),), look, GREEN, EVEN, camera)
        return int((_render(scene).image.min(axis=-1) > 100).sum())

    square = ((-0.7, -0.7), (0.7, -0.7), (0.7, 0.7), (-0.7, 0.7))
    assert area_px(replace(RED, pip_outline=square)) / area_px(RED) == pytest.approx(1.96 / math.pi, rel=0.08)


def test_corners_run_clockwise_along_a_long_edge_first() -> None:
    for theta in np.linspace(-3, 3, 9):
        rendered = _render(_flat_scene(PlacedTile((1, 2), (0.0, 0.0), float(theta)), camera=CAMERAS[1]))
        (tile,) = rendered.truth.tiles
        corners = np.array(tile.corners_px)
        assert cv2.contourArea(corners.astype(np.float32), oriented=True) > 0
        assert corners[0].sum() <= corners[2].sum()
        along, across = corners[1] - corners[0], corners[2] - corners[1]
        near, far = (half.center_px for half in tile.halves)
        halves = np.subtract(far, near)
        assert abs(along @ halves) > 2 * abs(across @ halves)


def test_the_truth_is_sorted_and_joins_are_renumbered() -> None:
    tiles = (
        PlacedTile((1, 2), (0.0, 60.0), 0.0),
        PlacedTile((2, 3), (48.0, 0.0), 0.0),
        PlacedTile((3, 2), (0.0, 0.0), 0.0),
    )
    rendered = _render(_flat_scene(*tiles, camera=CAMERAS[0], joins=(Join(1, 0, 2, 1),)))
    assert rendered.tile_index == (2, 1, 0)
    assert rendered.truth.joins == (Join(1, 0, 0, 1),)


def test_tiles_cut_off_by_the_border_are_unread() -> None:
    tiles = (
        PlacedTile((1, 2), (0.0, 0.0), 0.0),
        PlacedTile((2, 3), (155.0, 0.0), 0.0),
        PlacedTile((4, 4), (400.0, 0.0), 0.0),
    )
    rendered = _render(_flat_scene(*tiles, camera=CAMERAS[0], joins=(Join(0, 1, 1, 0),)))
    assert rendered.tile_index == (0,)
    assert rendered.truth.joins == ()
    assert len(rendered.unread_px) == 1


def test_a_covered_tile_is_unread() -> None:
    tiles = (PlacedTile((1, 2), (0.0, 0.0), 0.0), PlacedTile((2, 3), (10.0, 5.0), 0.8, RED.thickness_mm))
    rendered = _render(_flat_scene(*tiles, camera=CAMERAS[0]))
    assert rendered.tile_index == (1,)
    assert len(rendered.unread_px) == 1


def test_face_down_tiles_have_no_halves() -> None:
    rendered = _render(_flat_scene(PlacedTile(None, (0.0, 0.0), 0.0), camera=CAMERAS[0]))
    assert [tile.face for tile in rendered.truth.tiles] == [Face.DOWN]


def test_tiles_cast_shadows_away_from_the_lamp() -> None:
    light = LightLook(azimuth_rad=0.0, elevation_rad=0.7, shadow=0.8, contact=0.0, gradient=0.0, spot=0.0)
    scene = replace(_flat_scene(PlacedTile(None, (0.0, 0.0), 0.0), camera=CAMERAS[0]), light=light)
    image = _render(scene).image
    left, right = image[240, 319 - 48 - 12, 1], image[240, 319 + 48 + 12, 1]
    assert int(left) + 60 < int(right)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_equal_seeds_give_equal_images(seed: int) -> None:
    pictures = []
    for _ in range(2):
        rng = np.random.default_rng(seed)
        rendered = render(random_scene(rng, size_px=(320, 240), tile_side_px=(15, 30)), rng)
        pictures.append(rendered)
    assert np.array_equal(pictures[0].image, pictures[1].image)
    assert pictures[0].truth == pictures[1].truth
    assert pictures[0].image.std() > 2


def test_adding_a_tile_does_not_change_the_rest_of_the_table() -> None:
    scene = random_scene(np.random.default_rng(8), size_px=(320, 240), tile_side_px=(15, 20))
    still = replace(scene, camera=CameraLook(320, 240, px_per_mm=0.7), joins=(), clutter=())
    before = _render(replace(still, tiles=(PlacedTile((1, 2), (-100.0, 0.0), 0.0),)), 5).image
    after = _render(
        replace(still, tiles=(PlacedTile((3, 3), (100.0, 0.0), 0.0), PlacedTile((1, 2), (-100.0, 0.0), 0.0))), 5
    )
    changed = (before != after.image).any(axis=-1)
    assert changed[:, 200:].any()
    assert not changed[:, :180].any()


def test_frames_differ_only_by_noise() -> None:
    camera = CameraLook(320, 240, px_per_mm=1.0, noise=2.0)
    scene = _flat_scene(PlacedTile((1, 2), (0.0, 0.0), 0.0), camera=camera)
    first, second = (
        render(scene, np.random.default_rng(0), frame_rng=np.random.default_rng(frame)).image.astype(int)
        for frame in (1, 2)
    )
    assert 1.0 < np.abs(first - second).mean() < 4.0


def test_different_seeds_give_different_images() -> None:
    scene = random_scene(np.random.default_rng(0), size_px=(320, 240), tile_side_px=(15, 30))
    assert not np.array_equal(_render(scene, 1).image, _render(scene, 2).image)


# Tests of rendered clips: still regions, hands, light, noise, and the truth for a bumped camera.


TILES = (lay(3, 5, -110, -40, 20), lay(6, 1, 60, 40, 100), PlacedTile(None, (120.0, -60.0), 0.3))
HAND = hand_at((-110.0, -40.0), Side.LEFT, 0.0)
QUIET = replace(CAMERA, noise=0.0, jpeg_quality=None)


def film(camera: CameraLook = QUIET, seed: int = 1) -> Film:
    scene = Scene((), CLASSIC, FELT, LAMP, camera)
    return Film(scene, seed=7, margin_px=MARGIN_PX, rng=np.random.default_rng(seed))


def differing(first: Image, second: Image) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    return np.asarray(np.abs(first.astype(int) - second).max(axis=2) > 0)


def test_a_still_table_equals_the_rendered_scene() -> None:
    scene = Scene(TILES, CLASSIC, FELT, LAMP, QUIET)
    full = render(scene, np.random.default_rng(7)).image
    shown = film().picture(Moment(TILES))
    assert np.array_equal(shown, full[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX])


def test_a_hand_changes_only_its_surroundings() -> None:
    clip = film()
    changed = differing(clip.picture(Moment(TILES)), clip.picture(Moment(TILES, (HAND,))))
    width = changed.shape[1]
    assert changed[:, : width // 3].mean() > 0.2
    assert not changed[:, 2 * width // 3 :].any()


def test_a_moving_tile_looks_like_a_resting_one() -> None:
    clip = film()
    resting = clip.picture(Moment(TILES)).astype(int)
    moving = clip.picture(Moment(TILES[:1], moving=TILES[1:]))
    changed = np.abs(resting - moving).max(axis=2)
    # Shadows of moving tiles are softer.
    assert (changed > 40).mean() < 0.001
    assert np.abs(resting - clip.picture(Moment(TILES[:1]))).max() > 100


def test_a_hand_hides_tiles_temporarily() -> None:
    clip = film()
    before = clip.picture(Moment(TILES))
    seen = reader().read(clip.picture(Moment(TILES, (HAND,)))).tiles
    confident = [tile for tile in seen if all(half.confidence >= SURE for half in tile.halves)]
    assert missing(clip.truth(TILES[:1]), confident) != []
    assert missing(clip.truth(TILES[1:2]), confident) == []
    assert np.array_equal(before, clip.picture(Moment(TILES)))


@pytest.mark.parametrize("bump", [(0.0, 0.0, 0.0), (6.0, -4.0, 0.0), (-3.0, 5.0, 0.6)])
def test_the_truth_follows_a_bumped_camera(bump: tuple[float, float, float]) -> None:
    clip = film()
    assert missing(clip.truth(TILES, bump), reader().read(clip.picture(Moment(TILES, bump=bump))).tiles) == []


def test_a_change_of_light_affects_the_whole_image() -> None:
    clip = film()
    usual = clip.picture(Moment(TILES)).astype(float)
    darker = clip.picture(Moment(TILES, gain=0.9, cast_bgr=(1.0, 1.0, 0.9)))
    assert np.abs(darker[..., :2] - 0.9 * usual[..., :2]).max() <= 1.0
    assert np.abs(darker[..., 2] - 0.81 * usual[..., 2]).max() <= 1.0


def test_each_frame_has_its_own_noise_and_equal_seeds_give_equal_frames() -> None:
    noisy = replace(QUIET, noise=2.0)
    clip, repeated, other = film(noisy), film(noisy), film(noisy, seed=2)
    first, second = clip.picture(Moment(TILES)), clip.picture(Moment(TILES))
    assert 1.0 < np.abs(first.astype(float) - second).mean() < 4.0
    assert np.array_equal(first, repeated.picture(Moment(TILES)))
    assert np.array_equal(second, repeated.picture(Moment(TILES)))
    assert not np.array_equal(first, other.picture(Moment(TILES)))


def test_the_noise_of_two_frames_is_uncorrelated_at_any_shift() -> None:
    table, clip = film().picture(Moment()).astype(float), film(replace(QUIET, noise=2.0))
    noises = [(clip.picture(Moment()) - table).mean(axis=2) for _ in range(2)]
    (first, second), strength = (
        (np.fft.rfft2(noise - noise.mean()) for noise in noises),
        np.prod(np.std(noises, axis=(1, 2))),
    )
    agreement = np.fft.irfft2(first.conj() * second, noises[0].shape) / (strength * noises[0].size)
    assert np.abs(agreement).max() < 0.1


@pytest.mark.parametrize("effect", [{"lens": 0.05}, {"bloom": 0.2}, {"fringe_px": 1.0}, {"metering": 0.5}])
def test_rejects_camera_effects_with_a_long_range(effect: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="camera: expected no lens"):
        film(replace(QUIET, **effect))  # type: ignore[arg-type]  # all of these are numbers
