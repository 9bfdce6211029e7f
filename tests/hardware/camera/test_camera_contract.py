"""Contract tests of all cameras: none, fake, USB, and Raspberry Pi with a strict picamera2."""

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

from hardware.camera.device import (
    CameraDevice,
    CameraError,
    CameraMode,
    CameraRequest,
    Clocks,
    Light,
    NoCamera,
    Picture,
)
from hardware.camera.picamera import PicameraFeed
from hardware.camera.v4l2 import V4l2Feed
from hardware.camera.watched import WatchedCamera
from tests.hardware.camera.fake_capture import FakeDevice
from tests.hardware.camera.fake_picamera2 import FakeLibrary
from tests.hardware.camera.scene import MS, Scene
from tests.hardware.fakes import FakeCamera

_LONG_S = 10.0
_PAUSE = threading.Event()
_REQUEST = CameraRequest(640, 360)


@dataclass
class Table:
    """A camera, with its scene and controls."""

    camera: CameraDevice
    scene: Scene
    sees: Callable[[], None]
    """Deliver an image, if the camera does not do so by itself."""
    unplug: Callable[[], None]
    plug_in: Callable[[], None]
    opened: Callable[[], int]
    """Return the number of open cameras."""
    is_held: Callable[[], bool]
    """Check that the exposure of the camera is locked."""


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
        return PicameraFeed(0, _REQUEST, _clocks(scene), lambda: library)

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
        return V4l2Feed(path, "usb:0", _REQUEST, _clocks(scene), device.open)

    camera = WatchedCamera("usb:0", feed, scene.clock, back_off_s=(0.001,))
    return _watched(scene, camera, lambda: device.opened, lambda: device.settings[cv2.CAP_PROP_AUTO_EXPOSURE] == 1)


def _fake(folder: Path) -> Table:
    scene = Scene(_REQUEST.width_px, _REQUEST.height_px)
    camera = FakeCamera(CameraMode(_REQUEST.width_px, _REQUEST.height_px, 20.0, "MJPG"))

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


_FACTORIES: dict[str, Callable[[Path], Table]] = {"fake": _fake, "usb": _usb, "pi": _pi}


@pytest.fixture(params=_FACTORIES)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    table = _FACTORIES[request.param](tmp_path)
    yield table
    table.camera.close()
    assert table.opened() == 0


def _until(table: Table, condition: Callable[[], bool]) -> None:
    started_at = time.perf_counter()
    while not condition():
        assert time.perf_counter() - started_at < _LONG_S, table.camera.state
        table.sees()
        _PAUSE.wait(0.001)


def _next(table: Table, level: int | None = None) -> Picture:
    """Return the next image, optionally of a given brightness."""
    found: list[Picture] = []

    def has_image() -> bool:
        picture = table.camera.take()
        if picture is not None and (level is None or picture.image[0, 0, 0] == level):
            found.append(picture)
        return bool(found)

    _until(table, has_image)
    return found[0]


def test_image_times_increase_and_are_never_in_the_future_and_all_are_counted(table: Table) -> None:
    times_ns = []
    for _ in range(20):
        times_ns.append(_next(table).t_ns)
        assert times_ns[-1] <= table.scene.t_ns
    assert times_ns == sorted(set(times_ns))
    before = table.camera.pictures
    _until(table, lambda: table.camera.pictures >= before + 10)


def test_images_are_current_and_have_the_size_of_the_mode(table: Table) -> None:
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
    assert np.all(picture.image == 180), "a taken image must not be overwritten"
    assert table.camera.state.problem is None


def test_an_unplugged_camera_is_a_problem_until_reconnected(table: Table) -> None:
    _next(table)
    table.unplug()
    _until(table, lambda: table.camera.state.problem is not None)
    assert str(table.camera.state.problem).split()[0].rstrip(":") in ("fake", "usb:0", "pi:0")
    table.plug_in()
    table.scene.level = 77
    _next(table, 77)
    assert table.camera.state.problem is None


def test_images_before_the_requested_time_are_skipped(table: Table) -> None:
    _next(table)
    since_ns, found = table.scene.t_ns + 250 * MS, list[Picture]()

    def has_image() -> bool:
        picture = table.camera.take(since_ns)
        found.extend([] if picture is None else [picture])
        return bool(found)

    _until(table, has_image)
    assert found[0].t_ns >= since_ns


def test_exposure_can_be_locked_and_unlocked(table: Table) -> None:
    _next(table)
    assert table.camera.light is Light.FREE
    table.camera.hold_light()
    _until(table, lambda: table.camera.light is Light.HELD)
    assert table.is_held()
    _next(table)
    table.camera.free_light()
    _until(table, lambda: table.camera.light is Light.FREE and not table.is_held())
    _next(table)


def test_a_reconnected_camera_is_locked_before_its_first_image(table: Table) -> None:
    table.camera.hold_light()
    _next(table)
    table.unplug()
    _until(table, lambda: table.camera.state.problem is not None)
    table.camera.take()
    table.plug_in()
    table.scene.level = 77
    _next(table, 77)
    assert table.is_held()


@pytest.mark.parametrize("make", [*_FACTORIES.values(), _none], ids=[*_FACTORIES, "none"])
def test_a_closed_camera_delivers_nothing_and_can_be_closed_again(
    make: Callable[[Path], Table], tmp_path: Path
) -> None:
    table = make(tmp_path)
    table.camera.close()
    table.camera.close()
    assert table.opened() == 0
    with pytest.raises(CameraError, match="closed"):
        table.camera.take()


def test_no_camera_delivers_nothing_and_the_fake_no_impossible_images() -> None:
    none = NoCamera()
    none.hold_light()
    assert none.take() is None
    assert none.state.problem is None
    none.free_light()
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
    """A driver call that does not return."""

    mode = CameraMode(640, 360, 20.0, "MJPG")

    def __init__(self) -> None:
        self.released = threading.Event()

    def grab(self) -> int:
        self.released.wait(20)
        raise CameraError("stuck: it has gone")

    def read(self) -> Picture:
        raise AssertionError("nothing was grabbed")

    def hold_light(self) -> None:
        """Do nothing."""

    def free_light(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def test_distinguishes_a_hanging_driver_from_a_missing_camera() -> None:
    feed, now_ns = _Stuck(), [0]
    camera = WatchedCamera("stuck", lambda: feed, lambda: now_ns[0], back_off_s=(0.0,))

    def hangs() -> bool:
        return camera.hangs

    now_ns[0] = 10 * 1_000_000_000
    assert camera.state.problem is not None
    assert not hangs()
    now_ns[0] = 31 * 1_000_000_000
    assert hangs()
    feed.released.set()
    end_s = time.monotonic() + 2 * _LONG_S
    while hangs() and time.monotonic() < end_s:
        _PAUSE.wait(0.01)
    assert not hangs(), "the search must continue"
    camera.close()


def test_a_camera_that_opens_slowly_is_not_reported_as_silent() -> None:
    feed, now_ns = _Stuck(), [0]

    def opened() -> _Stuck:
        now_ns[0] += 5 * 1_000_000_000
        return feed

    camera = WatchedCamera("slow", opened, lambda: now_ns[0])
    assert camera.state.problem is None
    feed.released.set()
    camera.close()
