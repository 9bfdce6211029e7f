"""Tests of a live camera device as a source."""

from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime

import numpy as np
import pytest

from hardware.camera.device import CameraError, CameraMode, Light, Picture
from tallybone.choices import TileSet
from tallybone.play.start import new_game, open_camera
from tallybone.sources.camera import DeviceCamera, open_plugged_in
from tallybone.sources.source import Shot
from tests.hardware.camera.fake_picamera2 import FakeLibrary
from tests.hardware.camera.scene import Scene
from tests.hardware.fakes import FakeCamera
from tests.tallybone.sources.test_camera import Clock
from vision.image.picture import decode_picture

_PAUSE = threading.Event()


def _picture(level: int, t_ns: int) -> Picture:
    image = np.full((72, 128, 3), level, np.uint8)
    return Picture(t_ns, image, image[:, :, 0])


@pytest.fixture
def device() -> FakeCamera:
    return FakeCamera(CameraMode(128, 72, 20.0, "MJPG"))


def test_only_the_latest_image_is_queued_and_delivered_once(device: FakeCamera) -> None:
    camera = DeviceCamera("usb:0", device, Clock(9))
    device.show(_picture(50, 3))
    device.show(_picture(200, 7))
    taken = camera.take()
    assert taken is not None
    assert (taken.t_ns, taken.where) == (7, "usb:0")
    assert abs(int(decode_picture(taken.jpeg(), "it").mean()) - 200) <= 2
    assert camera.take() is None
    assert camera.now_ns() == 9
    assert not camera.is_over


def test_an_image_before_the_requested_time_is_counted_but_not_taken(device: FakeCamera) -> None:
    camera = DeviceCamera("usb:0", device, Clock())
    device.show(_picture(50, 3))
    assert camera.take(5) is None
    device.show(_picture(50, 7))
    taken = camera.take(5)
    assert taken is not None
    assert taken.t_ns == 7
    assert camera.pictures == 2


def test_exposure_is_locked_and_problems_are_reported_until_the_camera_is_closed(device: FakeCamera) -> None:
    camera = DeviceCamera("usb:0", device, Clock())
    assert device.light is Light.HELD
    device.unplug("usb:0 gives no pictures")
    assert camera.problem == "usb:0 gives no pictures"
    device.plug_in()
    assert str(camera.problem) == "None"
    camera.close()
    assert device.is_closed


def test_plays_through_a_raspberry_pi_camera(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    library = FakeLibrary(scene)
    monkeypatch.setitem(sys.modules, "picamera2", library)
    started_at = datetime(2026, 11, 21, tzinfo=UTC)
    game = new_game("bones", (), (), tile_set=TileSet.AUTO, in_play=False, began=started_at, software="a test")
    camera, same = open_camera("pi:0,size=640x360", game, scene.clock)
    assert same is game
    while (taken := camera.take()) is None:
        _PAUSE.wait(0.001)
    assert isinstance(taken, Shot)
    assert taken.load().shape == (360, 640, 3)
    assert library.controls["AeEnable"] is False, "exposure must be locked before the first image"
    camera.close()
    assert library.opened == 0


def test_a_missing_camera_is_named_at_once_and_no_camera_is_allowed() -> None:
    for source in ("usb:977", "/dev/video977", "usb:x", "pi:977"):
        with pytest.raises(CameraError, match=f"{source}: |a camera of a Raspberry Pi needs"):
            open_plugged_in(source, Clock())
    camera = open_plugged_in("none", Clock())
    assert camera.take() is None
    camera.close()
