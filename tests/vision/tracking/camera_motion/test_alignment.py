"""Tests of camera alignment: the map between the first image and the present one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vision.tracking.camera_motion import STRAIGHT_ON, Alignment

SIZE = (200, 100)
SHIFTED = Alignment((1.0, 0.0, 20.0, 0.0, 1.0, -10.0))


def rotated(degrees: float) -> Alignment:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return Alignment.of(np.array([[cos, -sin, 0.0], [sin, cos, 0.0]]))


def test_an_unmoved_camera_is_straight_and_its_images_are_unchanged() -> None:
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert STRAIGHT_ON.is_straight
    assert STRAIGHT_ON.straightened(image) is image
    assert not STRAIGHT_ON.unseen((4, 5), 1.0).any()


def test_reports_shift_and_rotation_in_rounded_numbers() -> None:
    assert SHIFTED.shift_px(SIZE) == pytest.approx(math.hypot(20, 10))
    assert SHIFTED.degrees == 0.0
    assert rotated(3.0).degrees == pytest.approx(3.0, abs=1e-4)
    assert not SHIFTED.is_straight
    aim = Alignment.of(np.array([[0.123456789, 0, 1.23456789], [0, 1, 0]]))
    assert aim.numbers == (0.1234568, 0.0, 1.2346, 0.0, 1.0, 0.0)


def test_the_distance_is_that_of_the_farthest_corner() -> None:
    # The rotation is about the top left, so the bottom right moves farthest.
    assert rotated(2.0).farthest_px(STRAIGHT_ON, SIZE) == pytest.approx(
        2 * math.sin(math.radians(1.0)) * math.hypot(*SIZE), abs=1e-3
    )
    assert SHIFTED.farthest_px(SHIFTED, SIZE) == 0.0


def test_since_maps_points_between_two_alignments() -> None:
    point = np.array([70.0, 30.0, 1.0])
    motion = rotated(2.0).since(SHIFTED)
    assert motion @ [*(SHIFTED.motion @ point), 1.0] == pytest.approx(rotated(2.0).motion @ point, abs=1e-3)


def test_a_straightened_image_shows_things_at_their_first_place_or_unseen() -> None:
    image = np.zeros((100, 200, 3), np.uint8)
    image[40:50, 120:130] = 255  # 20 px to the right of its first place and 10 px above
    straight = SHIFTED.straightened(image)
    assert straight[55, 105].tolist() == [255, 255, 255]
    assert straight[45, 125].tolist() == [0, 0, 0]
    unseen = SHIFTED.unseen((50, 100), 2.0)
    # The image moved right and up, so its right and top are out of view.
    assert unseen[:4, 10].all()
    assert unseen[20, 92:].all()
    assert not unseen[8:, :88].any()
