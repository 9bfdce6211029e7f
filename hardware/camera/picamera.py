"""A camera on the ribbon cable of a Raspberry Pi, read by Picamera2."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np

from hardware.camera.device import CameraError, CameraMode, CameraRequest, Picture, Pixels
from hardware.camera.picamera_library import PicameraLoader, open_picamera, picamera2
from hardware.camera.picamera_light import Exposure, auto_controls, first_controls, held_controls, metered
from hardware.camera.sensor_time import Clocks
from hardware.camera.sight import SMALL_PX, reduced_to_grey

# One buffer is exposed, one is queued and one is read. The fourth keeps the camera running if Python is late.
_BUFFERS = 4
# Time without a picture after which the camera counts as hung (picamera2 #794). Exposures here take up to 0.1 s.
_HANGS_S = 2.0
_NS_PER_US, _US_PER_S = 1_000, 1_000_000
# Conversions by libcamera's format. Its RGB888 needs none: it is blue, green, red in memory.
_TO_BGR = {"YUV420": cv2.COLOR_YUV2BGR_I420, "NV12": cv2.COLOR_YUV2BGR_NV12}


class PicameraFeed:
    """An open Picamera2 with a main stream and, if the camera has a second one, a small stream scaled without the CPU.

    Args:
        number: Number of the camera, from 0.
        request: Requested mode.
        clocks: Clocks for the timestamps of pictures.
        library: Returns the module picamera2.

    Raises:
        CameraError: If the camera cannot be opened.
    """

    def __init__(
        self, number: int, request: CameraRequest, clocks: Clocks, library: PicameraLoader = picamera2
    ) -> None:
        self._name, self._clocks = f"pi:{number}", clocks
        self._metered: Exposure | None = None
        self._held: Any = None
        self._grabbed: tuple[int, bool | None] = 0, None
        self._camera = open_picamera(library(), number)
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(self.close)
            with self._camera_errors():
                self._begin(request)
            cleanup.pop_all()

    @property
    def mode(self) -> CameraMode:
        """Negotiated mode."""
        return self._mode

    def grab(self) -> int:
        """Wait for a picture and return its time. Holds its buffer, and releases the previous one."""
        with self._camera_errors():
            self._release()
            self._held = self._request()
            metadata = self._held.get_metadata()
        before, self._metered = self._metered, metered(metadata)
        self._grabbed = self._exposure_start_ns(metadata), self._metered.is_settled_after(before)
        return self._grabbed[0]

    def read(self) -> Picture:
        """Copy the grabbed picture and release its buffer."""
        if self._held is None:
            self.grab()
        t_ns, is_light_settled = self._grabbed
        with self._camera_errors():
            try:
                main = self._held.make_array("main")
                small = self._small()
            finally:
                self._release()
        image = self._bgr(main)
        return Picture(t_ns, image, reduced_to_grey(image) if small is None else small, is_light_settled)

    def hold_light(self) -> None:
        """Lock exposure, white balance and focus at the values of the last picture. Does nothing before the first."""
        if self._metered is not None:
            with self._camera_errors():
                self._camera.set_controls(held_controls(self._metered, self._known))

    def free_light(self) -> None:
        """Enable automatic exposure, white balance and focus."""
        with self._camera_errors():
            self._camera.set_controls(auto_controls(self._known))

    def close(self) -> None:
        """Release the camera. Cancels pending requests first, because closing would wait for them forever."""
        with contextlib.suppress(RuntimeError, OSError):
            self._release()
        with contextlib.suppress(RuntimeError, OSError):
            self._camera.cancel_all_and_flush()
        with contextlib.suppress(RuntimeError, OSError):
            self._camera.close()

    def _begin(self, request: CameraRequest) -> None:
        camera = self._camera
        self._known = frozenset(camera.camera_controls)
        controls = first_controls(self._known)
        if "FrameDurationLimits" in self._known:
            frame_us = round(_US_PER_S / request.per_s)
            controls["FrameDurationLimits"] = (frame_us, frame_us)
        options = {
            "main": {"size": (request.width_px, request.height_px), "format": "RGB888"},
            "buffer_count": _BUFFERS,
            "controls": controls,
            "display": None,
            "encode": None,
            **self._whole_sensor(request),
        }
        try:
            camera.configure(camera.create_video_configuration(**options, lores={"size": SMALL_PX, "format": "YUV420"}))
        except AttributeError:
            # libcamera does not support two streams for this camera, and picamera2 fails on the missing configuration.
            camera.configure(camera.create_video_configuration(**options))
        main, small = camera.camera_configuration()["main"], camera.camera_configuration()["lores"]
        (width_px, height_px), self._format = main["size"], str(main["format"])
        if self._format != "RGB888" and self._format not in _TO_BGR:
            raise CameraError(f"{self._name}: expected pictures as RGB888, NV12 or YUV420, got {self._format}")
        self._size_px, self._small_px = (width_px, height_px), None if small is None else small["size"]
        self._mode = CameraMode(width_px, height_px, request.per_s, self._format)
        camera.start()

    def _whole_sensor(self, request: CameraRequest) -> dict[str, Any]:
        """Return the sensor mode with the largest field of view, since picamera2's default may crop the table.

        Empty if no mode supports the request, or the camera has no sensor modes.
        """
        if "ColorFilterArrangement" not in self._camera.camera_properties:
            return {}  # not a Raspberry Pi camera, so without sensor modes
        modes = [mode for mode in self._camera.sensor_modes if "crop_limits" in mode]
        fitting = [
            mode
            for mode in modes
            if mode["size"][0] >= request.width_px
            and mode["size"][1] >= request.height_px
            and mode["fps"] >= request.per_s
        ]
        if not fitting:
            return {}
        best = min(fitting, key=lambda mode: (-mode["crop_limits"][2] * mode["crop_limits"][3], mode["size"]))
        return {"sensor": {"output_size": best["size"], "bit_depth": best["bit_depth"]}}

    def _release(self) -> None:
        """Release the buffer of the grabbed picture, if it is held."""
        held, self._held = self._held, None
        if held is not None:
            held.release()

    def _request(self) -> Any:
        """Wait for a complete picture, which must be released."""
        job = self._camera.capture_request(wait=False)
        try:
            return self._camera.wait(job, timeout=_HANGS_S)
        except TimeoutError:
            raise CameraError(f"{self._name} sends no pictures: check its cable") from None

    def _exposure_start_ns(self, metadata: dict[str, Any]) -> int:
        """Return the start of the exposure. The sensor's timestamp is the end. Without it, the current time is used."""
        stamp_ns = metadata.get("SensorTimestamp")
        if stamp_ns is None:
            return self._clocks.game()
        exposed_ns = int(metadata.get("ExposureTime") or 0) * _NS_PER_US
        read_ns = self._clocks.game_ns(int(stamp_ns))
        return (self._clocks.game() if read_ns is None else read_ns) - exposed_ns

    def _small(self) -> Pixels | None:
        """Return the small grey picture, or None if the camera has no second stream."""
        if self._small_px is None:
            return None
        width_px, height_px = self._small_px
        return np.ascontiguousarray(self._held.make_array("lores")[:height_px, :width_px])

    def _bgr(self, main: Pixels) -> Pixels:
        if self._format == "RGB888":
            return main
        width_px, height_px = self._size_px
        converted = cv2.cvtColor(main, _TO_BGR[self._format])
        return np.ascontiguousarray(converted[:height_px, :width_px], np.uint8)

    @contextlib.contextmanager
    def _camera_errors(self) -> Iterator[None]:
        """Convert errors of picamera2 and libcamera to CameraError."""
        try:
            yield
        except CameraError:
            raise
        except (RuntimeError, ValueError, OSError, AttributeError) as error:
            raise CameraError(f"{self._name}: {error}") from error
