"""Tests of listing cameras, with the setting that opens each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hardware.camera.device import CameraError
from hardware.camera.open_device import CameraKind, FoundCamera, FoundCameras, find_cameras
from hardware.camera.v4l2 import CaptureNode, NodeMode, Nodes
from tests.hardware.camera.fake_picamera2 import FakeLibrary
from tests.hardware.camera.scene import Scene

_MODES = (NodeMode("MJPG", 1280, 720, (30.0,)),)
_WEBCAM = CaptureNode(Path("/dev/video2"), "HD Pro Webcam C920", "usb-0000:01:00.0-1.2", _MODES)
_CARD = CaptureNode(Path("/dev/video0"), "a card", "PCI:0000:03:00.0", ())
_LASTING = Path("/dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920-video-index0")


_NEEDED = "a camera of a Raspberry Pi needs picamera2: sudo apt install python3-picamera2"


def _missing() -> Any:
    raise CameraError(_NEEDED)


@pytest.fixture
def board(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.write_text("Raspberry Pi 5 Model B Rev 1.0\0")
    return path


def test_pi_cameras_come_first_and_each_has_its_setting(board: Path) -> None:
    library = FakeLibrary(Scene(), ({"Id": "/base/imx708@1a", "Model": "imx708_wide"}, {"Id": "/base/x@1"}))
    found = find_cameras(
        lambda: Nodes((_CARD, _WEBCAM), ()),
        lambda: library,
        board=board,
        lasting=lambda path: _LASTING if path == _WEBCAM.path else None,
    )
    assert found == FoundCameras(
        (
            FoundCamera("pi:0", CameraKind.PI, "Camera Module 3 (imx708_wide)"),
            FoundCamera("pi:1", CameraKind.PI, "a camera"),
            FoundCamera("/dev/video0", CameraKind.OTHER, "a card", _CARD.path),
            FoundCamera("usb:0", CameraKind.USB, "HD Pro Webcam C920", _WEBCAM.path, _LASTING, _MODES),
        ),
        (),
    )
    assert library.opened == library.closed == 0, "listing must not open a camera in use"


def test_problems_of_listing_come_with_a_fix_and_a_missing_library_only_on_a_pi(board: Path, tmp_path: Path) -> None:
    found = find_cameras(lambda: Nodes((), ()), _missing, board=board)
    assert found.problems == (_NEEDED,)
    board.write_text("Acme Laptop")
    for other in (board, tmp_path / "absent"):
        assert find_cameras(lambda: Nodes((), ()), _missing, board=other) == FoundCameras((), ())
    found = find_cameras(lambda: Nodes((), (Path("/dev/video0"),)), lambda: FakeLibrary(Scene(), ()), board=board)
    assert found.problems == ("/dev/video0: permission denied: run sudo usermod -aG video $USER, then log in again",)
