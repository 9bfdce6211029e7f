"""A USB camera: a thread keeps its newest picture, and opens it again when it was unplugged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

import cv2
import numpy as np

from tallybone.live_camera import CameraError, Clock, shot_of
from tallybone.shots import Shot
from tallybone.terminal import quiet_libraries
from vision.pyramid import Image

_WIDTH_PX, _HEIGHT_PX, _FPS = 1280, 720, 30
# So long is waited before an unplugged camera is tried again, longer each time.
_BACK_OFF_S = (0.5, 1.0, 2.0, 4.0)
# A camera that gives nothing for so long hangs, or was unplugged.
_SILENT_NS = 3_000_000_000
_CLOSES_S = 2.0


class Capture(Protocol):
    """What OpenCV calls a capture: an open camera."""

    def read(self) -> tuple[bool, Image | None]:
        """Wait for a picture; False if there is none any more."""

    def release(self) -> None:
        """Let the camera go."""


OpenCapture: TypeAlias = Callable[[], Capture | None]
"""Opens the camera; None if it is not there."""


class UsbCamera:
    """The newest picture of a camera, and nothing older."""

    def __init__(self, name: str, open_capture: OpenCapture, clock: Clock) -> None:
        """Open a camera that people call *name*.

        Raises:
            CameraError: If it is not there.
        """
        self._name, self._open, self._clock = name, open_capture, clock
        self._lock = threading.Lock()
        self._newest: tuple[int, Image] | None = None
        self._last_ns = clock()
        self._stops = threading.Event()
        capture = open_capture()
        if capture is None:
            raise CameraError(f"{name}: there is no such camera; is it plugged in, and does no other program use it?")
        self._thread = threading.Thread(target=self._watch, args=(capture,), name=f"camera {name}", daemon=True)
        self._thread.start()

    is_over = False

    @property
    def problem(self) -> str | None:
        """Why it gives no pictures."""
        with self._lock:
            silent_ns = self._clock() - self._last_ns
        if silent_ns < _SILENT_NS:
            return None
        return f"{self._name} gives no pictures: is it plugged in? The game goes on when it is back"

    def take(self) -> Shot | None:
        """Return the newest picture, once."""
        with self._lock:
            newest, self._newest = self._newest, None
        if newest is None:
            return None
        t_ns, image = newest
        return shot_of(image, t_ns, self._name)

    def now_ns(self) -> int:
        """Return the time."""
        return self._clock()

    def close(self) -> None:
        """Let the camera go."""
        self._stops.set()
        self._thread.join(_CLOSES_S)

    def _watch(self, capture: Capture | None) -> None:
        """Keep the newest picture until the camera is closed."""
        failures = 0
        while not self._stops.is_set():
            found, image = (False, None) if capture is None else capture.read()
            if found and image is not None:
                with self._lock:
                    self._last_ns = self._clock()
                    self._newest = (self._last_ns, image)
                failures = 0
                continue
            if capture is not None:
                capture.release()
            self._stops.wait(_BACK_OFF_S[min(failures, len(_BACK_OFF_S) - 1)])
            failures += 1
            capture = None if self._stops.is_set() else self._open()
        if capture is not None:
            capture.release()


def open_usb(source: str, clock: Clock) -> UsbCamera:
    """Open a camera of Video4Linux.

    Args:
        source: `usb:0`, or a path such as /dev/video0.
        clock: Monotonic; pictures are stamped with it when they arrive.

    Raises:
        CameraError: If there is none.
    """
    number = source.removeprefix("usb:")
    if not number.isdecimal() and not source.startswith("/dev/"):
        raise CameraError(f"{source}: expected a camera such as usb:0 or /dev/video0")
    path = Path(f"/dev/video{number}") if number.isdecimal() else Path(source)
    with quiet_libraries():  # OpenCV says on stderr what the error says anyway
        return UsbCamera(source, lambda: _opened(path), clock)


def _opened(path: Path) -> Capture | None:
    video = cv2.VideoCapture(str(path), cv2.CAP_V4L2) if path.exists() else None
    if video is None or not video.isOpened():
        return None
    # JPEG from the camera: raw pictures of this size are too much for USB 2 at this pace.
    video.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
    video.set(cv2.CAP_PROP_FRAME_WIDTH, _WIDTH_PX)
    video.set(cv2.CAP_PROP_FRAME_HEIGHT, _HEIGHT_PX)
    video.set(cv2.CAP_PROP_FPS, _FPS)
    video.set(cv2.CAP_PROP_BUFFERSIZE, 1)
    return _Video(video)


class _Video:
    """A capture of OpenCV, with types."""

    def __init__(self, video: cv2.VideoCapture) -> None:
        self._video = video

    def read(self) -> tuple[bool, Image | None]:
        found, image = self._video.read()
        return found, np.asarray(image, np.uint8) if found else None

    def release(self) -> None:
        self._video.release()
