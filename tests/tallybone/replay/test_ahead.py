"""Pictures that are loaded ahead come in their order, fail where they would have, and stop when nobody wants more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tallybone.recording.format import Damage, Pictures
from tallybone.replay.run import ahead
from tallybone.sources.shots import Shot
from tallybone.sources.source import Item
from vision.arrays import Image
from vision.image.picture import PictureError
from vision.tracking.settle import small_grey


def image(number: int, size_px: int = 8) -> Image:
    return np.full((size_px, size_px, 3), number, np.uint8)


def shot(number: int, load: Callable[[], Image] | None = None) -> Shot:
    return Shot(number, str(number), str(number), load or (lambda: image(number)), lambda: b"")


def broken() -> Image:
    raise PictureError("it is broken")


def test_items_come_in_their_order_each_loaded_before_it_is_asked_for() -> None:
    loaded: list[int] = []

    def load(number: int) -> Callable[[], Image]:
        def now() -> Image:
            loaded.append(number)
            return image(number)

        return now

    damage = Damage(1, 2, "lost")
    items: list[Item] = [shot(0, load(0)), damage, *(shot(number, load(number)) for number in range(1, 20))]
    came = []
    for one in ahead(iter(items), Pictures.SETTLED):
        if isinstance(one, Shot):
            assert one.t_ns in loaded
            came.append(int(one.load()[0, 0, 0]))
        else:
            assert one is damage
    assert came == loaded == list(range(20))


def test_a_picture_that_cannot_be_loaded_says_so_when_it_is_loaded() -> None:
    first, second, third = ahead(iter([shot(0), shot(1, broken), shot(2)]), Pictures.SETTLED)
    assert isinstance(first, Shot)
    assert isinstance(second, Shot)
    assert isinstance(third, Shot)
    with pytest.raises(PictureError, match="it is broken"):
        second.load()
    assert int(third.load()[0, 0, 0]) == 2


def test_a_source_that_fails_fails_in_its_place() -> None:
    def items() -> Iterator[Item]:
        yield shot(0)
        raise PictureError("no video")

    came = ahead(items(), Pictures.SETTLED)
    assert next(came) is not None
    with pytest.raises(PictureError, match="no video"):
        next(came)


def test_of_moving_pictures_the_grey_one_is_made_too_and_is_the_same() -> None:
    (moving,) = ahead(iter([shot(7)]), Pictures.MOVING)
    (settled,) = ahead(iter([shot(7)]), Pictures.SETTLED)
    assert isinstance(moving, Shot)
    assert isinstance(settled, Shot)
    assert moving.grey is not None
    assert np.array_equal(moving.grey, small_grey(image(7)))
    assert settled.grey is None


def test_no_more_wait_than_there_is_room_for_and_closing_ends_the_thread() -> None:
    taken: list[int] = []

    def items() -> Iterator[Item]:
        for number in range(1000):
            taken.append(number)
            yield shot(number, lambda: np.zeros((2048, 2048, 3), np.uint8))  # 12 MB, of 64 that may wait

    came = ahead(items(), Pictures.SETTLED)
    for _ in range(3):
        next(came)
    came.close()
    assert len(taken) <= 3 + 5
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("pictures")]
