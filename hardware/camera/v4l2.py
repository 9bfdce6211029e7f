"""A USB camera, or any other of Video4Linux, through OpenCV."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np

from hardware.camera.device import NS_PER_S, CameraError, CameraMode, CameraWish, Picture, Pixels
from hardware.camera.sensor_time import Clocks
from hardware.camera.v4l2_nodes import Ioctl, require_usable

_NS_PER_MS = 1_000_000
_GREY_PX = (320, 180)
# CAP_PROP_BUFFERSIZE is not honoured everywhere: the driver keeps up to so many pictures, the oldest first.
_MOST_STALE = 5
# Over USB a JPEG may arrive damaged, now and then.
_MOST_DAMAGED = 10
_EXPOSURE_BY_HAND, _EXPOSURE_BY_CAMERA = 1.0, 3.0

OpenCapture: TypeAlias = Callable[[Path], Any]
"""Opens a camera as cv2.VideoCapture does."""


def open_capture(path: Path) -> Any:
    """Return a capture of OpenCV, open or not."""
    return cv2.VideoCapture(str(path), cv2.CAP_V4L2)


class V4l2Feed:
    """Pictures of a camera of Video4Linux.

    Args:
        path: Such as /dev/video0.
        name: What people call it.
        wish: What is asked for.
        clocks: What its pictures are stamped with.
        opens: What opens it.
        ioctl: What asks the kernel about it.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        wish: CameraWish,
        clocks: Clocks,
        opens: OpenCapture = open_capture,
        ioctl: Ioctl = fcntl.ioctl,
    ) -> None:
        self._name, self._clocks = name, clocks
        require_usable(path, name, ioctl)
        self._video = opens(path)
        if not self._video.isOpened():
            self._video.release()
            raise CameraError(f"{name}: it cannot be opened: is it a camera?")
        self._mode = self._negotiated(wish)
        self._period_ns = round(NS_PER_S / self._mode.per_s)
        self._grabbed_ns: int | None = None
        # Its settings outlive the program that made them.
        self.free_light()

    @property
    def mode(self) -> CameraMode:
        """What was negotiated."""
        return self._mode

    def grab(self) -> int:
        """Wait for a picture; skip those that waited in the driver."""
        self._grabbed_ns = self._newest_ns()
        return self._grabbed_ns

    def read(self) -> Picture:
        """Decode the grabbed picture; skip damaged ones."""
        for _ in range(_MOST_DAMAGED):
            t_ns = self.grab() if self._grabbed_ns is None else self._grabbed_ns
            self._grabbed_ns = None
            found, image = self._video.retrieve()
            if found and image is not None and image.ndim == 3:
                picture: Pixels = np.asarray(image, np.uint8)
                small = cv2.resize(picture, _GREY_PX, interpolation=cv2.INTER_NEAREST)
                return Picture(t_ns, picture, np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8))
        raise CameraError(f"{self._name} gives damaged pictures only: try another cable, or another USB port")

    def hold_light(self) -> None:
        """Keep exposure, white balance and focus as the camera says they are."""
        video = self._video
        exposure = video.get(cv2.CAP_PROP_EXPOSURE)
        video.set(cv2.CAP_PROP_AUTO_EXPOSURE, _EXPOSURE_BY_HAND)
        if exposure > 0:
            video.set(cv2.CAP_PROP_EXPOSURE, exposure)
        # Without a temperature most keep the one they have found; what they say it is, is often an old one.
        video.set(cv2.CAP_PROP_AUTO_WB, 0)
        video.set(cv2.CAP_PROP_AUTOFOCUS, 0)

    def free_light(self) -> None:
        """Let it adapt."""
        self._video.set(cv2.CAP_PROP_AUTO_EXPOSURE, _EXPOSURE_BY_CAMERA)
        self._video.set(cv2.CAP_PROP_AUTO_WB, 1)
        self._video.set(cv2.CAP_PROP_AUTOFOCUS, 1)

    def close(self) -> None:
        """Let it go, adapting by itself for whoever uses it next."""
        self.free_light()
        self._video.release()

    def _negotiated(self, wish: CameraWish) -> CameraMode:
        """Ask for what is wished, and return what came of it."""
        video = self._video
        # JPEG first: raw pictures of this size are too much for USB 2 at this pace, and the sizes depend on it.
        video.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        video.set(cv2.CAP_PROP_FRAME_WIDTH, wish.width_px)
        video.set(cv2.CAP_PROP_FRAME_HEIGHT, wish.height_px)
        video.set(cv2.CAP_PROP_FPS, wish.per_s)
        # With one buffer the camera stands still while its picture is decoded; with many, old ones wait.
        video.set(cv2.CAP_PROP_BUFFERSIZE, 2)
        size_px = (round(video.get(cv2.CAP_PROP_FRAME_WIDTH)), round(video.get(cv2.CAP_PROP_FRAME_HEIGHT)))
        per_s = video.get(cv2.CAP_PROP_FPS)
        coding = int(video.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little", signed=False)
        return CameraMode(*size_px, per_s if per_s > 0 else wish.per_s, coding.decode("ascii", "replace").strip("\0 "))

    def _newest_ns(self) -> int:
        """Take the newest picture from the driver without decoding it, and return when it was taken."""
        t_ns = 0
        for _ in range(_MOST_STALE):
            before_ns = self._clocks.game()
            if not self._video.grab():
                raise CameraError(f"{self._name} gives no pictures any more: is it plugged in?")
            now_ns = self._clocks.game()
            age_ns = self._age_ns()
            t_ns = now_ns - (age_ns or 0)
            # What had to be waited for is new. What was there already may be old; its age says so, where it is known.
            has_waited = now_ns - before_ns >= self._period_ns // 4
            if has_waited or (age_ns is not None and age_ns <= self._period_ns):
                break
        return t_ns

    def _age_ns(self) -> int | None:
        """Return how old the driver says the grabbed picture is; None if it does not say."""
        stamp_ms = self._video.get(cv2.CAP_PROP_POS_MSEC)
        return self._clocks.age_ns(round(stamp_ms * _NS_PER_MS)) if stamp_ms > 0 else None
