"""Fake of picamera2, stricter than the real one: misuse that would crash or hang a Pi fails at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from hardware.camera.device import Pixels
from tests.hardware.camera.scene import Scene

CONTROLS = (
    "AeConstraintMode",
    "AeEnable",
    "AeFlickerMode",
    "AeFlickerPeriod",
    "AfMode",
    "AnalogueGain",
    "AwbEnable",
    "ColourGains",
    "ExposureTime",
    "FrameDurationLimits",
    "LensPosition",
)
# A Camera Module 3. Its fastest mode crops the image.
MODES: tuple[dict[str, Any], ...] = (
    {"size": (1536, 864), "bit_depth": 10, "fps": 120.13, "crop_limits": (768, 432, 3072, 1728)},
    {"size": (2304, 1296), "bit_depth": 10, "fps": 56.03, "crop_limits": (0, 0, 4608, 2592)},
    {"size": (4608, 2592), "bit_depth": 10, "fps": 14.35, "crop_limits": (0, 0, 4608, 2592)},
)
_STRIDE_PX = 64


class StrictError(AssertionError):
    """Misuse of a camera."""


class FakeLibrary:
    """Fake of the module picamera2, with its camera.

    Attributes:
        scene: Scene in front of the camera.
        in_use: Whether another program uses the camera.
        has_memory: Whether a DMA heap can be opened.
        has_raw_pictures: Whether libcamera provides raw images, which picamera2 relies on.
        has_small_stream: Whether libcamera provides a second stream.
        metadata: Metadata of images, except their time.
        controls: Controls set since the camera was opened, by name.
        configuration: Configuration of the camera.
        held: Number of buffers not yet released.
        opened: Number of open Picamera2 objects, at most one.
        small_px: Size of the small stream regardless of the request, or None to follow the request.
        stamp_back_ns: Age of the timestamp of an image when it is delivered.
    """

    def __init__(self, scene: Scene, infos: tuple[dict[str, Any], ...] | None = None) -> None:
        self.scene = scene
        self.infos = ({"Id": "/base/soc/i2c0mux/i2c@1/imx708@1a", "Model": "imx708"},) if infos is None else infos
        self.in_use = self.refuses_configuration = False
        self.has_memory = self.has_small_stream = self.has_raw_pictures = True
        self.metadata: dict[str, Any] = {
            "ExposureTime": 10_000,
            "AnalogueGain": 2.0,
            "ColourGains": (1.5, 1.9),
            "LensPosition": 1.2,
            "AeState": 2,
            "AfState": 2,
        }
        self.controls: dict[str, Any] = {}
        self.configuration: dict[str, Any] = {}
        self.held = self.opened = self.closed = 0
        self.stamp_back_ns = 0
        self.small_px: tuple[int, int] | None = None
        library = self

        class Picamera2(FakePicamera2):
            def __init__(self, camera_num: int = 0) -> None:
                super().__init__(library, camera_num)

            @staticmethod
            def global_camera_info() -> list[dict[str, Any]]:
                return [{**info, "Num": index} for index, info in enumerate(library.infos)]

        self.Picamera2 = Picamera2
        self.allocators = SimpleNamespace(DmaAllocator=self._require_memory)

    def _require_memory(self) -> None:
        if not self.has_memory:
            raise RuntimeError("Could not open any dmaHeap device")


class FakePicamera2:
    """An open camera."""

    def __init__(self, library: FakeLibrary, camera_num: int) -> None:
        self._library, self._is_open, self._is_started = library, False, False
        self._jobs: list[FakeJob] = []
        self._configured: dict[str, Any] | None = None
        if library.in_use or library.opened or not library.scene.is_plugged:
            busy = RuntimeError("Failed to acquire camera: Device or resource busy")
            raise RuntimeError("Camera __init__ sequence did not complete.") from busy
        if not library.has_raw_pictures:
            raise AttributeError("'NoneType' object has no attribute 'at'")
        if camera_num >= len(library.infos):
            raise StrictError(f"there is no camera {camera_num}")
        library.opened += 1
        # As in the real library: the camera is acquired by now, and stays in a list of open cameras.
        library.allocators.DmaAllocator()
        library.controls = {}  # automatic until a control is set
        self._is_open = True
        self.camera_properties = {"ColorFilterArrangement": 3}

    @property
    def camera_controls(self) -> dict[str, tuple[Any, Any, Any]]:
        self._require_open()
        return dict.fromkeys(CONTROLS, (0, 1, 0))

    @property
    def sensor_modes(self) -> list[dict[str, Any]]:
        self._require_open()
        if self._is_started:
            raise StrictError("sensor_modes reconfigures the camera, which is running")
        return [dict(mode) for mode in MODES]

    def create_video_configuration(
        self,
        *,
        main: dict[str, Any],
        lores: dict[str, Any] | None = None,
        buffer_count: int,
        controls: dict[str, Any],
        display: str | None,
        encode: str | None,
        sensor: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        self._require_open()
        return {
            "main": main,
            "lores": lores,
            "buffer_count": buffer_count,
            "controls": controls,
            "display": display,
            "encode": encode,
            "sensor": sensor,
        }

    def configure(self, configuration: dict[str, Any]) -> None:
        self._require_open()
        small = configuration["lores"]
        if small is not None and not self._library.has_small_stream:
            raise AttributeError("'NoneType' object has no attribute 'orientation'")
        if self._library.refuses_configuration:
            raise RuntimeError("lores stream dimensions may not exceed main stream")
        if self._is_started:
            raise StrictError("configured while running")
        self._require_known(configuration["controls"])
        width_px, height_px = configuration["main"]["size"]
        if small is not None:
            self._check_small(small, width_px, height_px)
        self._library.scene.size_px = (width_px, height_px)
        self._library.configuration = self._configured = configuration
        self._library.controls |= configuration["controls"]

    def _check_small(self, small: dict[str, Any], width_px: int, height_px: int) -> None:
        small_width_px, small_height_px = small["size"]
        if small_width_px > width_px or small_height_px > height_px:
            raise RuntimeError("lores stream dimensions may not exceed main stream")
        if small["format"] != "YUV420":
            raise RuntimeError("lores stream must be YUV")  # as on a Pi 4
        if self._library.small_px is not None:
            small["size"] = self._library.small_px

    def camera_configuration(self) -> dict[str, Any]:
        assert self._configured is not None
        return self._configured

    def start(self) -> None:
        self._require_open()
        if self._configured is None:
            raise StrictError("started before configuration")
        self._is_started = True

    def set_controls(self, controls: dict[str, Any]) -> None:
        self._require_open()
        self._require_known(controls)
        self._library.controls |= controls

    def capture_request(self, *, wait: bool) -> FakeJob:
        self._require_open()
        if wait:
            raise StrictError("waits forever if the camera hangs")
        if not self._is_started:
            raise StrictError("image requested before the start")
        if self._jobs:
            raise StrictError("image requested while another is pending")
        job = FakeJob()
        self._jobs.append(job)
        return job

    def wait(self, job: FakeJob, *, timeout: float) -> FakeRequest:
        self._require_open()
        library = self._library
        if self._configured is not None and library.held >= self._configured["buffer_count"]:
            raise StrictError(f"all {library.held} buffers are held, so the camera stalls")
        if library.scene.hangs or not library.scene.is_plugged:
            library.scene.wait(round(timeout * 1e9))
            raise TimeoutError
        library.scene.wait()
        self._jobs.remove(job)
        library.held += 1
        return FakeRequest(library)

    def cancel_all_and_flush(self) -> None:
        self._require_open()
        self._jobs.clear()

    def close(self) -> None:
        if self._jobs:
            raise StrictError("closed while an image is pending, which never returns")
        if self._is_open:
            self._library.opened -= 1
            self._library.closed += 1
        self._is_open = self._is_started = False

    def _require_open(self) -> None:
        if not self._is_open:
            # The real library raises AttributeError here, or crashes.
            raise RuntimeError("used after close")

    def _require_known(self, controls: dict[str, Any]) -> None:
        for name in controls:
            if name not in CONTROLS:
                raise RuntimeError(f"Control {name} is not advertised by libcamera")


class FakeJob:
    """A pending image."""


class FakeRequest:
    """An image in a camera buffer, to be released."""

    def __init__(self, library: FakeLibrary) -> None:
        self._library, self._is_released = library, False
        self._picture = library.scene.picture()
        self._stamp_ns = library.scene.t_ns - library.stamp_back_ns

    def get_metadata(self) -> dict[str, Any]:
        self._require_held()
        return {"SensorTimestamp": self._stamp_ns, **self._library.metadata}

    def make_array(self, name: str) -> Pixels:
        self._require_held()
        if name == "main":
            return self._picture.copy()
        width_px, height_px = self._library.configuration[name]["size"]
        # Luma, then chroma. Rows are padded to the stride with arbitrary values.
        stride_px = -(-width_px // _STRIDE_PX) * _STRIDE_PX
        planes = np.full((height_px * 3 // 2, stride_px), 255, np.uint8)
        planes[:height_px, :width_px] = self._picture[0, 0, 0]
        return planes

    def release(self) -> None:
        if self._is_released:
            raise StrictError("released twice: the buffer has another image by now")
        self._is_released = True
        self._library.held -= 1

    def _require_held(self) -> None:
        if self._is_released:
            raise StrictError("read after release")
