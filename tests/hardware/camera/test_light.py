"""Tests of locking the exposure: when it is locked, and when it is left automatic."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.camera.device import Light, Picture
from hardware.camera.watched import LightKeeper, Order, is_similar
from tests.hardware.camera.scene import MS, S


class Watched:
    """A light keeper with images at 10 Hz."""

    def __init__(self) -> None:
        self.keeper = LightKeeper()
        self.t_ns = 0
        self.level = 90
        self.is_settled: bool | None = None

    def show(self, seconds: float) -> list[tuple[float, Order]]:
        """Show images for some seconds, and return the orders to the camera with their times."""
        orders = []
        for _ in range(round(seconds * 10)):
            self.t_ns += 100 * MS
            image = np.full((64, 64, 3), self.level, np.uint8)
            order = self.keeper.after(Picture(self.t_ns, image, image[:, :, 0], self.is_settled))
            if order is not None:
                orders.append((self.t_ns / S, order))
        return orders


def _held() -> Watched:
    watched = Watched()
    watched.keeper.want(Light.HELD)
    watched.show(4)
    assert watched.keeper.light is Light.HELD
    return watched


def test_without_orders_the_light_is_free_and_only_a_lock_is_undone() -> None:
    watched = Watched()
    assert watched.show(60) == []
    assert watched.keeper.is_ready
    watched = _held()
    assert watched.keeper.want(Light.FREE) is Order.FREE
    assert watched.keeper.light is Light.FREE
    assert watched.keeper.want(Light.FREE) is None


def test_without_feedback_a_camera_is_locked_after_two_seconds() -> None:
    watched = Watched()
    assert watched.keeper.want(Light.HELD) is None
    assert not watched.keeper.is_ready
    assert watched.show(2.0) == []
    assert watched.show(0.1) == [(2.1, Order.HOLD)]
    assert watched.show(0.9) == []
    assert not watched.keeper.is_ready
    watched.show(0.1)
    assert watched.keeper.light is Light.HELD
    assert watched.show(60) == []


def test_a_camera_with_feedback_is_locked_once_it_has_adapted_or_after_a_timeout() -> None:
    watched = Watched()
    watched.is_settled = False
    watched.keeper.want(Light.HELD)
    assert watched.show(3.0) == []
    watched.is_settled = True
    assert watched.show(0.5) == [(3.1, Order.HOLD)]
    watched = Watched()
    watched.is_settled = False
    watched.keeper.want(Light.HELD)
    assert watched.show(5) == [(4.1, Order.HOLD)]


def test_a_camera_that_jumps_when_locked_is_unlocked_and_given_up_after_three_tries() -> None:
    watched = Watched()
    watched.keeper.want(Light.HELD)
    orders = []
    for _ in range(600):
        new_orders = watched.show(0.1)
        orders += [order for _, order in new_orders]
        if new_orders:
            watched.level = 200 if new_orders[-1][1] is Order.HOLD else 90
    assert orders == [Order.HOLD, Order.FREE] * 3
    assert watched.keeper.light is Light.CANNOT_BE_HELD
    assert watched.keeper.is_ready


def test_hands_keep_the_lock_and_a_reopened_camera_gets_it_again() -> None:
    watched = _held()
    watched.level = 160
    assert watched.show(60) == []
    watched = _held()
    watched.keeper.reopened()
    assert not watched.keeper.is_ready
    assert [order for _, order in watched.show(4)] == [Order.HOLD]


@pytest.mark.parametrize("level", [3, 252])
def test_three_seconds_of_a_black_or_white_image_trigger_a_new_lock(level: int) -> None:
    watched = _held()
    watched.level = level
    assert watched.show(2.9) == []
    watched.level = 90
    assert watched.show(0.1) == []
    watched.level = level
    assert [order for _, order in watched.show(3.2)] == [Order.FREE]
    watched.level = 90
    assert [order for _, order in watched.show(4)] == [Order.HOLD]
    assert watched.keeper.light is Light.HELD


def test_a_change_of_one_channel_is_a_change() -> None:
    assert is_similar((90, 90, 90), (100, 84, 90))
    assert not is_similar((90, 90, 90), (90, 90, 130))
    assert is_similar((1, 0, 2), (2, 1, 0)), "noise in the dark must be tolerated"
