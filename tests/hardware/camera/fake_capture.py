"""Fake OpenCV capture with the quirks of USB cameras: other sizes, stale images, persistent settings."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import cv2
import numpy as np

from hardware.camera.device import Pixels
from tests.hardware.camera.scene import MS, Scene

_SIZE = (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
_KNOWN = frozenset(
    {
        *_SIZE,
        cv2.CAP_PROP_FPS,
        cv2.CAP_PROP_FOURCC,
        cv2.CAP_PROP_BUFFERSIZE,
        cv2.CAP_PROP_POS_MSEC,
        cv2.CAP_PROP_EXPOSURE,
        cv2.CAP_PROP_AUTO_EXPOSURE,
        cv2.CAP_PROP_AUTO_WB,
        cv2.CAP_PROP_AUTOFOCUS,
    }
)


class FakeDevice:
    """A USB camera whose settings outlive each opening.

    Attributes:
        gives: Size, rate and coding that it delivers regardless of the request, or None to follow the request.
        settings: Its current properties.
        stamps: Whether its images have timestamps.
        transfer_ns: Transfer time of an image from the sensor to the driver.
        buffers: Number of images that its driver queues, oldest first.
        damaged: Number of damaged images from now on.
        jumps: Whether it becomes very bright when its exposure is set manually.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.gives: tuple[int, int, float, str] | None = None
        self.settings: dict[int, float] = {cv2.CAP_PROP_EXPOSURE: 156.0, cv2.CAP_PROP_AUTO_EXPOSURE: 1.0}
        self.stamps = True
        self.transfer_ns = 0
        self.buffers = 4
        self.damaged = self.retrieved = self.opened = 0
        self.jumps = False
        self.paths: list[Path] = []

    def open(self, path: Path) -> FakeCapture:
        self.paths.append(path)
        return FakeCapture(self)


class FakeCapture:
    """Fake of cv2.VideoCapture."""

    def __init__(self, device: FakeDevice) -> None:
        self._device = device
        self._is_open = device.scene.is_plugged
        device.opened += self._is_open
        self._waiting: deque[tuple[int, Pixels]] = deque()
        self._grabbed: tuple[int, Pixels] | None = None
        self._last_ns = device.scene.t_ns

    def isOpened(self) -> bool:  # noqa: N802 - the name in OpenCV
        return self._is_open

    def set(self, property_id: int, value: float) -> bool:
        self._require_open(property_id)
        device = self._device
        if property_id in _SIZE and self._grabbed is not None:
            raise AssertionError("the size must be set before the first image")
        device.settings[property_id] = value
        if device.gives is not None:
            width_px, height_px, per_s, coding = device.gives
            device.settings |= {
                cv2.CAP_PROP_FRAME_WIDTH: width_px,
                cv2.CAP_PROP_FRAME_HEIGHT: height_px,
                cv2.CAP_PROP_FPS: per_s,
                cv2.CAP_PROP_FOURCC: float(cv2.VideoWriter.fourcc(*coding)),
            }
        device.scene.size_px = (int(device.settings.get(_SIZE[0], 640)), int(device.settings.get(_SIZE[1], 480)))
        if property_id == cv2.CAP_PROP_AUTO_EXPOSURE and device.jumps:
            device.scene.level = 230 if value == 1 else 90
        return True

    def get(self, property_id: int) -> float:
        self._require_open(property_id)
        if property_id == cv2.CAP_PROP_POS_MSEC:
            if self._grabbed is None or not self._device.stamps:
                return 0.0
            return (self._grabbed[0] - self._device.transfer_ns) / MS
        return self._device.settings.get(property_id, 0.0)

    def grab(self) -> bool:
        self._require_open()
        scene = self._device.scene
        if not scene.is_plugged:
            scene.wait(scene.period_ns)
            return False
        # Images taken meanwhile are queued, oldest first. Those that do not fit are lost.
        while self._last_ns + scene.period_ns <= scene.t_ns:
            self._last_ns += scene.period_ns
            if len(self._waiting) < self._device.buffers:
                self._waiting.append((self._last_ns, scene.picture()))
        if not self._waiting:
            scene.wait(self._last_ns + scene.period_ns - scene.t_ns)
            self._last_ns = scene.t_ns
            self._waiting.append((self._last_ns, scene.picture()))
        self._grabbed = self._waiting.popleft()
        return True

    def retrieve(self) -> tuple[bool, Pixels | None]:
        self._require_open()
        assert self._grabbed is not None, "retrieved before any grab"
        self._device.retrieved += 1
        if self._device.damaged:
            self._device.damaged -= 1
            return False, None
        return True, np.array(self._grabbed[1])

    def release(self) -> None:
        self._device.opened -= self._is_open
        self._is_open = False

    def _require_open(self, property_id: int = cv2.CAP_PROP_FPS) -> None:
        assert self._is_open, "used after release"
        assert property_id in _KNOWN, f"unexpected property {property_id}"
