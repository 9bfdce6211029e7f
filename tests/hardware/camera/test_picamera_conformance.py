"""Tests of the adapter with the real picamera2 and libcamera's virtual camera: `pytest -m hardware`.

Requirements on Debian 13: apt install python3-libcamera, a venv with --system-site-packages and picamera2, and a
camera of 1536 x 864 (rows of other sizes do not fit numpy) in /usr/share/libcamera/pipeline/virtual/virtual.yaml:

    "Virtual0":
      supported_formats: [{width: 1536, height: 864, frame_rates: [20, 30]}]
      frames: {path: "/some/folder/of/pictures"}
      location: "CameraLocationFront"

They also need /dev/udmabuf or a DMA heap, which Debian's default kernel provides. A clone has none of this: Debian 12
lacks python3-libcamera, Debian lacks picamera2, and the one from pip alone cannot be imported.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from hardware.camera.device import CameraError, CameraRequest, Clocks, Picture
from hardware.camera.picamera import PicameraFeed
from hardware.camera.watched import WatchedCamera

# picamera2 itself warns: it uses a deprecated way to name threads, and leaks a pipe.
pytestmark = [pytest.mark.slow, pytest.mark.hardware, pytest.mark.filterwarnings("ignore")]

_REQUEST = CameraRequest(1536, 864)
_LONG_S = 60.0
_PAUSE = threading.Event()


@pytest.fixture(scope="module")
def library() -> Iterator[Any]:
    """Yield the real picamera2, patched for a virtual camera: no screen, sensor modes or allocator."""
    with pytest.MonkeyPatch.context() as patched:
        if "kms" not in sys.modules:
            patched.setitem(sys.modules, "kms", MagicMock())
        real = pytest.importorskip("picamera2", exc_type=ImportError)
        allocators = pytest.importorskip("picamera2.allocators", exc_type=ImportError)
        cameras = real.Picamera2.global_camera_info()
        if not cameras or "Virtual" not in cameras[0]["Id"]:
            pytest.skip("libcamera has no virtual camera here")

        class VirtualCamera(real.Picamera2):  # type: ignore[misc, name-defined]  # its base is imported at run time
            def _get_raw_modes(self) -> list[dict[str, Any]]:
                return [{"format": "SRGGB10", "size": (1536, 864)}]

            def configure(self, configuration: Any) -> None:
                self.allocator = allocators.LibcameraAllocator(self.camera)
                super().configure(configuration)

        yield SimpleNamespace(Picamera2=VirtualCamera)
        with warnings.catch_warnings(action="ignore"):
            gc.collect()  # the pipe of a camera that failed to open


def _pictures(library: Any, count: int) -> list[Picture]:
    """Return some images. libcamera 0.4's virtual camera often fails to start, and is then reopened."""

    def feed() -> PicameraFeed:
        return PicameraFeed(0, _REQUEST, Clocks(time.monotonic_ns), lambda: library)

    camera = WatchedCamera("pi:0", feed, time.monotonic_ns)
    pictures: list[Picture] = []
    started_at = time.perf_counter()
    try:
        while len(pictures) < count:
            assert time.perf_counter() - started_at < _LONG_S, camera.state
            picture = camera.take()
            if picture is None:
                _PAUSE.wait(0.002)
            else:
                pictures.append(picture)
    finally:
        camera.close()
    return pictures


def test_real_buffers_are_released_and_times_are_of_this_machine(library: Any) -> None:
    started_ns = time.monotonic_ns()
    pictures = _pictures(library, 40)  # ten times its number of buffers
    times_ns = [picture.t_ns for picture in pictures]
    assert times_ns == sorted(set(times_ns))
    assert started_ns < times_ns[0] < times_ns[-1] < time.monotonic_ns()
    for picture in pictures:
        assert picture.image.shape == (864, 1536, 3)
        assert picture.grey.dtype == np.dtype(np.uint8)


def test_a_real_camera_is_in_use_until_closed(library: Any) -> None:
    feed = PicameraFeed(0, _REQUEST, Clocks(time.monotonic_ns), lambda: library)
    with pytest.raises(CameraError, match="pi:0: it is in use by another program"):
        PicameraFeed(0, _REQUEST, Clocks(time.monotonic_ns), lambda: library)
    feed.close()
    PicameraFeed(0, _REQUEST, Clocks(time.monotonic_ns), lambda: library).close()
