"""Tests of estimating the table plane from confident tiles."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.poses import Poses, sides_px
from vision.reader.candidates import Plane, find_plane

SIZE_PX = (1000, 750)
PLACES = np.array([(-6.0, -4), (-2, -5), (3, -4), (6, -1), (-5, 1), (0, 0), (4, 3), (-3, 5), (1, 5), (6, 6)])
TURNS = np.array([0.0, 0.4, 1.2, 1.6, 2.2, 2.9, 0.8, 1.57, 0.1, 2.5])


def camera(tilt_rad: float) -> NDArray[np.float64]:
    """Return the map from the table, in sides, to the image of a camera tilted about its x axis."""
    focal_px, distance = 1100.0, 30.0
    cos, sin = np.cos(tilt_rad), np.sin(tilt_rad)
    rotation = np.array([[1, 0, 0], [0, cos, 0], [0, -sin, distance]])
    lens = np.array([[focal_px, 0, SIZE_PX[0] / 2], [0, focal_px, SIZE_PX[1] / 2], [0, 0, 1]])
    return np.asarray(lens @ rotation)


def tiles_seen(tilt_rad: float, *, noise_px: float = 0.0) -> Poses:
    exact = Plane(np.asarray(np.linalg.inv(camera(tilt_rad)), np.float64), 0).tiles_at(PLACES, TURNS)
    return np.asarray(exact + np.random.default_rng(0).normal(0, noise_px, exact.shape))


# A pose has straight axes; the perspective within a tile is what remains at steep views.
@pytest.mark.parametrize(("tilt_deg", "error"), [(0, 0.05), (15, 0.05), (35, 0.08), (55, 0.16)])
def test_tiles_of_a_tilted_table_get_equal_sizes(tilt_deg: float, error: float) -> None:
    poses = tiles_seen(np.radians(tilt_deg), noise_px=0.3)
    plane = find_plane(poses, np.full(len(poses), 0.99), SIZE_PX)
    along = plane.to_table(poses[:, :2] + poses[:, 2:4]) - plane.to_table(poses[:, :2] - poses[:, 2:4])
    assert plane.support == len(poses)
    assert np.linalg.norm(along, axis=1) == pytest.approx(np.full(len(poses), 2.0), abs=error)
    assert plane.doubt(poses).max() < 0.2


def test_tiles_placed_on_the_plane_match_the_camera() -> None:
    poses = tiles_seen(np.radians(40))
    plane = find_plane(poses[:7], np.full(7, 0.99), SIZE_PX)
    placed = plane.tiles_at(*plane.on_table(poses[7:]))
    assert placed == pytest.approx(poses[7:], abs=0.1 * sides_px(poses).min())
    plane = find_plane(tiles_seen(0.3), np.full(len(PLACES), 0.99), SIZE_PX)
    points = np.array([(100.0, 200.0), (900.0, 50.0), (500.0, 700.0)])
    assert plane.to_picture(plane.to_table(points)) == pytest.approx(points, abs=1e-6)


def test_an_overhead_view_is_only_scaled_and_a_tilted_one_much_more() -> None:
    poses = tiles_seen(0.0)
    plane = find_plane(poses, np.full(len(poses), 0.99), SIZE_PX)
    side_px = 1100 / 30
    apart = plane.to_table(np.array([[500.0, 375.0], [500 + 10 * side_px, 375.0]]))
    assert float(np.linalg.norm(apart[1] - apart[0])) == pytest.approx(10, rel=0.01)
    sides = sides_px(tiles_seen(np.radians(55)))
    assert sides.max() > 1.5 * sides.min()


def test_wrong_tiles_do_not_outvote_confident_ones_and_a_single_one_is_not_doubted() -> None:
    truth = tiles_seen(0.2)[:4]
    rng = np.random.default_rng(1)
    letters = np.tile(truth, (15, 1))
    letters[:, :2] = rng.uniform((0, 0), SIZE_PX, (len(letters), 2))
    letters[:, 2:] *= 0.25
    plane = find_plane(
        np.concatenate([truth, letters]), np.concatenate([np.full(4, 0.999), np.full(60, 0.85)]), SIZE_PX
    )
    assert plane.doubt(truth).max() < 1
    assert plane.doubt(letters).min() > 10
    squeezed = np.array([[320.0, 240.0, 100.0, 0.0, 0.0, 60.0]])
    plane = find_plane(squeezed, np.array([0.999]), SIZE_PX)
    assert plane.doubt(squeezed)[0] < 3


@pytest.mark.parametrize("factor", [(0.7, 0.7), (1.4, 1.4), (1.0, 0.5), (0.5, 1.0)])
def test_a_wrong_size_or_shape_is_doubted(factor: tuple[float, float]) -> None:
    poses = tiles_seen(0.5)
    plane = find_plane(poses, np.full(len(poses), 0.99), SIZE_PX)
    wrong = poses.copy()
    wrong[:, 2:4] *= factor[0]
    wrong[:, 4:] *= factor[1]
    assert plane.doubt(wrong).min() > 3
