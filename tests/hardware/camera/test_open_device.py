"""One setting says which camera, and what is wished of it."""

from __future__ import annotations

import pytest

from hardware.camera.device import CameraError, CameraRequest
from hardware.camera.fake import NoCamera
from hardware.camera.open_device import CameraUrl, is_device, open_device


@pytest.mark.parametrize(
    ("text", "where", "wish"),
    [
        ("pi:0", "pi:0", CameraRequest()),
        ("usb:1,rate=15", "usb:1", CameraRequest(per_s=15)),
        ("/dev/video2,size=1920x1080", "/dev/video2", CameraRequest(1920, 1080)),
        ("/dev/v4l/by-path/pci-0000:01:00.0-usb-0:1:1.0-video-index0", None, CameraRequest()),
        ("none", "none", CameraRequest()),
    ],
)
def test_a_setting_says_which_camera_and_what_is_wished(text: str, where: str | None, wish: CameraRequest) -> None:
    assert is_device(text)
    assert CameraUrl.parse(text) == CameraUrl(where or text, wish)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("pi:", "expected pi:0, usb:0, a path such as /dev/video0, or none"),
        ("usb:front", "expected pi:0"),
        ("game.mcap", "expected pi:0"),
        ("pi:0,size=1920", "expected size=1280x720 or rate=20 behind the comma, got size=1920"),
        ("pi:0,", "got nothing"),
        ("pi:0,colour=red", "got colour=red"),
        ("usb:0,size=1281x720", "width of pictures: expected an even number from 160 to 8192, got 1281"),
        ("usb:0,size=1280x20", "height of pictures: expected an even number from 160 to 6144, got 20"),
        ("usb:0,rate=500", "pictures a second: expected 1 to 120, got 500"),
    ],
)
def test_a_setting_that_is_none_says_what_was_expected(text: str, what: str) -> None:
    with pytest.raises(CameraError, match=what) as told:
        CameraUrl.parse(text)
    assert text in str(told.value)


@pytest.mark.parametrize("text", ["game.mcap", "pictures", "simulated", "simulated:seed=1", "pi", "video.mp4"])
def test_files_and_simulated_tables_are_no_devices(text: str) -> None:
    assert not is_device(text)


def test_a_camera_is_opened_by_its_setting_or_named_where_there_is_none() -> None:
    assert isinstance(open_device("none", lambda: 0), NoCamera)
    for text in ("usb:977", "/dev/video977"):
        with pytest.raises(CameraError, match=f"{text}: there is no such camera: is it plugged in"):
            open_device(text, lambda: 0)
