"""USB and other Video4Linux cameras, read by OpenCV."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np

from hardware.camera.device import NS_PER_S, CameraError, CameraMode, CameraRequest, Picture, Pixels
from hardware.camera.sensor_time import Clocks
from hardware.camera.sight import reduced_to_grey
from hardware.camera.v4l2_nodes import Ioctl, require_usable

_NS_PER_MS = 1_000_000
# Maximum number of old pictures queued in a driver, as some ignore CAP_PROP_BUFFERSIZE.
_MOST_STALE = 5
# Maximum number of consecutive damaged JPEG images. Single ones are common over USB.
_MOST_DAMAGED = 10
_EXPOSURE_BY_HAND, _EXPOSURE_BY_CAMERA = 1.0, 3.0

OpenCapture: TypeAlias = Callable[[Path], Any]
"""Opens a device and returns a cv2.VideoCapture."""


def open_capture(path: Path) -> Any:
    """Return an OpenCV capture, which may have failed to open."""
    return cv2.VideoCapture(str(path), cv2.CAP_V4L2)


class V4l2Feed:
    """An open Video4Linux camera.

    Args:
        path: Device, such as /dev/video0.
        name: Name used in messages.
        request: Requested mode.
        clocks: Clocks for the timestamps of pictures.
        opens: Opens the device.
        ioctl: Function like `fcntl.ioctl`.

    Raises:
        CameraError: If the camera cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        request: CameraRequest,
        clocks: Clocks,
        opens: OpenCapture = open_capture,
        ioctl: Ioctl = fcntl.ioctl,
    ) -> None:
        self._name, self._clocks = name, clocks
        require_usable(path, name, ioctl)
        self._video = opens(path)
        if not self._video.isOpened():
            self._video.release()
            raise CameraError(f"{name}: cannot open it: check that it is a camera")
        self._mode = self._negotiate(request)
        self._period_ns = round(NS_PER_S / self._mode.per_s)
        self._grabbed_ns: int | None = None
        # Settings of the previous program persist in the camera.
        self.free_light()

    @property
    def mode(self) -> CameraMode:
        """Negotiated mode."""
        return self._mode

    def grab(self) -> int:
        """Wait for a new picture and return its time. Skips old pictures queued in the driver."""
        self._grabbed_ns = self._grab_newest()
        return self._grabbed_ns

    def read(self) -> Picture:
        """Decode the grabbed picture. If it is damaged, grab the next one, up to ten in total.

        Raises:
            CameraError: If all are damaged, or no picture arrives.
        """
        for _ in range(_MOST_DAMAGED):
            t_ns = self.grab() if self._grabbed_ns is None else self._grabbed_ns
            self._grabbed_ns = None
            is_decoded, image = self._video.retrieve()
            if is_decoded and image is not None and image.ndim == 3:
                picture: Pixels = np.asarray(image, np.uint8)
                return Picture(t_ns, picture, reduced_to_grey(picture))
        raise CameraError(f"{self._name} sends only damaged pictures: try another cable or USB port")

    def hold_light(self) -> None:
        """Lock exposure, white balance and focus at their current values."""
        video = self._video
        exposure = video.get(cv2.CAP_PROP_EXPOSURE)
        video.set(cv2.CAP_PROP_AUTO_EXPOSURE, _EXPOSURE_BY_HAND)
        if exposure > 0:
            video.set(cv2.CAP_PROP_EXPOSURE, exposure)
        # The colour temperature is not set: most cameras keep the current one but report an outdated value.
        video.set(cv2.CAP_PROP_AUTO_WB, 0)
        video.set(cv2.CAP_PROP_AUTOFOCUS, 0)

    def free_light(self) -> None:
        """Enable automatic exposure, white balance and focus."""
        self._video.set(cv2.CAP_PROP_AUTO_EXPOSURE, _EXPOSURE_BY_CAMERA)
        self._video.set(cv2.CAP_PROP_AUTO_WB, 1)
        self._video.set(cv2.CAP_PROP_AUTOFOCUS, 1)

    def close(self) -> None:
        """Release the camera, with automatic settings for the next program."""
        self.free_light()
        self._video.release()

    def _negotiate(self, request: CameraRequest) -> CameraMode:
        """Request a mode, and return the negotiated one."""
        video = self._video
        # MJPG first, because the available sizes depend on it. Raw pictures would exceed the bandwidth of USB 2.
        video.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        video.set(cv2.CAP_PROP_FRAME_WIDTH, request.width_px)
        video.set(cv2.CAP_PROP_FRAME_HEIGHT, request.height_px)
        video.set(cv2.CAP_PROP_FPS, request.per_s)
        # A single buffer stalls the camera during decoding, and many buffers contain old pictures.
        video.set(cv2.CAP_PROP_BUFFERSIZE, 2)
        size_px = (round(video.get(cv2.CAP_PROP_FRAME_WIDTH)), round(video.get(cv2.CAP_PROP_FRAME_HEIGHT)))
        per_s = video.get(cv2.CAP_PROP_FPS)
        coding = int(video.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little", signed=False)
        return CameraMode(
            *size_px, per_s if per_s > 0 else request.per_s, coding.decode("ascii", "replace").strip("\0 ")
        )

    def _grab_newest(self) -> int:
        """Grab the newest picture from the driver without decoding it, and return its time."""
        t_ns = 0
        for _ in range(_MOST_STALE):
            before_ns = self._clocks.game()
            if not self._video.grab():
                raise CameraError(f"{self._name} stopped sending pictures: check that it is plugged in")
            now_ns = self._clocks.game()
            age_ns = self._age_ns()
            t_ns = now_ns - (age_ns or 0)
            # A picture is new if grabbing it had to wait, or if its age is known and is at most one period.
            has_waited = now_ns - before_ns >= self._period_ns // 4
            if has_waited or (age_ns is not None and age_ns <= self._period_ns):
                break
        return t_ns

    def _age_ns(self) -> int | None:
        """Return the age of the grabbed picture, or None if the driver does not report it."""
        stamp_ms = self._video.get(cv2.CAP_PROP_POS_MSEC)
        return self._clocks.age_ns(round(stamp_ms * _NS_PER_MS)) if stamp_ms > 0 else None
