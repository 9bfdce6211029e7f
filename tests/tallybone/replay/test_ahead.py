"""Tests of loading images ahead: order, errors in their place, and a bounded queue."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tallybone.recording.format import Damage, Pictures
from tallybone.replay.run import ahead
from tallybone.sources.source import Item, Shot
from vision.arrays import Image
from vision.image.picture import PictureError
from vision.tracking.settle import small_grey


def image(index: int, size_px: int = 8) -> Image:
    return np.full((size_px, size_px, 3), index, np.uint8)


def shot(index: int, load: Callable[[], Image] | None = None) -> Shot:
    return Shot(index, str(index), str(index), load or (lambda: image(index)), lambda: b"")


def broken() -> Image:
    raise PictureError("it is broken")


def test_items_keep_their_order_and_are_loaded_before_use() -> None:
    loaded: list[int] = []

    def load(index: int) -> Callable[[], Image]:
        def load_now() -> Image:
            loaded.append(index)
            return image(index)

        return load_now

    damage = Damage(1, 2, "lost")
    items: list[Item] = [shot(0, load(0)), damage, *(shot(index, load(index)) for index in range(1, 20))]
    received = []
    for item in ahead(iter(items), Pictures.SETTLED):
        if isinstance(item, Shot):
            assert item.t_ns in loaded
            received.append(int(item.load()[0, 0, 0]))
        else:
            assert item is damage
    assert received == loaded == list(range(20))


def test_an_image_error_is_raised_by_its_load() -> None:
    first, second, third = ahead(iter([shot(0), shot(1, broken), shot(2)]), Pictures.SETTLED)
    assert isinstance(first, Shot)
    assert isinstance(second, Shot)
    assert isinstance(third, Shot)
    with pytest.raises(PictureError, match="it is broken"):
        second.load()
    assert int(third.load()[0, 0, 0]) == 2


def test_a_source_error_is_raised_in_its_place() -> None:
    def items() -> Iterator[Item]:
        yield shot(0)
        raise PictureError("no video")

    received = ahead(items(), Pictures.SETTLED)
    assert next(received) is not None
    with pytest.raises(PictureError, match="no video"):
        next(received)


def test_moving_images_include_the_reduced_grey_image() -> None:
    (moving,) = ahead(iter([shot(7)]), Pictures.MOVING)
    (settled,) = ahead(iter([shot(7)]), Pictures.SETTLED)
    assert isinstance(moving, Shot)
    assert isinstance(settled, Shot)
    assert moving.grey is not None
    assert np.array_equal(moving.grey, small_grey(image(7)))
    assert settled.grey is None


def test_the_queue_is_bounded_and_closing_ends_the_thread() -> None:
    requested: list[int] = []

    def items() -> Iterator[Item]:
        for index in range(1000):
            requested.append(index)
            yield shot(index, lambda: np.zeros((2048, 2048, 3), np.uint8))  # 12 MB of the 64 MB that may be queued

    received = ahead(items(), Pictures.SETTLED)
    for _ in range(3):
        next(received)
    received.close()
    assert len(requested) <= 3 + 5
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pictures")]
