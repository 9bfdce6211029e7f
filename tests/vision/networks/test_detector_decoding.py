"""Tests of encoding tiles in cells, and of decoding them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.training.encoding import cells_of, encode_poses
from tests.vision.shapes import tile_at, tiles_at
from vision.networks.detector import CHANNELS, FIRST_SHAPE, decode_poses
from vision.poses import Poses


def test_encodes_a_horizontal_tile() -> None:
    # Sides of 12 px give half-axes of 12 and 6 px. The cell in column 10 and row 5 begins at pixel (40, 20).
    poses = tile_at(42.5, 20.5, side_px=12)
    cells = cells_of(poses[:, :2])
    assert cells.tolist() == [[10, 5]]
    expected = [0.25, -0.25, np.log(12 / 24), np.log(6 / 12), 1, 0, -1, 0]
    assert encode_poses(poses, cells)[0] == pytest.approx(expected)
    assert len(expected) == CHANNELS - FIRST_SHAPE


def test_a_neutral_cell_decodes_to_a_common_tile_at_its_centre() -> None:
    (pose,) = decode_poses(np.array([[0, 0, 0, 0, 0, 1, 0, -1.0]]), np.array([[0, 0]]))
    half = np.sqrt(0.5)
    assert pose == pytest.approx([1.5, 1.5, 24 * half, 24 * half, -12 * half, 12 * half])


@given(
    st.floats(8, 500), st.floats(8, 500), st.floats(6, 80), st.floats(-180, 180), st.floats(-1, 1), st.floats(-0.3, 0.3)
)
def test_decoding_inverts_encoding(
    x_px: float, y_px: float, side_px: float, degrees: float, away: float, slant: float
) -> None:
    poses = tile_at(x_px, y_px, side_px=side_px, degrees=degrees)
    poses[:, 4:] += slant * poses[:, 2:4]  # as in an oblique view
    cells = cells_of(poses[:, :2]) + round(away)
    assert_same_tiles(decode_poses(encode_poses(poses, cells), cells), poses)


def test_the_encoding_ignores_which_end_comes_first() -> None:
    poses = tiles_at(tile_at(50, 60, side_px=20, degrees=30), tile_at(50, 60, side_px=20, degrees=210))
    first, second = encode_poses(poses, cells_of(poses[:, :2]))
    assert first == pytest.approx(second)


def assert_same_tiles(found: Poses, expected: Poses) -> None:
    for pose, other in zip(found, expected, strict=True):
        turned = other * np.array([1, 1, -1, -1, -1, -1])
        assert min(np.abs(pose - other).max(), np.abs(pose - turned).max()) < 1e-6
