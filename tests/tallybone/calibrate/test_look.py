"""Tests of the cameras for calibration: exposure, errors, and still pictures."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from hardware.camera.device import NS_PER_S, CameraError, CameraMode, Light, Picture
from tallybone.calibrate.look import AskedScene, DeviceLook, StillLook, open_look, wait_for_picture
from tests.hardware.fakes import FakeCamera
from vision import VisionError

MODE = CameraMode(160, 90, 20.0, "MJPG")
IMAGE = np.full((90, 160, 3), 70, np.uint8)
GREY = np.full((9, 16), 70, np.uint8)


class Clock:
    """A clock that advances only by waiting."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns

    def pause(self, wait_s: float) -> None:
        self.now_ns += round(wait_s * NS_PER_S)


def test_a_camera_adapts_until_its_exposure_is_locked() -> None:
    camera, clock = FakeCamera(MODE), Clock()
    look = DeviceLook(camera)
    assert camera.light is Light.FREE
    look.present(AskedScene.BOARD)
    camera.show(Picture(1, IMAGE, GREY))
    assert wait_for_picture(look, clock, pause=clock.pause) is IMAGE
    assert look.light is Light.HELD
    look.close()
    assert camera.is_closed


def test_a_camera_without_pictures_reports_the_reason() -> None:
    camera, clock = FakeCamera(MODE), Clock()
    look = DeviceLook(camera)
    with pytest.raises(CameraError, match="within 15 seconds"):
        wait_for_picture(look, clock, pause=clock.pause)
    camera.unplug("usb:0 sends no pictures: check that it is plugged in")
    with pytest.raises(CameraError, match="plugged in"):
        wait_for_picture(look, clock, pause=clock.pause)


def test_a_still_picture_is_shown_and_other_files_are_refused(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), IMAGE)
    look = open_look(str(tmp_path / "a.png"), Clock())
    assert isinstance(look, StillLook)
    image = look.take()
    assert image is not None
    assert (image == IMAGE).all()
    (tmp_path / "b.png").write_bytes(b"no picture")
    with pytest.raises(VisionError):
        open_look(str(tmp_path / "b.png"), Clock())


@pytest.mark.parametrize("options", ["seats=7", "mat=maybe", "tilt=50", "colour=red", "seed=x"])
def test_invalid_options_of_a_simulated_table_are_refused(options: str) -> None:
    with pytest.raises(CameraError, match="simulated:"):
        open_look(f"simulated:{options}", Clock())
