"""Tests of blind cameras: black images, and repeated ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hardware.camera.device import Blind, Light, Picture, Pixels
from hardware.camera.watched import LightKeeper, Order, Sight, is_black
from tests.hardware.camera.scene import MS


def table(level: int, tile_level: int, *, seed: int = 0, noise: float = 2.0) -> Pixels:
    """Return a table with a tile, with sensor noise."""
    grey = np.full((180, 320), level, np.float64)
    grey[80:100, 100:140] = tile_level
    return np.clip(grey + np.random.default_rng(seed).normal(0, noise, grey.shape), 0, 255).astype(np.uint8)


def picture(grey: Pixels, t_ns: int = 0) -> Picture:
    return Picture(t_ns, np.repeat(grey[:, :, None], 3, axis=2), grey)


@pytest.mark.parametrize(
    ("grey", "is_blind"),
    [
        (np.zeros((180, 320), np.uint8), True),
        (table(0, 0, noise=6.0), True),
        (table(8, 8), True),
        (table(6, 60), False),
        (table(40, 40), False),
    ],
    ids=["a lens cap", "a lens cap and much gain", "a dark room", "tiles in a dim room", "a dim table"],
)
def test_an_image_is_black_if_no_tile_could_be_visible(grey: Pixels, *, is_blind: bool) -> None:
    assert is_black(grey) == is_blind


def test_a_repeated_image_is_reported_unless_overexposed() -> None:
    sight = Sight()
    images = [table(90, 220, seed=seed) for seed in (1, 1, 1, 2)]
    assert [sight.after(picture(image)) for image in images] == [None, Blind.SAME, Blind.SAME, None]
    sight = Sight()
    white = np.full((180, 320), 255, np.uint8)
    assert [sight.after(picture(white)) for _ in range(3)] == [None] * 3


def test_exposure_is_locked_only_once_it_is_bright() -> None:
    keeper = LightKeeper()
    keeper.want(Light.HELD)

    def lock_times(image_at: Callable[[int], Pixels], first: int, last: int) -> list[int]:
        timed_orders = ((t, keeper.after(picture(image_at(t), t * 100 * MS))) for t in range(first, last))
        return [t for t, order in timed_orders if order is Order.HOLD]

    assert lock_times(lambda t: table(3, 3, seed=t), 0, 200) == []
    assert lock_times(lambda t: table(90, 220, seed=t), 200, 250) == [220]
