"""Tests of camera motion estimation from tiles that kept their relative positions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.vision.seen import seen_tile
from vision.arrays import Motion
from vision.tracking.camera_motion import find_motion
from vision.tracking.tracks import moved_tile

TABLE = (
    seen_tile(3, 5, x_px=100, y_px=120, degrees=20),
    seen_tile(6, 1, x_px=400, y_px=300, degrees=100),
    seen_tile(2, 2, x_px=500, y_px=90),
    seen_tile(4, 0, x_px=260, y_px=210, degrees=200),
)


def motion_of(right_px: float, down_px: float, degrees: float, growth: float = 1.0) -> Motion:
    angle_rad = math.radians(degrees)
    cos, sin = growth * math.cos(angle_rad), growth * math.sin(angle_rad)
    return np.array([[cos, -sin, right_px], [sin, cos, down_px]])


@pytest.mark.parametrize("moved", [(0, 0, 0), (64, -36, 0), (10, 5, 4), (-40, 30, -8, 1.1)])
def test_finds_a_camera_motion(moved: tuple[float, ...]) -> None:
    motion = motion_of(*moved)
    seen = [moved_tile(tile, motion) for tile in reversed(TABLE)]
    assert find_motion(TABLE, seen) == pytest.approx(motion, abs=1e-6)


def test_other_tiles_and_swapped_halves_do_not_disturb_the_estimate() -> None:
    motion = motion_of(50, -20, 3)
    stayed = [moved_tile(tile, motion) for tile in TABLE[:3]]
    seen = [*stayed, seen_tile(4, 0, x_px=600, y_px=300), seen_tile(5, 5, x_px=30, y_px=40)]
    assert find_motion(TABLE, seen) == pytest.approx(motion, abs=1e-6)
    motion = motion_of(30, 20, 5)
    seen = []
    for tile in TABLE:
        moved = moved_tile(tile, motion)
        assert moved.halves
        seen.append(type(moved)(moved.face, moved.corners_px, (moved.halves[1], moved.halves[0])))
    assert find_motion(TABLE, seen) == pytest.approx(motion, abs=1e-6)


def test_shuffled_few_or_face_down_tiles_or_a_large_motion_give_none() -> None:
    seen = [
        seen_tile(3, 5, x_px=300, y_px=40),
        seen_tile(6, 1, x_px=120, y_px=250, degrees=40),
        seen_tile(2, 2, x_px=480, y_px=330, degrees=10),
        seen_tile(4, 0, x_px=90, y_px=60, degrees=130),
    ]
    assert find_motion(TABLE, seen) is None
    backs = [seen_tile(None, x_px=100.0 * i, y_px=50.0 * i) for i in range(1, 5)]
    assert find_motion(backs, backs) is None
    seen = [moved_tile(tile, motion_of(0, 0, 0, 1.6)) for tile in TABLE]
    assert find_motion(TABLE, seen) is None
    motion = motion_of(50, -20, 3)
    seen = [moved_tile(tile, motion) for tile in TABLE]
    assert find_motion(TABLE[:2], seen) is None
    assert find_motion(TABLE, seen[:2]) is None
    assert find_motion((), ()) is None
