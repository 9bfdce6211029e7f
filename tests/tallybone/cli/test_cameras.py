"""Tests of `tallybone cameras`: the list as text and JSON, and advice if it is empty."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

from hardware.camera.open_device import CameraKind, FoundCamera, FoundCameras
from hardware.camera.v4l2 import NodeMode
from tallybone.cli.devices import list_cameras

_SIZES = ((640, 360), (1920, 1080), (640, 480), (1280, 720), (320, 240), (160, 120))
_MODES = (
    *(NodeMode("MJPG", width, height, (30.0, 7.5)) for width, height in _SIZES),
    NodeMode("YUYV", 640, 480, ()),
)
_LASTING = Path("/dev/v4l/by-id/usb-Acme-video-index0")
_PI = FoundCamera("pi:0", CameraKind.PI, "Camera Module 3 (imx708)")
_USB = FoundCamera("usb:0", CameraKind.USB, "Acme\x1b[31m Cam", Path("/dev/video2"), _LASTING, _MODES)
_OTHER = FoundCamera("/dev/video0", CameraKind.OTHER, "a card", Path("/dev/video0"))


def _listed(*cameras: FoundCamera, problems: tuple[str, ...] = (), as_json: bool = False) -> tuple[int, list[str], str]:
    out, err = StringIO(), StringIO()
    code = list_cameras(as_json=as_json, find=lambda: FoundCameras(cameras, problems), out=out, err=err)
    return code, out.getvalue().splitlines(), err.getvalue()


def test_each_line_starts_with_the_value_for_the_camera_option() -> None:
    code, lines, err = _listed(_PI, _USB, _OTHER)
    assert (code, err) == (0, "")
    assert lines == [
        "pi:0         Camera Module 3 (imx708): any size up to the sensor's",
        "usb:0        Acme\\x1b[31m Cam at /dev/v4l/by-id/usb-Acme-video-index0: MJPG 1920x1080 30/s, 1280x720 30/s,"
        " 640x480 30/s, 640x360 30/s, and 2 smaller; YUYV 640x480",
        "/dev/video0  a card at /dev/video0: image sizes unknown",
    ]


def test_json_output_has_a_complete_line_per_camera() -> None:
    code, lines, _ = _listed(_PI, _USB, as_json=True)
    pi, usb = map(json.loads, lines)
    assert code == 0
    assert pi == {
        "url": "pi:0",
        "kind": "pi",
        "name": "Camera Module 3 (imx708)",
        "device": None,
        "lasting": None,
        "modes": [],
    }
    assert (usb["url"], usb["device"], usb["lasting"]) == ("usb:0", "/dev/video2", str(_LASTING))
    assert usb["modes"][0] == {"coding": "MJPG", "width": 640, "height": 360, "per_s": [30.0, 7.5]}
    assert len(usb["modes"]) == len(_MODES)


def test_without_cameras_advice_goes_to_stderr() -> None:
    for as_json in (False, True):
        code, lines, err = _listed(problems=("/dev/video0 may not be used",), as_json=as_json)
        assert (code, lines) == (1, [])
        assert "tallybone cameras: /dev/video0 may not be used\nNo camera was found" in err
        assert "--camera simulated" in err
