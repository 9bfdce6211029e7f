"""Tests of the camera setting: which camera, and the requested mode."""

from __future__ import annotations

import pytest

from hardware.camera.device import CameraError, CameraRequest
from hardware.camera.fake import NoCamera
from hardware.camera.open_device import CameraUrl, is_device, open_device


@pytest.mark.parametrize(
    ("text", "location", "request_"),
    [
        ("pi:0", "pi:0", CameraRequest()),
        ("usb:1,rate=15", "usb:1", CameraRequest(per_s=15)),
        ("/dev/video2,size=1920x1080", "/dev/video2", CameraRequest(1920, 1080)),
        ("/dev/v4l/by-path/pci-0000:01:00.0-usb-0:1:1.0-video-index0", None, CameraRequest()),
        ("none", "none", CameraRequest()),
    ],
)
def test_parses_a_camera_setting(text: str, location: str | None, request_: CameraRequest) -> None:
    assert is_device(text)
    assert CameraUrl.parse(text) == CameraUrl(location or text, request_)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("pi:", "expected pi:0, usb:0, a path such as /dev/video0, or none"),
        ("usb:front", "expected pi:0"),
        ("game.mcap", "expected pi:0"),
        ("pi:0,size=1920", "expected size=1280x720 or rate=20 after the comma, got size=1920"),
        ("pi:0,", "got nothing"),
        ("pi:0,colour=red", "got colour=red"),
        ("usb:0,size=1281x720", "width of pictures: expected an even number from 160 to 8192, got 1281"),
        ("usb:0,size=1280x20", "height of pictures: expected an even number from 160 to 6144, got 20"),
        ("usb:0,rate=500", "pictures per second: expected 1 to 120, got 500"),
    ],
)
def test_an_invalid_setting_reports_the_expected_form(text: str, error: str) -> None:
    with pytest.raises(CameraError, match=error) as caught:
        CameraUrl.parse(text)
    assert text in str(caught.value)


@pytest.mark.parametrize("text", ["game.mcap", "pictures", "simulated", "simulated:seed=1", "pi", "video.mp4"])
def test_files_and_simulated_tables_are_not_devices(text: str) -> None:
    assert not is_device(text)


def test_opens_a_camera_by_its_setting_or_names_a_missing_one() -> None:
    assert isinstance(open_device("none", lambda: 0), NoCamera)
    for text in ("usb:977", "/dev/video977"):
        with pytest.raises(CameraError, match=f"{text}: no such camera: check that it is plugged in"):
            open_device(text, lambda: 0)
