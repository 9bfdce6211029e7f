"""Tests of Raspberry Pi cameras: timestamps, buffers, exposure, sensor modes and failures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from hardware.camera.device import CameraError, CameraRequest, Clocks
from hardware.camera.picamera import PicameraFeed, import_advice, metered, picamera2, ribbon_cameras
from tests.hardware.camera.fake_picamera2 import FakeLibrary
from tests.hardware.camera.scene import MS, S, Scene

_SLEPT_NS = 3_600 * S


def _library(**info: Any) -> FakeLibrary:
    return FakeLibrary(Scene(), (info,) if info else None)


def _feed(library: FakeLibrary, request_: CameraRequest | None = None, index: int = 0) -> PicameraFeed:
    scene = library.scene
    clocks = Clocks(scene.clock, monotonic=scene.clock, boot=lambda: scene.t_ns + _SLEPT_NS)
    return PicameraFeed(index, request_ or CameraRequest(), clocks, lambda: library)


def test_an_image_is_timed_at_the_start_of_its_exposure() -> None:
    library = _library()
    library.metadata["ExposureTime"] = 12_000
    feed = _feed(library)
    for stamp_back_ns in (30 * MS, 30 * MS - _SLEPT_NS):  # CLOCK_MONOTONIC, CLOCK_BOOTTIME
        library.stamp_back_ns = stamp_back_ns
        assert feed.read().t_ns == library.scene.t_ns - 42 * MS
    feed.close()


def test_buffers_are_released_even_if_unread_or_a_copy_fails() -> None:
    library = _library()
    feed = _feed(library)
    times_ns = [feed.grab() for _ in range(20)]
    assert library.held == 1
    assert feed.read().t_ns == times_ns[-1]
    assert library.held == 0
    feed.grab()
    feed.close()
    assert library.held == 0
    feed = _feed(library)
    library.configuration["lores"]["size"] = None
    with pytest.raises(TypeError):
        feed.read()
    assert library.held == 0
    feed.close()


def test_streams_have_the_requested_format_without_row_padding() -> None:
    library = _library()
    library.small_px = (300, 180)  # in rows of 320 bytes
    feed = _feed(library, CameraRequest(1920, 1080, 15))
    assert library.configuration["main"] == {"size": (1920, 1080), "format": "RGB888"}
    assert library.configuration["lores"]["format"] == "YUV420"
    assert library.controls["FrameDurationLimits"] == (66_667, 66_667)
    picture = feed.read()
    assert picture.image.shape == (1080, 1920, 3)
    assert picture.grey.shape == (180, 300)
    assert (picture.grey == 90).all()
    assert (feed.mode.width_px, feed.mode.height_px, feed.mode.per_s, feed.mode.coding) == (1920, 1080, 15, "RGB888")
    feed.close()
    library = _library()
    library.has_small_stream = False
    feed = _feed(library)
    assert library.configuration["lores"] is None
    picture = feed.read()
    assert picture.image.shape == (720, 1280, 3)
    assert picture.grey.shape == (180, 320)
    assert (picture.grey == 90).all()
    assert library.held == 0
    feed.close()


def test_uses_the_full_sensor_rather_than_the_fast_cropped_mode_or_leaves_it_to_picamera2() -> None:
    library, modes = _library(), []
    for request_ in (CameraRequest(), CameraRequest(3840, 2160, 10), CameraRequest(4608, 2592, 30)):
        _feed(library, request_).close()
        modes.append(library.configuration["sensor"])
    full, large = ({"output_size": size_px, "bit_depth": 10} for size_px in ((2304, 1296), (4608, 2592)))
    assert modes == [full, large, None]


def test_locking_fixes_exposure_gain_colours_and_lens() -> None:
    library = _library()
    feed = _feed(library)
    assert library.controls["AfMode"] == 2, "autofocus must run until the lock"
    assert library.controls["AeConstraintMode"] == 1, "highlights must be protected"
    feed.read()
    feed.hold_light()
    held: dict[str, object] = {
        "AeEnable": False,
        "ExposureTime": 10_000,
        "AnalogueGain": 2.0,
        "AwbEnable": False,
        "AfMode": 0,
    }
    held |= {"ColourGains": (1.5, 1.9), "LensPosition": 1.2}
    assert library.controls | held == library.controls
    feed.free_light()
    free = {"AeEnable": True, "AeConstraintMode": 1, "AwbEnable": True, "AfMode": 2, "ExposureTime": 0}
    assert library.controls | free == library.controls
    feed.close()


def test_a_fixed_focus_camera_gets_no_focus_controls() -> None:
    library = _library()
    library.metadata = {"ExposureTime": 10_000, "AnalogueGain": 1.0, "ColourGains": (1.5, 1.9), "AeLocked": True}
    feed = _feed(library)
    feed.read()
    feed.hold_light()
    assert "LensPosition" not in library.controls
    feed.close()


def test_the_light_is_settled_once_exposure_focus_and_colours_are() -> None:
    library = _library()
    feed = _feed(library)
    library.metadata |= {"AeState": 1}
    assert feed.read().is_light_settled is False
    library.metadata |= {"AeState": 2, "AfState": 1}
    assert feed.read().is_light_settled is False
    library.metadata |= {"AfState": 2}
    assert feed.read().is_light_settled is True
    library.metadata |= {"ColourGains": (1.6, 1.9)}
    assert feed.read().is_light_settled is False
    assert feed.read().is_light_settled is True
    del library.metadata["AeState"]
    assert feed.read().is_light_settled is None
    assert metered({"AeLocked": True}).is_settled is True
    feed.close()


def test_a_hanging_or_refusing_camera_is_closed_and_can_be_reopened() -> None:
    library = _library()
    feed = _feed(library)
    library.scene.hangs = True
    started_ns = library.scene.t_ns
    with pytest.raises(CameraError, match="pi:0 sends no pictures: check its cable"):
        feed.read()
    assert library.scene.t_ns - started_ns == 2 * S
    feed.close()
    library.scene.hangs = False
    reopened = _feed(library)
    reopened.read()
    reopened.close()
    assert (library.opened, library.closed) == (0, 2)
    library = _library()
    library.refuses_configuration = True
    with pytest.raises(CameraError, match="pi:0: lores stream dimensions may not exceed main stream"):
        _feed(library)
    assert (library.opened, library.closed) == (0, 1)


def test_what_keeps_picamera2_from_its_camera_is_reported() -> None:
    library = _library()
    library.has_raw_pictures = False
    with pytest.raises(CameraError, match="pi:0: it cannot be opened"):
        _feed(library)
    library = _library()
    library.has_memory = False
    with pytest.raises(CameraError, match=r"pi:0: no memory for its pictures \(Could not open any dmaHeap device"):
        _feed(library)
    assert library.opened == 0
    library.has_memory = True
    _feed(library).close()
    library = _library()
    library.in_use = True
    with pytest.raises(CameraError, match="pi:0: it is in use by another program"):
        _feed(library)
    with pytest.raises(CameraError, match="pi:1: there are 1 cameras, counted from 0, on this Pi's ribbon cables"):
        _feed(library, index=1)
    with pytest.raises(CameraError, match=r"pi:0: there is no camera .* or another program is using it"):
        _feed(FakeLibrary(Scene(), ()))


def test_usb_cameras_listed_by_libcamera_are_ignored() -> None:
    usb = {"Id": "/base/scb/pcie@7d500000/pci@0,0/usb@0,0-1:1.0-046d:0825", "Model": "UVC Camera"}
    pi = {"Id": "/base/soc/i2c0mux/i2c@1/imx219@10", "Model": "imx219"}
    assert [info["Model"] for info in ribbon_cameras(FakeLibrary(Scene(), (pi, usb)))] == ["imx219"]


def test_a_missing_library_an_isolated_venv_and_an_incompatible_numpy_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(CameraError, match=r"needs picamera2: sudo apt install python3-picamera2, and a venv made with"):
        picamera2()
    libcamera = ModuleNotFoundError("No module named 'libcamera'", name="libcamera")
    assert "sudo apt install python3-libcamera" in import_advice(libcamera, tmp_path)
    other = ModuleNotFoundError("No module named 'pykms'", name="pykms")
    assert "sudo apt install --reinstall python3-picamera2" in import_advice(other, tmp_path)
    monkeypatch.setattr(sys, "prefix", "/somewhere/.venv")
    (tmp_path / "picamera2").mkdir()
    missing = ModuleNotFoundError("No module named 'picamera2'", name="picamera2")
    assert "python3 -m venv --system-site-packages" in import_advice(missing, tmp_path)
    clash = ValueError("numpy.dtype size changed, may indicate binary incompatibility")
    assert "pip install --upgrade simplejpeg" in import_advice(clash, tmp_path)


def test_the_mains_frequency_is_set() -> None:
    by_mains = {None: {}, "off": {"AeFlickerMode": 0}, "50": {"AeFlickerMode": 1, "AeFlickerPeriod": 10_000}}
    by_mains["60"] = {"AeFlickerMode": 1, "AeFlickerPeriod": 8_333}
    for mains, controls in by_mains.items():
        library = _library()
        _feed(library, CameraRequest(mains=mains)).close()
        assert {name: value for name, value in library.controls.items() if "Flicker" in name} == controls
