"""Where the camera points: a map from the first picture to the present one, and back."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vision.tracking.camera_motion.alignment import STRAIGHT_ON, Alignment

SIZE = (200, 100)
SHIFTED = Alignment((1.0, 0.0, 20.0, 0.0, 1.0, -10.0))


def turned(degrees: float) -> Alignment:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return Alignment.of(np.array([[cos, -sin, 0.0], [sin, cos, 0.0]]))


def test_a_camera_that_was_not_moved_points_straight_on_and_its_pictures_stay_as_they_are() -> None:
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert STRAIGHT_ON.is_straight
    assert STRAIGHT_ON.straightened(image) is image
    assert not STRAIGHT_ON.unseen((4, 5), 1.0).any()


def test_shift_and_turn_are_told() -> None:
    assert SHIFTED.shift_px(SIZE) == pytest.approx(math.hypot(20, 10))
    assert SHIFTED.degrees == 0.0
    assert turned(3.0).degrees == pytest.approx(3.0, abs=1e-4)
    assert not SHIFTED.is_straight


def test_the_farthest_corner_counts() -> None:
    # Turned about the top left: the bottom right goes farthest.
    assert turned(2.0).farthest_px(STRAIGHT_ON, SIZE) == pytest.approx(
        2 * math.sin(math.radians(1.0)) * math.hypot(*SIZE), abs=1e-3
    )
    assert SHIFTED.farthest_px(SHIFTED, SIZE) == 0.0


def test_what_lies_between_two_aims_takes_places_of_one_to_the_other() -> None:
    place = np.array([70.0, 30.0, 1.0])
    between = turned(2.0).since(SHIFTED)
    assert between @ [*(SHIFTED.motion @ place), 1.0] == pytest.approx(turned(2.0).motion @ place, abs=1e-3)


def test_a_straightened_picture_shows_things_where_the_first_one_did() -> None:
    image = np.zeros((100, 200, 3), np.uint8)
    image[40:50, 120:130] = 255  # the camera shows it 20 to the right and 10 up of where it was
    straight = SHIFTED.straightened(image)
    assert straight[55, 105].tolist() == [255, 255, 255]
    assert straight[45, 125].tolist() == [0, 0, 0]


def test_what_the_camera_does_not_show_any_more_is_told_at_any_resolution() -> None:
    unseen = SHIFTED.unseen((50, 100), 2.0)
    # The picture has moved right and up: what was at the right and at the top is gone.
    assert unseen[:4, 10].all()
    assert unseen[20, 92:].all()
    assert not unseen[8:, :88].any()


def test_numbers_are_rounded_so_that_a_recording_holds_all_of_them() -> None:
    aim = Alignment.of(np.array([[0.123456789, 0, 1.23456789], [0, 1, 0]]))
    assert aim.numbers == (0.1234568, 0.0, 1.2346, 0.0, 1.0, 0.0)
