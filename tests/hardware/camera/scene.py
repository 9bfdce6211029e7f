"""Scene for test cameras: a grey table with a brightness, clock and cable set by the test."""

from __future__ import annotations

import threading

import numpy as np

from hardware.camera.device import Pixels

MS, S = 1_000_000, 1_000_000_000
_PAUSE = threading.Event()


class Scene:
    """A grey table. Each image takes some simulated time, but almost no real time."""

    def __init__(self, width_px: int = 320, height_px: int = 180, *, period_ns: int = 50 * MS) -> None:
        self.size_px = (width_px, height_px)
        self.period_ns = period_ns
        self.t_ns = 1_000 * S
        self.level = 90
        self.is_plugged = True
        self.hangs = False

    def clock(self) -> int:
        return self.t_ns

    def picture(self) -> Pixels:
        width_px, height_px = self.size_px
        return np.full((height_px, width_px, 3), self.level, np.uint8)

    def wait(self, time_ns: int | None = None) -> None:
        """Advance the clock, by the duration of an image by default."""
        _PAUSE.wait(0.0005)
        self.t_ns += self.period_ns if time_ns is None else time_ns
