"""A simulated USB camera over a table that freezes, turns black or is unplugged. Tests advance its time."""

from __future__ import annotations

import threading
from enum import Enum
from pathlib import Path

import numpy as np

from hardware.camera.device import CameraRequest, Clocks, Pixels
from hardware.camera.v4l2 import V4l2Feed
from hardware.camera.watched import WatchedCamera
from tests.hardware.camera.fake_capture import FakeDevice
from tests.hardware.camera.scene import MS, S, Scene

_PATIENCE_S = 20.0
_GRAIN, _GRAINS = 3, 7


class Fault(Enum):
    """Kinds of camera faults, with words of the resulting message."""

    FREEZES = "is frozen"
    BLACK = "shows only black"
    GONE = "check that it is plugged in"


class FaultyScene(Scene):
    """A table under a camera, with sensor noise until a fault occurs."""

    def __init__(self, image: Pixels) -> None:
        super().__init__(image.shape[1], image.shape[0], period_ns=100 * MS)
        self._grain = [
            np.random.default_rng(seed).integers(-_GRAIN, _GRAIN + 1, image.shape, dtype=np.int16)
            for seed in range(_GRAINS)
        ]
        self._image, self._last, self._count = image, image, 0
        self._fault: Fault | None = None
        self._stops_ns = self.t_ns
        self._condition = threading.Condition()
        self._is_over = False

    def show(self, image: Pixels) -> None:
        """Show another image of the table."""
        self._image = image

    def set_fault(self, fault: Fault | None) -> None:
        """Start a fault, or end it with None."""
        self._fault, self.is_plugged = fault, fault is not Fault.GONE

    def advance(self, seconds: float) -> None:
        """Advance the time, and return once the camera has caught up."""
        with self._condition:
            self._stops_ns += round(seconds * S)
            self._condition.notify_all()
            assert self._condition.wait_for(lambda: self.t_ns >= self._stops_ns, _PATIENCE_S)

    def run_freely(self) -> None:
        """Let time advance freely from now on."""
        with self._condition:
            self._is_over = True
            self._condition.notify_all()

    def picture(self) -> Pixels:
        if self._fault is Fault.BLACK:
            return np.zeros_like(self._image)
        if self._fault is None:
            self._count += 1
            grain = self._grain[self._count % _GRAINS]
            self._last = np.clip(self._image + grain, 0, 255).astype(np.uint8)
        return self._last

    def wait(self, time_ns: int | None = None) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._is_over or self.t_ns < self._stops_ns)
            super().wait(time_ns)
            self._condition.notify_all()


def camera_over(scene: FaultyScene, folder: Path) -> WatchedCamera:
    """Return a watched camera with its real driver and a fake device."""
    device, path = FakeDevice(scene), folder / "video0"
    device.gives = (*scene.size_px, 10.0, "MJPG")
    clocks = Clocks(scene.clock, monotonic=scene.clock, boot=scene.clock)

    def feed() -> V4l2Feed:
        if scene.is_plugged:
            path.touch()
        else:
            path.unlink(missing_ok=True)
            scene.wait(S // 2)
        return V4l2Feed(path, "usb:0", CameraRequest(), clocks, device.open)

    return WatchedCamera("usb:0", feed, scene.clock, back_off_s=(0.001,))
