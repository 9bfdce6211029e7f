"""Tests of poses: validation, corners, halves, sides and deltas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.training.encoding import deltas_between
from tests.vision.shapes import sheared_poses
from vision.arrays import Points
from vision.poses import (
    Poses,
    corners,
    empty_poses,
    half_centers,
    move,
    require_poses,
    sides_px,
    to_image,
    upright_poses,
)

LEVEL = np.array([[10.0, 20.0, 8.0, 0.0, 0.0, 4.0]])
TURNED = np.array([[10.0, 20.0, 0.0, 8.0, -4.0, 0.0]])  # rotated 90 degrees clockwise: half 1 is below


def signed_areas(outlines: Points) -> list[float]:
    """Return the shoelace area of each outline: positive if clockwise, with y pointing down."""
    following = np.roll(outlines, -1, axis=1)
    return list((outlines[..., 0] * following[..., 1] - outlines[..., 1] * following[..., 0]).sum(axis=1) / 2)


@pytest.mark.parametrize("shape", [(6,), (2, 5), (1, 2, 6)])
def test_the_error_names_the_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="poses must have shape") as caught:
        require_poses(np.zeros(shape))
    assert str(caught.value) == f"poses must have shape (N, 6), but got {shape}"


def test_upright_poses_rotate_clockwise() -> None:
    poses = upright_poses(
        np.array([[10.0, 20.0], [10.0, 20.0]]), np.array([0.0, math.pi / 2]), np.full(2, 16.0), np.full(2, 8.0)
    )
    np.testing.assert_allclose(poses, np.concatenate([LEVEL, TURNED]), atol=1e-12)


def test_corners_start_at_the_top_left_and_rotate_with_the_tile() -> None:
    assert corners(LEVEL).tolist() == [[[2, 16], [18, 16], [18, 24], [2, 24]]]
    assert corners(TURNED).tolist() == [[[14, 12], [14, 28], [6, 28], [6, 12]]]
    assert half_centers(LEVEL).tolist() == [[[6, 20], [14, 20]]]
    assert half_centers(TURNED).tolist() == [[[10, 16], [10, 24]]]
    uv = np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.5)])
    assert to_image(LEVEL, uv).tolist() == [[[10, 20], [18, 20], [10, 24], [2, 22]]]
    assert to_image(TURNED, uv).tolist() == [[[10, 20], [10, 28], [6, 20], [8, 12]]]


@settings(max_examples=40, deadline=None)
@given(sheared_poses())
def test_corners_run_clockwise_around_the_centre(poses: Poses) -> None:
    assert min(signed_areas(corners(poses)), default=1) > 0
    np.testing.assert_allclose(corners(poses).mean(axis=1), poses[:, :2], atol=1e-9)


@pytest.mark.parametrize(
    ("long_px", "short_px", "side_px"), [(40, 20, 20), (48, 24, 24), (44, 20, math.sqrt(440)), (40, 10, math.sqrt(200))]
)
@pytest.mark.parametrize("theta_rad", [0.0, 0.7, 3.0, -1.6])
def test_side_of_a_known_rectangle(long_px: float, short_px: float, side_px: float, theta_rad: float) -> None:
    center_px = np.array([[300.0, -20.0]])
    poses = upright_poses(center_px, np.array([theta_rad]), np.array([long_px]), np.array([short_px]))
    assert sides_px(poses) == pytest.approx([side_px])


@settings(max_examples=40, deadline=None)
@given(sheared_poses())
def test_the_side_squared_is_half_the_area(poses: Poses) -> None:
    np.testing.assert_allclose(2 * sides_px(poses) ** 2, signed_areas(corners(poses)), rtol=1e-9)


def test_deltas_are_in_units_of_the_tile_axes_and_zero_keeps_the_pose() -> None:
    deltas = np.array([[0.5, -1.0, 0.25, 0.0, 0.0, 0.5]])
    assert move(LEVEL, deltas).tolist() == [[14, 16, 10, 0, 0, 6]]
    assert move(TURNED, deltas).tolist() == [[14, 24, 0, 10, -6, 0]]
    assert deltas_between(LEVEL, np.array([[14.0, 16.0, 10.0, 0.0, 0.0, 6.0]])).tolist() == deltas.tolist()
    assert move(TURNED, np.zeros((1, 6))).tolist() == TURNED.tolist()


@settings(max_examples=40, deadline=None)
@given(sheared_poses(count=3), sheared_poses(count=3))
def test_move_undoes_deltas_between(poses: Poses, targets: Poses) -> None:
    np.testing.assert_allclose(move(poses, deltas_between(poses, targets)), targets, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(sheared_poses(count=2), st.lists(st.floats(-3, 3), min_size=12, max_size=12))
def test_deltas_between_undoes_move(poses: Poses, values: list[float]) -> None:
    deltas = np.array(values).reshape(2, 6)
    np.testing.assert_allclose(deltas_between(poses, move(poses, deltas)), deltas, atol=1e-9)


def test_accepts_no_poses() -> None:
    empty = empty_poses()
    assert empty.shape == (0, 6)
    assert corners(empty).shape == (0, 4, 2)
    assert half_centers(empty).shape == (0, 2, 2)
    assert sides_px(empty).shape == (0,)
    assert move(empty, empty).shape == (0, 6)
    assert deltas_between(empty, empty).shape == (0, 6)
