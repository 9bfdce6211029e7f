"""Tests of the camera setting: which camera, the requested mode, and the correction of a turned camera."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from hardware.camera.device import CameraError, CameraMode, CameraRequest, CameraTurn, NoCamera, Picture, Pixels
from hardware.camera.open_device import CameraUrl, is_device, open_device, parse_film
from hardware.camera.watched import WatchedCamera


@pytest.mark.parametrize(
    ("text", "location", "request_"),
    [
        ("pi:0", "pi:0", CameraRequest()),
        ("usb:1,rate=15", "usb:1", CameraRequest(per_s=15)),
        ("/dev/video2,size=1920x1080", "/dev/video2", CameraRequest(1920, 1080)),
        ("/dev/v4l/by-path/pci-0000:01:00.0-usb-0:1:1.0-video-index0", None, CameraRequest()),
        ("none", "none", CameraRequest()),
        (
            "usb:0,rotate=90,flip=yes,mains=50",
            "usb:0",
            CameraRequest(mains="50", orientation=CameraTurn(90, flip=True)),
        ),
        ("http://10.0.0.7:8080/video?a=1,2", None, CameraRequest()),
        ("rtsp://ann:pw@cam/live,rotate=180", "rtsp://ann:pw@cam/live", CameraRequest(orientation=CameraTurn(180))),
    ],
)
def test_parses_a_camera_setting(text: str, location: str | None, request_: CameraRequest) -> None:
    assert is_device(text)
    assert CameraUrl.parse(text) == CameraUrl(location or text, request_)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "pi:",
            "expected pi:0, usb:0, a path such as /dev/video0, an address such as http://phone:8080/video, or none",
        ),
        ("usb:front", "expected pi:0"),
        ("game.mcap", "expected pi:0"),
        (
            "pi:0,size=1920",
            "expected size=1280x720, rate=20, rotate=180, flip=yes or mains=50 after the comma, got size=1920",
        ),
        ("pi:0,", "got nothing"),
        ("pi:0,colour=red", "got colour=red"),
        ("usb:0,size=1281x720", "width of pictures: expected an even number from 160 to 8192, got 1281"),
        ("usb:0,size=1280x20", "height of pictures: expected an even number from 160 to 6144, got 20"),
        ("usb:0,rotate=45", "got rotate=45"),
        ("usb:0,flip=1", "got flip=1"),
        ("usb:0,mains=55", "got mains=55"),
        ("http://", "expected pi:0"),
        ("http://10.0.0.7/video,rate=10", "size, rate and mains can be set only for cameras of this computer"),
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


def test_a_film_has_the_options_of_a_turned_camera_only_and_passwords_are_not_shown() -> None:
    assert parse_film("a,b.mcap,rotate=270,flip=yes") == (Path("a,b.mcap"), CameraTurn(270, flip=True))
    assert parse_film("a,b.mcap") == (Path("a,b.mcap"), CameraTurn())
    with pytest.raises(CameraError, match="size, rate and mains"):
        parse_film("a.mcap,size=640x360")
    with pytest.raises(CameraError) as caught:
        CameraUrl.parse("http://ann:secret@10.0.0.7/video,rate=10")
    assert str(caught.value).startswith("http://10.0.0.7/video,rate=10: ")


# Pixel 1 is at the top left, 2 to the right of it, and 3 below 1.
@pytest.mark.parametrize(
    ("orientation", "rows"),
    [
        (CameraTurn(), [[1, 2], [3, 4], [5, 6]]),
        (CameraTurn(90), [[5, 3, 1], [6, 4, 2]]),
        (CameraTurn(180), [[6, 5], [4, 3], [2, 1]]),
        (CameraTurn(270), [[2, 4, 6], [1, 3, 5]]),
        (CameraTurn(flip=True), [[2, 1], [4, 3], [6, 5]]),
        (CameraTurn(90, flip=True), [[6, 4, 2], [5, 3, 1]]),
    ],
)
def test_pictures_and_mode_of_a_turned_camera_are_upright(orientation: CameraTurn, rows: list[list[int]]) -> None:
    image = np.repeat(np.array([[1, 2], [3, 4], [5, 6]], np.uint8)[..., None], 3, axis=2)
    camera = WatchedCamera("still", lambda: _Still(image), lambda: 5, orientation=orientation)
    while (picture := camera.take()) is None:
        threading.Event().wait(0.001)
    assert picture.image[..., 0].tolist() == rows
    assert (camera.mode.width_px, camera.mode.height_px) == (len(rows[0]), len(rows))
    camera.close()


class _Still:
    """A feed of one picture."""

    mode = CameraMode(2, 3, 20.0, "MJPG")

    def __init__(self, image: Pixels) -> None:
        self.image = image

    def grab(self) -> int:
        threading.Event().wait(0.001)
        return 5

    def read(self) -> Picture:
        return Picture(5, self.image, np.full((18, 32), 90, np.uint8))

    def hold_light(self) -> None:
        """Do nothing."""

    def free_light(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
