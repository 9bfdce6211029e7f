"""What all cameras do: none, the fake, a USB camera, and a Pi's through a strict picamera2."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest

from hardware.camera.device import CameraDevice, CameraError, CameraMode, CameraRequest, Light, Picture
from hardware.camera.fake import FakeCamera, NoCamera
from hardware.camera.picamera import PicameraFeed
from hardware.camera.sensor_time import Clocks
from hardware.camera.v4l2 import V4l2Feed
from hardware.camera.watched import WatchedCamera
from tests.hardware.camera.fake_capture import FakeDevice
from tests.hardware.camera.fake_picamera2 import FakeLibrary
from tests.hardware.camera.scene import MS, Scene

_LONG_S = 10.0
_PAUSE = threading.Event()
_WISH = CameraRequest(640, 360)


@dataclass
class Table:
    """A camera, and what it looks at."""

    camera: CameraDevice
    scene: Scene
    sees: Callable[[], None]
    """Has the camera see a picture, where it does not by itself."""
    unplug: Callable[[], None]
    plug_in: Callable[[], None]
    opened: Callable[[], int]
    """How many cameras a program has open."""
    is_held: Callable[[], bool]
    """Whether the camera was told to hold its light."""


def _clocks(scene: Scene) -> Clocks:
    return Clocks(scene.clock, monotonic=scene.clock, boot=scene.clock)


def _cable(scene: Scene, *, is_plugged: bool) -> Callable[[], None]:
    def change() -> None:
        scene.is_plugged = is_plugged

    return change


def _watched(scene: Scene, camera: WatchedCamera, opened: Callable[[], int], is_held: Callable[[], bool]) -> Table:
    unplug, plug_in = _cable(scene, is_plugged=False), _cable(scene, is_plugged=True)
    return Table(camera, scene, lambda: None, unplug, plug_in, opened, is_held)


def _pi(folder: Path) -> Table:
    scene = Scene()
    library = FakeLibrary(scene)

    def feed() -> PicameraFeed:
        if not scene.is_plugged:
            scene.wait(500 * MS)
        return PicameraFeed(0, _WISH, _clocks(scene), lambda: library)

    camera = WatchedCamera("pi:0", feed, scene.clock, back_off_s=(0.001,))
    return _watched(scene, camera, lambda: library.opened, lambda: library.controls.get("AeEnable") is False)


def _usb(folder: Path) -> Table:
    scene = Scene()
    device = FakeDevice(scene)
    path = folder / "video0"
    path.touch()

    def feed() -> V4l2Feed:
        if not scene.is_plugged:
            scene.wait(500 * MS)
        return V4l2Feed(path, "usb:0", _WISH, _clocks(scene), device.open)

    camera = WatchedCamera("usb:0", feed, scene.clock, back_off_s=(0.001,))
    return _watched(scene, camera, lambda: device.opened, lambda: device.settings[cv2.CAP_PROP_AUTO_EXPOSURE] == 1)


def _fake(folder: Path) -> Table:
    scene = Scene(_WISH.width_px, _WISH.height_px)
    camera = FakeCamera(CameraMode(_WISH.width_px, _WISH.height_px, 20.0, "MJPG"))

    def sees() -> None:
        scene.wait()
        if camera.state.problem is None:
            image = scene.picture()
            camera.show(Picture(scene.t_ns, image, np.array(image[::2, ::2, 0])))

    def is_held() -> bool:
        return camera.light is Light.HELD

    unplug = partial(camera.unplug, "fake: it is unplugged")
    return Table(camera, scene, sees, unplug, camera.plug_in, lambda: 0, is_held)


def _none(folder: Path) -> Table:
    return Table(NoCamera(), Scene(), lambda: None, lambda: None, lambda: None, lambda: 0, lambda: False)


_MADE: dict[str, Callable[[Path], Table]] = {"fake": _fake, "usb": _usb, "pi": _pi}


@pytest.fixture(params=_MADE)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    made = _MADE[request.param](tmp_path)
    yield made
    made.camera.close()
    assert made.opened() == 0


def _until(table: Table, what: Callable[[], bool]) -> None:
    began = time.perf_counter()
    while not what():
        assert time.perf_counter() - began < _LONG_S, table.camera.state
        table.sees()
        _PAUSE.wait(0.001)


def _next(table: Table, level: int | None = None) -> Picture:
    """The next picture, of a brightness if it is said."""
    found: list[Picture] = []

    def is_there() -> bool:
        picture = table.camera.take()
        if picture is not None and (level is None or picture.image[0, 0, 0] == level):
            found.append(picture)
        return bool(found)

    _until(table, is_there)
    return found[0]


def test_each_picture_is_newer_than_the_one_before_and_was_taken_before_it_was_given(table: Table) -> None:
    times_ns = []
    for _ in range(20):
        times_ns.append(_next(table).t_ns)
        assert times_ns[-1] <= table.scene.t_ns
    assert times_ns == sorted(set(times_ns))


def test_what_is_given_is_what_the_camera_sees_now_in_the_size_that_it_says(table: Table) -> None:
    _next(table)
    table.scene.level = 180
    picture, mode = _next(table, 180), table.camera.mode
    assert mode is not None
    assert picture.image.shape == (mode.height_px, mode.width_px, 3) == (360, 640, 3)
    assert picture.image.dtype == picture.grey.dtype == np.dtype(np.uint8)
    assert picture.grey.ndim == 2
    assert np.all(picture.grey == 180)
    table.scene.level = 60
    _next(table, 60)
    assert np.all(picture.image == 180), "it belongs to whoever took it"
    assert table.camera.state.problem is None


def test_an_unplugged_camera_is_a_problem_in_words_until_it_is_back(table: Table) -> None:
    _next(table)
    table.unplug()
    _until(table, lambda: table.camera.state.problem is not None)
    assert str(table.camera.state.problem).split()[0].rstrip(":") in ("fake", "usb:0", "pi:0")
    table.plug_in()
    table.scene.level = 77
    _next(table, 77)
    assert table.camera.state.problem is None


def test_a_picture_from_before_the_time_that_is_asked_for_is_not_given(table: Table) -> None:
    _next(table)
    since_ns, found = table.scene.t_ns + 250 * MS, list[Picture]()

    def is_there() -> bool:
        picture = table.camera.take(since_ns)
        found.extend([] if picture is None else [picture])
        return bool(found)

    _until(table, is_there)
    assert found[0].t_ns >= since_ns


def test_pictures_are_counted_whether_or_not_somebody_takes_them(table: Table) -> None:
    before = table.camera.pictures
    _until(table, lambda: table.camera.pictures >= before + 10)


def test_light_is_held_for_a_game_and_let_go_to_set_up(table: Table) -> None:
    _next(table)
    assert table.camera.light is Light.FREE
    table.camera.hold_light()
    _until(table, lambda: table.camera.light is Light.HELD)
    assert table.is_held()
    _next(table)
    table.camera.free_light()
    _until(table, lambda: table.camera.light is Light.FREE and not table.is_held())
    _next(table)


def test_a_held_camera_that_was_unplugged_is_held_again_before_it_gives_a_picture(table: Table) -> None:
    table.camera.hold_light()
    _next(table)
    table.unplug()
    _until(table, lambda: table.camera.state.problem is not None)
    table.camera.take()
    table.plug_in()
    table.scene.level = 77
    _next(table, 77)
    assert table.is_held()


@pytest.mark.parametrize("make", [*_MADE.values(), _none], ids=[*_MADE, "none"])
def test_a_closed_camera_gives_nothing_and_may_be_closed_again(make: Callable[[Path], Table], tmp_path: Path) -> None:
    table = make(tmp_path)
    table.camera.close()
    table.camera.close()
    assert table.opened() == 0
    with pytest.raises(CameraError, match="closed"):
        table.camera.take()


def test_where_no_camera_is_wanted_nothing_is_seen_and_nothing_is_wrong() -> None:
    camera = NoCamera()
    camera.hold_light()
    assert camera.take() is None
    assert camera.state.problem is None
    camera.free_light()


def test_the_fake_refuses_what_no_camera_does() -> None:
    camera = FakeCamera(CameraMode(8, 4, 20.0, "MJPG"))
    image, grey = np.zeros((4, 8, 3), np.uint8), np.zeros((2, 4), np.uint8)
    camera.show(Picture(5, image, grey))
    with pytest.raises(CameraError, match="expected times in order, but 5 ns came after 5 ns"):
        camera.show(Picture(5, image, grey))
    with pytest.raises(CameraError, match=r"must have shape \(4, 8, 3\), but got \(8, 4, 3\)"):
        camera.show(Picture(6, image.reshape(8, 4, 3), grey))
    camera.unplug("gone")
    with pytest.raises(CameraError, match="it cannot: gone"):
        camera.show(Picture(7, image, grey))
    camera.close()
    with pytest.raises(CameraError, match="told to hold its light, but it is closed"):
        camera.hold_light()


class _Stuck:
    """A driver that does not come back."""

    mode = CameraMode(640, 360, 20.0, "MJPG")

    def __init__(self) -> None:
        self.is_let_go = threading.Event()

    def grab(self) -> int:
        self.is_let_go.wait(20)
        raise CameraError("stuck: it has gone")

    def read(self) -> Picture:
        raise AssertionError("nothing was grabbed")

    def hold_light(self) -> None:
        """Nothing."""

    def free_light(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def test_a_driver_that_does_not_come_back_is_told_apart_from_a_camera_that_is_looked_for() -> None:
    feed, now_ns = _Stuck(), [0]
    camera = WatchedCamera("stuck", lambda: feed, lambda: now_ns[0], back_off_s=(0.0,))

    def hangs() -> bool:
        return camera.hangs

    now_ns[0] = 10 * 1_000_000_000
    assert camera.state.problem is not None
    assert not hangs()
    now_ns[0] = 31 * 1_000_000_000
    assert hangs()
    feed.is_let_go.set()
    end_s = time.monotonic() + 2 * _LONG_S
    while hangs() and time.monotonic() < end_s:
        _PAUSE.wait(0.01)
    assert not hangs(), "it is looked for again"
    camera.close()
