"""Tests of occlusion: the ground truth agrees with the pixels for tiles, things and hands."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.cover import RenderedTile
from lab.render.layouts import pile, same_size
from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import RenderedPicture, render
from lab.render.placements import Area, random_hand
from lab.render.scene import CameraLook, Clutter, ClutterKind, PlacedTile, Reach, Scene, TileLook
from lab.render.view import view_of
from lab.training.tables import corner_errors, near_any, true_pips, truth_poses, with_half_0_first
from tests.lab.render.flat import EVEN, GREEN, RED
from tests.vision.shapes import tile_at, tiles_at
from tests.vision.tables import CAMERA, lay, table_with
from vision.networks.network import DOWN, UP
from vision.poses import Poses, corners, empty_poses, half_centers, sides_px, swap_halves
from vision.reading import Face, Reading

CAMERAS = [
    CameraLook(640, 480, px_per_mm=2.0),
    CameraLook(640, 480, px_per_mm=2.0, tilt_rad=0.6, roll_rad=0.2),
    CameraLook(640, 480, px_per_mm=2.0, tilt_rad=0.9, fov_rad=1.1),
]
BLUE_HAND = Reach((0.0, 0.0), -1.2, 20.0, (200.0, 0.0, 0.0), sleeve_bgr=(200.0, 0.0, 0.0))


def _numbered(index: int) -> TileLook:
    """Return a blank look with blue sides, and a face of its own red and green."""
    face = (40.0, 40.0 + 30.0 * (index % 6), 60.0 + 32.0 * (index // 6))
    return replace(RED, face_bgr=face, back_bgr=face, side_bgr=(255.0, 0.0, 0.0), base_bgr=(255.0, 0.0, 0.0))


def _render(scene: Scene) -> RenderedPicture:
    return render(scene, np.random.default_rng(0))


def _inside(rendered: RenderedPicture, shown: RenderedTile) -> np.ndarray:
    """Return the pixels inside a tile's outline, shape (N, 3)."""
    inside = np.zeros(rendered.image.shape[:2], np.uint8)
    cv2.fillPoly(inside, [np.round(np.array(shown.tile.corners_px)).astype(np.int32)], 1)
    return np.asarray(rendered.image[inside > 0].astype(float))


def _visible_share(rendered: RenderedPicture, shown: RenderedTile, face_bgr: tuple[float, float, float]) -> float:
    """Return the fraction of pixels inside a tile's outline that show its face."""
    return float((np.abs(_inside(rendered, shown) - face_bgr).max(axis=-1) < 12).mean())


@pytest.mark.parametrize("camera", CAMERAS)
@pytest.mark.parametrize("seed", range(2))
def test_the_truth_of_a_pile_agrees_with_the_pixels(camera: CameraLook, seed: int) -> None:
    rng = np.random.default_rng(seed)
    down = [None] * 14
    layout = pile(rng, down, Area(200, 160), RED)
    looks = tuple(_numbered(index) for index in range(len(layout.tiles)))
    tiles = tuple(replace(tile, look=index) for index, tile in enumerate(layout.tiles))
    rendered = _render(Scene(tiles, looks[0], GREEN, EVEN, camera, more_looks=looks[1:]))
    assert any(tile.height_mm > 0 for tile in tiles)
    # Edge pixels of a face are mixed with their neighbours. A tile is about 40 pixels wide.
    for shown, look in zip(rendered.shown, looks, strict=True):
        if all(0 <= x < 640 and 0 <= y < 480 for x, y in shown.tile.corners_px):
            expected = sum(shown.visible) / 2
            assert _visible_share(rendered, shown, look.face_bgr) == pytest.approx(expected, abs=0.14)
            assert (expected == 1) == (shown.by_tiles == ())


@pytest.mark.parametrize("camera", CAMERAS)
def test_the_truth_under_a_hand_agrees_with_the_pixels(camera: CameraLook) -> None:
    tiles = tuple(PlacedTile(None, (x, y), 0.3) for x in (-90.0, 0.0, 60.0) for y in (-60.0, 0.0, 40.0))
    rendered = _render(Scene(tiles, RED, GREEN, EVEN, camera, reaches=(BLUE_HAND,)))
    assert any(shown.by_reach for shown in rendered.shown)
    assert not all(shown.by_reach for shown in rendered.shown)
    for shown in rendered.shown:
        if all(0 <= x < 640 and 0 <= y < 480 for x, y in shown.tile.corners_px):
            expected = sum(shown.visible) / 2
            pixels = _inside(rendered, shown)
            assert (pixels[:, 2] > pixels[:, 0]).mean() == pytest.approx(expected, abs=0.07)
            assert shown.by_reach == (expected < 1)


def test_a_tile_on_a_half_hides_only_that_half() -> None:
    below, above = PlacedTile((1, 2), (0.0, 0.0), 0.0), PlacedTile((3, 4), (12.0, 0.0), math.pi / 2, RED.thickness_mm)
    shown = _render(Scene((below, above), RED, GREEN, EVEN, CAMERAS[0])).shown
    assert shown[0].visible[0] == pytest.approx(1.0, abs=0.04)
    assert shown[0].visible[1] == pytest.approx(0.0, abs=0.04)
    assert shown[0].by_tiles == (1,)
    assert shown[1].visible == (1.0, 1.0)


@pytest.mark.parametrize("camera", CAMERAS)
def test_touching_tiles_hide_nothing_of_each_other(camera: CameraLook) -> None:
    tiles = tuple(PlacedTile((1, 2), (24.0 * x, 48.0 * y), math.pi / 2) for x in range(-2, 3) for y in (-1, 0))
    rendered = _render(Scene(tiles, RED, GREEN, EVEN, camera))
    assert all(shown.visible == (1.0, 1.0) for shown in rendered.shown)


def test_the_lower_tile_of_a_stack_is_neither_read_nor_unread() -> None:
    tiles = (PlacedTile((1, 2), (0.0, 0.0), 0.0), PlacedTile((1, 2), (0.5, -0.3), 0.02, RED.thickness_mm))
    rendered = _render(Scene(tiles, RED, GREEN, EVEN, CAMERAS[0]))
    assert rendered.tile_index == (1,)
    assert rendered.unread_px == ()
    assert max(rendered.shown[0].visible) < 0.1


def test_a_half_hidden_tile_is_unread() -> None:
    tiles = (PlacedTile((1, 2), (0.0, 0.0), 0.0),)
    rendered = _render(Scene(tiles, RED, GREEN, EVEN, CAMERAS[0], reaches=(BLUE_HAND,)))
    assert rendered.tile_index == ()
    assert len(rendered.unread_px) == 1


def test_a_glass_hides_things_behind_it() -> None:
    glass = Clutter(ClutterKind.MUG, (0.0, 60.0), 0.0, 60.0, 0.0, 100.0, (20.0, 20.0, 20.0))
    behind, beside = PlacedTile((1, 2), (0.0, 0.0), 0.0), PlacedTile((1, 2), (90.0, 0.0), 0.0)
    shown = _render(Scene((behind, beside), RED, GREEN, EVEN, CAMERAS[2], clutter=(glass,))).shown
    assert shown[0].by_clutter
    assert min(shown[0].visible) < 0.6
    assert not shown[1].by_clutter


def test_visibility_counts_only_the_part_inside_the_image() -> None:
    shown = _render(Scene((PlacedTile((1, 2), (155.0, 0.0), 0.0),), RED, GREEN, EVEN, CAMERAS[0])).shown
    assert shown[0].visible[0] == pytest.approx(1.0, abs=0.09)
    assert shown[0].visible[1] < 0.1


def test_a_hand_casts_a_shadow_on_the_tile_below() -> None:
    light = replace(EVEN, ambient=0.4, shadow=0.8, azimuth_rad=0.0, elevation_rad=0.9)
    tile = PlacedTile(None, (-45.0, 10.0), math.pi / 2)
    hand = replace(BLUE_HAND, height_mm=50.0)
    plain = _render(Scene((tile,), RED, GREEN, light, CAMERAS[0]))
    shaded = _render(Scene((tile,), RED, GREEN, light, CAMERAS[0], reaches=(hand,)))
    x, y = (round(value) for value in plain.truth.tiles[0].center_px)
    difference = (
        plain.image[y - 10 : y + 10, x - 8 : x + 8, 2].mean() - shaded.image[y - 10 : y + 10, x - 8 : x + 8, 2].mean()
    )
    assert difference > 30


def test_rejects_looks_that_do_not_fit_the_scene() -> None:
    with pytest.raises(ValueError, match="expected a look up to 0"):
        Scene((PlacedTile((1, 2), (0.0, 0.0), 0.0, look=1),), RED, GREEN, EVEN, CAMERAS[0])
    with pytest.raises(ValueError, match="expected tiles of"):
        Scene((), RED, GREEN, EVEN, CAMERAS[0], more_looks=(replace(RED, length_mm=50.0),))
    larger = replace(RED, length_mm=60.0, width_mm=30.0)
    assert Scene((), RED, GREEN, EVEN, CAMERAS[0], more_looks=(same_size(larger, RED),)).more_looks[0].length_mm == 48.0


def test_tiles_of_a_pile_are_flat_on_those_below() -> None:
    rng = np.random.default_rng(2)
    layout = pile(rng, random_hand(rng, 20, 6), Area(200, 160), RED)
    levels = {round(tile.height_mm / RED.thickness_mm, 6) for tile in layout.tiles}
    assert {0.0, 1.0} <= levels <= {0.0, 1.0, 2.0}


@pytest.mark.parametrize("camera", CAMERAS)
def test_a_tile_on_edge_is_unread(camera: CameraLook) -> None:
    standing = Clutter(ClutterKind.STANDING_TILE, (40.0, 30.0), 0.0, 48.0, 12.0, 24.0, (230.0, 235.0, 235.0), (2, 5))
    tiles = (PlacedTile((1, 2), (-60.0, -40.0), 0.0),)
    rendered = _render(Scene(tiles, RED, GREEN, EVEN, camera, clutter=(standing,)))
    assert rendered.tile_index == (0,)
    (outline,) = rendered.unread_px
    foot_px = view_of(camera).distort(view_of(camera).project(np.array([standing.center_mm]), 0.0))[0]
    assert cv2.pointPolygonTest(np.array(outline, np.float32), foot_px.tolist(), measureDist=False) > 0


# Tests of the ground truth of rendered tables: poses, pips, and errors of other poses.


def half_offsets(poses: Poses, truth: Reading) -> NDArray[np.float64]:
    """Return the distance of the halves of true poses from the true half centres, in sides. Checks the conventions."""
    up = [i for i, tile in enumerate(truth.tiles) if tile.face is Face.UP]
    expected = np.array([[half.center_px for half in truth.tiles[i].halves] for i in up]).reshape(-1, 2, 2)
    return np.asarray(
        np.linalg.norm(half_centers(poses[up]) - expected, axis=-1).max(axis=-1, initial=0) / sides_px(poses[up])
    )


def test_a_true_pose_matches_the_tile_with_half_0_first() -> None:
    truth = table_with([lay(3, 5, -60, -30, 200), lay(0, 6, 70, 40, 75), PlacedTile(None, (0, 90), 1.0)]).truth
    poses, classes = truth_poses(truth)
    assert sorted(classes.tolist()) == [UP, UP, DOWN]
    for pose, kind, tile in zip(poses, classes, truth.tiles, strict=True):
        assert (kind == UP) == (tile.face is Face.UP)
        assert sides_px(pose[None])[0] == pytest.approx(24 * CAMERA.px_per_mm, rel=0.04)
        centers = half_centers(pose[None])[0]
        if tile.halves:
            for half in (0, 1):
                assert math.dist(centers[half], tile.halves[half].center_px) < 1.0
    assert half_offsets(poses, truth).max() < 0.03


@pytest.mark.parametrize("pips", [(3, 5), None])
def test_a_tile_that_looks_wider_than_long_keeps_its_axes(pips: tuple[int, int] | None) -> None:
    low = replace(CAMERA, tilt_rad=1.1)
    scene = Scene((PlacedTile(pips, (0.0, 0.0), math.pi / 2),), CLASSIC, FELT, LAMP, low)
    truth = render(scene, np.random.default_rng(1)).truth
    poses, _ = truth_poses(truth)
    _, _, ux, uy, vx, vy = poses[0]
    assert math.hypot(ux, uy) < math.hypot(vx, vy)
    assert abs(uy) > 9 * abs(ux)
    assert abs(vx) > 9 * abs(vy)
    assert half_offsets(poses, truth).max(initial=0) < 0.1


def test_half_offsets_detect_swapped_halves() -> None:
    truth = table_with([lay(3, 5, -60, -30, 200)]).truth
    poses, _ = truth_poses(truth)
    assert half_offsets(poses * np.array([1, 1, -1, -1, -1, -1.0]), truth) == pytest.approx([1.0], abs=0.05)


def test_an_empty_table_has_no_poses() -> None:
    poses, classes = truth_poses(Reading(640, 480, (), ()))
    assert (poses.shape, classes.shape) == ((0, 6), (0,))


def test_corner_errors_of_known_poses() -> None:
    truth = tiles_at(tile_at(100, 100, side_px=20), tile_at(300, 100, side_px=10))
    poses = tiles_at(
        tile_at(103, 104, side_px=20),
        tile_at(100, 100, side_px=20, degrees=180),
        tile_at(300, 102, side_px=10),
        tile_at(100, 100, side_px=20, degrees=90),
    )
    errors, nearest, oriented = corner_errors(poses, truth)
    assert errors == pytest.approx([0.25, 0, 0.2, math.sqrt(2.5)])
    assert nearest.tolist() == [0, 0, 1, 0]
    np.testing.assert_allclose(oriented[1], poses[1], atol=1e-9)  # same orientation as the pose


def test_every_error_is_infinite_without_true_tiles() -> None:
    errors, _, _ = corner_errors(tile_at(3, 4), empty_poses())
    assert errors.tolist() == [math.inf]


def test_true_pips_are_in_the_order_of_the_face_up_poses() -> None:
    truth = table_with([lay(3, 5, -60, -30, 200), PlacedTile(None, (0, 90), 1.0), lay(0, 6, 70, 40, 75)]).truth
    poses, faces = truth_poses(truth)
    pips = true_pips(truth)
    assert sorted(tuple(sorted(pair)) for pair in pips.tolist()) == [(0, 6), (3, 5)]
    by_place = {tile.center_px: [half.pips for half in tile.halves] for tile in truth.tiles if tile.halves}
    for pose, pair in zip(poses[faces == UP], pips.tolist(), strict=True):
        nearest = min(by_place, key=lambda place: math.dist(place, pose[:2]))
        assert by_place[nearest] == pair
    assert true_pips(Reading(640, 480, (), ())).shape == (0, 2)


def test_reversed_poses_are_swapped_so_that_half_0_is_first() -> None:
    truth = tiles_at(tile_at(100, 100, degrees=20), tile_at(300, 100, degrees=200))
    found = truth.copy()
    found[1] = swap_halves(truth[1:])[0]
    found[:, 0] += 2.0
    _, nearest, target = corner_errors(found, truth)
    swapped = with_half_0_first(found, target, truth[nearest])
    np.testing.assert_array_equal(swapped[0], found[0])
    np.testing.assert_array_equal(swapped[1], swap_halves(found[1:])[0])
    assert (np.linalg.norm(half_centers(swapped) - half_centers(truth), axis=-1) < 3.0).all()


def test_poses_on_or_beside_an_outline_are_near_it() -> None:
    outline = corners(tile_at(200, 200, side_px=20))[0]  # radius 22.4
    poses = tiles_at(
        tile_at(200, 200, side_px=10),
        tile_at(235, 215, side_px=20),
        tile_at(250, 200, side_px=20),
        tile_at(250, 200, side_px=40),
    )
    assert near_any(poses, [outline]).tolist() == [True, True, False, True]
    assert near_any(poses, [outline + 500.0, outline]).tolist() == [True, True, False, True]
    assert near_any(poses, []).tolist() == [False] * 4
    assert near_any(empty_poses(), [outline]).tolist() == []
