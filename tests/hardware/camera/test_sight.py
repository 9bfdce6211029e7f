"""What shows nothing new: black pictures, and the same one again and again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hardware.camera.device import Blind, Light, Picture, Pixels
from hardware.camera.light import LightKeeper, Order
from hardware.camera.sight import Sight, is_black
from tests.hardware.camera.scene import MS


def table(level: int, tile_level: int, *, seed: int = 0, noise: float = 2.0) -> Pixels:
    """A table with a tile on it, as a sensor with noise sees it."""
    grey = np.full((180, 320), level, np.float64)
    grey[80:100, 100:140] = tile_level
    return np.clip(grey + np.random.default_rng(seed).normal(0, noise, grey.shape), 0, 255).astype(np.uint8)


def picture(grey: Pixels, t_ns: int = 0) -> Picture:
    return Picture(t_ns, np.repeat(grey[:, :, None], 3, axis=2), grey)


@pytest.mark.parametrize(
    ("grey", "is_nothing"),
    [
        (np.zeros((180, 320), np.uint8), True),
        (table(0, 0, noise=6.0), True),
        (table(8, 8), True),
        (table(6, 60), False),
        (table(40, 40), False),
    ],
    ids=["a lens cap", "a lens cap and much gain", "a dark room", "tiles in a dim room", "a dim table"],
)
def test_black_is_where_nobody_could_see_a_tile(grey: Pixels, *, is_nothing: bool) -> None:
    assert is_black(grey) == is_nothing


def test_the_same_picture_is_nothing_new_and_the_next_one_is() -> None:
    sight = Sight()
    looks = [table(90, 220, seed=seed) for seed in (1, 1, 1, 2)]
    assert [sight.after(picture(look)) for look in looks] == [None, Blind.SAME, Blind.SAME, None]


def test_what_is_too_bright_has_no_noise_and_is_not_taken_for_a_camera_that_hangs() -> None:
    sight = Sight()
    white = np.full((180, 320), 255, np.uint8)
    assert [sight.after(picture(white)) for _ in range(3)] == [None] * 3


def test_the_light_is_not_held_in_the_dark_but_as_soon_as_it_is_light() -> None:
    keeper = LightKeeper()
    keeper.want(Light.HELD)

    def orders(look: Callable[[int], Pixels], first: int, last: int) -> list[int]:
        each = ((t, keeper.after(picture(look(t), t * 100 * MS))) for t in range(first, last))
        return [t for t, order in each if order is Order.HOLD]

    assert orders(lambda t: table(3, 3, seed=t), 0, 600) == []
    assert orders(lambda t: table(90, 220, seed=t), 600, 650) == [620]
