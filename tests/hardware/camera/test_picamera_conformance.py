"""The adapter on the real picamera2 and libcamera, on libcamera's virtual camera: `pytest -m hardware` runs it.

On Debian 13: apt install python3-libcamera, a venv with --system-site-packages and picamera2 in it, and a camera of
1536 x 864 (other sizes have lines that numpy cannot take) in /usr/share/libcamera/pipeline/virtual/virtual.yaml:

    "Virtual0":
      supported_formats: [{width: 1536, height: 864, frame_rates: [20, 30]}]
      frames: {path: "/some/folder/of/pictures"}
      location: "CameraLocationFront"

It also needs /dev/udmabuf or a DMA heap, which an ordinary kernel of Debian has. None of this is in a clone: Debian 12
has no python3-libcamera, no Debian has picamera2, and pip alone gives one that cannot be imported.
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

from hardware.camera.device import CameraError, CameraRequest, Picture
from hardware.camera.picamera import PicameraFeed
from hardware.camera.sensor_time import Clocks
from hardware.camera.watched import WatchedCamera

# picamera2 itself warns: it names its threads in an old way, and leaves a pipe to the garbage collector.
pytestmark = [pytest.mark.slow, pytest.mark.hardware, pytest.mark.filterwarnings("ignore")]

_WISH = CameraRequest(1536, 864)
_LONG_S = 60.0
_PAUSE = threading.Event()


@pytest.fixture(scope="module")
def library() -> Iterator[Any]:
    """The real picamera2, with what it misses at a virtual camera: a screen, modes of a sensor, an allocator."""
    with pytest.MonkeyPatch.context() as patched:
        if "kms" not in sys.modules:
            patched.setitem(sys.modules, "kms", MagicMock())
        real = pytest.importorskip("picamera2", exc_type=ImportError)
        allocators = pytest.importorskip("picamera2.allocators", exc_type=ImportError)
        cameras = real.Picamera2.global_camera_info()
        if not cameras or "Virtual" not in cameras[0]["Id"]:
            pytest.skip("libcamera has no virtual camera here")

        class VirtualCamera(real.Picamera2):  # type: ignore[misc, name-defined]  # its base is known only here
            def _get_raw_modes(self) -> list[dict[str, Any]]:
                return [{"format": "SRGGB10", "size": (1536, 864)}]

            def configure(self, configuration: Any) -> None:
                self.allocator = allocators.LibcameraAllocator(self.camera)
                super().configure(configuration)

        yield SimpleNamespace(Picamera2=VirtualCamera)
        with warnings.catch_warnings(action="ignore"):
            gc.collect()  # the pipe of a camera that could not be opened


def _pictures(library: Any, count: int) -> list[Picture]:
    """So many pictures; the virtual camera of libcamera 0.4 often does not start, and is opened again then."""

    def feed() -> PicameraFeed:
        return PicameraFeed(0, _WISH, Clocks(time.monotonic_ns), lambda: library)

    camera = WatchedCamera("pi:0", feed, time.monotonic_ns)
    pictures: list[Picture] = []
    began = time.perf_counter()
    try:
        while len(pictures) < count:
            assert time.perf_counter() - began < _LONG_S, camera.state
            picture = camera.take()
            if picture is None:
                _PAUSE.wait(0.002)
            else:
                pictures.append(picture)
    finally:
        camera.close()
    return pictures


def test_real_buffers_are_given_back_and_times_are_of_this_machine(library: Any) -> None:
    began_ns = time.monotonic_ns()
    pictures = _pictures(library, 40)  # ten times as many as it has buffers
    times_ns = [picture.t_ns for picture in pictures]
    assert times_ns == sorted(set(times_ns))
    assert began_ns < times_ns[0] < times_ns[-1] < time.monotonic_ns()
    for picture in pictures:
        assert picture.image.shape == (864, 1536, 3)
        assert picture.grey.dtype == np.dtype(np.uint8)


def test_a_real_camera_is_in_use_until_it_is_closed(library: Any) -> None:
    feed = PicameraFeed(0, _WISH, Clocks(time.monotonic_ns), lambda: library)
    with pytest.raises(CameraError, match="pi:0: it is in use by another program"):
        PicameraFeed(0, _WISH, Clocks(time.monotonic_ns), lambda: library)
    feed.close()
    PicameraFeed(0, _WISH, Clocks(time.monotonic_ns), lambda: library).close()
