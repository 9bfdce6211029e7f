"""Tests of the ground truth of rendered tables: poses, pips, and errors of other poses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.render.looks import CLASSIC, FELT, LAMP
from lab.render.paint import render
from lab.render.scene import PlacedTile, Scene
from lab.training.tables import corner_errors, near_any, true_pips, truth_poses, with_half_0_first
from tests.vision.shapes import tile_at, tiles_at
from tests.vision.tables import CAMERA, lay, table_with
from vision.networks.network import DOWN, UP
from vision.poses import Poses, corners, empty_poses, half_centers, sides_px, swap_halves
from vision.reading import Face, Reading


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
