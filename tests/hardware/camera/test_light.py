"""When the light of a camera is held, and that it is only held where that changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.camera.device import Light, Picture
from hardware.camera.light import LightKeeper, Order, is_similar
from tests.hardware.camera.scene import MS, S


class Watched:
    """A keeper, and a camera that gives it ten pictures a second."""

    def __init__(self) -> None:
        self.keeper = LightKeeper()
        self.t_ns = 0
        self.level = 90
        self.is_settled: bool | None = None

    def look(self, seconds: float) -> list[tuple[float, Order]]:
        """Show pictures for so long; what the camera was told, and when."""
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
    watched.look(4)
    assert watched.keeper.light is Light.HELD
    return watched


def test_nothing_is_told_to_a_camera_whose_light_is_free() -> None:
    watched = Watched()
    assert watched.look(60) == []
    assert watched.keeper.is_ready


def test_a_camera_that_says_nothing_is_held_after_two_seconds_and_ready_when_the_picture_stayed_the_same() -> None:
    watched = Watched()
    assert watched.keeper.want(Light.HELD) is None
    assert not watched.keeper.is_ready
    assert watched.look(2.0) == []
    assert watched.look(0.1) == [(2.1, Order.HOLD)]
    assert watched.look(0.9) == []
    assert not watched.keeper.is_ready
    watched.look(0.1)
    assert watched.keeper.light is Light.HELD
    assert watched.look(60) == []


def test_a_camera_that_says_that_it_has_adapted_is_held_then() -> None:
    watched = Watched()
    watched.is_settled = False
    watched.keeper.want(Light.HELD)
    assert watched.look(3.0) == []
    watched.is_settled = True
    assert watched.look(0.5) == [(3.1, Order.HOLD)]


def test_a_camera_that_searches_for_ever_is_taken_as_it_is() -> None:
    watched = Watched()
    watched.is_settled = False
    watched.keeper.want(Light.HELD)
    assert watched.look(5) == [(4.1, Order.HOLD)]


def test_a_camera_that_jumps_when_it_is_held_is_let_go_and_after_three_times_left_alone() -> None:
    watched = Watched()
    watched.keeper.want(Light.HELD)
    orders = []
    for _ in range(600):
        told = watched.look(0.1)
        orders += [order for _, order in told]
        if told:
            watched.level = 200 if told[-1][1] is Order.HOLD else 90
    assert orders == [Order.HOLD, Order.FREE] * 3
    assert watched.keeper.light is Light.CANNOT_BE_HELD
    assert watched.keeper.is_ready


def test_hands_change_no_median_and_leave_the_light_held() -> None:
    watched = _held()
    watched.level = 160
    assert watched.look(60) == []


@pytest.mark.parametrize("level", [3, 252])
def test_where_nothing_can_be_seen_for_three_seconds_the_camera_adapts_and_is_held_again(level: int) -> None:
    watched = _held()
    watched.level = level
    assert watched.look(2.9) == []
    watched.level = 90
    assert watched.look(0.1) == []
    watched.level = level
    assert [order for _, order in watched.look(3.2)] == [Order.FREE]
    watched.level = 90
    assert [order for _, order in watched.look(4)] == [Order.HOLD]
    assert watched.keeper.light is Light.HELD


def test_a_light_that_is_let_go_is_free_and_one_that_was_free_is_told_nothing() -> None:
    watched = _held()
    assert watched.keeper.want(Light.FREE) is Order.FREE
    assert watched.keeper.light is Light.FREE
    assert watched.keeper.want(Light.FREE) is None


def test_a_camera_that_was_opened_again_is_held_again() -> None:
    watched = _held()
    watched.keeper.reopened()
    assert not watched.keeper.is_ready
    assert [order for _, order in watched.look(4)] == [Order.HOLD]


def test_a_change_of_one_colour_is_a_change() -> None:
    assert is_similar((90, 90, 90), (100, 84, 90))
    assert not is_similar((90, 90, 90), (90, 90, 130))
    assert is_similar((1, 0, 2), (2, 1, 0)), "noise in the dark"
