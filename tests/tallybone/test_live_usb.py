"""A USB camera gives its newest picture, and is found again after it was unplugged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from tallybone.live_camera import CameraError
from tallybone.live_usb import UsbCamera, open_usb
from tests.tallybone.test_live_camera import Clock
from vision.picture import decode_picture
from vision.pyramid import Image

_S = 1_000_000_000
_LONG_S = 10.0


class Plugged:
    """A camera that shows a picture when a test lets it, until it is unplugged."""

    def __init__(self) -> None:
        self.shows, self.was_shown = threading.Semaphore(0), threading.Semaphore(0)
        self.level = 0
        self.is_plugged = True
        self.released = 0

    def show(self, level: int) -> None:
        self.level = level
        self.shows.release()
        # It asks for the next one only after it has kept this one.
        assert self.was_shown.acquire(timeout=_LONG_S)

    def unplug(self) -> None:
        self.is_plugged = False
        self.shows.release()

    def read(self) -> tuple[bool, Image | None]:
        self.was_shown.release()
        self.shows.acquire()
        return self.is_plugged, np.full((72, 128, 3), self.level, np.uint8) if self.is_plugged else None

    def release(self) -> None:
        self.released += 1


@contextmanager
def camera_of(open_capture: Callable[[], Plugged | None], clock: Clock) -> Iterator[UsbCamera]:
    camera = UsbCamera("usb:0", open_capture, clock)
    try:
        yield camera
    finally:
        camera._stops.set()


def test_only_the_newest_picture_waits_and_it_is_given_once() -> None:
    clock, plugged = Clock(1), Plugged()
    with camera_of(lambda: plugged, clock) as camera:
        assert plugged.was_shown.acquire(timeout=_LONG_S)
        plugged.show(50)
        clock.t_ns = 7
        plugged.show(200)
        given = camera.take()
        assert given is not None
        assert given.t_ns == 7
        assert abs(int(decode_picture(given.jpeg(), "it").mean()) - 200) <= 2
        assert camera.take() is None
        plugged.unplug()


def test_a_camera_that_was_unplugged_is_said_and_found_again() -> None:
    clock, first, second = Clock(), Plugged(), Plugged()
    captures: list[Plugged | None] = [first, None, second]
    with camera_of(lambda: captures.pop(0), clock) as camera:
        assert first.was_shown.acquire(timeout=_LONG_S)
        first.show(50)
        assert camera.problem is None
        first.unplug()
        clock.t_ns = 4 * _S
        assert "plugged in" in str(camera.problem)
        assert second.was_shown.acquire(timeout=_LONG_S)  # opened again, the second time with success
        second.show(60)
        assert str(camera.problem) == "None"
        assert first.released == 1
        second.unplug()


def test_a_camera_that_is_not_there_is_named_at_once() -> None:
    with pytest.raises(CameraError, match="usb:0"):
        UsbCamera("usb:0", lambda: None, Clock())
    with pytest.raises(CameraError, match="usb:977"):
        open_usb("usb:977", Clock())
    with pytest.raises(CameraError, match="usb:x"):
        open_usb("usb:x", Clock())


def test_closing_lets_the_camera_go() -> None:
    plugged = Plugged()
    camera = UsbCamera("usb:0", lambda: plugged, Clock())
    assert plugged.was_shown.acquire(timeout=_LONG_S)
    camera._stops.set()
    plugged.shows.release()
    camera.close()
    assert plugged.released == 1
