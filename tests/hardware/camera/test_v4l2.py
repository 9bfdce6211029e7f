"""Tests of USB cameras: actual modes, stale and damaged images, persistent settings and stable names."""

from __future__ import annotations

import errno
import struct
import threading
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import cv2
import pytest

from hardware.camera.device import CameraError, CameraRequest, Clocks, Light
from hardware.camera.open_device import CameraPath
from hardware.camera.v4l2 import V4l2Feed, lasting_name
from hardware.camera.watched import WatchedCamera
from tests.hardware.camera.fake_capture import FakeDevice
from tests.hardware.camera.scene import MS, S, Scene

_REQUEST = CameraRequest(640, 360)
_PAUSE = threading.Event()


def _feed(device: FakeDevice, path: Path, request_: CameraRequest = _REQUEST) -> V4l2Feed:
    path.touch()
    scene = device.scene
    return V4l2Feed(path, "usb:0", request_, Clocks(scene.clock, monotonic=scene.clock, boot=scene.clock), device.open)


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice(Scene())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "video0"


def test_requests_jpeg_and_reports_the_actual_mode(device: FakeDevice, path: Path) -> None:
    feed = _feed(device, path)
    assert device.settings[cv2.CAP_PROP_FOURCC] == cv2.VideoWriter.fourcc(*"MJPG")
    assert (feed.mode.width_px, feed.mode.height_px, feed.mode.per_s, feed.mode.coding) == (640, 360, 20, "MJPG")
    feed.close()
    device.gives = (1280, 1024, 7.5, "YUYV")
    feed = _feed(device, path)
    assert (feed.mode.width_px, feed.mode.height_px, feed.mode.per_s, feed.mode.coding) == (1280, 1024, 7.5, "YUYV")
    assert feed.read().image.shape == (1024, 1280, 3)
    feed.close()


@pytest.mark.parametrize("stamps", [True, False])
def test_stale_images_in_the_driver_are_skipped_without_decoding(
    device: FakeDevice, path: Path, *, stamps: bool
) -> None:
    device.stamps = stamps
    feed = _feed(device, path)
    feed.read()
    device.scene.t_ns += 500 * MS  # the program was busy: four stale images are queued
    retrieved = device.retrieved
    assert feed.read().t_ns >= device.scene.t_ns - 50 * MS
    assert device.retrieved == retrieved + 1
    feed.close()


def test_only_requested_images_are_decoded_and_two_a_second_for_supervision(device: FakeDevice, path: Path) -> None:
    camera = WatchedCamera("usb:0", lambda: _feed(device, path), device.scene.clock)

    def decoded_in_five_seconds() -> int:
        before, retrieved = camera.pictures, device.retrieved
        while camera.pictures < before + 100:  # five seconds
            _PAUSE.wait(0.001)
        return device.retrieved - retrieved

    assert 8 <= decoded_in_five_seconds() <= 12
    assert camera.take() is None, "no image was requested"
    while (picture := camera.take()) is None:
        _PAUSE.wait(0.001)
    assert picture.t_ns > 0
    assert 8 <= decoded_in_five_seconds() <= 12, "images must not be decoded while the reader is busy"
    camera.close()


def test_a_grabbed_image_is_decoded_once_with_the_driver_timestamp(device: FakeDevice, path: Path) -> None:
    feed = _feed(device, path)
    t_ns = feed.grab()
    assert device.retrieved == 0
    assert feed.read().t_ns == t_ns
    assert feed.read().t_ns > t_ns
    assert device.retrieved == 2
    device.scene.t_ns += 80 * MS
    picture = feed.read()
    assert picture.t_ns == device.scene.t_ns - 30 * MS
    feed.close()


def test_a_slow_camera_loses_no_image(path: Path) -> None:
    device = FakeDevice(Scene(period_ns=200 * MS))  # dim light: nominally 20 images a second, actually 5
    device.transfer_ns = 120 * MS  # makes each image older than at 20 a second
    feed = _feed(device, path)
    times_ns = [feed.read().t_ns for _ in range(5)]
    assert [(after - before) // MS for before, after in pairwise(times_ns)] == [200] * 4
    feed.close()


def test_damaged_images_are_skipped_up_to_a_limit(device: FakeDevice, path: Path) -> None:
    feed = _feed(device, path)
    device.damaged = 9
    feed.read()
    device.damaged = 10
    with pytest.raises(CameraError, match="usb:0 sends only damaged pictures: try another cable"):
        feed.read()
    feed.close()


def test_locking_keeps_the_exposure_and_closing_restores_automatic(device: FakeDevice, path: Path) -> None:
    feed = _feed(device, path)
    assert device.settings[cv2.CAP_PROP_AUTO_EXPOSURE] == 3, "a manual setting left by another program must be reset"
    feed.hold_light()
    held = {
        cv2.CAP_PROP_AUTO_EXPOSURE: 1,
        cv2.CAP_PROP_EXPOSURE: 156,
        cv2.CAP_PROP_AUTO_WB: 0,
        cv2.CAP_PROP_AUTOFOCUS: 0,
    }
    assert device.settings | held == device.settings
    feed.close()
    free = {cv2.CAP_PROP_AUTO_EXPOSURE: 3, cv2.CAP_PROP_AUTO_WB: 1, cv2.CAP_PROP_AUTOFOCUS: 1}
    assert device.settings | free == device.settings
    assert device.opened == 0


def test_a_camera_that_brightens_when_locked_stays_automatic(device: FakeDevice, path: Path) -> None:
    device.jumps = True
    camera = WatchedCamera("usb:0", lambda: _feed(device, path), device.scene.clock)
    camera.hold_light()
    started_at = time.perf_counter()
    while camera.light is not Light.CANNOT_BE_HELD:
        assert time.perf_counter() - started_at < 10
        _PAUSE.wait(0.001)
        picture = camera.take()
        assert picture is None or picture.image[0, 0, 0] == 90, "images during the trial must be hidden"
    assert device.settings[cv2.CAP_PROP_AUTO_EXPOSURE] == 3
    camera.close()


def test_a_camera_that_cannot_be_opened_is_named(device: FakeDevice, path: Path) -> None:
    with pytest.raises(CameraError, match="usb:0: no such camera: check that it is plugged in"):
        V4l2Feed(path, "usb:0", _REQUEST, Clocks(device.scene.clock), device.open)
    device.scene.is_plugged = False
    with pytest.raises(CameraError, match="usb:0: cannot open it: check that it is a camera"):
        _feed(device, path)
    with pytest.raises(CameraError, match=r"usb:0: it cannot be opened \(Is a directory\)"):
        V4l2Feed(path.parent, "usb:0", _REQUEST, Clocks(device.scene.clock), device.open)

    device.scene.is_plugged, opened = True, list(device.paths)

    def is_busy(fd: int, request: int, data: bytearray) -> None:
        assert (request, len(data)) == (0xC0145608, 20)
        assert data[:4] == bytes(4), "the owner's buffers must not be touched"
        raise OSError(errno.EBUSY, "Device or resource busy")

    with pytest.raises(CameraError, match="usb:0: it is in use by another program"):
        V4l2Feed(path, "usb:0", _REQUEST, Clocks(device.scene.clock), device.open, is_busy)
    assert device.paths == opened
    with pytest.raises(CameraError, match="usb:0: cannot open it"):
        V4l2Feed(path, "usb:0", _REQUEST, Clocks(lambda: 5 * S))


def test_a_camera_is_found_by_its_stable_name_or_its_device(tmp_path: Path) -> None:
    by_id = tmp_path / "by-id"
    by_id.mkdir()
    for index in (0, 1, 2):
        (tmp_path / f"video{index}").touch()
    (by_id / "usb-Acme_Cam-video-index0").symlink_to("../video1")
    (by_id / "usb-Other_Cam-video-index0").symlink_to("../video0")
    place = CameraPath("usb:1", lambda: tmp_path / "video1", lambda path: lasting_name(path, by_id))
    assert place.now().resolve() == tmp_path / "video1"
    (by_id / "usb-Acme_Cam-video-index0").unlink()
    assert not place.now().exists(), "another camera has its number now"
    (by_id / "usb-Acme_Cam-video-index0").symlink_to("../video2")
    assert place.now().resolve() == tmp_path / "video2"
    (tmp_path / "video4").touch()
    place = CameraPath("usb:0", lambda: tmp_path / "video4", lambda path: lasting_name(path, tmp_path / "none"))
    assert place.now() == tmp_path / "video4"
    with pytest.raises(CameraError, match="usb:7: no such camera"):
        CameraPath("usb:7", lambda: None).now()


def test_the_mains_frequency_is_set(device: FakeDevice, path: Path) -> None:
    controls: dict[int, int] = {}
    path.touch()
    clocks = Clocks(device.scene.clock, monotonic=device.scene.clock, boot=device.scene.clock)

    def ioctl(fd: int, request: int, data: bytearray) -> None:
        if request == 0xC008561C:  # VIDIOC_S_CTRL
            controls.update([struct.unpack("<Ii", data)])

    for mains, value in (("off", 0), ("50", 1), ("60", 2)):
        V4l2Feed(path, "usb:0", replace(_REQUEST, mains=mains), clocks, device.open, ioctl).close()
        assert controls == {0x00980918: value}  # V4L2_CID_POWER_LINE_FREQUENCY
        controls.clear()
    V4l2Feed(path, "usb:0", _REQUEST, clocks, device.open, ioctl).close()
    assert controls == {}


def test_a_camera_without_a_setting_for_mains_is_used_with_a_warning(
    device: FakeDevice, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _feed(device, path, replace(_REQUEST, mains="50")).close()  # the path is a regular file
    assert "usb:0 has no setting for the mains frequency, so mains=50 is ignored" in caplog.text
